"""vegeta: read ``vegeta encode -to csv`` and ``-to json`` into the table `requests`.

Seen: vegeta 7 to 12 in public repositories.  Columns of the CSV (``lib/results.go``, no header): start in ns since the
epoch, status, latency in ns, bytes out, bytes in, error, body in base64; then the attack's name and the sequence number
(8 on), method and URL (12 on), response headers in base64 (12.8 on).  Old CSV has the error and the body swapped or the
body missing.  Status 0 is a hit without a response: missing here.
"""

import csv
import io
import re
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from loadcurve.errors import ParseError
from loadcurve.ingest.column_source import column_source
from loadcurve.ingest.json_text import Decoder
from loadcurve.ingest.parsed import Parsed
from loadcurve.tables.declared import ARROW_TEXT

_INTEGER = re.compile(r"[0-9]{1,18}")
_INSTANT = re.compile(r"[0-9]{18,19}")
_QUOTED = re.compile(r'(?:(?<=,)|^)"[^"\n]*(?:""[^"\n]*)*"(?=,|$)', re.MULTILINE)
_COLUMNS = ("time", "status", "latency_s", "sent_bytes", "received_bytes")
_NAMES = ("timestamp in ns", "status code", "latency in ns", "bytes out", "bytes in")
_WIDTHS = (6, 7, 8, 9, 11, 12)


def parse_vegeta_csv(text: str) -> Parsed:
    """Table `requests` of ``vegeta encode -to csv``: one row for each hit."""
    whole, newline, rest = text.rpartition("\n")
    if not newline:
        raise ParseError(1, "a line of vegeta encode -to csv with its newline", rest)
    warnings = [_cut(text, rest)] if rest.strip() else []
    csv.field_size_limit(1 << 27)
    columns = _quickly(whole + "\n")
    return _table(pd.DataFrame(_slowly(whole + "\n")) if columns is None else columns, warnings)


def _no_columns() -> dict[str, list[Any]]:
    return {name: [] for name in (*_COLUMNS, "error", "method", "url", "other")}


def _quickly(text: str) -> pd.DataFrame | None:
    """Return the columns of records that all are as vegeta 8 and later write them; None if one is not."""
    quoted = _QUOTED.sub("", text) if '"' in text else ""
    width = quoted.count(",", 0, quoted.find("\n")) if quoted else text.count(",", 0, text.find("\n"))
    if width + 1 not in _WIDTHS[3:] or '"' in quoted or ",0x" in text or ",0X" in text:  # Arrow reads hexadecimal too
        return None
    names = (*_COLUMNS, "error", "body", "attack", "seq", "method", "url", "headers")[: width + 1]
    wanted = [name for name in names if name not in ("body", "headers")]
    kinds = {name: pa.uint64() if name in _COLUMNS else pa.string() for name in wanted}
    read = arrow_csv.ReadOptions(column_names=names)
    convert = arrow_csv.ConvertOptions(
        include_columns=wanted, column_types=kinds, null_values=[""], strings_can_be_null=True
    )
    try:
        found = arrow_csv.read_csv(column_source(text), read, convert_options=convert)
    except pa.ArrowInvalid:
        return None
    for name, limit in zip(_COLUMNS, (2**63, *[10**18] * 4), strict=True):
        if found[name].null_count or pc.max(found[name]).as_py() >= limit:
            return None
    if not pc.all(pc.fill_null(pc.ascii_is_decimal(found["seq"]), False)).as_py():
        return None
    columns: dict[str, object] = {name: found[name].cast(pa.int64()).to_numpy() for name in _COLUMNS}
    attack = pc.fill_null(pc.binary_join_element_wise("attack=", found["attack"], " ", ""), "")
    texts = {"other": pc.binary_join_element_wise(attack, "seq=", found["seq"], "")}
    for name in ("error", "method", "url", "other"):
        texts.setdefault(name, found[name] if name in wanted else pa.nulls(len(found), pa.string()))
        columns[name] = pd.array(texts[name], dtype=ARROW_TEXT)
    return pd.DataFrame(columns, copy=False)


