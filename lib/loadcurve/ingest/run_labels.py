"""Rows of files with the run of each, and the time since the start of this run.

What a placement holds suffices, so any process that sees the files can label them.

A text of one machine leaves its rows without a host, because most folders hold files of one machine only.  Rows of
`sadf`, and so of binary files of `sar -o`, name theirs: beside them, texts of the same machine do too.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from loadcurve.ingest.merge import join, label
from loadcurve.ingest.on_disk import OnDisk, names_host
from loadcurve.ingest.raw_file import Note, Placement, RawFile
from loadcurve.tables.schemas import SCHEMAS

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from loadcurve.ingest.merge import Table

    Waiting = tuple[Table, np.ndarray, np.ndarray, str]


def name_hosts(files: Iterable[RawFile]) -> list[RawFile]:
    """Return the files, each with the host of its heading if the files are of several hosts or rows name one.

    Examples
    --------
    >>> from pathlib import PurePosixPath
    >>> from loadcurve.ingest.parsed import Tables
    >>> def sar(host):
    ...     path = PurePosixPath(f"{host}.txt")
    ...     return RawFile(path, path.name, Tables({"hosts": [{"host": host}], "tcp": [{"segments_sent_pps": 9.0}]}))
    >>> [file.host for file in name_hosts([sar("web1"), sar("load1")])]
    ['web1', 'load1']
    >>> [file.host for file in name_hosts([sar("web1")])]
    ['']
    """
    kept = list(files)
    names = [_host_of(file) for file in kept]
    if len(set(names) - {""}) < 2 and not any(map(_names_host, kept)):
        return kept
    return [
        replace(file, host=name) if name and not file.host else file for file, name in zip(kept, names, strict=True)
    ]


def _names_host(file: RawFile) -> bool:
    """Return whether a row of a file, other than its heading, names a host."""
    others = [name for name in file.tables if name not in ("hosts", "runs")]
    if isinstance(file.tables, OnDisk):
        return bool(file.host or file.tables.hosted.intersection(others))
    return bool(file.host) or any(names_host(file.tables.rows(name)) for name in others)


def with_host(file: RawFile, name: str, rows: "Table") -> "Table":
    """Return rows of a table of a file, with the file's host where none of them names one.

    Examples
    --------
    >>> from pathlib import PurePosixPath
    >>> from loadcurve.ingest.parsed import Tables
    >>> file = RawFile(PurePosixPath("a"), "a", Tables({"tcp": [{"listen_drops": 9}]}), host="web1")
    >>> with_host(file, "tcp", file.tables.rows("tcp"))
    [{'host': 'web1', 'listen_drops': 9}]
    """
    if not file.host or name not in SCHEMAS or "host" not in SCHEMAS[name].columns:
        return rows
    if isinstance(rows, Sequence):
        return label(rows, host=file.host)  # rows that name a host keep it
    tables = file.tables
    hosted = tables.hosted if isinstance(tables, OnDisk) else frozenset[str]()
    has_hosts = name in hosted if hasattr(rows, "schema") else names_host(rows)  # a piece of a large table, or all rows
    return rows if has_hosts else label(rows, host=file.host)


def _host_of(file: RawFile) -> str:
    """Return the only host of a file: the given one, or that of its headings; empty if they name none or several."""
    if "hosts" not in file.tables:
        return ""
    rows = file.tables.rows("hosts")
    values = [row.get("host") for row in rows] if isinstance(rows, Sequence) else list(rows.get("host", ()))
    found = {value for value in values if isinstance(value, str)} or {file.host} - {""}
    return found.pop() if len(found) == 1 else ""


_TOGETHER = 20_000  # rows of small tables that are labelled together


def labelled(placements: Iterable[Placement], notes: list[Note]) -> "Iterator[tuple[str, Table]]":
    """Yield the tables of files in pieces, each row with its run and its file; all tables but ``runs``.

    Small tables of monitors are joined first: labelling a DataFrame takes as long as parsing a hundred rows.
    """
    waiting: dict[str, list[Waiting]] = {}
    held: Counter[str] = Counter()
    for placement in placements:
        if placement.windows is None:
            for name in placement.file.tables:
                if name != "runs" and name not in placement.left_out:
                    for rows in placement.file.tables.pieces(name):
                        yield name, _of_report(placement, name, rows)
        else:
            yield from _by_times(placement, notes, waiting, held)
    yield from ((name, _joined(name, parts)) for name, parts in waiting.items() if parts)


def labelled_runs(placement: Placement) -> "Table | None":
    """Return the table ``runs`` of a file, each row with its run and its file; None if the file has none."""
    tables = placement.file.tables
    return _of_report(placement, "runs", tables.rows("runs")) if "runs" in tables else None


def _of_report(placement: Placement, name: str, rows: "Table") -> "Table":
    """Return rows of a file with reports; with several, each row of a generator belongs to the run of its report.

    Rows of a monitor in such a text, as in a copied terminal session, belong to no run unless there is only one.
    """
    file, runs = placement.file, placement.runs
    rows = with_host(file, name, rows)
    if len(runs) < 2:
        return label(rows, run_id=runs[0] if runs else None, source=file.source)
    if isinstance(rows, Sequence):
        records = list(rows)
    else:
        records = (rows if hasattr(rows, "to_dict") else rows.to_pandas()).to_dict("records")
    known = dict(enumerate(runs))
    at = [row.get("generator", i if name == "runs" else None) for i, row in enumerate(records)]
    return [
        {**row, "run_id": known.get(i), "source": file.source, **({"generator": 0} if i in known else {})}
        for row, i in zip(records, at, strict=True)
    ]


def _by_times(
    placement: Placement, notes: list[Note], waiting: "dict[str, list[Waiting]]", held: Counter[str]
) -> "Iterator[tuple[str, Table]]":
    import numpy as np  # with pandas, which reports do not need
    import pandas as pd

    from loadcurve.ingest.on_disk import elapsed
    from loadcurve.ingest.run_times import runs_of_rows

    file = placement.file
    places, runs, note = runs_of_rows(placement)
    notes.append(note)
    names = np.array([*(name for name, _ in runs), None], object)
    began = np.array([*(start for _, start in runs), np.nan])
    at = 0
    for name in file.tables:
        for piece in file.tables.pieces(name):
            mine = np.maximum(places[at : at + len(piece)], -1)  # the last of `names` and `began`
            at += len(piece)
            if name == "runs":
                continue
            rows = with_host(file, name, piece)
            is_arrow = not isinstance(rows, Sequence | pd.DataFrame)
            parts = waiting.setdefault(name, [])
            if not is_arrow:
                parts.append((rows, names[mine], began[mine], file.source))
                held[name] += len(rows)
            if parts and (is_arrow or held[name] >= _TOGETHER):
                yield name, _joined(name, parts)
                parts.clear()
                del held[name]
            if is_arrow:
                is_one = len(runs) == 1 and bool((mine >= 0).all())
                run_id = runs[0][0] if is_one else pd.Series(names[mine], dtype="str")
                yield name, label(rows, run_id=run_id, source=file.source, **elapsed(name, rows, began[mine]))


def _joined(name: str, parts: "Sequence[Waiting]") -> "pd.DataFrame":
    import numpy as np
    import pandas as pd

    from loadcurve.ingest.on_disk import elapsed

    tables, runs, began, sources = zip(*parts, strict=True)
    rows = join(tables)
    frame = pd.DataFrame(list(rows)) if isinstance(rows, Sequence) else rows
    source = np.repeat(np.array(sources, object), [len(table) for table in tables])
    run_ids = pd.Series(np.concatenate(runs), frame.index, dtype="str")
    return frame.assign(run_id=run_ids, source=source, **elapsed(name, frame, np.concatenate(began)))
