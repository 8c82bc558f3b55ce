"""The version of this package, its names that are imported when they are first used, and modules that are missing."""

import ast
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path

__version__ = "0.1.0"
"""Written into every file of results."""


@contextmanager
def without_module(name: str) -> Iterator[None]:
    """Let imports within the context find no module of a name, as if this optional dependency were not installed.

    Examples
    --------
    >>> with without_module("this"):
    ...     import this
    Traceback (most recent call last):
    ModuleNotFoundError: import of this halted; None in sys.modules
    """
    blocked = name not in sys.modules
    if blocked:
        sys.modules[name] = None  # type: ignore[assignment]  # documented: the import of this name fails
    try:
        yield
    finally:
        if blocked:
            del sys.modules[name]


def imported_late(package: str, names: Sequence[str]) -> Callable[[str], object]:
    """Return the ``__getattr__`` of a package, which imports one of its names when it is first used.

    The block ``if TYPE_CHECKING`` of the package says from which module; a name that it does not import is a module.
    """

    @cache
    def homes() -> dict[str, str]:
        tree = ast.parse(Path(str(sys.modules[package].__file__)).read_text("utf-8"))
        block = next(node.body for node in tree.body if isinstance(node, ast.If))
        found = [node for node in block if isinstance(node, ast.ImportFrom) and node.module != package]
        return {alias.name: str(node.module) for node in found for alias in node.names}

    def find(name: str) -> object:
        if name not in names:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if name not in homes():
            return import_module(f"{package}.{name}")
        found = getattr(import_module(homes()[name]), name)
        setattr(sys.modules[package], name, found)
        return found

    return find
