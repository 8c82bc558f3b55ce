"""Two files that report the same run, such as the text and the JSON of one attack, into one run.

A report beside its packed copy, ``c64.txt`` beside ``c64.txt.gz`` as ``gzip -k`` leaves them, is one run.

The samples of a run beside the dashboard that JMeter made of them are one run.

Two files of one folder and one stem, of which one is data (``c64.vegeta.txt``, ``c64.vegeta.json``), with one report
each of the same tool, are the same run if the reports count the same requests in the same time.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from loadcurve.ingest.parsed import Parsed, Tables
from loadcurve.ingest.raw_file import RawFile
from loadcurve.ingest.run_names import stem

_DATA = (".csv", ".json", ".jtl", ".xml")
_PACKED = (".bz2", ".gz", ".xz", ".zst")
_STATISTICS = "statistics.json"
_SAME = 0.005
"""Relative difference of throughput and duration; JSON has more digits than the text, which has three."""


def join_same_runs(files: Iterable[RawFile]) -> tuple[list[RawFile], list[str]]:
    """Return the files with one report for each run, and a line for each file that was joined or left out.

    The text of wrk gets the counters of the reporter's JSON.  Of any other pair, the report with more numbers counts.
    """
    kept, lines = _without_copies(files)
    kept = list(_without_dashboards(kept, lines))
    reports: dict[tuple, list[RawFile]] = {}
    for file in kept:
        if runs := _rows(file):
            key = file.path.parent, stem(file.path.name), runs[0].get("tool")
            reports.setdefault(key, []).extend([file] * (len(runs) == 1))
    for group in reports.values():
        for one, other in pairwise(group):
            joined = _join(one, other) if (one.path.suffix in _DATA) != (other.path.suffix in _DATA) else None
            if joined is None:
                continue
            text, left = joined
            kept = [text if file.path == text.path else file for file in kept if file.path != left.path]
            lines.append(f"{left.source}: reports the same run as {text.source}, so it is not a run of its own")
            break
    return kept, lines


def _without_dashboards(files: Sequence[RawFile], lines: list[str]) -> Iterator[RawFile]:
    """Yield the files but the statistics of a dashboard of JMeter whose samples lie beside the dashboard or in it."""
    samples = [file for file in files if "requests" in file.tables and len(_rows(file)) == 1]
    for file in files:
        is_dashboard = file.path.name == _STATISTICS and len(_rows(file)) == 1
        places = (file.path.parent, file.path.parent.parent) if is_dashboard else ()
        own = next((one for one in samples if one.path.parent in places and _join(one, file)), None)
        if own is None:
            yield file
        else:
            lines.append(f"{file.source}: sums up the samples of {own.source}, so it is not a run of its own")


def _without_copies(files: Iterable[RawFile]) -> tuple[list[RawFile], list[str]]:
    """Return the files without packed copies of others of their folder with the same reports, and a line for each."""
    every = list(files)
    reports = {file.path: _numbers(file) for file in every if "runs" in file.tables}
    kept, lines = [], []
    for file in every:
        plain = file.path.with_suffix("")
        if file.path.suffix in _PACKED and reports.get(plain) == _numbers(file):
            lines.append(f"{file.source}: a packed copy of {plain.name}, so it is not a run of its own")
        else:
            kept.append(file)
    return kept, lines


def _numbers(file: RawFile) -> str:
    return repr([{**row, "source": None} for row in _rows(file)])


def _join(one: RawFile, other: RawFile) -> tuple[RawFile, RawFile] | None:
    """Return the report of both, and the file that is no report any more; None if they are different runs."""
    if "histogram" in one.tables and "histogram" not in other.tables:
        one, other = other, one
    if _rows(one)[0].get("tool") == "wrk" and "histogram" in other.tables and "histogram" not in one.tables:
        from loadcurve.ingest.load.wrk_json import join_reporter  # with pandas, which most folders do not need

        text, report = join_reporter(Parsed("wrk", one.tables), Parsed("wrk", other.tables))
        if "runs" in report.tables or not len(report.tables):
            return None
        return RawFile(one.path, one.source, Tables({**text.tables, **report.tables}), one.modified), other
    first, second = _rows(one)[0], _rows(other)[0]
    if not all(_alike(first.get(name), second.get(name)) for name in ("requests", "throughput_rps", "duration_s")):
        return None
    return (one, other) if _known(one) >= _known(other) else (other, one)


def _alike(a: object, b: object) -> bool:
    if not isinstance(a, int | float) or not isinstance(b, int | float):
        return False
    return abs(a - b) <= _SAME * abs(a)


def _known(file: RawFile) -> int:
    """How many numbers and texts a report has."""
    cells = (value for name in file.tables for row in _records(file, name) for value in row.values())
    return sum(value is not None and value == value for value in cells)


def _rows(file: RawFile) -> list[dict]:
    return _records(file, "runs") if "runs" in file.tables else []


def _records(file: RawFile, name: str) -> list[dict]:
    rows = file.tables.rows(name)
    return list(rows) if isinstance(rows, Sequence) else file.tables[name].to_dict("records")
