"""Columns of an access log: from lines of several layouts to one table, and the lines that fit no layout."""

import math
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from functools import cache

import numpy as np
import pandas as pd

from loadcurve.ingest.lazy_regex import lazy_regex
from loadcurve.ingest.noise import is_noise
from loadcurve.ingest.servers.access_layout import Layout
from loadcurve.ingest.servers.access_variables import Field

_NAMED_ODD = 5  # lines that warnings name one by one
_SESSION = lazy_regex(r"==> .* <==|#.*|[\[\]]")
_LOOKED_AT = 400  # characters of a line that decide whether it is noise
_MISSING = ("-", "")
_TIMES = ("clf", "iso", "epoch")  # from the least to the most exact
_REQUEST = lazy_regex(r"([A-Za-z][A-Za-z_-]{0,30}) (\S.*?)(?: (HTTP/[0-9.]{1,5}))?")
_HOST_AND_PORT = lazy_regex(r"[\w.*-]*:[0-9]{1,5}|\[[0-9a-fA-F:]+\]:[0-9]{1,5}")
_ADDRESS = lazy_regex(r"[.:]")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NAT = np.datetime64("NaT", "us")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


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


class Parts:
    """Columns of lines, collected by layout and joined in the order of the lines."""

    def __init__(self) -> None:
        self._parts: list[tuple[np.ndarray, dict[str, np.ndarray]]] = []
        self.rows = 0

    def add(self, columns: dict[str, np.ndarray], numbers: Sequence[int], unread_lines: UnreadLines) -> None:
        """Add the columns of the lines with these numbers."""
        at = np.asarray(numbers)
        if "time" in columns and (missing := np.isnat(columns["time"])).any():
            for number in at[missing]:
                unread_lines.warn(f"line {number}: there is no such time, so it is missing")
        self._parts.append((at, columns))
        self.rows += len(at)

    def table(self) -> pd.DataFrame:
        """All rows in the order of their lines; missing where a layout lacks a column."""
        dtypes = {name: column.dtype for _, columns in self._parts for name, column in columns.items()}
        numbers = np.concatenate([numbers for numbers, _ in self._parts])
        whole = {
            name: np.concatenate([c[name] if name in c else _missing(len(n), dtype) for n, c in self._parts])
            for name, dtype in dtypes.items()
        }
        if (np.diff(numbers) < 0).any():
            order = np.argsort(numbers, kind="stable")
            whole = {name: column[order] for name, column in whole.items()}
        if "time" in whole:
            whole["time"] = pd.DatetimeIndex(whole["time"], tz="UTC")
        return pd.DataFrame(whole)


def _missing(rows: int, dtype: np.dtype) -> np.ndarray:
    if dtype.kind == "O":
        return np.full(rows, None, dtype=object)
    return np.full(rows, np.nan) if dtype.kind == "f" else np.full(rows, np.datetime64("NaT", "us"))


class Memo(dict):
    """Values by text; a function reads each new text once."""

    def __init__(self, read: Callable[[str], object]) -> None:
        super().__init__()
        self._read = read

    def __missing__(self, text: str) -> object:
        value = self[text] = self._read(text)
        return value


def _text(value: str) -> str | None:
    return None if value in _MISSING else value


def _status(value: str) -> float:
    return math.nan if value in _MISSING or value == "000" else float(value)


def _clf(value: str) -> np.datetime64:
    """Instant of ``20/Nov/2026:22:34:32 +0000``; not a time where there is no such date."""
    try:
        year, month, day = int(value[7:11]), _MONTHS.index(value[3:6]) + 1, int(value[:2])
        hour, minute, second = int(value[12:14]), int(value[15:17]), int(value[18:20])
        return _utc(datetime(year, month, day, hour, minute, second, tzinfo=_zone(value[21:])))
    except (ValueError, OverflowError):
        return _NAT


@cache
def _zone(offset: str) -> tzinfo | None:
    return datetime.strptime(offset, "%z").tzinfo


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
        self._memo: dict[str, Memo] = {}
        others = [(i, field) for i, field in self._fields if field.kind == "other"]
        self._others = [i for i, _ in others]
        self._template = " ".join(_shown(layout, i, field) for i, field in others)

    def read(self, groups: Sequence[tuple[str, ...]]) -> dict[str, np.ndarray]:
        """Columns of these lines: texts and None, numbers and NaN, instants and NaT."""
        texts = list(zip(*groups, strict=True))
        columns: dict[str, np.ndarray] = {}
        others: list[Sequence[str | None]] = []
        for i, field in self._fields:
            kind, column, scale = [*field.kind.split(":"), "", ""][:3]
            if kind in ("clf", "iso"):
                columns["time"] = self._map(kind, _clf if kind == "clf" else _iso, texts[i], "datetime64[us]")
            elif kind == "epoch":
                seconds = np.array(list(map(float, texts[i]))) * float(column)
                columns["time"] = np.round(seconds * 1e6).astype("datetime64[us]")
            elif kind == "status":
                columns["status"] = self._map(kind, _status, texts[i], float)
            elif kind == "upstream":
                columns["upstream_s"] = self._map(kind, _upstream, texts[i], float)
            elif kind == "number" and (column not in columns or field.name in ("bytes_sent", "O")):
                columns[column] = self._map(f"{column} {field.name}", _scaled(float(scale)), texts[i], float)
            elif kind == "text" and column not in columns:
                columns[column] = self._map(column, _text, texts[i], object)
            elif kind == "request":
                parts = list(zip(*map(self._of("request", _request).__getitem__, texts[i]), strict=True))
                for name, part in zip(("method", "url", "protocol"), parts, strict=False):
                    columns.setdefault(name, _objects(part))
                others.append(parts[3])
            elif kind == "head":
                client, user, host = zip(*map(self._of("head", _head).__getitem__, texts[i]), strict=True)
                columns |= {"client_address": _objects(client), "user": _objects(user)}
                others.append(host)
        if self._others:
            template = self._template
            others.append([template % row for row in zip(*(texts[i] for i in self._others), strict=True)])
        found = [part for part in others if any(part)]
        if len(found) == 1:
            columns["other"] = _objects(found[0])
        elif found:
            columns["other"] = _objects([" ".join(filter(None, row)) or None for row in zip(*found, strict=True)])
        return columns

    def _of(self, name: str, read: Callable[[str], object]) -> Memo:
        return self._memo.setdefault(name, Memo(read))

    def _map(self, name: str, read: Callable[[str], object], texts: Sequence[str], dtype: str | type) -> np.ndarray:
        values = list(map(self._of(name, read).__getitem__, texts))
        return _objects(values) if dtype is object else np.array(values, dtype=dtype)


def _scaled(scale: float) -> Callable[[str], float]:
    return lambda value: math.nan if value in _MISSING else float(value) * scale


def _objects(values: Sequence[object]) -> np.ndarray:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _shown(layout: Layout, i: int, field: Field) -> str:
    """Template of a variable in the column `other`: its name if it has one, and its quotes."""
    quote = '"' if layout.literals[i + 1].startswith('"') else ""
    name = f"{field.name}=" if field.name else ""
    return f"{name.replace('%', '%%')}{quote}%s{quote}"
