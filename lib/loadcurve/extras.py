"""What the optional dependencies of this package are for, and what to install where one is missing."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from loadcurve.errors import LoadcurveError

EXTRA_OF = {
    "distributed": "cluster",
    "fsspec": "s3",
    "psutil": "lab",
    "jupyter_client": "notebooks",
    "nbclient": "notebooks",
    "nbformat": "notebooks",
    "papermill": "notebooks",
    "traitlets": "notebooks",
    "bs4": "handbook",
    "griffe": "handbook",
    "jinja2": "handbook",
    "latex2mathml": "handbook",
    "mkdocs": "handbook",
}
"""Module that the core does without → the extra of this package that installs it."""


class MissingExtraError(LoadcurveError, ImportError):
    """A part of this package needs an extra that is not installed; the text names the command that installs it.

    Examples
    --------
    >>> print(MissingExtraError("loadcurve launch", "lab"))
    loadcurve launch needs the extra [lab]: pip install 'loadcurve[lab]'
    """

    def __init__(self, part: str, extra: str):
        super().__init__(f"{part} needs the extra [{extra}]: pip install 'loadcurve[{extra}]'")


def missing_extra(part: str, error: ModuleNotFoundError) -> Exception:
    """Return the error that names the extra to install; `error` itself where its module belongs to no extra.

    Examples
    --------
    >>> print(missing_extra("loadcurve.batch", ModuleNotFoundError(name="papermill.execute")))
    loadcurve.batch needs the extra [notebooks]: pip install 'loadcurve[notebooks]'
    """
    extra = EXTRA_OF.get((error.name or "").partition(".")[0])
    return MissingExtraError(part, extra) if extra else error


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
