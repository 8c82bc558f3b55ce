"""ab: every request as TSV (``-g FILE``) into `requests`, and the percentiles as CSV (``-e FILE``) into `latency`.

Seen: Debian's ab 2.3 (the samples of the tests, ``ab -g g.tsv -n 2000 URL``); other revisions of 2.3 in public
repositories; 2.0 in its source.

Output of ab (``output_results`` in ``support/ab.c`` of httpd): one row for each request, sorted by ``ttime``,
not by time.  ``starttime`` is local text, ``seconds`` the same instant since 1970 in whole seconds (2.0:
microseconds).  ``ctime``, ``dtime``, ``ttime`` and ``wait`` are the times to connect, from connected to the end, in
total, and from the request written to the first byte.  Each is rounded to 1 ms separately, so ctime + dtime can differ
from ttime.

Percentiles, seen: Debian's ab 2.3 (the samples of the tests, ``ab -e e.csv -n 2000 URL``); 2.0 and other revisions of
2.3 in public repositories and in the source of each.

Output of ab (``output_results`` in ``support/ab.c`` of httpd): a header and one row for each percent from 0 to
99 (2.0, older 2.3) or 100, in milliseconds with three decimals (2.0: as ``5.155000e+03``).  Row 0 is the
smallest time, row 100 the largest, any other row the time with index floor(0.5 + n p / 100), counted from 0; the text
report uses a slightly different index.  With fewer than 50 requests that index exceeds ab's array, so the last rows
below 100 print arbitrary memory.  ab does not correct for coordinated omission.
"""

import math
import re
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import csv

from loadcurve.errors import ParseError
from loadcurve.ingest.column_source import column_source
from loadcurve.ingest.load.requests_csv import end_of_rows
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.report_text import is_noise, nothing_in

_HEADER = "starttime\tseconds\tctime\tdtime\tttime\twait\n"
_COLUMNS = {"connect_s": "ctime", "processing_s": "dtime", "latency_s": "ttime", "waiting_s": "wait"}
_NUMBERS = ("seconds", "ctime", "dtime", "ttime", "wait")
_OPTIONS = (
    csv.ReadOptions(block_size=1 << 22),  # bytes; a quarter faster than the default with Python in between
    csv.ParseOptions(delimiter="\t", quote_char=False),
    csv.ConvertOptions(
        include_columns=list(_NUMBERS),
        column_types={name: pa.int64() if name == "seconds" else pa.int32() for name in _NUMBERS},
        null_values=[],
    ),
)
_WHOLE = re.compile(r"-?[0-9]{1,18}")
_LATEST_S = 253402300799  # the end of the year 9999
_MICROSECONDS = 10**14  # in seconds, that would be in 3 million years


def parse_ab_requests(text: str) -> Parsed:
    """Table `requests` of the files that ``ab -g`` writes."""
    end, warnings = end_of_rows(text)
    columns, generator = _columns(text, end)
    if not len(generator):
        raise nothing_in(text, f"rows under {_HEADER.strip()!r}")
    return _frame(columns, generator, warnings)


def _columns(text: str, end: int) -> tuple[dict[str, list[np.ndarray]], np.ndarray]:
    """Return pieces of the columns of a text up to an index, and the index of the file of each row."""
    start = len(text) - len(text.lstrip())
    if text.startswith(_HEADER, start):
        try:
            table = csv.read_csv(column_source(text[start:end]), *_OPTIONS)  # the numbers, not the text of the time
            columns = {name: [chunk.to_numpy() for chunk in table[name].chunks] for name in _NUMBERS}
            return columns, np.zeros(len(table), "int32")
        except pa.ArrowInvalid:  # the slow pass reports the line, or finds that there are other lines between the rows
            pass
    return _slowly(text[:end])


def _slowly(text: str) -> tuple[dict[str, list[np.ndarray]], np.ndarray]:
    """Return the columns and the index of the file; spaces may replace tabs, and other lines may occur between rows."""
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
    return {name: [column] for name, column in zip(_NUMBERS, columns, strict=True)}, which.astype("int32")


def _is_instant(seconds: "int | np.ndarray") -> "bool | np.ndarray":
    return (seconds >= 0) & ((seconds <= _LATEST_S) | ((seconds >= _MICROSECONDS) & (seconds <= _LATEST_S * 10**6)))


def _frame(columns: dict[str, list[np.ndarray]], generator: np.ndarray, warnings: list[str]) -> Parsed:
    data: dict[str, object] = {
        "generator": generator,
        "tool": pd.Categorical.from_codes(np.zeros(len(generator), "int8"), ["ab"]),
        "time": _time(np.concatenate(columns["seconds"])),
    }
    for name, column in _COLUMNS.items():
        data[name] = _seconds(columns.pop(column), column, warnings)
    return Parsed("ab", {"requests": pd.DataFrame(data, copy=False)}, tuple(warnings))


