"""Captions of a notebook's figures and tables, written in its Markdown cells where its readers see them.

A caption is a paragraph of its own; the alt text of a figure is an HTML comment below the caption::

    **Figure `throughput`.** Throughput stops rising at four connections.
    <!-- alt: One line that rises to four connections and is level from there on. -->
"""

import json
import os
import re
from pathlib import Path
from typing import NamedTuple

from loadcurve.errors import LoadcurveError
from loadcurve.files import paths
from loadcurve.files.atomic import write_text
from loadcurve.runtime.jupyter import NOTEBOOK_VARIABLE

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
