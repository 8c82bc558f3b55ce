"""What can be wrong, in one line each: where, what was expected, what was got.

Wrong input raises one of these errors.  Weak evidence never raises: it travels with the result as warnings.
"""

import contextlib
import errno
import os
import re
from collections.abc import Iterable, Iterator
from types import UnionType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

_NEXT = {
    errno.ENOSPC: "free disk space, then run the command again",
    errno.EDQUOT: "free disk space, then run the command again",
    errno.EFBIG: "raise the limit of the size of files (ulimit -f), then run the command again",
    errno.EACCES: "change its permissions, or name another path",
    errno.EPERM: "change its permissions, or name another path",
    errno.EROFS: "name a path on a file system that can be written",
    errno.ENOTDIR: "name a folder",
    errno.EEXIST: "name another path",
    errno.EISDIR: "name a file",
    errno.ENOENT: "check the path",
    errno.ELOOP: "remove the symbolic link",
    errno.ENAMETOOLONG: "choose a shorter name",
    errno.EMFILE: "raise the limit of open files (ulimit -n)",
}
"""What to do next about an error of the operating system."""


# Characters of a wrong value that a message shows; an array can have millions of numbers.
_LONGEST = 300
_SHOWN = 60  # characters of a value of a wrong type


OPENED = "opened"
"""Folder below a temporary folder in which the copy of a packed study is, under the whole path of the study."""
_OPENED = re.compile(rf"^.*/loadcurve-\d+/[0-9a-f]{{6}}-[0-9a-f]{{8}}/{OPENED}(?=/)")


def original(path: str) -> str:
    """Return the path of a file in its study, for a path in the temporary copy of a packed study; others as they are.

    Examples
    --------
    >>> original("/tmp/loadcurve-0/a71c04-5f0e93b2/opened/data/studies/s/r1"), original("s/r1")
    ('/data/studies/s/r1', 's/r1')
    """
    return _OPENED.sub("", path)


class LoadcurveError(Exception):
    """Base of every error this package raises on purpose; its text is one line for the reader."""


class ParseError(LoadcurveError):
    """A raw file holds something its format does not allow.

    Examples
    --------
    >>> print(ParseError(3, "a time such as 1.20ms", "1.x0ms").at("c0001-r1/local.wrk.txt"))
    c0001-r1/local.wrk.txt:3: expected a time such as 1.20ms, got '1.x0ms'
    """

    def __init__(self, line: int, expected: str, got: str, path: str = "<text>"):
        path = original(path)
        self.line, self.expected, self.got, self.path = line, expected, got, path
        shown = repr(got[:80])
        if len(got) > 80 or len(shown) > 82:
            shown = f"{shown[:78]}...{shown[-1]}"
        place = f"{path}:{line}" if line else path
        super().__init__(printable(f"{place}: expected {expected}, got {shown}"))

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle by its parts, so that an error of another process arrives whole."""
        return ParseError, (self.line, self.expected, self.got, self.path)

    def at(self, path: object) -> "ParseError":
        """Return the same error with the file's path."""
        return ParseError(self.line, self.expected, self.got, str(path))


class ValueRuleError(LoadcurveError, ValueError):
    """An argument breaks its rule: ``NAME must be RULE, got VALUE``.

    Its `others` are further faults of the same thing, where whoever raised it looked for all of them.

    Examples
    --------
    >>> print(ValueRuleError("level", "0 < level < 1", 95))
    level must be 0 < level < 1, got 95
    >>> len(str(ValueRuleError("x", "increasing", [0.5] * 5000))) < 400
    True
    """

    def __init__(self, name: str, rule: str, got: object):
        self.name, self.rule, self.got = name, rule, got
        self.others: tuple[ValueRuleError, ...] = ()
        shown = repr(got) if isinstance(got, str) else " ".join(str(got).split())  # an array takes several lines
        super().__init__(f"{name} must be {rule}, got {shown if len(shown) <= _LONGEST else shown[:_LONGEST] + '...'}")


class TypeRuleError(LoadcurveError, TypeError):
    """An argument is of a type that a function does not accept: ``NAME must be RULE, got TYPE VALUE``.

    Examples
    --------
    >>> print(TypeRuleError("data", "a path", 3))
    data must be a path, got int 3
    """

    def __init__(self, name: str, rule: str, got: object):
        shown = " ".join(repr(got).split())
        shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."
        super().__init__(f"{name} must be {rule}, got {type(got).__name__} {shown}")