def _time(seconds: np.ndarray) -> pd.DatetimeIndex:
    if not (seconds.min() >= 0 and seconds.max() <= _LATEST_S):
        if not np.all(good := _is_instant(seconds)):
            row = int(np.argmin(good))
            raise ParseError(row + 2, "seconds since 1970", str(seconds[row]))
        micros = np.where(seconds >= _MICROSECONDS, seconds, seconds * 1_000_000)
    else:
        micros = np.multiply(seconds, 1_000_000, out=seconds)
    return pd.DatetimeIndex(micros, dtype=pd.DatetimeTZDtype("us", "UTC"), copy=False)


def _seconds(pieces: list[np.ndarray], column: str, warnings: list[str]) -> np.ndarray:
    """Convert milliseconds to seconds piece by piece: each piece stays in the cache, and no second column is needed."""
    values = np.empty(sum(map(len, pieces)))
    at = below = 0
    for piece in pieces:
        part = values[at : at + len(piece)]
        np.divide(piece, 1000.0, out=part)
        if len(piece) and piece.min() < 0:
            below += int((piece < 0).sum())
            part[piece < 0] = np.nan
        at += len(piece)
    if below:
        warnings.append(f"{below} times of {column} are below 0 and left out")
    return values


_PERCENTILES_HEADER = re.compile(r"Percentage served ?, ?Time in ms")
# Arbitrary memory can be any number of 64 bits: 16 digits of ms, and a sign.
_TIME = r"[0-9]{1,16}(?:\.[0-9]{1,9})?(?:e[+-][0-9]{2})?|-[0-9]{1,16}\.[0-9]{3}"
# ab writes every time with them, so a time that has them is complete, also without a newline after it.
_THREE_DECIMALS = re.compile(r"\.[0-9]{3}$")
_ROW = re.compile(rf"([0-9]{{1,3}}(?:\.[0-9]{{1,6}})?) ?, ?({_TIME})")


def parse_ab_percentiles(text: str) -> Parsed:
    r"""Table `latency` of the files that ``ab -e`` writes.

    Examples
    --------
    >>> parse_ab_percentiles("Percentage served,Time in ms\n0,0.046\n1,0.052\n").tables["latency"].values.tolist()
    [[0, 0.0, 4.6e-05, False], [0, 0.01, 5.2e-05, False]]
    """
    lines = text.split("\n")
    files: list[list[tuple[dict[str, Any], int]]] = []
    warnings: list[str] = []
    rank = -1.0
    for at, line in enumerate(map(str.strip, lines), 1):
        if _PERCENTILES_HEADER.fullmatch(line):
            files.append([])
            rank = -1.0
        elif not files or not line:
            continue
        elif match := _ROW.fullmatch(line):
            if not rank < float(match[1]) <= 100:
                raise ParseError(at, f"a percentage over {rank:g}, up to 100", match[1])
            if at == len(lines) and not _THREE_DECIMALS.search(line):
                warnings.append(f"line {at}: the text ends here; this row is left out, as it may be cut")
                continue
            rank = float(match[1])
            latency = {"quantile": rank / 100, "latency_s": float(match[2]) / 1e3, "corrected": False}
            files[-1].append(({"generator": len(files) - 1, **latency}, at))
        elif at == len(lines):
            warnings.append(f"line {at}: the text ends inside a row, which is left out")
        elif not is_noise(line[:2000]):
            raise ParseError(at, "a row such as 50,3.004", line)
    rows = [row for file in files for row, _ in file]
    if not rows:
        raise nothing_in(text, "rows under 'Percentage served,Time in ms'")
    if rank < 99:
        warnings.append(f"line {len(lines)}: the last percentage is {rank:g}; ab writes all up to 99 or 100")
    for file in files:
        _leave_out(file, warnings)
    return Parsed("ab", {"latency": rows}, tuple(warnings))


def _leave_out(file: list[tuple[dict[str, Any], int]], warnings: list[str]) -> None:
    """Remove the time of the rows of a file that are out of order."""
    largest = file[-1][0]["latency_s"] if file and file[-1][0]["quantile"] == 1 else math.inf
    before = 0.0
    for row, at in file:
        if not before <= row["latency_s"] <= largest:
            warnings.append(f"line {at}: {row['latency_s'] * 1e3:g} ms is out of order, so it is left out")
            row["latency_s"] = math.nan
        else:
            before = row["latency_s"]
