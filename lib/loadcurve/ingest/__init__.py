"""Raw output of tools into tables: text in, DataFrames out; nothing here starts a process.

`registry` lists the forms of output, which the parsers in `load`, `sysstat`, `sockets`, `balancers`, `servers` and
`kernel` read; `sniff` recognises a text and parses it; `files` and `folder` read files and recorded runs; `store` keeps
the tidy tables of a study.  `loadcurve` exports what users call.

A parser takes the `text` of one or several outputs, each perhaps after a line with its time, and `timezone`, the IANA
name of the zone of times that name none.  It returns what it read as `Parsed`, and raises ParseError where a line is
not what the tool prints.
"""
