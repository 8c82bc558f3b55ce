"""The JSON schema of study files, by which editors complete and check them, and what each key means.

Meanings stand in one place, the ``Attributes`` of the dataclasses; a range such as 1–256 there is the schema's, too.
"""

import inspect
import math
import re
import typing
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from typing import Any

from pydantic import TypeAdapter

from loadcurve.checked import SWITCHES
from loadcurve.lab.generators import GENERATORS
from loadcurve.lab.hosts.network.conditions import OFFLOADS, SYSCTLS
from loadcurve.lab.study_file.adaptive import FAULTS
from loadcurve.lab.study_file.hosts import MACHINE
from loadcurve.lab.study_file.servers import PROGRAMS
from loadcurve.lab.study_file.study_file import StudyFile
from loadcurve.study import NAME, PLACE, Study

# What types do not say: words of which a value, or a name, must be one.
_NAMES = {"pattern": f"^{NAME.pattern}$"}
_PLACES = {"propertyNames": {"pattern": f"^{PLACE.pattern}$"}}
_MORE: dict[tuple[str, str], dict[str, Any]] = {
    ("StudyFile", "study"): _NAMES,
    ("StudyFile", "variants"): {"propertyNames": _NAMES, "minProperties": 1},
    ("StudyFile", "factors"): _PLACES,
    ("TopologySection", "machines"): {"propertyNames": {"pattern": f"^({MACHINE.pattern})$"}},
    ("HostSection", "sysctls"): {"propertyNames": {"enum": sorted(SYSCTLS)}},
    ("LinkConditions", "offloads"): {"propertyNames": {"enum": sorted(OFFLOADS)}},
    ("LoadSection", "tool"): {"enum": list(GENERATORS)},
    ("LoadSection", "method"): {"enum": sorted({method for tool in GENERATORS.values() for method in tool.methods})},
    ("LoadSection", "path"): {"pattern": "^/"},
    ("Serving", "access_log"): {"enum": ["off", "on", "buffered"]},
}
# Of these keys one must be there, or one may be.
_ONE = {"ServerSection": (*PROGRAMS, "url"), "SearchSection": ("capacity", "saturating_size")}
_AT_MOST_ONE = {
    "BalancerSection": ("nginx_l7", "nginx_stream", "haproxy", "nft", "ipvs"),
    "ResponseSection": ("text", "files", "delay", "burn", "status"),
    "FaultSection": FAULTS,
}
# Ranges as descriptions say them: "1–256", "0 < level < 1", "over 0 and up to 1", …
_NUMBER = r"(\d+(?:\.\d+)?)"
_RANGES = (
    (re.compile(rf"{_NUMBER}–{_NUMBER}"), ("minimum", "maximum")),
    (re.compile(rf"{_NUMBER} < \w+ < {_NUMBER}"), ("exclusiveMinimum", "exclusiveMaximum")),
    (re.compile(rf"[Bb]etween {_NUMBER} and {_NUMBER}"), ("exclusiveMinimum", "exclusiveMaximum")),
    (re.compile(rf"over {_NUMBER} and up to {_NUMBER}"), ("exclusiveMinimum", "maximum")),
    (re.compile(rf"{_NUMBER} or more and below {_NUMBER}"), ("minimum", "exclusiveMaximum")),
    (re.compile(rf">= {_NUMBER}"), ("minimum",)),
    (re.compile(rf"> {_NUMBER}"), ("exclusiveMinimum",)),
)


@dataclass(frozen=True)
class Key:
    """A key of a section, for readers.

    Attributes
    ----------
    name : str
        As a study file writes it.
    meaning : str
        Its description, as Markdown in one line.
    field : dataclasses.Field
        Its default.
    hint : type
        Its type.
    """

    name: str
    meaning: str
    field: Field
    hint: Any

    @property
    def needed(self) -> bool:
        """Whether a section must have it."""
        return self.field.default is MISSING and self.field.default_factory is MISSING

    @property
    def section(self) -> type | None:
        """The section that stands there, or that each of its values is."""
        return next((one for one in _types(self.hint) if is_dataclass(one)), None)

    @property
    def default(self) -> Any:
        """What it is where a file says nothing."""
        return self.field.default if self.field.default_factory is MISSING else self.field.default_factory()


def keys(section: type) -> list[Key]:
    """Keys of a section, in order."""
    meanings = _meanings(section)
    hints = typing.get_type_hints(section)
    return [Key(one.name, meanings.get(one.name, ""), one, hints[one.name]) for one in fields(section)]


