"""Generate the laboratory's reference: names that a study can use, keys of study files, and their JSON schema."""

import inspect
import json
import re
import types
import typing
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

from loadcurve.files import paths
from loadcurve.files.yaml_document import yaml_text
from loadcurve.lab import describe, read_checked
from loadcurve.lab.hosts.network.conditions import SYSCTLS
from loadcurve.lab.hosts.network.topology import TOPOLOGIES
from loadcurve.lab.schedule.goals import SearchSection, StopSection
from loadcurve.lab.study_file import StudyFile, schema
from loadcurve.lab.study_file.json_schema import Key, keys, meaning
from loadcurve.lab.study_file.sections import BalancerSection, MonitorsSection, ServerSection
from loadcurve.lab.tools.faults import FAULTS
from loadcurve.lab.tools.generators import GENERATORS
from loadcurve.lab.tools.servers.responses import ResponseSection
from loadcurve.site.safety import literal
from loadcurve.study.section import Choice


def _topologies() -> dict[str, str]:
    found = {}
    for name, topology in TOPOLOGIES.items():
        first = re.split(r"\.\s|; parameters", " ".join((inspect.getdoc(topology) or "").split()))[0].rstrip(".")
        taken = [f"`{one}`" for one in inspect.signature(topology).parameters if one != "block"]
        found[name] = f"{first}. Takes {', '.join(taken)}." if taken else f"{first}."
    return found


def _generators() -> dict[str, str]:
    return {
        name: f"{tool.description}<br>{tool.loop.capitalize()} loop{'s' * (tool.loop == 'both')}, ended by "
        f"{' or '.join(f'`{bound}`' for bound in tool.bounds)}."
        for name, tool in GENERATORS.items()
    }


def _alternatives(section: type[Choice]) -> dict[str, str]:
    return {key.name: key.meaning for key in keys(section) if key.name in section.alternatives()}


OFFERS: dict[str, Callable[[], dict[str, str]]] = {
    "topologies": _topologies,
    "servers": lambda: _alternatives(ServerSection),
    "responses": lambda: _alternatives(ResponseSection),
    "balancers": lambda: _alternatives(BalancerSection),
    "generators": _generators,
    "monitors": lambda: {key.name: key.meaning for key in keys(MonitorsSection)},
    "faults": lambda: {name: f"{fault.description}<br>{fault.symptoms}" for name, fault in FAULTS.items()},
    "searches": lambda: _alternatives(SearchSection) | {"stop": meaning(StopSection)},
}
"""Kind → names that a study can use, each with a description in Markdown."""


def recipes_markdown(kind: str) -> str:
    """Return a Markdown table of all entries of a kind: name in a study, and description."""
    rows = [f"| `{name}` | {text.replace('|', chr(92) + '|')} |" for name, text in OFFERS[kind]().items()]
    return "\n".join(["| name | description |", "|---|---|", *rows])


def designs_markdown(link: Callable[[str], str]) -> str:
    """Return a Markdown table of the designs: name; and question, report that the design follows, and duration."""
    head = ["| name | question |", "|---|---|"]
    tables: dict[bool, list[str]] = {
        False: [*head],
        True: ["\nThese plant a fault on purpose, which the audit finds:\n", *head],
    }
    for file in sorted(paths.designs().glob("*/study.yml")):
        study = read_checked(file)
        # The first line of the description ends with the duration: "s: 2 runs of 5 s, 11 s in all".
        takes = next(iter(describe(study))).rpartition(", ")[2].removesuffix(" in all").replace(" ", "\u00a0")
        follows = f"{_followed(file.read_text('utf-8'), link)}{takes}."
        row = f"| <code>{literal(study.study)}</code> | {literal(study.question)}<br>{follows} |"
        tables[study.fault_on_purpose].append(row)
    return "\n".join(line for rows in tables.values() if rows[-1] != head[-1] for line in rows)


def _followed(design: str, link: Callable[[str], str]) -> str:
    """Return a link to the report that a design follows; empty if the design's comment names no report."""
    named = re.search(r"handbook/(studies/\w+)\.md", design)
    if named is None or not (page := paths.root() / "handbook" / f"{named[1]}.md").is_file():
        return ""
    title = re.search(r"^# (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return f'After <a href="{link(f"{named[1]}.html")}">{literal(title[1])}</a>; ' if title else ""


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
    parts = []
    for kind, at in shown.items():
        if at == path and kind is section:
            parts.append(_table(kind, path, shown))
        elif at.startswith(f"{path}."):
            parts.append(f"### {_shown(at)}\n\n{meaning(kind)}\n\n{_table(kind, at, shown)}")
    return "\n\n".join(parts)


def sysctls_markdown() -> str:
    """Return the sysctl settings of a namespace that a study may set, as Markdown."""
    return ", ".join(f"`{name}`" for name in sorted(SYSCTLS))


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
    rows = ["| key | meaning, type and default |", "|---|---|"]
    for key in keys(section):
        words = "; ".join(filter(None, (_type(key, shown), _default(key))))
        rows.append(f'| `{key.name}` | {key.meaning} <span class="lc-source">{words}</span> |')
    return "\n".join(rows)


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
    if not isinstance(value, str):  # as one line of a study file
        value = int(value) if isinstance(value, float) and value.is_integer() else value
        value = yaml_text(value, flow=True).strip()
    return f"default `{value}`"


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
