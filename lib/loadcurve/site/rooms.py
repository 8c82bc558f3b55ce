"""Draw the packages of the library by floors, from its imports."""

import ast
from collections.abc import Iterable
from functools import cache
from graphlib import TopologicalSorter
from html import escape
from pathlib import Path

import loadcurve

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
        boxes = "".join(f"<li><code>{name}</code> {escape(_summary(name))}</li>" for name in names)
        rows.append(f'<li value="{level}"><ul>{boxes}</ul></li>')
    return f'<ol class="lc-rooms" reversed>{"".join(rows)}</ol>'


def _summary(room: str) -> str:
    path = PACKAGE / room / "__init__.py"
    doc = ast.get_docstring(ast.parse((path if path.is_file() else PACKAGE / f"{room}.py").read_text("utf-8"))) or ""
    return doc.split("\n\n")[0].replace("\n", " ").replace("`", "")
