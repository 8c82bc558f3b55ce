"""JSON of a tool into Python objects, with the line where something is wrong; the one place where JSON is decoded.

A repeated key in an object is legal JSON, and the last value counts; no tool prints one, so each gets a warning.
"""

import json
import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from loadcurve.errors import ParseError
from loadcurve.ingest.report_text import nothing_in

if TYPE_CHECKING:
    import pandas as pd

_MAX_BITS = 1000  # of a whole number that a float can hold


class Decoder(json.JSONDecoder):
    """Decodes JSON, and notes each repeated key of an object.

    Examples
    --------
    >>> decoder = Decoder()
    >>> decoder.decode('{"a": 1, "b": {"a": 2}, "a": 3}'), decoder.warnings(7)
    ({'a': 3, 'b': {'a': 2}}, ["line 7: the key 'a' occurs twice in an object of this JSON; its last value is used"])
    """

    def __init__(self, **options: Any) -> None:
        self.repeated: list[str] = []  # Repeated keys without a warning yet, each once
        self._warned: set[str] = set()
        super().__init__(object_pairs_hook=self._object, **options)

    def _object(self, pairs: list[tuple[str, object]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            seen: set[str] = set()
            for key, _ in pairs:
                if key in seen and key not in self._warned:
                    self._warned.add(key)
                    self.repeated.append(key)
                seen.add(key)
        return found

    def warnings(self, line: int) -> list[str]:
        """Return a warning for each key noted since the last call; `line` is where the JSON begins."""
        keys, self.repeated = self.repeated, []
        reason = "occurs twice in an object of this JSON; its last value is used"
        return [f"line {line}: the key {key[:60]!r} {reason}" for key in keys]


def load_json(text: str, expected: str, warnings: list[str]) -> object:
    """Return the first JSON value of a text; what is not finite is refused where it is read, not here."""
    decoder = Decoder()
    # At the start of a line, because a shell's prompt may contain a bracket too: [root@lb1 ~]# cat local.wrk.json
    begin = re.search(r"^[ \t]*(?=[{\[](?!\w+@))", text, re.MULTILINE) or re.search(r"(?=[{\[])", text)
    if begin is None:
        raise nothing_in(text, expected)
    start = begin.end()
    try:
        document = decoder.raw_decode(text, start)[0]
    except json.JSONDecodeError as error:
        got = text[error.pos : error.pos + 40].split("\n")[0] or "the end of the text"
        raise ParseError(error.lineno, f"{expected}: {error.msg}", got) from None
    except (RecursionError, ValueError) as error:  # nested too deeply; an integer of thousands of digits
        raise ParseError(text.count("\n", 0, start) + 1, expected, f"{type(error).__name__}: {error}") from None
    warnings += decoder.warnings(text.count("\n", 0, start) + 1)
    return document


def value_at(document: object, path: str, text: str, required: bool = True) -> Any:
    """Return the value at a dotted path of a JSON document, None where it is absent or null and not required."""
    found = document
    for key in path.split("."):
        found = found.get(key) if isinstance(found, Mapping) else None
        if found is None:
            if required:
                raise ParseError(line_of(path, text), f"{path!r} in the JSON", "nothing")
            return None
    return found


def number_of(value: Any, path: str, text: str, least: float = 0.0) -> float:
    """Return a value of a JSON document, at this dotted path, as float; NaN where it is null."""
    if value is None:
        return math.nan
    counted = isinstance(value, int) and not isinstance(value, bool) and value.bit_length() < _MAX_BITS
    if not (counted or (isinstance(value, float) and math.isfinite(value))) or value < least:
        got = str(value) if counted or isinstance(value, bool | float | str) else "no number, or one too large"
        raise ParseError(line_of(path, text), f"a number of at least {least:g} for {path!r}", got)
    return float(value)


def number_at(document: object, path: str, text: str, required: bool = True, least: float = 0.0) -> float:
    """Return the number at a dotted path of a JSON document as float; NaN where it is absent or null."""
    return number_of(value_at(document, path, text, required), path, text, least)


def numbers_at(
    document: object, paths: Mapping[str, str], text: str, required: bool = True, per: float = 1.0
) -> dict[str, float]:
    """Return the numbers at dotted paths by column, as `number_at` does; `per` is how many of a unit are one in SI.

    Examples
    --------
    >>> numbers_at({"times": {"mean": 2500}}, {"latency_mean_s": "times.mean"}, "", per=1e6)
    {'latency_mean_s': 0.0025}
    """
    return {column: number_at(document, path, text, required) / per for column, path in paths.items()}


def integer_at(document: object, path: str, text: str) -> int:
    """Return the whole number at a dotted path of a JSON document."""
    value = number_at(document, path, text)
    if value != int(value) or value >= 2**63:
        raise ParseError(line_of(path, text), f"a whole number for {path!r}", str(value))
    return int(value)


def optional_integer_at(document: object, path: str, text: str) -> int | None:
    """Return what `integer_at` returns, but None where the number is absent or null."""
    return None if value_at(document, path, text, required=False) is None else integer_at(document, path, text)


def mapping_at(document: object, path: str, text: str, required: bool = True) -> Mapping[str, Any]:
    """Return the object at a dotted path of a JSON document; an empty one where it is absent or null."""
    found = value_at(document, path, text, required)
    if found is not None and not isinstance(found, Mapping):
        raise ParseError(line_of(path, text), f"an object for {path!r}", str(found))
    return found or {}


def counts_at(document: object, path: str, text: str, required: bool = True) -> dict[str, int]:
    """Return the whole numbers of at least 0, by name, of the object at a dotted path of a JSON document."""
    counts = mapping_at(document, path, text, required)
    for name, count in counts.items():
        if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count < 10**18:
            raise ParseError(line_of(f"{path}.{name}", text), f"a count for {name[:40]!r}", str(count))
    return dict(counts)


def instant(value: str, path: str, text: str) -> "pd.Timestamp":
    """Return an instant in UTC, of the time at a dotted path; UTC where it names no zone."""
    import pandas as pd  # takes 0.25 s, which a reader of rows need not spend

    try:
        found = pd.Timestamp(value)
        return found.tz_localize("UTC") if found.tz is None else found.tz_convert("UTC")
    except (ValueError, OverflowError):
        raise ParseError(line_of(path, text), "an instant such as 2023-07-21T14:00:40Z", value) from None


def line_of(path: str, text: str) -> int:
    """Line of the last key of a dotted path, as far as its keys occur in that order; 1 where none does."""
    at = 0
    for key in path.split("."):
        found = text.find(json.dumps(key), at)
        if found < 0:
            break
        at = found
    return text.count("\n", 0, at) + 1


def each_json(text: str, expected: str) -> tuple[list[tuple[object, int]], list[str]]:
    r"""Return the JSON documents of a text, each with the line where it begins, and warnings.

    A document begins with ``{`` or ``[`` at the start of a line; text before, between and after documents is skipped.

    Examples
    --------
    >>> each_json('{"a": 1}\n{"a": 2}\n{"a": ', "JSON of a tool")
    ([({'a': 1}, 1), ({'a': 2}, 2)], ['line 3: not JSON from here on, so left out'])
    """
    found: list[tuple[object, int]] = []
    warnings: list[str] = []
    decoder = Decoder()
    end = at = 0
    line = 1
    for match in re.finditer(r"^[ \t]*(?=[{\[])", text, re.MULTILINE):
        if match.end() < end:
            continue
        line, at = line + text.count("\n", at, match.end()), match.end()
        try:
            document, end = decoder.raw_decode(text, match.end())
        except (RecursionError, ValueError) as error:
            if not found:
                at = error.pos if isinstance(error, json.JSONDecodeError) else at
                problem = error.msg if isinstance(error, json.JSONDecodeError) else f"{type(error).__name__}"
                got = text[at : at + 40].split("\n")[0] or "the end of the text"
                raise ParseError(text.count("\n", 0, at) + 1, f"{expected}: {problem}", got) from None
            warnings.append(f"line {line}: not JSON from here on, so left out")
            break
        found.append((document, line))
        warnings += decoder.warnings(line)
    if not found:
        raise nothing_in(text, expected)
    return found, warnings
