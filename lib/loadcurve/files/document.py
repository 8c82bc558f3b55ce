"""Records that people write: their values, the line of each, and the limits that hold for YAML and TOML.

A checked dataclass is built from a document; all its faults are reported together, each with its line.
"""

import copy
import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

from pydantic import TypeAdapter, ValidationError

from loadcurve.errors import ParseError, ValueRuleError

Place = tuple[str | int, ...]

# A handwritten file has a few KB; a file with 10,000 listed points is smaller than this limit.  A link can point to an
# endless device.
MAX_BYTES = 1 << 20
MAX_DEPTH = 20
MAX_DIGITS = 300  # of a whole number, so that a float can hold it


@dataclass(frozen=True)
class Document:
    """Values of a file and their lines."""

    values: Any  # Mappings, lists, strings, numbers, booleans and None
    lines: dict[Place, int]  # Place, such as `("factors", "connections", 2)` → line, from 1
    path: Path  # Path of the file

    def line(self, place: Place) -> int:
        """Return the line of a place, or of the nearest enclosing place; 0 if the file has neither."""
        while place and place not in self.lines:
            place = place[:-1]
        return self.lines.get(place, 0)

    def place(self, start: Place, words: tuple[str, ...]) -> Place:
        """Return the place of a dotted name below `start`; a key may contain dots itself, as names of sysctls do."""
        inner = self.values
        for word in start:
            inner = inner[word] if isinstance(inner, dict) and word in inner else None
        while words:
            known = inner if isinstance(inner, dict) else {}
            taken = next((at for at in range(len(words), 0, -1) if ".".join(words[:at]) in known), 1)
            key, words = ".".join(words[:taken]), words[taken:]
            start, inner = (*start, key), known.get(key)
        return start

    def fault(self, place: Place, expected: str, got: object) -> ParseError:
        """Return an error about the value at a place."""
        return ParseError(self.line(place), expected, str(got), str(self.path))


@dataclass(frozen=True)
class TomlDocument(Document):
    """Values of a TOML file; `text` shows where the line of each key begins."""

    text: str

    def line(self, place: Place) -> int:
        """Return the line in which the last key of a place is written, after those of the tables around it."""
        rows, at = self.text.split("\n"), 0
        for word in (re.escape(word) for word in place if isinstance(word, str)):
            written = re.compile(rf"(?<![\w-]){word}(?![\w-])")
            at = next((row for row in range(at, len(rows)) if written.search(rows[row])), at)
        return at + 1


def read_toml(path: Path) -> Document:
    """Read a TOML file; dates and times are texts."""
    text = read_text(path)
    try:
        return TomlDocument(_plain(tomllib.loads(text), 0), {}, path, text)
    except tomllib.TOMLDecodeError as error:
        problem, _, place = str(error).partition(" (at ")
        found = re.match(r"line (\d+)", place)
        raise ParseError(int(found[1]) if found else text.count("\n") + 1, "TOML", problem, str(path)) from None
    except RecursionError:
        raise ParseError(0, f"values nested at most {MAX_DEPTH} deep", "more", str(path)) from None
    except ValueError:  # Python's own limit on digits
        raise ParseError(0, f"numbers of at most {MAX_DIGITS} digits", "more", str(path)) from None


def _plain(value: Any, depth: int) -> Any:
    """Return a value of TOML as one of JSON."""
    if depth > MAX_DEPTH:
        raise RecursionError
    if isinstance(value, dict):
        return {key: _plain(inner, depth + 1) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner, depth + 1) for inner in value]
    if isinstance(value, int) and abs(value) >= 10**MAX_DIGITS:
        raise ValueError
    return value if isinstance(value, str | int | float) else str(value)


def read_text(path: Path, max_bytes: int = MAX_BYTES) -> str:
    """Return the text of a regular file within a size limit; a pipe or a device could block for ever, or never end."""
    try:
        if path.exists() and not path.is_file():
            raise ParseError(0, f"a {path.name}", "something that is no file", str(path))
        with path.open("rb") as file:
            content = file.read(max_bytes + 1)
    except FileNotFoundError:
        raise ParseError(0, f"a {path.name}", "no file", str(path)) from None
    except (OSError, ValueError) as error:  # such as a loop of links, no permission to read, NUL in the name
        reason = getattr(error, "strerror", None) or error
        raise ParseError(0, f"a {path.name}", str(reason), str(path)) from None
    if len(content) > max_bytes:
        raise ParseError(0, f"at most {max_bytes} bytes", "more", str(path))
    try:
        return content.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise ParseError(line, "UTF-8", str(content[error.start : error.end]), str(path)) from None


_UNKNOWN = ("unexpected_keyword_argument", "extra_forbidden")  # types of errors of pydantic


class PlacedError(ParseError):
    """A fault at a place in a document, such as ``("load", "connections")``; `is_rule` where its type is right."""

    def __init__(self, place: Place, line: int, expected: str, got: str, is_rule: bool = False):
        self.place, self.is_rule = place, is_rule
        super().__init__(line, expected, got)

    @property
    def key(self) -> tuple[Place, str, str]:
        """Identity of the fault, independent of its line."""
        return self.place, self.expected, self.got


