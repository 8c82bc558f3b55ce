"""What `loadcurve analyse` prints for the example folders, computed anew for every build of the handbook."""

import re
from functools import cache
from pathlib import Path

from loadcurve.analysis import Analysis, analyse
from loadcurve.errors import LoadcurveError
from loadcurve.report import text_report

FOLDERS = Path("lib/tests/data/folders")
"""Example folders: raw files of other people's kind, without records of the laboratory."""
_PARTS = re.compile(
    r"\n(?=(?:connections|result|Bottleneck|Weak points|Not computed|Measure next|Findings|Warnings)\b)"
)


@cache
def _analysis(folder: str, objectives: str) -> Analysis:
    if not (FOLDERS / folder).is_dir():
        known = ", ".join(sorted(path.name for path in FOLDERS.iterdir() if path.is_dir()))
        raise LoadcurveError(f"folder must be one of {known}, got {folder!r}")
    return analyse(FOLDERS / folder, objectives=[objectives] if objectives else [], source="results/")


def analyse_markdown(folder: str, objectives: str = "", *parts: str) -> str:
    """Markdown of the command and of what it prints.

    Parameters
    ----------
    folder : str
        Name of an example folder; the reader sees ``results/``.
    objectives : str
        As the option takes them, such as ``p99=3ms``.
    *parts : str
        First words of the parts to show, such as ``connections``, ``result``, ``Bottleneck``; all without any.  The
        first line and the verdict are always shown.
    """
    option = f" --objective {objectives}" if objectives else ""
    text = text_report(_analysis(folder, objectives), width=96).rstrip()
    if parts:
        head, *others = _PARTS.split(text)
        shown = [part.rstrip() for part in others if part.startswith(parts)]
        text = "\n\n".join([head.rstrip(), *shown])
    return f"```console\n$ loadcurve analyse results/{option}\n{text}\n```"
