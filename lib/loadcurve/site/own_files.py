"""What `loadcurve analyse` and `loadcurve audit` print for examples, computed anew for every build of the handbook."""

import re
from functools import cache
from pathlib import Path

from loadcurve.analysis import Analysis, analyse
from loadcurve.audit import AuditSettings
from loadcurve.audit.findings import audit_text
from loadcurve.audit.registry import audit
from loadcurve.files import paths
from loadcurve.report import text_report
from loadcurve.site.safety import fenced

_SHOWN = "results/"
FOLDERS = Path("lib/tests/data/folders")
"""Example folders: raw files of other people's kind, without records of the laboratory."""
_MOST_LINES = 12  # of a part of an audit
_PARTS = re.compile(r"\n\n(?=\S)")


@cache
def _analysis(folder: str, objectives: str) -> Analysis:
    place = FOLDERS / folder if (FOLDERS / folder).is_dir() else paths.study_folder(folder)
    return analyse(place, objectives=[objectives] if objectives else [], source=_shown(folder))


def _shown(folder: str) -> str:
    """Name of a folder in the command that readers see: example folders are called results/."""
    return _SHOWN if (FOLDERS / folder).is_dir() else paths.shown(paths.study_folder(folder))


def analyse_markdown(folder: str, objectives: str = "", *parts: str) -> str:
    """Markdown of the command and of what it prints."""
    option = f" --objective {objectives}" if objectives else ""
    text = text_report(_analysis(folder, objectives), width=80).rstrip()
    if parts:
        summary, verdict, *others = _PARTS.split(text)
        text = "\n\n".join([summary, verdict, *(part for part in others if part.startswith(parts))])
    return fenced(f"$ loadcurve analyse {_shown(folder)}{option}\n{text}", "console")


def cat_markdown(path: str) -> str:
    """Markdown of the command that prints a file of the checkout, whose name the reader sees, and of its text."""
    file = paths.root() / path
    return fenced(f"$ cat {file.name}\n{file.read_text('utf-8')}", "console")


def audit_markdown(path: str, *parts: str) -> str:
    """Markdown of the command that audits a file, and of what it prints."""
    file = paths.root() / path
    every = "Not checked" in parts
    first, *others = _PARTS.split(audit_text(audit(file, AuditSettings()), 1, file.name, 80, every=every))
    text = "\n\n".join([first, *(_cut(part) for part in others if not parts or part.startswith(parts))])
    return fenced(f"$ loadcurve audit {file.name}{' --all' * every}\n{text}", "console")


def _cut(part: str) -> str:
    """Cut a long list after an entry."""
    lines = part.splitlines()
    if len(lines) <= _MOST_LINES:
        return part
    ends = [i for i in range(1, _MOST_LINES) if lines[i].startswith("- ")]
    return "\n".join([*lines[: ends[-1] if ends else _MOST_LINES], "[...]"])
