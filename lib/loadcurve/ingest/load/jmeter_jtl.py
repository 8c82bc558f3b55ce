"""JMeter: read a JTL, CSV or XML, into the tables `requests`, `runs`, `latency` and `labels`.

Seen: JMeter 3.3, 4.0 and 5.6.3 (``jmeter -n -t PLAN -l FILE.jtl``, the samples of the tests; the delimiter and the
time format by ``-Jjmeter.save.saveservice.default_delimiter`` and ``.timestamp_format``); 2.x to 5.x in public
repositories.

Output of JMeter (``CSVSaveService`` and ``SampleResult``):

- One row for each sample, written when it ends.  ``timeStamp`` is its start in ms since 1970 (its end if
  ``sampleresult.timestamp.start=false``), ``elapsed`` the time to the last byte, ``Latency`` to the first byte, both
  with the time to connect in them; ``Connect`` is that alone.  All are whole ms.
- ``success`` is false for a status from 400 on, for a request without a response, and where an assertion failed.
- ``bytes`` counts the headers and the body of the response, ``allThreads`` the active threads of all groups.
- Before 3.0 the file has no header by default; the columns keep one order.

XML, seen: JMeter 5.6.3 (``-Jjmeter.save.saveservice.output_format=xml``, the samples of the tests), version 1.2 of the
file, which 2.2 to 5.x write, in public repositories.  A sample inside another is a step of it, such as one of a
redirect, and is left out; a transaction controller that holds its samples is replaced by them.
"""

import csv
import io
import math
import re
from typing import Any
from xml.parsers import expat

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import csv as arrow

from loadcurve.errors import ParseError
from loadcurve.ingest.column_source import column_source
from loadcurve.ingest.load.jmeter_samples import is_garbled_status, is_transaction, parsed_samples
from loadcurve.ingest.load.requests_csv import end_of_rows
from loadcurve.ingest.load.samples import indexed
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.report_text import is_noise, nothing_in

_NUMBERS = ("elapsed", "bytes", "sentBytes", "allThreads", "Latency", "Connect", "IdleTime", "SampleCount", "timeStamp")
_WORDS = ("label", "responseCode", "responseMessage", "failureMessage", "threadName", "URL", "success")
_OTHERS = ("dataType", "grpThreads", "Filename", "Encoding", "ErrorCount", "Hostname")
_NAME = rf"\"?(?:{'|'.join((*_NUMBERS, *_WORDS, *_OTHERS))})\"?"
_DELIMITER = r"[,;\t|^:]"
_HEADER = re.compile(rf"[ \t]*(?=[^\n]*\belapsed\b){_NAME}({_DELIMITER})[^\n]*")
_FIRST = ("timeStamp", "elapsed", "label", "responseCode", "responseMessage", "threadName")
# Columns after `success` of a file without header, by their number; those of each version's default, or with some off.
_TAILS = {
    0: (),
    1: ("bytes",),
    2: ("bytes", "Latency"),
    4: ("bytes", "grpThreads", "allThreads", "Latency"),
    5: ("bytes", "grpThreads", "allThreads", "Latency", "IdleTime"),
    6: ("failureMessage", "bytes", "grpThreads", "allThreads", "Latency", "IdleTime"),
    8: ("failureMessage", "bytes", "sentBytes", "grpThreads", "allThreads", "Latency", "IdleTime", "Connect"),
    9: ("failureMessage", "bytes", "sentBytes", "grpThreads", "allThreads", "URL", "Latency", "IdleTime", "Connect"),
}
_WHOLE = re.compile(r"[ \t]*-?[0-9]{1,18}[ \t]*")
_INSTANT = re.compile(
    r"[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}[ T][0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]{1,6})?(?:Z|[+-][0-9]{2}:?[0-9]{2})?"
)
_PROSE = 6  # commas in a line that is no row
_LATEST_MS = 253402300799000  # the end of the year 9999
_BLOCK = 1 << 22  # bytes
_FOREIGN = 4  # a line with at most this part of the columns is no row
_HEAD = 1 << 18  # characters that hold the header and a row


