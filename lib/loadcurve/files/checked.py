"""Build a checked dataclass from a document; all faults are reported together, each with its line."""

import copy
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any, get_args, get_origin, get_type_hints

from pydantic import TypeAdapter, ValidationError

from loadcurve.errors import ParseError, ValueRuleError
from loadcurve.files.document import Document, Place

_UNKNOWN = ("unexpected_keyword_argument", "extra_forbidden")  # types of errors of pydantic


class PlacedError(ParseError):
    """A fault at a place in a document, such as ``("load", "connections")``; or a rule that right types break."""

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


@cache
def _hints(holder: type) -> dict[str, Any]:
    return get_type_hints(holder)


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
