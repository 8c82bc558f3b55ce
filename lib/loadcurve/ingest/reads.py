"""What this process has read: studies for the provenance of a figure, files for the dependencies of a notebook."""

import os
from collections.abc import Iterable
from pathlib import Path

from loadcurve import paths

studies_read: set[str] = set()
"""Studies and published sources, for the provenance line under each figure."""


def record_reads(files: Iterable[Path]) -> None:
    """Record that a notebook depends on files, if LOADCURVE_READS is set."""
    if ledger := os.environ.get("LOADCURVE_READS"):
        with Path(ledger).open("a", encoding="utf-8", errors="surrogateescape") as out:
            out.writelines(f"{paths.shown(p)}\0" for p in files)