def parse_jtl(text: str, timezone: str = "UTC") -> Parsed:
    """Tables `requests`, `runs`, `latency` and `labels` of a JTL of CSV."""
    end, warnings = end_of_rows(text)
    names, delimiter, begin, line = _heading(text, end)
    known = {name: i for i, name in enumerate(names) if name in _NUMBERS or name in _WORDS}
    body = text[begin:end]
    formatted = "timeStamp" in known and _is_formatted(body, delimiter, known["timeStamp"])
    counted = {name: i for name, i in known.items() if name in _NUMBERS and not (formatted and name == "timeStamp")}
    try:
        table = _quickly(body, len(names), known, delimiter, formatted)
    except pa.ArrowInvalid:  # find the row, or that other lines are between the rows
        body = _slowly(body, names, counted, delimiter, line, warnings)
        try:
            table = _quickly(body, len(names), known, delimiter, formatted)
        except pa.ArrowInvalid as error:
            raise ParseError(line, "rows of a JTL", str(error)[:80]) from None
    if not len(table):
        raise ParseError(line, "rows of a JTL below its header", "")
    texts = {name: indexed(table[name]) for name in known if name in _WORDS}
    # Milliseconds since 1970 and bytes are exact as floats, up to 2**53.
    numbers: dict[str, np.ndarray] = {name: np.asarray(table[name].to_numpy(), float) for name in counted}
    if formatted:
        numbers["timeStamp"] = _milliseconds(table["timeStamp"], timezone, line)
    _check(texts, numbers, body, line)
    codes, values = texts.pop("success", (np.zeros(len(table), "int8"), ["true"]))
    passed = np.array([value.strip().lower() == "true" for value in values])[codes]
    return parsed_samples(texts, numbers, passed, warnings)


def _heading(text: str, end: int) -> tuple[tuple[str, ...], str, int, int]:
    """Names of the columns, the delimiter, and where and on which line the rows begin."""
    at = 0
    for number, line in enumerate(text[: min(end, _HEAD)].split("\n"), 1):
        if match := _HEADER.fullmatch(line):
            header = tuple(name.strip() for name in next(csv.reader([line], delimiter=match[1])))
            return header, match[1], at + len(line) + 1, number + 1
        if line.strip() and not is_noise(line.strip()):
            if names := _names_without_header(line):
                return *names, at, number
            if line.count(",") > _PROSE:
                raise ParseError(number, "the header or a row of a JTL", line)
        at += len(line) + 1
    raise nothing_in(text, "the header of a JTL, which names 'elapsed'")


def _is_formatted(body: str, delimiter: str, column: int) -> bool:
    """Whether the time stamp of the first row is a formatted one."""
    first = next((row for row in csv.reader(io.StringIO(body[:_HEAD], newline=""), delimiter=delimiter) if row), [])
    return len(first) > column and _INSTANT.fullmatch(first[column].strip()) is not None


def _names_without_header(line: str) -> tuple[tuple[str, ...], str] | None:
    match = re.match(rf"\s*(?:[0-9]{{13}}|{_INSTANT.pattern})({_DELIMITER})[0-9]{{1,12}}\1", line)
    if not match:
        return None
    tokens = next(csv.reader([line], delimiter=match[1]))
    success = next((i for i, token in enumerate(tokens[6:8], 6) if token.strip() in ("true", "false")), None)
    tail = _TAILS.get(len(tokens) - 1 - success) if success else None
    if success is None or tail is None:
        return None
    return (*_FIRST, *(("dataType",) if success == 7 else ()), "success", *tail), match[1]


def _quickly(body: str, width: int, known: dict[str, int], delimiter: str, formatted: bool) -> pa.Table:
    """Read the known columns of rows without any other line between them; twice if a message spans several lines."""
    kinds = {name: pa.dictionary(pa.int32(), pa.string()) if name in _WORDS else pa.int64() for name in known}
    if formatted:
        kinds["timeStamp"] = pa.string()
    columns = [f"{i}" for i in range(width)]
    convert = arrow.ConvertOptions(
        include_columns=[columns[i] for i in known.values()],
        column_types={columns[i]: kinds[name] for name, i in known.items()},
        null_values=["", "null"],
    )
    read = arrow.ReadOptions(block_size=_BLOCK, column_names=columns)
    if not body:
        return pa.table({name: pa.array([], kinds[name]) for name in known})
    for several in (False, True):
        parse = arrow.ParseOptions(delimiter=delimiter, newlines_in_values=several)
        try:
            return arrow.read_csv(column_source(body), read, parse, convert).rename_columns(list(known))
        except pa.ArrowInvalid:
            if several or '"' not in body:
                raise
    raise AssertionError("the second pass returns or raises")


