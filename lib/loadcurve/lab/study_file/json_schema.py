"""The JSON schema of study files, by which editors complete and check them, and the meaning of each key.

Types, ranges and descriptions come from the declarations of the sections, see `loadcurve.study.section`.
"""

import ast
import inspect
import math
import re
import textwrap
import typing
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from functools import cache
from itertools import pairwise
from typing import Any

from pydantic import TypeAdapter
from pydantic.fields import FieldInfo

from loadcurve.files.document import SWITCHES
from loadcurve.lab.study_file.study_file import StudyFile
from loadcurve.study import Study
from loadcurve.study.section import Choice, Range


@dataclass(frozen=True)
class Key:
    """A key of a section, for readers."""

    name: str  # As a study file writes it
    meaning: str  # Its description, as Markdown in one line
    field: Field[Any]  # Its default
    hint: Any  # Its type, with annotations

    @property
    def required(self) -> bool:
        """Whether a section must have it."""
        return self.field.default is MISSING and self.field.default_factory is MISSING

    @property
    def section(self) -> type | None:
        """The section that is its value, or that each of its values is."""
        return next((one for one in _types(self.hint) if is_dataclass(one) and isinstance(one, type)), None)

    @property
    def default(self) -> Any:
        """Its value where a file leaves it out."""
        return self.field.default if self.field.default_factory is MISSING else self.field.default_factory()

    @property
    def range(self) -> str:
        """Its range in words; empty for a key without one."""
        return next((meta.span(self.name) for meta in _types(self.hint) if isinstance(meta, Range)), "")

    @property
    def words(self) -> list[str]:
        """The words that it takes, where they come from a list and not from its type."""
        extras = [meta.json_schema_extra for meta in _types(self.hint) if isinstance(meta, FieldInfo)]
        words = [extra["enum"] for extra in extras if isinstance(extra, dict) and "enum" in extra]
        return [str(word) for one in words if isinstance(one, list) for word in one]


def keys(section: type) -> list[Key]:
    """Keys of a section, in order."""
    meanings = {name: text for kind in reversed(section.__mro__) for name, text in _descriptions(kind)}
    hints = typing.get_type_hints(section, include_extras=True)
    return [
        Key(one.name, _markdown(one.metadata.get("description") or meanings[one.name]), one, hints[one.name])
        for one in fields(section)
    ]


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
    """JSON schema of study files, of draft 7: the readme of yaml-language-server names that draft and older ones."""
    study = TypeAdapter(StudyFile).json_schema(ref_template="#/definitions/{model}")
    parts, known = study.pop("$defs"), sections()
    for name, part in {**parts, "StudyFile": study}.items():
        _describe(part, known[name])
    _allow_switch_words({"definitions": parts, "study": study})
    study["description"] = meaning(Study)
    head = {"$schema": "http://json-schema.org/draft-07/schema#", "title": "loadcurve study"}
    return head | study | {"definitions": parts}


def _allow_switch_words(part: Any) -> None:
    """Allow on and off wherever a boolean, or one of its values, is allowed."""
    if isinstance(part, dict):
        if part.get("type") == "boolean":
            allowed = [part.pop("const")] if "const" in part else [True, False]
            part["enum"] = [*allowed, *(word for word, value in SWITCHES.items() if value in allowed)]
            del part["type"]
        part = list(part.values())
    for inner in part if isinstance(part, list) else ():
        _allow_switch_words(inner)


def _describe(part: dict[str, Any], section: type) -> None:
    part.pop("title", None)
    part["description"] = meaning(section)
    for key in keys(section):
        inner = part["properties"][key.name]
        inner.pop("title", None)
        # None, infinity and NaN mean that the key is left out, and JSON could not write the last two.
        default = inner.get("default", 0)
        if default is None or (isinstance(default, float) and not math.isfinite(default)):
            del inner["default"]
        if "$ref" in inner:  # draft 7 ignores what is beside it
            inner["allOf"] = [{"$ref": inner.pop("$ref")}]
        inner["description"] = key.meaning
    if issubclass(section, Choice):
        each = [{"required": [name]} for name in section.alternatives()]
        part["oneOf"] = each if section.required else [*each, {"not": {"anyOf": each}}]


def _types(hint: Any) -> list[Any]:
    return [hint, *(inner for one in typing.get_args(hint) for inner in _types(one))]


@cache
def _descriptions(section: type) -> tuple[tuple[str, str], ...]:
    """Name and description of each key that a class declares: the string below its declaration."""
    if not is_dataclass(section):
        return ()
    body = ast.parse(textwrap.dedent(inspect.getsource(section))).body[0]
    return tuple(
        (one.target.id, text.value.value)
        for one, text in pairwise(body.body if isinstance(body, ast.ClassDef) else ())
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
        if isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant) and isinstance(text.value.value, str)
    )


def _markdown(text: str) -> str:
    """Text of a docstring as Markdown in one line."""
    return re.sub(r"``(.+?)``", r"`\1`", " ".join(text.split()))
