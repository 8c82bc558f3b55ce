"""Where a report comes from: files with sizes and SHA-256, tools and versions, loadcurve, command line, date.

No path in a report that others read shows the folders above the data.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from loadcurve.analysis import Analysis
from loadcurve.audit.findings import Findings
from loadcurve.blocks import Grid, Section
from loadcurve.errors import printable
from loadcurve.files.atomic import sha256_of
from loadcurve.files.paths import below
from loadcurve.ingest.files import files_of, is_folder
from loadcurve.packages import __version__
from loadcurve.study.archive import opened
from loadcurve.units import format_quantity

Shorten = Callable[[str], str]
_ABSOLUTE = re.compile(r"(?:--[a-z-]+=|-[a-z])?(/.+)")  # as an argument, or joined to an option


def shortener(arguments: Iterable[str]) -> Shorten:
    """Return a function that replaces in a text the absolute paths among the arguments of a command.

    A path below the working directory becomes relative.  Of another argument, the last parts are left that no other
    one ends in.  The home directory becomes ``~``.

    Examples
    --------
    >>> shorten = shortener(["/srv/load/monday/", "--factors=/srv/f.csv"])
    >>> shorten("/srv/load/monday/c1.txt:3: expected a number; compare with http://host/srv/load/monday")
    'monday/c1.txt:3: expected a number; compare with http://host/srv/load/monday'
    """
    here, found = Path.cwd(), filter(None, map(_ABSOLUTE.fullmatch, arguments))
    given = dict.fromkeys(Path(argument[1]) for argument in found)
    outside = [str(path) for path in given if path.name and not path.is_relative_to(here)]
    names = {str(Path.home()): "~", str(here): "."} | {path: _last_parts(path, outside) for path in outside}
    names = {printable(path): name for path, name in names.items() if path != "/"}
    longest_first = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    form = re.compile(rf"(?:(?<![\w.-])|(?<=^-\w))({longest_first})(/|(?![\w-]|\.\w))")
    return lambda text: form.sub(lambda found: (names[found[1]] + found[2]).removeprefix("./"), text)


def _last_parts(path: str, paths: Iterable[str]) -> str:
    """Return as many of the last parts of a path as no other path ends in."""
    parts = Path(path).parts
    ends = ["/".join(parts[-number:]) for number in range(1, len(parts))]
    return next((end for end in ends if sum(one.endswith(f"/{end}") for one in paths) == 1), ends[-1])


def shortened_findings(findings: Findings, shorten: Shorten) -> Findings:
    """Return findings with the names of files shortened, also in what the readers reported."""
    found = Findings(findings.assign(source=findings["source"].map(shorten, na_action="ignore")))
    notes = {name: tuple(map(shorten, findings.attrs[name])) for name in ("warnings", "origins")}
    found.attrs = {**findings.attrs, **notes}
    return found


def shortened(analysis: Analysis, shorten: Shorten) -> Analysis:
    """Return an analysis with the names of its files shortened."""
    warnings, origins = (tuple(map(shorten, texts)) for texts in (analysis.warnings, analysis.origins))
    findings = shortened_findings(analysis.findings, shorten)
    return replace(analysis, source=shorten(analysis.source), warnings=warnings, origins=origins, findings=findings)


_LISTED = 100  # files that are listed; a digest covers all
_MOST_BYTES = 500_000_000  # hashing more would take longer than the analysis


@dataclass(frozen=True)
class File:
    """A file that was read: path below the folder, size in bytes, and SHA-256 (empty where it was not computed)."""

    path: str
    bytes: int
    sha256: str


@dataclass(frozen=True)
class Provenance:
    """Where a report comes from.

    The digest is the SHA-256 of the lines ``SHA256  PATH`` of all files, as ``sha256sum FILES | sha256sum`` prints it;
    empty without files, or if they were too large to hash.
    """

    files: tuple[File, ...]  # in the order of paths; empty if the data were given as tables
    digest: str
    tools: tuple[str, ...]  # load generators with their versions
    version: str  # of loadcurve
    command: str  # empty if the report was made in Python
    created: datetime  # in UTC

    def facts(self) -> list[tuple[str, str]]:
        """Names and values, in the order in which a report shows them."""
        total = sum(file.bytes for file in self.files)
        number = f"{len(self.files)} file{'s' * (len(self.files) != 1)}"
        data = f"{number}, {format_quantity(total, 'bytes')}" if self.files else "tables"
        facts = [
            ("data", data),
            ("SHA-256 of all files", self.digest or ("not computed: too large" if self.files else "")),
            ("load generators", ", ".join(self.tools)),
            ("loadcurve", self.version),
            ("command", self.command),
            ("created", f"{self.created:%Y-%m-%d %H:%M} UTC"),
        ]
        return [(name, value) for name, value in facts if value]

    def section(self) -> Section:
        """The section of a report."""
        facts = Grid(["what", "value"], self.facts(), "Origin of this report", left=2)
        if not self.files:
            return Section("Provenance", [facts])
        listed = self.files[:_LISTED]
        rows = [[file.path, f"{file.bytes:,}", file.sha256] for file in listed]
        left_out = f", the first {len(listed)} of {len(self.files)}" if len(listed) < len(self.files) else ""
        files = Grid(["file", "bytes", "SHA-256"], rows, f"Files{left_out}", left=1, folded=True)
        return Section("Provenance", [facts, files])


def provenance_of(
    analysis: Analysis, paths: str | Path | Sequence[str] = (), command: str = "", *, follow: bool = False
) -> Provenance:
    """Return the provenance of an analysis of files and folders.

    ``follow`` says whether links were read that lead out of the folders.
    """
    runs = analysis.tables["runs"]
    versions = (runs["tool"].fillna("unknown tool") + " " + runs["tool_version"].fillna("")).str.strip()
    named = [paths] if isinstance(paths, str | Path) else paths
    files = tuple(file for path in dict.fromkeys(named) for file in _files(Path(path), len(named) > 1, follow))
    return Provenance(files, _digest(files), tuple(versions.unique()), __version__, command, datetime.now(UTC))


def _files(path: Path, several: bool, follow: bool) -> tuple[File, ...]:
    """Files of a path that exist, by name; of several paths, each file is named with its path."""
    if not opened(path).exists():
        return ()
    base, shorten = path if is_folder(path) else path.parent, shortener([str(path)])
    files = [file for file in files_of(path, follow) if file.is_file()]
    named = {below(file, base): file for file in files}
    found = {shorten(printable((base / name if several else name).as_posix())): file for name, file in named.items()}
    sizes = {name: file.stat().st_size for name, file in found.items()}
    hashed = sum(sizes.values()) <= _MOST_BYTES
    return tuple(File(name, sizes[name], sha256_of(found[name]) if hashed else "") for name in sorted(found))


def _digest(files: Sequence[File]) -> str:
    if not files or not all(file.sha256 for file in files):
        return ""
    lines = "".join(f"{file.sha256}  {file.path}\n" for file in files)
    return hashlib.sha256(lines.encode()).hexdigest()
