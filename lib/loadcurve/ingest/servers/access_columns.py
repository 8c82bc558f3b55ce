"""Columns of an access log: from lines of several layouts to one table, and the lines that fit no layout."""

import math
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from loadcurve.ingest.report_text import is_noise
from loadcurve.ingest.servers.access_layout import Layout
from loadcurve.ingest.servers.access_variables import Field
from loadcurve.tables.declared import ARROW_TEXT

_NAMED_ODD = 5  # lines that warnings name one by one
_SESSION = re.compile(r"==> .* <==|#.*|[\[\]]")
_FEW = 1000  # rows whose texts are converted faster one by one
_LOOKED_AT = 400  # characters of a line that decide whether it is noise
_MISSING = ("-", "")
_TIMES = ("clf", "iso", "epoch")  # from the least to the most exact
_REQUEST = re.compile(r"([A-Za-z][A-Za-z_-]{0,30}) (\S.*?)(?: (HTTP/[0-9.]{1,5}))?")
_HOST_AND_PORT = re.compile(r"[\w.*-]*:[0-9]{1,5}|\[[0-9a-fA-F:]+\]:[0-9]{1,5}")
_ADDRESS = re.compile(r"[.:]")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NAT = np.datetime64("NaT", "us")
_NAMES = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_MONTHS = {name: f"{number:02d}" for number, name in enumerate(_NAMES, 1)}
_FIRST = np.datetime64("0001-01-01")  # of datetime; NumPy has a year 0


class UnreadLines:
    """Lines that are left out: the first ones by number, the others counted."""

    def __init__(self) -> None:
        self._named: list[str] = []
        self._more = 0

    def note(self, line: str, number: int) -> None:
        """Note a line that does not fit, unless it is certainly noise."""
        line = line.strip()
        if not (is_noise(line[:_LOOKED_AT]) or _SESSION.fullmatch(line[:_LOOKED_AT])):
            self.warn(f"line {number}: not in the format of the log, so left out: {line[:60]!r}")

    def warn(self, sentence: str) -> None:
        """Add a warning, or only count it where there are enough."""
        if len(self._named) < _NAMED_ODD:
            self._named.append(sentence)
        else:
            self._more += 1

    def warnings(self) -> tuple[str, ...]:
        """One sentence for each named line, and one for the others."""
        return (*self._named, *([f"{self._more} more lines have such faults"] if self._more else []))


Values = Any  # np.ndarray or pa.DictionaryArray: numbers and instants, or texts


class Parts:
    """Columns of lines, collected by layout and joined in the order of the lines."""

    def __init__(self) -> None:
        self._parts: list[tuple[np.ndarray, dict[str, Values]]] = []
        self.rows = 0

    def add(self, columns: dict[str, Values], numbers: Sequence[int], unread_lines: UnreadLines) -> None:
        """Add the columns of the lines with these numbers."""
        at = np.asarray(numbers)
        if "time" in columns and (missing := np.isnat(columns["time"])).any():
            for number in at[missing]:
                unread_lines.warn(f"line {number}: there is no such time, so it is missing")
        self._parts.append((at, columns))
        self.rows += len(at)

    def table(self, tool: str) -> pd.DataFrame:
        """All rows in the order of their lines; missing where a layout lacks a column."""
        numbers = np.concatenate([numbers for numbers, _ in self._parts])
        order = None if (np.diff(numbers) >= 0).all() else np.argsort(numbers, kind="stable")
        whole = {name: self._joined(name, order) for name in dict.fromkeys(n for _, c in self._parts for n in c)}
        whole["tool"] = pd.Categorical.from_codes(np.zeros(self.rows, "int8"), [tool])
        return pd.DataFrame(whole, copy=False)

    def _joined(self, name: str, order: np.ndarray | None) -> object:
        pieces = [(len(numbers), columns.pop(name, None)) for numbers, columns in self._parts]
        if any(isinstance(piece, pa.DictionaryArray) for _, piece in pieces):
            kind = pa.dictionary(pa.int32(), pa.string())
            chunks = [pa.nulls(rows, kind) if piece is None else piece for rows, piece in pieces]
            texts = pa.chunked_array(chunks, kind).unify_dictionaries().combine_chunks()
            texts = texts if order is None else texts.take(pa.array(order))
            if len(texts) < _FEW:
                return texts.to_numpy(zero_copy_only=False)
            is_repeated = 2 * len(texts.dictionary) < len(texts)
            return texts.to_pandas().array if is_repeated else pd.array(texts.cast(pa.string()), dtype=ARROW_TEXT)
        missing = _NAT if name == "time" else np.nan
        column = np.concatenate([np.full(rows, missing) if piece is None else piece for rows, piece in pieces])
        column = column if order is None else column[order]
        return pd.DatetimeIndex(column, tz="UTC") if name == "time" else column


