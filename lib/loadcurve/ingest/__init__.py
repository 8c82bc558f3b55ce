"""Raw output of tools into tables: text in, DataFrames out; nothing here starts a process.

`registry` collects the `Form` constants of the parsers in `load`, `sysstat`, `sockets`, `balancers`, `servers` and
`kernel`; `sniff` recognises a text and parses it; `files` and `folder` read files and recorded runs; `store` keeps the
tidy tables of a study.  `loadcurve` exports what users call.
"""
