"""Generate the reference of study files for the handbook and the JSON schema for editors from the sections."""

import json
import re
import types
import typing
from collections.abc import Iterator
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

import yaml

from loadcurve.lab.hosts.network.conditions import SYSCTLS
from loadcurve.lab.study_file import StudyFile, schema
from loadcurve.lab.study_file.json_schema import Key, keys, meaning

SCHEMA = "reference/study.schema.json"
"""Path of the schema on the site."""

_WORDS = {str: "text", int: "whole number", float: "number", bool: "`on` or `off`", Any: "any"}
_MANY = {str: "texts", int: "whole numbers", float: "numbers"}


def schema_text() -> str:
    """Return the JSON schema of study files as text."""
    return json.dumps(schema(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def keys_markdown(path: str = "") -> str:
    """Return the keys of a section and its inner sections as Markdown; without a path, the keys of the study."""
    shown = _first_paths()
    if not path:
        return _table(StudyFile, "", shown)
    section = next(key.section for key in keys(StudyFile) if key.name == path and key.section is not None)
    return "\n\n".join(_parts(section, path, shown))


def sysctls_markdown() -> str:
    """Return the sysctl settings of a namespace that a study may set, as Markdown."""
    return ", ".join(f"`{name}`" for name in sorted(SYSCTLS))


def _parts(section: type, path: str, shown: dict[type, str]) -> Iterator[str]:
    for kind, at in shown.items():
        if at == path and kind is section:
            yield _table(kind, path, shown)
        elif at.startswith(f"{path}."):
            yield f"### {_shown(at)}\n\n{meaning(kind)}\n\n{_table(kind, at, shown)}"


def _first_paths() -> dict[type, str]:
    """Return the first path of each section, in the order of the file."""
    found: dict[type, str] = {}

    def visit(section: type, path: str) -> None:
        for key in keys(section):
            inner = key.section
            if inner is not None and inner not in found:
                found[inner] = at = ".".join(filter(None, (path, key.name, "NAME" * _is_named(key.hint))))
                visit(inner, at if path or not _is_named(key.hint) else key.name)

    visit(StudyFile, "")
    return {kind: at.removesuffix(".NAME") if at.count(".") == 1 else at for kind, at in found.items()}


def _shown(path: str) -> str:
    return path.replace("NAME", "…")


def _table(section: type, path: str, shown: dict[type, str]) -> str:
    if not fields(section):
        return "It has no keys: write `{}`."
    # Two columns fit on the screen of a phone.
    rows = (f"| `{key.name}` | {key.meaning} {_kind(key, shown)} |" for key in keys(section))
    return "\n".join(("| key | meaning, type and default |", "|---|---|", *rows))


def _kind(key: Key, shown: dict[type, str]) -> str:
    words = "; ".join(filter(None, (_type(key, shown), _default(key))))
    return f'<span class="lc-source">{words}</span>'


def _type(key: Key, shown: dict[type, str]) -> str:
    if key.section is not None:
        at = shown[key.section]
        link = f"[{_shown(at)}](#{re.sub(r'[^a-z0-9_]', '', at.lower().replace('name', ''))})"
        return f"names, each with {link}" if _is_named(key.hint) else link
    words = ", ".join(f"`{word}`" for word in key.words) or _words(key.hint)
    return ", ".join(filter(None, (words, key.range)))


def _words(hint: Any) -> str:
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return _words(inner[0])
    if origin is typing.Literal:
        return ", ".join("`true`" if word is True else f"`{word}`" if word else "empty" for word in inner)
    if origin in (typing.Union, types.UnionType):
        return " or ".join(_words(one) for one in inner if one is not type(None))
    if origin is tuple:
        return f"list of {_MANY.get(inner[0], 'mappings')}"
    if origin is not None and issubclass(origin, typing.Mapping):
        return "mapping"
    return _WORDS[hint]


def _is_named(hint: Any) -> bool:
    """Return whether the value maps names to sections, instead of being one section."""
    bare = typing.get_args(hint)[0] if typing.get_origin(hint) is typing.Annotated else hint
    return typing.get_origin(bare) is dict


def _default(key: Key) -> str:
    if key.required:
        return "required"
    value = _plain(key.default)
    if value in (None, "", {}, [], ()) or value == float("inf") or value != value:
        return ""
    return f"default `{value}`" if isinstance(value, str) else f"default `{_flow(value)}`"


def _flow(value: Any) -> str:
    """Return a value as one line of a study file."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return yaml.safe_dump(value, default_flow_style=True, sort_keys=False, width=10_000).removesuffix("\n...\n").strip()


def _plain(value: Any) -> Any:
    """Return a section as plain values, as a study file contains them."""
    if not is_dataclass(value):
        return list(value) if isinstance(value, tuple) else value
    written = {}
    for one in fields(value):
        usual = one.default if one.default_factory is MISSING else one.default_factory()
        if (here := getattr(value, one.name)) != usual:
            written[one.name] = _plain(here)
    return written
