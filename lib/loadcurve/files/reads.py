"""What this process has read: studies for the provenance of a figure, files and modules for what make does again."""

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace

from loadcurve.files import paths
from loadcurve.files.imports import files_of_module

LEDGER = "LOADCURVE_READS"
"""Environment variable that names the file in which processes list what they read."""
_PACKAGES = ("loadcurve", "validation")

studies_read: set[str] = set()
"""Studies and published sources, for the provenance line under each figure."""


def record_reads(files: Iterable[Path]) -> None:
    """Record that a notebook depends on files, if LOADCURVE_READS is set."""
    if ledger := os.environ.get(LEDGER):
        with Path(ledger).open("a", encoding="utf-8", errors="surrogateescape") as out:
            out.writelines(f"{name}\0" for name in dict.fromkeys(paths.shown(paths.on_disk(p)) for p in files))


def _record_module(name: str, path: object = None, target: object = None) -> None:
    """Record a module of this checkout that the import system looks for; a finder that finds none."""
    if name.partition(".")[0] in _PACKAGES:
        record_reads(file for file in files_of_module(name) if not Path(paths.shown(file)).is_absolute())


def record_modules() -> None:
    """Record the modules of this checkout that this process has imported, and each that it imports from now on."""
    if LEDGER in os.environ:
        for name in list(sys.modules):
            _record_module(name)
        sys.meta_path.insert(0, SimpleNamespace(find_spec=_record_module))