def built(kind: type, document: Document) -> tuple[Any, list[PlacedError]]:
    """Return a checked dataclass built from a document, or None, and the faults in the order of lines."""
    if not isinstance(document.values, dict):
        expected = f"a mapping with the keys of a {kind.__name__.lower()}"
        return None, [PlacedError((), 1, expected, str(document.values))]
    try:
        return _adapter(kind).validate_json(json.dumps(_switched(kind, document.values)), strict=True), []
    except ValidationError as error:
        errors = error.errors()
    found = {fault.key: fault for one in errors for fault in _faults(kind, one, document)}
    unknown = [_place(one) for one in errors if one["type"] in _UNKNOWN]
    if unknown:
        # An unknown key hides broken rules of its section, so the rules are checked again without that key.  Rules of
        # the section as a whole are excluded, because they may be broken only because the key is misspelt.
        kept, around = replace(document, values=_without(document.values, unknown)), {place[:-1] for place in unknown}
        others = (fault for fault in built(kind, kept)[1] if not (fault.is_rule and fault.place in around))
        found = {fault.key: fault for fault in others} | found
    return None, sorted(found.values(), key=lambda fault: fault.line)


# YAML 1.2 reads these as strings; nginx, HAProxy and most people write them for true and false.
SWITCHES = {"on": True, "off": False}


def _switched(hint: Any, value: Any) -> Any:
    """Return the values with ``on`` and ``off`` replaced by true and false where the key is a boolean."""
    parts = _parts(hint)
    if isinstance(value, str):
        return SWITCHES.get(value, value) if any(part is bool or part is True for part in parts) else value
    holder = next((part for part in parts if is_dataclass(part) or _is_mapping(part)), None)
    if not isinstance(value, dict) or holder is None:
        return value
    if _is_mapping(holder):
        return {key: _switched(get_args(holder)[1], each) for key, each in value.items()}
    hints = _hints(holder)
    return {key: _switched(hints.get(key), each) for key, each in value.items()}


_hints = cache(get_type_hints)


def _is_mapping(hint: Any) -> bool:
    origin = get_origin(hint)
    return isinstance(origin, type) and issubclass(origin, Mapping)


def _parts(hint: Any) -> list[Any]:
    """Return a type and the types it is composed of."""
    return [hint, *(part for one in get_args(hint) for part in _parts(one))]


def _without(values: Any, places: Iterable[Place]) -> Any:
    """Return the values without those at some places."""
    values = copy.deepcopy(values)
    for *path, key in places:
        inner = values
        for word in path:
            inner = inner[word]
        inner.pop(key)
    return values


def _place(error: Any) -> Place:
    return tuple(word for word in error["loc"] if not isinstance(word, str) or not word.startswith("dict["))


@cache
def _adapter(kind: type) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def _faults(kind: type, error: Any, document: Document) -> Iterator[PlacedError]:
    """Yield the faults in an error of pydantic, with the laboratory's own messages."""
    place = _place(error)
    cause = error.get("ctx", {}).get("error")
    if isinstance(cause, ValueRuleError):
        for rule in (cause, *cause.others):
            words = tuple(rule.name.split(".")) if re.fullmatch(r"[\w.-]+", rule.name) else ()
            at = place if place[-1:] == words[-1:] else document.place(place, words)
            what = _dotted(at) if words else ": ".join(filter(None, (_dotted(place), rule.name)))
            yield PlacedError(at, document.line(at), f"{what} to be {rule.rule}", str(rule.got), is_rule=True)
        return
    name, got = _dotted(place), error["input"]
    if error["type"] in _UNKNOWN:
        known = ", ".join(_keys_at(kind, place[:-1])) or "known to the laboratory"
        yield PlacedError(place, document.line(place), f"one of the keys {known}", str(place[-1]))
    elif error["type"] in ("missing", "missing_argument"):
        yield PlacedError(place, document.line(place[:-1]), f"the key {name}", "none")
    else:
        message = error["msg"].removeprefix("Input should be ").removeprefix("a valid ").removeprefix("an instance of ")
        message = {"boolean": "on or off", "true": "on"}.get(message, message)
        shown = got if isinstance(got, str) else json.dumps(got, default=str)
        yield PlacedError(place, document.line(place), f"{name} to be {message[0].lower()}{message[1:]}", shown)


def _dotted(place: Place) -> str:
    """Return a place as one printable line."""
    name = ".".join(map(str, place))
    return name if name.isprintable() else name.encode("unicode_escape").decode()


def _keys_at(kind: Any, place: tuple[str | int, ...]) -> list[str]:
    """Return the names of the fields of the dataclass at a place."""
    for word in (word for word in place if isinstance(word, str)):
        holder = next((part for part in _parts(kind) if is_dataclass(part) or _is_mapping(part)), None)
        kind = get_args(holder)[1] if _is_mapping(holder) else _hints(holder).get(word, Any) if holder else Any
    return [one.name for part in _parts(kind) if is_dataclass(part) for one in fields(part)]
