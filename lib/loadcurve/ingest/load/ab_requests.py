"""ab: every request as TSV (``-g FILE``) into the table `requests`.

Seen: Debian's ab 2.3 (the samples of the tests, ``ab -g g.tsv -n 2000 URL``); other revisions of 2.3 in public
repositories; 2.0 in its source.

What ab itself does (``output_results`` in ``support/ab.c`` of httpd): one row for each request, sorted by ``ttime``,
not by time.  ``starttime`` is local text, ``seconds`` the same instant since 1970 in whole seconds (2.0:
microseconds).  ``ctime``, ``dtime``, ``ttime`` and ``wait`` are the times to connect, from there to the end, in all,
and from the request written to the first byte, each rounded to 1 ms by itself: ctime + dtime need not be ttime.
"""

import re

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import csv

from loadcurve.errors import ParseError
from loadcurve.ingest.noise import is_noise
from loadcurve.ingest.parsed import Parsed

_HEADER = "starttime\tseconds\tctime\tdtime\tttime\twait\n"
_COLUMNS = {"connect_s": "ctime", "processing_s": "dtime", "latency_s": "ttime", "waiting_s": "wait"}
_NUMBERS = ("seconds", "ctime", "dtime", "ttime", "wait")
_WHOLE = re.compile(r"-?[0-9]{1,18}")
_LATEST_S = 253402300799  # the end of the year 9999
_MICROSECONDS = 10**14  # in seconds, that would be in 3 million years


def parse_ab_requests(text: str) -> Parsed:
    r"""Table `requests` of the files that ``ab -g`` writes.

    Parameters
    ----------
    text : str
        One or several such files.

    Returns
    -------
    Parsed
        `requests`: one row for each request in the order of the file, which is that of the response time; `time` in
        whole seconds.

    Raises
    ------
    ParseError
        Where a row is not a time and five numbers, and where there is no row.

    Examples
    --------
    >>> row = "Fri Nov 20 22:26:36 2026\t1795213596\t1\t3\t5\t3\n"
    >>> parsed = parse_ab_requests("starttime\tseconds\tctime\tdtime\tttime\twait\n" + row)
    >>> parsed.tables["requests"][["connect_s", "processing_s", "latency_s", "waiting_s"]].values.tolist()
    [[0.001, 0.003, 0.005, 0.003]]
    """
    warnings: list[str] = []
    end = text.rfind("\n") + 1
    if text[end:].strip():
        warnings.append(f"line {text.count(chr(10)) + 1}: the text ends here; this row is left out, as it may be cut")
    start = len(text) - len(text.lstrip())
    if not text.startswith(_HEADER, start):
        return _frame(*_slowly(text[:end]), warnings)
    try:
        columns = _quickly(text[start:end] if start or end < len(text) else text)
    except pa.ArrowInvalid:  # the second look says where, or finds that other lines stand between the rows
        return _frame(*_slowly(text[:end]), warnings)
    return _frame(columns, np.zeros(len(columns["seconds"]), "int32"), warnings)


def _quickly(text: str) -> dict[str, np.ndarray]:
    """Columns of a file without any other line; the numbers but not the text of the time are read."""
    table = csv.read_csv(
        pa.BufferReader(text.encode()),
        parse_options=csv.ParseOptions(delimiter="\t", quote_char=False),
        convert_options=csv.ConvertOptions(
            include_columns=list(_NUMBERS),
            column_types={name: pa.int64() if name == "seconds" else pa.int32() for name in _NUMBERS},
            null_values=[],
        ),
    )
    return {name: table[name].to_numpy() for name in _NUMBERS}


def _slowly(text: str) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Columns and the index of the file, line by line; blanks may stand for tabs, and other lines between the rows."""
    rows: list[list[int]] = []
    files: list[int] = []
    for at, line in enumerate(text.split("\n"), 1):
        fields = line[:400].split("\t") if "\t" in line else line[:400].split()
        if [field.strip() for field in fields] == _HEADER.split():
            files.append(len(rows))
            continue
        numbers = [field.strip() for field in fields[-5:]]
        if not files or is_noise(line[:400].strip()):
            continue
        # Without tabs, the text of the time is five words: Fri Nov 20 22:26:36 2026.
        if len(fields) != (6 if "\t" in line else 10) or len(line) > 400 or not all(map(_WHOLE.fullmatch, numbers)):
            raise ParseError(at, "a row of ab -g: a time, and the seconds, ctime, dtime, ttime and wait", line.strip())
        rows.append([int(number) for number in numbers])
        if not _is_instant(rows[-1][0]):
            raise ParseError(at, "seconds since 1970", numbers[0])
    columns = np.array(rows, "int64").reshape(-1, 5).T
    which = np.searchsorted(np.array(files), np.arange(len(rows)), side="right") - 1
    return dict(zip(_NUMBERS, columns, strict=True)), which.astype("int32")


def _is_instant(seconds: "int | np.ndarray") -> "bool | np.ndarray":
    return (seconds >= 0) & ((seconds <= _LATEST_S) | ((seconds >= _MICROSECONDS) & (seconds <= _LATEST_S * 10**6)))


def _frame(columns: dict[str, np.ndarray], generator: np.ndarray, warnings: list[str]) -> Parsed:
    seconds = columns["seconds"]
    if not len(seconds):
        raise ParseError(1, f"rows under {_HEADER.strip()!r}", "")
    if not np.all(good := _is_instant(seconds)):
        row = int(np.argmin(good))
        raise ParseError(row + 2, "seconds since 1970", str(seconds[row]))
    micros = np.where(seconds >= _MICROSECONDS, seconds, seconds * 1_000_000)
    time = pd.DatetimeIndex(micros.view("datetime64[us]")).tz_localize("UTC")
    data: dict[str, object] = {
        "generator": generator,
        "tool": pd.Categorical.from_codes(np.zeros(len(seconds), "int8"), ["ab"]),
        "time": time,
    }
    for name, column in _COLUMNS.items():
        values = columns.pop(column) / 1000.0
        if (below := values < 0).any():
            warnings.append(f"{int(below.sum())} times of {column} are below 0 and left out")
            values[below] = np.nan
        data[name] = values
    return Parsed("ab", {"requests": pd.DataFrame(data, copy=False)}, tuple(warnings))
