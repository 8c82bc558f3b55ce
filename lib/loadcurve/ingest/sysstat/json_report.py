"""Read JSON of sysstat (``sadf -j``, ``mpstat -o JSON``, ``iostat -o JSON``), complete or cut off."""

import math
import re
from collections.abc import Iterable, Iterator
from typing import Any

from loadcurve.errors import ParseError
from loadcurve.ingest.json_text import Decoder, load_json
from loadcurve.ingest.report_text import nothing_in
from loadcurve.ingest.sysstat.text_report import Reader

_BEGINNING = re.compile(r"\{\s*\"sysstat\"\s*:\s*\{")
_STATISTICS = re.compile(r"\"statistics\"\s*:\s*\[")
# Some languages print a decimal comma, which is invalid JSON: "usr": 20,42
_COMMA = re.compile(r"(\"\s*:\s*-?[0-9]+),([0-9]+)(?=\s*[,}\]])")
_NEXT = re.compile(r"\s*,?\s*")
_END = "]}]}}"


def hosts_of(text: str, tool: str, warnings: list[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield each host of each document of a text, and the line where its document begins.

    A document that ends too early is read up to its last whole interval.

    Examples
    --------
    >>> notes = []
    >>> text = '{"sysstat": {"hosts": [{"nodename": "vm", "statistics": [{"timestamp": "22:33:26"}, {"time'
    >>> [host["statistics"] for _, host in hosts_of(text, "mpstat", notes)], notes
    ([[{'timestamp': '22:33:26'}]], ['line 1: the JSON ends inside an interval, which is left out'])
    """
    starts = [match.start() for match in _BEGINNING.finditer(text)]
    if not starts:
        raise nothing_in(text, f"JSON of {tool}")
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        number = text.count("\n", 0, start) + 1
        for host in _document(text[start:end], number, tool, warnings):
            if not isinstance(host, dict):
                raise ParseError(number, f"hosts with statistics in the JSON of {tool}", str(host))
            yield number, host


def intervals_of(
    text: str, reader: Reader, tool: str, what: str, warnings: list[str]
) -> Iterator[tuple[int, dict[str, Any], dict[str, Any]]]:
    """Yield each interval of each host: line of its document, its columns `host` and `time`, and its object."""
    for number, document in hosts_of(text, tool, warnings):
        reader.document(document, number)
        for interval in objects_in(document.get("statistics"), f"the {what} of {tool}", number):
            yield number, reader.stamp(interval.get("timestamp"), number), interval


def warn_unknown_keys(tool: str, names: Iterable[str], number: int, warnings: list[str]) -> None:
    """Warn about unknown keys, once for each set of them."""
    sentence = f"keys of {tool} not known, left out: {' '.join(names)[:200]}"
    if not sentence.endswith(": ") and not any(warning.endswith(sentence) for warning in warnings):
        warnings.append(f"line {number}: {sentence}")


def _document(text: str, number: int, tool: str, warnings: list[str]) -> list[Any]:
    notes: list[str] = []  # with lines of the document
    try:
        document = load_json(text, f"JSON of {tool}", notes)
    except ParseError as error:
        pointed = _COMMA.sub(r"\1.\2", text)
        whole = _whole_intervals(pointed)
        if not whole:
            raise ParseError(number + error.line - 1, error.expected, error.got) from None
        try:
            document = load_json(pointed, f"JSON of {tool}", notes)
        except ParseError:
            document = load_json(whole, f"JSON of {tool}", notes)
            warnings.append(f"line {number + error.line - 1}: the JSON ends inside an interval, which is left out")
    warnings += [f"line {number}: {note.partition(': ')[2]}" for note in notes]
    hosts = document["sysstat"].get("hosts") if isinstance(document, dict) else None
    if not isinstance(hosts, list):
        raise ParseError(number, f"hosts in the JSON of {tool}", text[:40])
    return hosts


def _whole_intervals(text: str) -> str:
    """Return the text up to the last complete interval of its first host, closed; empty if there is none."""
    begin = _STATISTICS.search(text)
    if begin is None:
        return ""
    decoder, at, end = Decoder(), begin.end(), 0
    while (following := _NEXT.match(text, at)) and text[following.end() : following.end() + 1] == "{":
        try:
            _, at = decoder.raw_decode(text, following.end())
        except (ValueError, RecursionError):
            break
        end = at
    return text[:end] + _END if end else ""


def objects_in(value: object, where: str, number: int) -> list[dict[str, Any]]:
    """Return a list of objects of the JSON, an empty one for null."""
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        raise ParseError(number, f"a list of objects for {where}", str(value))
    return value


def rate_in(value: object, name: str, number: int) -> float:
    """Return a finite number of at least 0 of the JSON, NaN for null."""
    if value is None:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e18:
        raise ParseError(number, f"a number of at least 0 for {name}", str(value))
    return float(value)


def ratio_in(value: object, name: str, number: int) -> float:
    """Ratio of a percentage of the JSON, NaN for null."""
    return round(rate_in(value, name, number) / 100, 9)  # the nearest number to what was printed
