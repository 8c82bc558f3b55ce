"""The version of this package, its names that are imported when they are first used, and modules that are missing."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module

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


def imported_late(package: str, names: Sequence[str], modules: Sequence[str]) -> Callable[[str], object]:
    """Return the ``__getattr__`` of a package: one of its names is looked for in these modules when it is first used.

    Examples
    --------
    >>> imported_late("email", ("Charset", "policy"), ("charset", "policy"))("Charset").__module__
    'email.charset'
    """

    def find(name: str) -> object:
        if name not in names:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if name in modules:
            return import_module(f"{package}.{name}")
        imported = (import_module(f"{package}.{module}") for module in modules)
        found = next(getattr(module, name) for module in imported if hasattr(module, name))
        setattr(sys.modules[package], name, found)
        return found

    return find
