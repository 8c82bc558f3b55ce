"""The modules of this project that a module imports, directly and through others, as their source says."""

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import accumulate
from pathlib import Path

LIBRARY = Path(__file__).parents[2]
"""Folder of the packages of this project."""


def files_of_module(name: str) -> list[Path]:
    """Return the files of a module, or of the module that has a name, and of the packages that contain it."""
    places = accumulate(name.split("."), Path.joinpath, initial=LIBRARY)
    files = (file for place in places for file in (place.with_suffix(".py"), place / "__init__.py"))
    return [file for file in files if file.is_file() and LIBRARY in file.parents]


def imported_files(modules: Iterable[str]) -> list[Path]:
    """Return the files of modules and of all that they import anywhere, except for types, sorted."""
    found: set[Path] = set()
    waiting = {file for name in modules for file in files_of_module(name)}
    while waiting:
        found |= waiting
        waiting = {file for path in waiting for name in _imported(path) for file in files_of_module(name)} - found
    return sorted(found)


@cache
def _imported(path: Path) -> tuple[str, ...]:
    return tuple(name for name in _names(ast.parse(path.read_text("utf-8"))) if name.startswith("loadcurve."))


def _names(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        yield from (f"{node.module}.{alias.name}" for alias in node.names)
    elif not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
        for child in ast.iter_child_nodes(node):
            yield from _names(child)