def meaning(section: type) -> str:
    """What a section is, as Markdown in one line: the first paragraph of its docstring."""
    return _markdown((inspect.getdoc(section) or "").split("\n\n")[0])


def sections(section: type = StudyFile) -> dict[str, type]:
    """Every section by its name, the study itself first."""
    found = {section.__name__: section}
    for key in keys(section):
        if key.section is not None and key.section.__name__ not in found:
            found |= sections(key.section)
    return found


def schema() -> dict[str, Any]:
    """JSON schema of study files, of draft 7: yaml-language-server's readme says that it takes that and older ones."""
    made = TypeAdapter(StudyFile).json_schema(ref_template="#/definitions/{model}")
    parts, known = made.pop("$defs"), sections()
    for name, part in {**parts, "StudyFile": made}.items():
        _describe(part, known[name])
    _let_switches_be_words({"definitions": parts, "study": made})
    made["description"] = meaning(Study)
    head = {"$schema": "http://json-schema.org/draft-07/schema#", "title": "loadcurve study"}
    return head | made | {"definitions": parts}


def _let_switches_be_words(part: Any) -> None:
    """Allow on and off wherever a boolean, or one of its values, is allowed."""
    if isinstance(part, dict):
        if part.get("type") == "boolean":
            allowed = [part.pop("const")] if "const" in part else [True, False]
            part["enum"] = [*allowed, *(word for word, value in SWITCHES.items() if value in allowed)]
            del part["type"]
        part = list(part.values())
    for inner in part if isinstance(part, list) else ():
        _let_switches_be_words(inner)


def _describe(part: dict[str, Any], section: type) -> None:
    name = section.__name__
    part.pop("title", None)
    part["description"] = meaning(section)
    for key in keys(section):
        inner = part["properties"][key.name]
        inner.pop("title", None)
        # No key has these as its value; JSON could not write infinity.
        if inner.get("default", 0) is None or _is_odd(inner.get("default")):
            del inner["default"]
        if "$ref" in inner:  # draft 7 looks at nothing beside it
            inner["allOf"] = [{"$ref": inner.pop("$ref")}]
        inner["description"] = key.meaning
        inner |= _MORE.get((name, key.name), {})
        for number in _numbers(inner):
            number |= _range(key.meaning) or _range(part["description"])
    if name in _ONE:
        part["oneOf"] = [{"required": [key]} for key in _ONE[name]]
    if name in _AT_MOST_ONE:
        each = [{"required": [key]} for key in _AT_MOST_ONE[name]]
        part["oneOf"] = [*each, {"not": {"anyOf": each}}]


def _range(text: str) -> dict[str, float]:
    """Range that a description says; a zero that stands for something else widens it."""
    for pattern, names in _RANGES:
        if found := pattern.search(text):
            limits = {name: float(number) for name, number in zip(names, found.groups(), strict=True)}
            if "0 for" in text:
                limits = {"minimum": 0.0} | {name: most for name, most in limits.items() if "aximum" in name}
            return {name: int(number) if number.is_integer() else number for name, number in limits.items()}
    return {"minimum": 0} if "0 for" in text else {}


def _numbers(part: dict[str, Any]) -> list[dict[str, Any]]:
    """Parts of a key's schema that are numbers: itself, one of several, or those of a list."""
    if part.get("type") in ("integer", "number"):
        return [part]
    inner = [*part.get("anyOf", ()), part.get("items", {})]
    return [number for one in inner for number in _numbers(one)] if any(inner) else []


def _is_odd(value: object) -> bool:
    return isinstance(value, float) and not math.isfinite(value)


def _types(hint: Any) -> list[Any]:
    return [hint, *(inner for one in typing.get_args(hint) for inner in _types(one))]


def _meanings(section: type) -> dict[str, str]:
    """Description of each key: from the ``Attributes`` of a dataclass and of those it is made from."""
    found: dict[str, str] = {}
    for kind in reversed(section.__mro__):
        text = inspect.cleandoc(kind.__doc__ or "")
        listed = re.search(r"^Attributes\n-+\n(.*?)(?=^\S+\n-+\n|\Z)", text, re.DOTALL | re.MULTILINE)
        for entry in re.finditer(r"^(\S.*?)(?: : .*)?\n((?: {4}.*\n?|\n)+)", f"{listed[1]}\n" if listed else "", re.M):
            found |= {name: _markdown(entry[2]) for name in entry[1].split(", ")}
    return found


def _markdown(text: str) -> str:
    """Text of a docstring as Markdown in one line."""
    return re.sub(r"``(.+?)``", r"`\1`", " ".join(text.split()))
