"""Names of runs that have no record: from the names of the files and folders that hold them."""

import re
from collections import Counter
from collections.abc import Mapping
from functools import cache
from pathlib import PurePosixPath

from loadcurve.errors import printable
from loadcurve.ingest.registry import FORMS

# Words of a file's name that do not name a run, beside the names of tools and their variants.
_COMMON = {
    "bz2", "csv", "data", "err", "gz", "html", "json", "load", "log", "logs", "md", "monitor", "monitors", "out",
    "output", "raw", "report", "reports", "result", "results", "run", "runs", "stats", "stderr", "stdout", "tsv", "txt",
    "xml", "xz", "zst",
}  # fmt: skip
_EXTENSION = re.compile(r"[A-Za-z]{1,5}")
_STAMP = re.compile(r"[0-9]{6,}")  # a date or a time of day, which differs between the files of one run


def name_runs(reports: Mapping[PurePosixPath, int]) -> dict[PurePosixPath, tuple[str, ...]]:
    """Return the names of the runs in each file with reports of load generators, unique over all files.

    A subfolder with one such file gives the run its name.  Otherwise the run is named by the stem of its file:
    ``c64.wrk.txt`` is ``c64``, unless two files of a folder have that stem.

    Examples
    --------
    >>> names = name_runs({PurePosixPath(f): n for f, n in {"c1.wrk.txt": 1, "all.log": 2, "c8/load.txt": 1}.items()})
    >>> list(names.values())
    [('c1',), ('all-1', 'all-2'), ('c8',)]
    """
    in_folder = Counter(path.parent for path in reports)
    candidates = {path: _candidates(path, in_folder[path.parent]) for path in reports}
    named = {path: _numbered(candidates[path][0], reports[path]) for path in reports}
    for _ in range(3):
        uses = Counter(name for names in named.values() for name in names)
        shared = [path for path, names in named.items() if any(uses[name] > 1 for name in names)]
        for path in shared:
            if len(candidates[path]) > 1:
                candidates[path] = candidates[path][1:]
            named[path] = _numbered(candidates[path][0], reports[path])
    return named


def _candidates(path: PurePosixPath, in_folder: int) -> list[str]:
    """Names of a file's run, from the shortest to its whole path."""
    alone = [path.parent.as_posix()] if in_folder == 1 and path.parent.name else []
    names = dict.fromkeys((stem(path.name), path.stem, path.name))
    return [*alone, *(path.with_name(name).as_posix() for name in names)]


def _numbered(name: str, count: int) -> tuple[str, ...]:
    name = printable(name)
    return (name,) if count == 1 else tuple(f"{name}-{i:0{len(str(count))}}" for i in range(1, count + 1))


def stem(name: str) -> str:
    """Return a file's name without its extension, the tool that wrote the file, and the variant of its output.

    Examples
    --------
    >>> stem("c64.wrk.txt"), stem("c64.ss.connections.txt.gz"), stem("wrk-c64.txt"), stem("v1.2-c64.log")
    ('c64', 'c64', 'wrk-c64', 'v1.2-c64')
    """
    parts = name.split(".")
    while len(parts) > 1 and parts[-1].lower() in _ignored():
        parts.pop()
    if len(parts) > 1 and len(name) == len(".".join(parts)) and _EXTENSION.fullmatch(parts[-1]):
        parts.pop()
    return ".".join(parts)


def words(path: PurePosixPath) -> tuple[str, ...]:
    """Return the words of a path that can name a run, in lower case.

    Examples
    --------
    >>> words(PurePosixPath("nginx/logs/20261122/sar_c64.txt"))
    ('nginx', '20261122', 'c64')
    """
    parts = (*path.parts[:-1], stem(path.name)) if path.parts else ()
    found = (word for part in parts for word in re.split(r"[\W_]+", part.lower()) if word)
    return tuple(word for word in found if word not in _ignored())


class RunNames:
    """The words of each run's name, to find the run of a file.

    Examples
    --------
    >>> names = RunNames({"c1": ("c1",), "tls-c1": ("tls", "c1")})
    >>> names.find(("c1",)), names.find(("tls", "c1", "server")), names.find(("c8",))
    ('c1', 'tls-c1', None)
    """

    def __init__(self, runs: Mapping[str, tuple[str, ...]]) -> None:
        self._equal: dict[tuple[str, ...], str | None] = {}
        for run, key in runs.items():
            self._equal[key] = None if key in self._equal else run
        self._equal.pop((), None)
        # Dates and times of day differ between the files of one run.
        lasting = ((frozenset(word for word in key if not _STAMP.fullmatch(word)), run) for run, key in runs.items())
        self._among = sorted(((key, run) for key, run in lasting if key), key=lambda pair: -len(pair[0]))

    def find(self, key: tuple[str, ...]) -> str | None:
        """Return the run whose words are equal to those of a file, or else whose words are all among them.

        The run with the most words wins.  None where no run matches, or several equally.
        """
        if key in self._equal:
            return self._equal[key]
        held, found, length = set(key), None, 0
        for own, run in self._among:
            if len(own) < length:
                break
            if held.issuperset(own):
                if found is not None:
                    return None
                found, length = run, len(own)
        return found


@cache
def _ignored() -> frozenset[str]:
    """Words of tools that measure; servers and balancers are what is measured, so their names distinguish runs."""
    forms = [form for form in FORMS if form.parsed_by.startswith(("load.", "sysstat.", "sockets.", "kernel."))]
    variants = {word for form in forms for word in re.split(r"[-_]", form.variant) if len(word) > 1}
    return frozenset(_COMMON | {form.tool for form in forms} | variants)