def _slowly(
    body: str, names: tuple[str, ...], counted: dict[str, int], delimiter: str, line: int, warnings: list[str]
) -> str:
    """Return the rows without the other lines between them; raise for the first row that is none."""
    kept = io.StringIO()
    write = csv.writer(kept, delimiter=delimiter, lineterminator="\n").writerow
    csv.field_size_limit(1 << 27)
    reader = csv.reader(io.StringIO(body, newline=""), delimiter=delimiter, strict=True)
    before = 0
    try:
        for row in reader:
            at, before = line + before, reader.line_num
            plain = delimiter.join(row).strip()
            if not plain or is_noise(plain) or tuple(token.strip() for token in row) == names:
                continue
            if len(row) * _FOREIGN <= len(names):
                warnings.append(f"line {at}: ignored, because JMeter does not write it: {plain[:60]!r}")
                continue
            if len(row) != len(names):
                raise ParseError(at, f"{len(names)} columns of a JTL", plain)
            for name, i in counted.items():
                if row[i].strip() not in ("", "null") and not _WHOLE.fullmatch(row[i]):
                    raise ParseError(at, f"a whole number for {name!r}", row[i])
            write(row)
    except csv.Error as error:
        raise ParseError(line + before, f"CSV of JMeter: {error}", "") from None
    return kept.getvalue()


def _milliseconds(column: pa.ChunkedArray, timezone: str, line: int) -> np.ndarray:
    """Formatted time stamps as ms since 1970."""
    tokens = pd.Series(column.to_pandas()).str.strip().str.replace("/", "-").str.replace(",", ".")
    try:
        times = pd.to_datetime(tokens, format="ISO8601", utc=False)
        if times.dt.tz is None:
            times = times.dt.tz_localize(timezone, ambiguous=True, nonexistent="shift_forward")
    except (ValueError, OverflowError, TypeError, AttributeError) as error:
        bad = next((i for i, token in enumerate(tokens) if not _INSTANT.fullmatch(str(token))), 0)
        raise ParseError(line + bad, "a time such as 2026/11/22 21:42:23.826", str(tokens[bad]) or str(error)) from None
    utc = times.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy().astype("datetime64[ms]")
    return np.asarray(utc.astype("int64"), float)


def _check(texts: dict[str, Any], numbers: dict[str, np.ndarray], body: str, line: int) -> None:
    """Refuse times that are none, an elapsed time that is missing, and a success that is neither true nor false."""
    wrong = np.isnan(numbers["elapsed"]) if "elapsed" in numbers else np.ones(1, bool)
    said = "an elapsed time"
    if "timeStamp" in numbers and not wrong.any():
        times = numbers["timeStamp"]
        wrong, said = ~((times >= 0) & (times <= _LATEST_MS)), "a time in ms since 1970"
    if "success" in texts and not wrong.any():
        codes, values = texts["success"]
        wrong = np.array([value.strip().lower() not in ("true", "false") for value in values])[codes]
        said = "true or false for 'success'"
    if "responseCode" in texts and not wrong.any():
        codes, values = texts["responseCode"]
        wrong, said = np.array([is_garbled_status(value.strip()) for value in values])[codes], "a response code"
    if wrong.any():
        row = int(np.argmax(wrong))
        rows = body.split("\n", row + 1)
        raise ParseError(line + row, said, rows[row] if row < len(rows) else "")


_BEGINNING = re.compile(r"<\?xml[^>]{0,200}\?>|<!DOCTYPE|<testResults")
_SAMPLES = ("httpSample", "sample")
# Attribute → JMeter's name of the column in CSV.
_XML_NUMBERS = {"t": "elapsed", "lt": "Latency", "ct": "Connect", "ts": "timeStamp", "by": "bytes", "sby": "sentBytes",
            "na": "allThreads", "it": "IdleTime", "sc": "SampleCount"}  # fmt: skip
