"""Generate the reference of the Python interface, a page for each public module; draw the packages by floors."""

import ast
import re
from collections.abc import Iterable
from functools import cache
from graphlib import TopologicalSorter
from html import escape
from inspect import getdoc
from pathlib import Path
from types import ModuleType

import griffe

import loadcurve

FOLDER = "reference/python"

# `.. math:: FORMULA`, or an indented block after `.. math::`; both end at the first line that is not indented further.
_FORMULA = re.compile(r"^( *)\.\. math::(?: (.+)\n|\n\n)((?:\1 +\S.*(?:\n|\Z))*)", re.MULTILINE)
_RULE = r"^=+(?: +=+)+\n"


def _formula(found: re.Match[str]) -> str:
    words = " ".join([found[2] or "", *found[3].split()]).strip()
    return f"{found[1]}$$ {words} $$\n"


_AS_MARKDOWN = (
    (_FORMULA, _formula),
    (re.compile(r":math:`([^`]+)`"), r"$\1$"),
    (re.compile(rf"{_RULE}(?:.+\n)+?{_RULE}(?:.+\n)+?{_RULE}", re.MULTILINE), r"```text\n\g<0>```\n"),
    (re.compile(r"::(\n\n +)"), r":\1"),
)
"""Form of reStructuredText → how Markdown writes it."""


def public_modules(module: ModuleType = loadcurve) -> dict[str, ModuleType]:
    """Return a module and the public modules in it, by their dotted names."""
    found = {module.__name__: module}
    for name in module.__all__:
        if isinstance(value := getattr(module, name), ModuleType):
            found |= public_modules(value)
    return found


def modules_markdown() -> str:
    """Return a Markdown table of the public modules: name with a link to the page, and summary."""
    rows = [f"| [{name}]({name}.md) | {_summary(module)} |" for name, module in public_modules().items()]
    return "\n".join(["| module | contents |", "|---|---|", *rows])


def page_markdown(name: str) -> str:
    """Return the page of a public module: a mkdocstrings directive that lists the names in the module's ``__all__``."""
    return f"::: {name}\n"


def pages() -> dict[str, str]:
    """Return the heading of each module in the navigation, and the path of its page."""
    return {name: f"{FOLDER}/{name}.md" for name in public_modules()}


def _summary(module: ModuleType) -> str:
    return (getdoc(module) or "").split("\n\n")[0].replace("\n", " ").replace("``", "`").rstrip(".")


def docstring_as_markdown(text: str) -> str:
    r"""Return a docstring with its formulas, tables and literal blocks as Markdown.

    Examples
    --------
    >>> docstring_as_markdown("With :math:`x > 0`:\n\n.. math:: y = x^2\n")
    'With $x > 0$:\n\n$$ y = x^2 $$\n'
    """
    for form, written in _AS_MARKDOWN:
        text = form.sub(written, text)
    return text


class AsMarkdown(griffe.Extension):
    """Extension of mkdocstrings: docstrings become Markdown before a page shows them."""

    def on_object(self, *, obj: griffe.Object, **_: object) -> None:
        """Rewrite the docstring of one object."""
        if obj.docstring:
            obj.docstring.value = docstring_as_markdown(obj.docstring.value)


PACKAGE = Path(loadcurve.__file__).parent


@cache
def rooms() -> dict[str, frozenset[str]]:
    """Return each room, a package or module directly in `loadcurve`, and the rooms that its modules import."""
    found: dict[str, set[str]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        room = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        if not room.startswith("__"):
            found.setdefault(room, set()).update(_imported(ast.parse(path.read_text("utf-8"))))
    return {room: frozenset(used & found.keys() - {room}) for room, used in found.items()}


def _imported(module: ast.Module) -> Iterable[str]:
    for node in ast.walk(module):
        names = [one.name for one in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{name}" for name in names]
        yield from (name.split(".")[1] for name in names if name.startswith("loadcurve."))


def floors() -> list[list[str]]:
    """Return the rooms of each floor, lowest first: a room is above all rooms that it imports."""
    floor: dict[str, int] = {}
    for room in TopologicalSorter(rooms()).static_order():
        floor[room] = 1 + max((floor[used] for used in rooms()[room]), default=-1)
    return [sorted(room for room in floor if floor[room] == level) for level in range(max(floor.values()) + 1)]


def rooms_html() -> str:
    """Return the floors as a list, highest first, with what each room holds: the first line of its docstring."""
    rows = []
    for level, names in reversed(list(enumerate(floors(), 1))):
        boxes = "".join(f"<li><code>{name}</code> {escape(_room_summary(name))}</li>" for name in names)
        rows.append(f'<li value="{level}"><ul>{boxes}</ul></li>')
    return f'<ol class="lc-rooms" reversed>{"".join(rows)}</ol>'


def _room_summary(room: str) -> str:
    path = PACKAGE / room / "__init__.py"
    doc = ast.get_docstring(ast.parse((path if path.is_file() else PACKAGE / f"{room}.py").read_text("utf-8"))) or ""
    return doc.split("\n\n")[0].replace("\n", " ").replace("`", "")
