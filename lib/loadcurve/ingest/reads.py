"""What this process has read: studies for the provenance of a figure, files for the dependencies of a notebook."""

import os
from collections.abc import Iterable
from pathlib import Path

from loadcurve.files import paths

LEDGER = "LOADCURVE_READS"
"""Environment variable that names the file in which processes list what they read."""

studies_read: set[str] = set()
"""Studies and published sources, for the provenance line under each figure."""


def record_reads(files: Iterable[Path]) -> None:
    """Record that a notebook depends on files, if LOADCURVE_READS is set."""
    if ledger := os.environ.get(LEDGER):
        with Path(ledger).open("a", encoding="utf-8", errors="surrogateescape") as out:
            out.writelines(f"{name}\0" for name in dict.fromkeys(paths.shown(paths.on_disk(p)) for p in files))