def _text(value: str) -> str | None:
    return None if value in _MISSING else value


def _clf_times(values: Sequence[str]) -> np.ndarray:
    """Instants of texts such as ``20/Nov/2026:22:34:32 +0000``; not a time where there is no such date."""
    try:
        local = np.array([f"{v[7:11]}-{_MONTHS[v[3:6]]}-{v[:2]}T{v[12:20]}" for v in values], "datetime64[us]")
        ahead = np.array([_ahead_us(v[21:]) for v in values], "timedelta64[us]")
    except (ValueError, KeyError):  # one of them is none
        return np.array([_clf(value) for value in values])
    return local - ahead if local.min() >= _FIRST else np.array([_clf(value) for value in values])


def _clf(value: str) -> np.datetime64:
    try:
        text = f"{value[7:11]}-{_MONTHS[value[3:6]]}-{value[:2]} {value[12:]}"
        return _utc(datetime.strptime(text, "%Y-%m-%d %H:%M:%S %z"))
    except (ValueError, KeyError, OverflowError):
        return _NAT


@cache
def _ahead_us(offset: str) -> int:
    ahead = datetime.strptime(offset, "%z").utcoffset()
    assert ahead is not None, "%z raises without one"
    return ahead // timedelta(microseconds=1)


def _iso(value: str) -> np.datetime64:
    try:
        return _utc(datetime.fromisoformat(value))
    except (ValueError, OverflowError):
        return _NAT