_TEXTS = {"lb": "label", "rc": "responseCode", "rm": "responseMessage", "tn": "threadName"}
_INSIDE = {"failureMessage": "failureMessage", "java.net.URL": "URL"}
_XML_WHOLE = re.compile(r"-?[0-9]{1,18}")
_AT_END = ("no element found", "unclosed token", "unclosed CDATA section", "partial character")


def parse_jtl_xml(text: str) -> Parsed:
    """Tables `requests`, `runs`, `latency` and `labels` of a JTL of XML; a cut one up to its last sample."""
    begin = _BEGINNING.search(text)
    if begin is None:
        raise nothing_in(text, "XML of JMeter, which begins with <testResults")
    reader = _Reader(text.count("\n", 0, begin.start()))
    body = re.sub(r"\A<\?xml[^>]*\?>", "", text[begin.start() :])  # the text is decoded already
    try:
        reader.parser.Parse(body.encode("utf-8", "surrogatepass"), True)
    except expat.ExpatError as error:
        said, line = expat.ErrorString(error.code), reader.before + error.lineno
        if said not in _AT_END or not reader.rows:
            raise ParseError(line, f"XML of JMeter: {said}", "") from None
        reader.warnings.append(f"line {line}: the text ends inside a sample or before the last one")
    if not reader.rows:
        raise nothing_in(text, "a sample in the XML of JMeter")
    return _tables(reader.rows, reader.warnings)


class _Reader:
    """Collects the samples that are requests while expat goes through the document."""

    def __init__(self, before: int) -> None:
        self.before = before
        self.rows: list[dict[str, Any]] = []
        self.warnings: list[str] = []
        self._open: list[tuple[dict[str, Any], list[dict[str, Any]]]] = []  # samples, and the requests inside each
        self._text: list[str] = []
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text.append
        self.parser.StartDoctypeDeclHandler = self._doctype

    def _doctype(self, *_: object) -> None:
        raise ParseError(self._line, "XML of JMeter, which declares no document type", "<!DOCTYPE")

    @property
    def _line(self) -> int:
        return self.before + self.parser.CurrentLineNumber

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._text.clear()
        if name in _SAMPLES:
            self._open.append((_row(attributes, self._line), []))

    def _end(self, name: str) -> None:
        if name in _SAMPLES:
            row, inside = self._open.pop()
            found = inside if inside and is_transaction(row.get("responseMessage", "")) else [row]
            (self._open[-1][1] if self._open else self.rows).extend(found)
        elif name in _INSIDE and self._open:
            self._open[-1][0].setdefault(_INSIDE[name], "".join(self._text).strip())
        self._text.clear()


def _row(attributes: dict[str, str], line: int) -> dict[str, Any]:
    row: dict[str, Any] = {name: attributes[key] for key, name in _TEXTS.items() if key in attributes}
    for key, name in _XML_NUMBERS.items():
        if key in attributes:
            if not _XML_WHOLE.fullmatch(attributes[key]):
                raise ParseError(line, f"a whole number for {key!r}", attributes[key])
            row[name] = int(attributes[key])
    if "elapsed" not in row or not 0 <= row.get("timeStamp", 0) < _LATEST_MS:
        expected = "a sample with its elapsed time t, and its time ts in ms since 1970"
        raise ParseError(line, expected, str(attributes)[:80])
    if attributes.get("s") not in ("true", "false"):
        raise ParseError(line, "true or false for 's'", attributes.get("s", ""))
    if is_garbled_status(row.get("responseCode", "")):
        raise ParseError(line, "a response code for 'rc'", row["responseCode"])
    return row | {"passed": attributes["s"] == "true"}


def _tables(rows: list[dict[str, Any]], warnings: list[str]) -> Parsed:
    numbers = {
        name: np.array([row.get(name, math.nan) for row in rows], float)
        for name in _XML_NUMBERS.values()
        if any(name in row for row in rows)
    }
    texts = {}
    for name in (*_TEXTS.values(), *_INSIDE.values()):
        values: dict[str, int] = {}
        codes = np.array([values.setdefault(row[name], len(values)) if name in row else -1 for row in rows], "int32")
        if values:
            texts[name] = (codes, list(values))
    return parsed_samples(texts, numbers, np.array([row["passed"] for row in rows]), warnings)
