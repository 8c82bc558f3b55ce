"""What the source of a notebook declares: its parameters, and the captions of its figures and tables.

A parameter has a type, a default and a range, in the cell tagged ``parameters``::

    enough: float = 0.9  # ratio, 0 < enough ≤ 1: share of the best mean throughput that is enough

papermill keeps a comment as the help of its parameter, but it cannot read a line with a second ``=``; so a range
contains ``≤`` and ``≥``.

A caption is a paragraph of a Markdown cell, where readers see it; the alt text of a figure is an HTML comment below::

    **Figure `throughput`.** Throughput stops rising at four connections.
    <!-- alt: One line that rises to four connections and is level from there on. -->
"""

import contextlib
import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from loadcurve.errors import LoadcurveError, ValueRuleError, raise_all
from loadcurve.files import paths
from loadcurve.files.atomic import write_text
from loadcurve.runtime.jupyter import NOTEBOOK_VARIABLE
from loadcurve.study.section import Range

TYPES: dict[str, type | tuple[type, ...]] = {"str": str, "int": int, "float": (int, float), "bool": bool, "list": list}
"""Types that the annotation of a parameter may name; a notebook with another annotation, or none, fails its test."""

_LINE = re.compile(
    r"^(?P<name>[A-Za-z_]\w*): *(?P<kind>\w+) *= *(?P<default>[^#]*?) *# *(?P<comment>.*)$", re.MULTILINE
)

_NUMBER = r"[-+]?[0-9.]+(?:e[-+]?[0-9]+)?"
_LOW = {"<": "gt", "≤": "ge"}  # LOW < NAME
_HIGH = {"<": "lt", "≤": "le", ">": "gt", "≥": "ge"}  # NAME < HIGH, NAME > LOW


def range_of(name: str, comment: str) -> Range | None:
    """Return the range that the comment of a parameter declares, before its first colon; None where it declares none.

    Examples
    --------
    >>> range_of("enough", "ratio, 0 < enough ≤ 1: share that is enough").rule("enough")
    '0 < enough <= 1'
    >>> range_of("repeats", "count, repeats ≥ 1: repeats of each point").rule("repeats", whole=True)
    'a whole number >= 1'
    >>> range_of("study", "name of a study, or folder of raw files")
    """
    head = comment.partition(":")[0]
    if not re.search(" [<≤>≥] ", head):
        return None
    found = re.fullmatch(
        rf"(?:.*, )?(?:(?P<low>{_NUMBER}) (?P<above>[<≤]) )?{re.escape(name)}(?: (?P<sign>[<≤>≥]) (?P<end>{_NUMBER}))?",
        head.strip(),
    )
    if found is None or not (found["low"] or found["end"]) or (found["low"] and found["sign"] in (">", "≥")):
        raise LoadcurveError(f"range of {name} must be such as '0 < {name} ≤ 1' or '{name} ≥ 1', got {head!r}")
    ends: dict[str, Any] = {_LOW[found["above"]]: float(found["low"])} if found["low"] else {}
    if found["end"]:
        ends[_HIGH[found["sign"]]] = float(found["end"])
    return Range(**ends)


@dataclass(frozen=True)
class Declared:
    """What a notebook declares about a parameter: type, range, and default as Python source."""

    kind: str
    range: Range | None
    default: str

    def check(self, name: str, value: object) -> None:
        """Check the type and the range of a value.

        It raises such as ``enough must be 0 < enough <= 1, got 1.5``.
        """
        if self.range and self.kind != "list":
            self.range.check(name, value, whole=self.kind == "int")
        kind = TYPES.get(self.kind, object)  # another annotation is a matter of the notebook
        if not isinstance(value, kind) or (isinstance(value, bool) and self.kind != "bool"):
            raise ValueRuleError(name, self.kind, value)
        if self.range and isinstance(value, list):
            for one in value:
                self.range.check(name, one)


def check_variables(cells: Iterable[str], variables: Mapping[str, object]) -> None:
    """Check the variables of a kernel against the ranges that the cells which it executed declare.

    Where a kernel was started by papermill or by hand, nothing else checks them.

    Examples
    --------
    >>> check_variables(["few: int = 3  # count, few ≥ 1: runs"], {"few": 0})
    Traceback (most recent call last):
    loadcurve.errors.ValueRuleError: few must be a whole number >= 1, got 0
    """
    faults = []
    for name, declared in _ranges(cells).items():
        if name not in variables:
            continue
        value: Any = variables[name]
        value = value.item() if getattr(value, "shape", None) == () else value  # a later cell may have computed it
        try:
            declared.check(name, value)
        except ValueRuleError as error:
            faults.append(error)
    raise_all(faults)


def _ranges(cells: Iterable[str]) -> dict[str, Declared]:
    found = {}
    for line in (line for cell in cells for line in _LINE.finditer(cell)):
        with contextlib.suppress(LoadcurveError):  # a remark of somebody's own
            if range_ := range_of(line["name"], line["comment"]):
                found[line["name"]] = Declared(line["kind"], range_, line["default"].strip())
    return found


_CAPTION = re.compile(
    r"^\*\*(?P<kind>Figure|Table) `(?P<slug>[^`\n]+)`\.\*\* (?P<caption>.+)(?:\n<!-- alt: (?P<alt>.+) -->)?$",
    re.MULTILINE,
)


class Caption(NamedTuple):
    """What a figure or table shows, in words; `alt` is empty for a table."""

    caption: str
    alt: str


def caption_of(notebook: str, kind: str, slug: str) -> Caption:
    """Return the caption that a notebook gives to one of its figures or tables; empty texts when it gives none."""
    return read_captions(_file(notebook)).get((kind, slug), Caption("", ""))


def read_captions(notebook: Path) -> dict[tuple[str, str], Caption]:
    """Read all captions of a notebook, by kind and slug."""
    cells = json.loads(notebook.read_text("utf-8"))["cells"]
    text = "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    return {(m["kind"], m["slug"]): Caption(m["caption"], m["alt"] or "") for m in _CAPTION.finditer(text)}


def fill_captions(notebook: Path, published: Path) -> None:
    """Replace the captions in an executed notebook by those with which its figures and tables were published.

    A caption whose figure or table was not published is removed: a cell's output says why.
    """

    def filled(found: re.Match[str]) -> str:
        suffix = ".json" if found["kind"] == "Figure" else ".table.json"
        facts = published / (found["slug"] + suffix)
        if not facts.is_file():
            return ""
        said = json.loads(facts.read_text("utf-8"))
        alt = f"\n<!-- alt: {said['alt']} -->" if "alt" in said else ""
        return f"**{found['kind']} `{found['slug']}`.** {said['caption']}{alt}"

    content = json.loads(notebook.read_text("utf-8"))
    for cell in content["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = _CAPTION.sub(filled, "".join(cell["source"])).splitlines(keepends=True)
    record = content.get("metadata", {}).get("papermill", {})  # paths of an unfinished run on this machine
    record |= {name: Path(record[name]).name for name in ("input_path", "output_path") if record.get(name)}
    write_text(notebook, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def _file(notebook: str) -> Path:
    executed = os.environ.get(NOTEBOOK_VARIABLE)
    folders = paths.notebook_folders()
    candidates = [Path(executed)] if executed else [folder / f"{notebook}.ipynb" for folder in folders]
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    raise LoadcurveError(f"captions must be in the notebook's file, got no file {' or '.join(map(str, candidates))}")
