"""Names of paths in a report that others read: none shows the folders above the data, on this machine."""

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from loadcurve.analysis import Analysis
from loadcurve.audit.findings import Findings
from loadcurve.errors import printable

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
