"""Read files and folders into tables: output of any supported tool, compressed or not.

Ingestion starts no process and the laboratory parses no text.  This package uses both, because only the machine's own
sadf can convert a binary `sa` file to text.

| module       | holds |
|--------------|---|
| `reading`    | `Reading`: tables of a file, a recorded run, or a part of a folder; recordings of sysstat as text |
| `one`        | `read`, and what the command line names; a CSV file whose columns are those of the table ``runs`` |
| `folder`     | the files of a folder, also with the run of every row; the runs of a study, with progress |
| `tables`     | the tables of a study or of a folder of raw files, by name |
| `published`  | published reports: tables as their `source.yml` declares them, quoted output of tools |
"""

from typing import TYPE_CHECKING

from loadcurve.packages import imported_late

if TYPE_CHECKING:
    from loadcurve.reading.folder import read_each, read_matched
    from loadcurve.reading.one import NOT_READ, as_parsed, read, read_file, read_named, require_report
    from loadcurve.reading.published import read_published_raw, read_published_tables
    from loadcurve.reading.reading import Reading

__all__ = [
    "NOT_READ",
    "Reading",
    "as_parsed",
    "read",
    "read_each",
    "read_file",
    "read_matched",
    "read_named",
    "read_published_raw",
    "read_published_tables",
    "require_report",
]

__getattr__ = imported_late(__name__, __all__)


def __dir__() -> list[str]:
    """The public names, for completion."""
    return __all__
