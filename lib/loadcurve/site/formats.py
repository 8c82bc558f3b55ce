"""Generate the handbook's pages about input formats: a table, the navigation, and a page for each tool."""

import inspect
import re

from loadcurve.ingest.registry import FORMS

FOLDER = "reference/formats"


def formats_markdown() -> str:
    """Return the formats that ingestion reads, as Markdown: name, link to the page, and what the parser reads."""
    rows = ["| form | read as |", "|---|---|"]
    for form in sorted(FORMS, key=lambda form: form.name):
        meaning = (form.parser.__doc__ or "").strip().split("\n")[0]
        rows.append(f"| [`{form.name}`]({form.tool}.md) | {_markdown(meaning)} |")
    return "\n".join(rows)


def tools() -> list[str]:
    """Return the tools with a page, in alphabetical order."""
    return sorted({form.tool for form in FORMS})


def page_markdown(tool: str) -> str:
    """Return the page of a tool without a handwritten page: the docstrings of the modules that parse its output."""
    modules = dict.fromkeys(inspect.getmodule(form.parser) for form in FORMS if form.tool == tool)
    return "\n\n".join([f"# {tool}", *(_markdown(inspect.getdoc(module) or "") for module in modules)]) + "\n"


def pages() -> dict[str, str]:
    """Return the heading of each tool in the navigation, and the path of its page."""
    return {tool: f"{FOLDER}/{tool}.md" for tool in tools()}


def _markdown(docstring: str) -> str:
    return re.sub("``?", "`", docstring)
