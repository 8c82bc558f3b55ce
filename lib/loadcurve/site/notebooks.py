"""Pages of executed notebooks, written as Markdown, so that they are built like every other page of the handbook."""

import ast
import html
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup

from loadcurve.site.safety import clean_output, fenced

FOLDER = "notebooks"
TEMPLATE = f"{FOLDER}/00_template.md"
"""Page that ``mkdocs.yml`` lists; the other notebooks are added after it."""

_FRONT = "---\nrender_macros: false\n---\n\n"  # braces of a notebook are its own
_ALT = re.compile(r"\n?<!-- alt: .*? -->", re.DOTALL)
_PUBLISHED = re.compile(r"\bpublish\.figure\(\s*[\"']([a-z0-9_.]+)[\"']")
_DRAWING = re.compile(r'<div class="lc-drawing" title="([a-z0-9_.]+)"></div>')
_FOLDED = '<details class="code" markdown>\n<summary>Code that publishes</summary>\n\n{}\n\n</details>'


def pages(folder: Path) -> dict[str, str]:
    """Return the title (first heading) of each notebook of a folder, and the path of its page.

    The template is left out, because ``mkdocs.yml`` already lists it.
    """
    found = sorted(folder.glob("[0-9]*.ipynb"))
    return {_title(path): page for path in found if (page := page_of(path.stem)) != TEMPLATE}


def page_of(notebook: str) -> str:
    """Return the path of a notebook's page."""
    return f"{FOLDER}/{notebook}.md"


def page_markdown(executed: Path, published: Path) -> str:
    """Return the page of an executed notebook as Markdown.

    A cell tagged ``hidden`` shows its output only, and one tagged ``progress`` its code only.  Code that only publishes
    is folded.  A figure that the notebook published is left to `with_drawings`; any other stays a bitmap.
    """
    cells = json.loads(executed.read_text("utf-8"))["cells"]
    slugs = _slugs(cells, published)
    parts = [_FRONT.rstrip("\n")]
    for position, cell in enumerate(cells):
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(_ALT.sub("", source).strip())
        elif cell["cell_type"] == "code":
            parts.append(_code_cell(cell, source, slugs.get(position, "")))
        if position == 0:
            parts.append(f'[Download the notebook]({executed.name}){{ download="{executed.name}" }}')
    return "\n\n".join(filter(None, parts)) + "\n"


def with_drawings(content: str, drawing: Callable[[str], str]) -> str:
    """Return the HTML of a notebook's page with its published figures; `drawing` returns one by its slug."""
    return _DRAWING.sub(lambda found: f'<div class="lc-drawing">{drawing(found[1])}</div>', content)


def _title(notebook: Path) -> str:
    for cell in json.loads(notebook.read_text("utf-8"))["cells"]:
        for line in "".join(cell["source"]).splitlines():
            if line.startswith("# ") and cell["cell_type"] == "markdown":
                return line.removeprefix("# ")
    return notebook.stem


def _slugs(cells: list[dict[str, Any]], published: Path) -> dict[int, str]:
    """Return the published figure of each cell that shows one: it is published in that cell or in a later one."""
    found: dict[int, str] = {}
    waiting: list[int] = []
    for position, cell in enumerate(cells):
        waiting += [position for output in cell.get("outputs", ()) if "image/png" in output.get("data", ())]
        for slug in _PUBLISHED.findall("".join(cell["source"])) if cell["cell_type"] == "code" else ():
            if waiting and (published / f"{slug}.svg").is_file():
                found[waiting.pop()] = slug
                waiting.clear()
    return found


def _code_cell(cell: dict[str, Any], source: str, slug: str) -> str:
    tags = cell["metadata"].get("tags", [])
    shown = list(_outputs(cell, slug)) if "progress" not in tags else []
    if "hidden" in tags or not source.strip():
        return "\n\n".join(shown)
    code = fenced(source, "python")
    if not _only_publishes(source):
        return "\n\n".join([code, *shown])
    folded = [code, *shown] if "publish.values(" in source and not slug else [code]
    rest = [] if len(folded) > 1 else shown
    return "\n\n".join([_FOLDED.format("\n\n".join(folded)), *rest])


def _only_publishes(source: str) -> bool:
    """Return whether a cell publishes numbers or tables and draws nothing, so that a reader can pass over its code."""
    try:
        calls = {ast.unparse(node.func) for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)}
    except SyntaxError:  # a magic command
        return False
    return bool(calls & {"publish.values", "publish.table"}) and not any(one.startswith("plots.") for one in calls)


def _outputs(cell: dict[str, Any], slug: str) -> Iterator[str]:
    """Yield each output of a cell as one block of raw HTML."""
    for output in cell.get("outputs", ()):
        data = {kind: "".join(text) for kind, text in output.get("data", {}).items() if isinstance(text, str | list)}
        if "image/png" in data and slug:
            yield f'<div class="lc-drawing" title="{slug}"></div>'
        elif "text/html" in data:
            yield _block(clean_output(BeautifulSoup(data["text/html"], "html.parser")))
        elif "image/png" in data:
            source = re.sub(r"[^A-Za-z0-9+/=]", "", data["image/png"])
            yield _block(f'<img alt="Figure" src="data:image/png;base64,{source}"/>')
        else:
            text = data.get("text/plain") or data.get("text/markdown") or "".join(output.get("text", ""))
            text = text or "\n".join(output.get("traceback", ()))
            plain = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", text).rstrip()
            yield _block(f"<pre>{html.escape(plain)}</pre>") if text.strip() else ""


def _block(inner: str) -> str:
    """Return HTML in one line, which Markdown leaves as it is; line ends inside ``pre`` are written as entities."""
    kept = re.sub(r"<pre>(.*?)</pre>", lambda found: found[0].replace("\n", "&#10;"), inner, flags=re.DOTALL)
    return f'<div class="lc-output">{" ".join(kept.split(chr(10)))}</div>'