def check_type(name: str, value: object, kinds: type | UnionType, rule: str) -> None:
    """Raise `TypeRuleError` unless a value is of one of some types."""
    if not isinstance(value, kinds):
        raise TypeRuleError(name, rule, value)


def check_columns(frame: "pd.DataFrame", names: Iterable[str]) -> None:
    """Raise `ValueRuleError` unless a table has all of these columns."""
    for name in names:
        if name not in frame.columns:
            raise ValueRuleError("column", f"one of {', '.join(map(str, frame.columns))}", name)


class NotMeasuredError(LoadcurveError):
    """What was asked for was not measured; the text is a sentence about what is missing, and how to record it.

    Examples
    --------
    >>> print(NotMeasuredError("No snapshot of ss belongs to these runs", "record `ss -tan` on the server"))
    No snapshot of ss belongs to these runs: record `ss -tan` on the server.
    """

    def __init__(self, missing: str, remedy: str):
        super().__init__(f"{missing}: {remedy}.")


def raise_all(broken: Iterable[ValueRuleError]) -> None:
    """Raise the first of the broken rules, with the others in its `others`; return if there is none."""
    found = list(broken)
    if found:
        found[0].others = tuple(found[1:])
        raise found[0]


def refuse(faults: Iterable[ParseError], path: object) -> None:
    """Raise an error with one line for each fault of a file, if there are any."""
    located = [fault.at(path) for fault in faults]
    if len(located) == 1:
        raise located[0]
    if located:
        raise LoadcurveError("\n".join(map(str, located)))


class LabError(LoadcurveError):
    """The laboratory refuses, or cannot, do what a study asks; the text says what to do next."""


def in_one_line(error: OSError | MemoryError | UnicodeError) -> str:
    """Return what the system refused as one line, with what to do next.

    Examples
    --------
    >>> in_one_line(OSError(errno.ENOSPC, "No space left on device", "tables/runs.csv"))
    'tables/runs.csv: No space left on device; free disk space, then run the command again'
    >>> in_one_line(MemoryError())
    'not enough memory: read fewer or smaller files at a time'
    """
    if isinstance(error, MemoryError):
        return "not enough memory: read fewer or smaller files at a time"
    if isinstance(error, UnicodeError):
        return f"text that cannot be written or read as it is ({error}): rename or convert it".replace("\n", " ")
    names = [str(name) for name in (error.filename, error.filename2) if name is not None]
    reason = error.strerror or str(error) or type(error).__name__
    todo = f"; {_NEXT[error.errno]}" if error.errno in _NEXT else ""
    line = ": ".join((" to ".join(names) or "standard input or output", reason)) + todo
    return printable(line)


@contextlib.contextmanager
def named_as(path: object, draft: object = None) -> Iterator[None]:
    """Name a path in the errors of writing it, which name none where a disk is full, or else its draft.

    Examples
    --------
    >>> with named_as("tables/runs.csv"):
    ...     raise OSError(errno.ENOSPC, "No space left on device")
    Traceback (most recent call last):
    OSError: [Errno 28] No space left on device: 'tables/runs.csv'
    """
    try:
        yield
    except OSError as error:
        # Of two names, it is the disk of the second one, to which the first is copied, that is full.
        one_file = error.filename is not None and error.filename2 is None
        unnamed = not one_file and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        if unnamed or (draft and str(error.filename).startswith(str(draft))):
            raise OSError(error.errno, os.strerror(error.errno or 0), str(path)) from None
        raise


def printable(text: str) -> str:
    r"""Return `text` with every character that a terminal would act on written as Python escapes it.

    Examples
    --------
    >>> printable("a\nb\x1b[31m/é")
    'a\\nb\\x1b[31m/é'
    """
    return text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


EXTRA_OF = {
    module: extra
    for extra, modules in {
        "cluster": "distributed",
        "s3": "fsspec",
        "lab": "psutil",
        "notebooks": "jupyter_client nbclient nbformat papermill traitlets",
        "handbook": "bs4 griffe jinja2 latex2mathml mkdocs",
    }.items()
    for module in modules.split()
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