def _utc(time: datetime) -> np.datetime64:
    return np.datetime64((time - _EPOCH) // timedelta(microseconds=1), "us")


def _request(value: str) -> tuple[str | None, str | None, str | None, str | None]:
    """Method, target and protocol of a request line; anything else, such as a TLS handshake, is the fourth."""
    if value in _MISSING:
        return None, None, None, None
    match = _REQUEST.fullmatch(value)
    return (match[1], match[2], match[3], None) if match else (None, None, None, f'request="{value}"')


def _head(value: str) -> tuple[str | None, str | None, str | None]:
    """Client, user and virtual host of the text before the time: ``[host:port ]client[ ident user]``."""
    tokens = value.split(" ")
    host = None
    if len(tokens) >= 2 and tokens[1] != "-" and not tokens[0].endswith(",") and _is_host(tokens):
        host, *tokens = tokens
    clients = 1
    while clients < len(tokens) and tokens[clients - 1].endswith(","):  # a list of addresses: the first is the client's
        clients += 1
    return _text(tokens[0].rstrip(",")), _text(" ".join(tokens[clients + 1 :])), host and f"host={host}"


def _is_host(tokens: list[str]) -> bool:
    """Whether the first word is a virtual host: it has its port, or the four words are host, client, ``-``, user."""
    alone = len(tokens) == 4 and tokens[2] == "-" and _ADDRESS.search(tokens[1])
    return bool(_HOST_AND_PORT.fullmatch(tokens[0]) or alone)


def _upstream(value: str) -> float:
    """Sum of a list of times, such as ``0.010, 0.020 : 0.1``; missing where no server was asked or none answered."""
    times = [float(part) for part in re.split(r"[,:\s]+", value) if part not in _MISSING]
    return math.fsum(times) if times else math.nan


class Reader:
    """Columns of the lines of one layout."""

    def __init__(self, layout: Layout) -> None:
        clocks = [field.kind.split(":")[0] for field in layout.fields]
        best = max((_TIMES.index(clock) for clock in clocks if clock in _TIMES), default=-1)
        self._fields = [(i, field) for i, field in enumerate(layout.fields) if clocks[i] not in _TIMES[: max(best, 0)]]
        self._request, self._head = cache(_request), cache(_head)  # of this reader, so that they are freed with it
        others = [(i, field) for i, field in self._fields if field.kind == "other"]
        self._others = [i for i, _ in others]
        self._template = " ".join(_shown(layout, i, field) for i, field in others)

    def read(self, columns: Sequence[pa.DictionaryArray]) -> dict[str, Values]:
        """Columns of the table from the texts of each field: each different text is read once.

        Missing values are null in texts, NaN in numbers and NaT in instants.
        """
        found: dict[str, Values] = {}
        others: list[pa.DictionaryArray] = []
        for i, field in self._fields:
            kind, column, scale = [*field.kind.split(":"), "", ""][:3]
            texts, index = columns[i].dictionary.to_pylist(), columns[i].indices
            at = index.to_numpy()
            if kind == "clf":
                found["time"] = _clf_times(texts)[at]
            elif kind == "iso":
                found["time"] = np.array([_iso(text) for text in texts])[at]
            elif kind == "epoch":
                seconds = np.array([float(text) for text in texts]) * float(column)
                found["time"] = np.round(seconds * 1e6).astype("datetime64[us]")[at]
            elif kind == "status":
                missing = (*_MISSING, "000")
                found["status"] = np.array([math.nan if text in missing else float(text) for text in texts])[at]
            elif kind == "upstream":
                found["upstream_s"] = np.array([_upstream(text) for text in texts])[at]
            elif kind == "number" and (column not in found or field.name in ("bytes_sent", "O")):
                numbers = [math.nan if text in _MISSING else float(text) for text in texts]
                found[column] = (np.array(numbers) * float(scale))[at]
            elif kind == "text" and column not in found:
                found[column] = _encoded([_text(text) for text in texts], index)
            elif kind == "request":
                parts = list(zip(*map(self._request, texts), strict=True))
                for name, part in zip(("method", "url", "protocol"), parts, strict=False):
                    found.setdefault(name, _encoded(part, index))
                others.append(_encoded(parts[3], index))
            elif kind == "head":
                client, user, host = zip(*map(self._head, texts), strict=True)
                found |= {"client_address": _encoded(client, index), "user": _encoded(user, index)}
                others.append(_encoded(host, index))
        if self._others:
            rows = zip(*(columns[i].to_pylist() for i in self._others), strict=True)
            others.append(pa.array([self._template % row for row in rows], pa.string()).dictionary_encode())
        some = [texts for texts in others if texts.null_count < len(texts)]
        if len(some) == 1:
            found["other"] = some[0]
        elif some:
            rows = zip(*(texts.to_pylist() for texts in some), strict=True)
            found["other"] = pa.array([" ".join(filter(None, row)) or None for row in rows]).dictionary_encode()
        return found


def encoded(groups: Sequence[tuple[str, ...]]) -> list[pa.DictionaryArray]:
    """Texts of each field, from the texts of each line."""
    return [pa.array(texts, pa.string()).dictionary_encode() for texts in zip(*groups, strict=True)]


def _encoded(values: Sequence[str | None], index: pa.Array) -> pa.DictionaryArray:
    """One value for each index; different texts may have the same value."""
    found = pa.array(values, pa.string()).dictionary_encode()
    return pa.DictionaryArray.from_arrays(found.indices.take(index), found.dictionary)


def _shown(layout: Layout, i: int, field: Field) -> str:
    """Template of a variable in the column `other`: its name if it has one, and its quotes."""
    quote = '"' if layout.literals[i + 1].startswith('"') else ""
    name = f"{field.name}=" if field.name else ""
    return f"{name.replace('%', '%%')}{quote}%s{quote}"
