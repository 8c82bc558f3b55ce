"""pidstat -o JSON: read it into the same tables as its text.

Seen: the fields that programs in public repositories read from sysstat 12.7; no recorded sample.  ``statistics`` holds
intervals; in each, lists of tasks by activity (``io``; in older builds ``task``), with the columns of the text as keys,
some of them without ``%`` or ``/s`` or in lower case; the command is ``cmd`` or ``command``.
"""

from collections.abc import Iterator

from loadcurve.errors import ParseError
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.report_text import nothing_in
from loadcurve.ingest.sysstat.json_report import intervals_of, objects_in, warn_unknown_keys
from loadcurve.ingest.sysstat.pidstat import COLUMNS, PLAIN, WORDS, Tasks
from loadcurve.ingest.sysstat.text_report import Reader, Row

_IDS = ("UID", "USER", "PID", "TGID", "TID")
_COMMANDS = ("cmd", "command", "comm")


def _bare(name: str) -> str:
    return name.casefold().removesuffix("-percent").removesuffix("/s").removeprefix("%")


_NAMES = {_bare(name): name for name in (*COLUMNS, *_IDS, *WORDS)} | {"cpu": "%CPU"}


def parse_pidstat_json(text: str, timezone: str = "UTC") -> Parsed:
    """Tables of what ``pidstat -o JSON`` printed.

    `text` is output of one or several runs; one that ends too early is read up to its last whole interval.  Raises
    ParseError if the text is not JSON of pidstat; the error names the line at which the document begins.

    Examples
    --------
    >>> text = '''{"sysstat": {"hosts": [{"nodename": "vm", "date": "11/20/26", "statistics": [{"timestamp": "22:33:26",
    ... "io": [{"UID": "33", "PID": "42", "kB_rd/s": 100.00, "kB_wr/s": 20.00, "cmd": "nginx"}]}]}]}}'''
    >>> parse_pidstat_json(text).tables["processes"][["pid", "read_bytes_per_s", "command"]].values.tolist()
    [[42, 102400.0, 'nginx']]
    """
    warnings: list[str] = []
    reader = Reader(text, "pidstat", timezone, warnings)
    tasks, found = Tasks(warnings), False
    unknown: set[str] = set()
    for number, stamp, interval in intervals_of(text, reader, "pidstat", "intervals", warnings):
        for activity, value in interval.items():
            for entry in objects_in(value, f"{activity!r}", number) if activity != "timestamp" else []:
                columns, cells, left = _cells(entry, number)
                found, unknown = True, unknown | left
                tasks.add(Row(number, reader.host, columns, " ".join(cells), stamp.get("time"), ""))
    if not found:
        raise nothing_in(text, "tasks in the JSON of pidstat")
    warn_unknown_keys("pidstat", sorted(unknown), 1, warnings)
    return Parsed("pidstat", tasks.tables(reader.hosts), tuple(warnings))


def _cells(entry: dict, number: int) -> tuple[tuple[str, ...], list[str], set[str]]:
    """Return the columns and cells that the text would have, and the unknown keys; the command is last."""
    pairs, command, unknown = [], "", set()
    for key, value in entry.items():
        if key.casefold() in _COMMANDS:
            command = str(value)
        elif printed := next(_printed(key, value), None):
            if not isinstance(value, int | float | str) or isinstance(value, bool) or len(str(value).split()) != 1:
                raise ParseError(number, f"a number or a word for {key!r}", str(value))
            rate = isinstance(value, int | float) and printed in COLUMNS and printed not in PLAIN
            pairs.append((printed, f"{value:.2f}" if rate or isinstance(value, float) else str(value)))
        else:
            unknown.add(key)
    columns, cells = zip(*pairs, strict=True) if pairs else ((), ())
    if len(set(columns)) < len(columns):
        raise ParseError(number, "each column of pidstat once", " ".join(entry))
    return (*columns, "Command"), [*cells, command], unknown


def _printed(key: str, value: object) -> Iterator[str]:
    """Yield the printed column of a key; ``cpu`` is a percentage if it has decimals, otherwise a processor."""
    if key in COLUMNS or key in WORDS or key in _IDS:
        yield key
    elif key == "cpu" and not isinstance(value, float):
        yield "CPU"
    elif _bare(key) in _NAMES:
        yield _NAMES[_bare(key)]