def _slowly(text: str) -> dict[str, list[Any]]:
    """Return the columns of records of any version, or raise at the line of the first that is none."""
    columns = _no_columns()
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    width = 0
    try:
        for record in reader:
            if not record:
                continue
            width = width or len(record)
            if len(record) != width or width not in _WIDTHS:
                raise ParseError(reader.line_num, f"{width if width in _WIDTHS else 12} columns", ",".join(record))
            _add(columns, record, reader.line_num)
    except csv.Error as error:
        raise ParseError(reader.line_num, f"CSV of vegeta: {error}", "") from None
    return columns


def parse_vegeta_jsonl(text: str) -> Parsed:
    """Table `requests` of ``vegeta encode`` (JSON, one object a line): one row for each hit."""
    *lines, rest = text.split("\n")
    columns = _no_columns()
    warnings: list[str] = []
    if rest.strip():
        # Complete by its own syntax, or cut.
        lines.append(rest) if rest.rstrip().endswith("}") else warnings.append(_cut(text, rest))
    decoder = Decoder()
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            hit = decoder.decode(line)
        except (ValueError, RecursionError):
            raise ParseError(number, "a JSON object of vegeta encode", line) from None
        warnings += decoder.warnings(number)
        if not isinstance(hit, dict) or not {"timestamp", "code", "latency"} <= hit.keys():
            raise ParseError(number, "an object with timestamp, code and latency", line)
        values = [hit["timestamp"], *(hit.get(name, 0) for name in ("code", "latency", "bytes_out", "bytes_in"))]
        if not isinstance(values[0], str):
            raise ParseError(number, "an instant for 'timestamp'", str(values[0]))
        for name, value in zip(_NAMES[1:], values[1:], strict=True):
            if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 10**18:
                raise ParseError(number, f"a whole number for the {name}", str(value))
        _append(columns, values, hit.get("error"), hit.get("method"), hit.get("url"), hit.get("attack"), hit.get("seq"))
    return _table(pd.DataFrame(columns), warnings)


def _add(columns: dict[str, list[Any]], record: list[str], line: int) -> None:
    tokens = [token.strip(" ") for token in record[:5]]
    for name, token in zip(_NAMES, tokens, strict=True):
        if not (_INSTANT if name == _NAMES[0] else _INTEGER).fullmatch(token):
            raise ParseError(line, f"a whole number for the {name}", token)
    values = [int(token) for token in tokens]
    if values[0] >= 2**63:
        raise ParseError(line, "a time in nanoseconds since the epoch", record[0])
    more = [*record[7:11], "", "", "", ""][:4]
    if len(record) > 8 and not _INTEGER.fullmatch(more[1]):
        raise ParseError(line, "a sequence number", more[1])
    _append(columns, values, record[5], more[2], more[3], more[0], more[1])


def _append(columns: dict[str, list[Any]], values: list[Any], *texts: object) -> None:
    for name, value in zip(_COLUMNS, values, strict=True):
        columns[name].append(value)
    error, method, url, attack, sequence = (text if isinstance(text, str | int) else "" for text in texts)
    for name, value in (("error", error), ("method", method), ("url", url)):
        columns[name].append(str(value) or None)
    others = (f"{name}={value}" for name, value in (("attack", attack), ("seq", sequence)) if value != "")
    columns["other"].append(" ".join(others) or None)


def _table(table: pd.DataFrame, warnings: list[str]) -> Parsed:
    if not len(table):
        raise ParseError(1, "a hit of vegeta encode", "")
    options = {"format": "ISO8601"} if isinstance(table["time"].iloc[0], str) else {"unit": "ns"}
    try:
        table["time"] = pd.to_datetime(table["time"], utc=True, **options)
    except (ValueError, OverflowError, TypeError) as error:
        raise ParseError(1, "instants such as 2019-01-02T10:00:00Z", str(error)[:80]) from None
    table["latency_s"] = table["latency_s"] / 1e9
    table["status"] = table["status"].where(table["status"] > 0).astype("Int64")
    table.insert(0, "generator", 0)
    table.insert(1, "tool", pd.Categorical.from_codes(np.zeros(len(table), "int8"), ["vegeta"]))
    return Parsed("vegeta", {"requests": table}, tuple(warnings))


def _cut(text: str, rest: str) -> str:
    return f"line {text.count(chr(10)) + 1}: the text ends inside a line, which is left out: {rest[:60]!r}"
