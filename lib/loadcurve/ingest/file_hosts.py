"""The host of each file of a folder, where headings name several: sar of the generator's host beside sar of the server.

A text of one machine leaves its rows without a host, because most folders hold files of one machine only.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from loadcurve.ingest.merge import label
from loadcurve.ingest.parsed import Tables
from loadcurve.ingest.raw_file import RawFile
from loadcurve.schemas import SCHEMAS

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


def name_hosts(files: Iterable[RawFile]) -> list[RawFile]:
    """Return the files, each row with the host of its file's heading if the files are of several hosts.

    Examples
    --------
    >>> from pathlib import PurePosixPath
    >>> def sar(host):
    ...     path = PurePosixPath(f"{host}.txt")
    ...     return RawFile(path, path.name, Tables({"hosts": [{"host": host}], "tcp": [{"segments_sent_pps": 9.0}]}))
    >>> [file.tables.rows("tcp")[0].get("host") for file in name_hosts([sar("web1"), sar("load1")])]
    ['web1', 'load1']
    >>> name_hosts([sar("web1")])[0].tables.rows("tcp")
    [{'segments_sent_pps': 9.0}]
    """
    kept = list(files)
    names = [_host_of(file) for file in kept]
    if len(set(names) - {""}) < 2:
        return kept
    return [_named(file, name) if name else file for file, name in zip(kept, names, strict=True)]


def _lacks_host(table: "pd.DataFrame | pa.Table") -> bool:
    if hasattr(table, "schema"):
        return "host" not in table.schema.names or table["host"].null_count == len(table)
    return "host" not in table


def _host_of(file: RawFile) -> str:
    """Return the only host that the headings of a file name; empty if they name none or several."""
    if "hosts" not in file.tables:
        return ""
    rows = file.tables.rows("hosts")
    values = [row.get("host") for row in rows] if isinstance(rows, Sequence) else list(rows.get("host", ()))
    found = {value for value in values if isinstance(value, str)}
    return found.pop() if len(found) == 1 else ""


def _named(file: RawFile, host: str) -> RawFile:
    named = {}
    for name in file.tables:
        rows = file.tables.rows(name)
        alone = isinstance(rows, Sequence) or _lacks_host(rows)
        has_host = name in SCHEMAS and "host" in SCHEMAS[name].columns
        named[name] = label(rows, host=host) if has_host and alone else rows
    return replace(file, tables=Tables(named))
