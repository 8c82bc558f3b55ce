"""Publish figures, tables, numbers and files for the handbook; no other module writes them.

A batch run writes to `build/figures/<notebook>/`, from which the handbook is built.  JupyterLab and papermill write to
`build/draft/<notebook>/<process>/`, so that an experiment changes neither the published files nor those of another
kernel::

    <slug>.svg + .csv + .json    figure(): the drawing, the numbers drawn, caption and provenance
    <slug>.narrow.svg            the drawing for a phone
    <slug>.table.csv + .json     table(): the same for a table
    <name>.xml                   file(): a text for programs, such as JUnit
    values.json                  values(): every number that a page quotes

Data of other people lack some of what a notebook shows: ``with or_reason(SUBJECT):`` then prints what is missing.
"""

from loadcurve.publish.outputs import begin, commit, figure, file, or_reason, table, values

__all__ = ["begin", "commit", "figure", "file", "or_reason", "table", "values"]
