"""libfaketime for a test: what tells a program a wall clock that is not this machine's, and what it leaves behind."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from loadcurve.lab.hosts.tools import which

# The dynamic linker puts the machine's own folder of libraries in the place of $LIB (ld.so(8)).
LIBRARY = "/usr/$LIB/faketime/libfaketimeMT.so.1"
_SHARED = Path("/dev/shm")


def left() -> set[Path]:
    """Shared memory and semaphores of faked processes, each named by its process number."""
    return set(_SHARED.glob("*faketime_s*_*")) if _SHARED.is_dir() else set()


def faked_programs(folder: Path, variables: dict[str, str]) -> str:
    """A PATH with which the laboratory's programs believe a faked clock, whose environment it makes itself."""
    folder.mkdir()
    words = " ".join(f"'{name}={value}'" for name, value in variables.items())
    (folder / "setpriv").write_text(f'#!/bin/sh\nexec env {words} {which("setpriv")} "$@"\n')
    (folder / "setpriv").chmod(0o755)
    return f"{folder}:/usr/bin:/bin"


@contextlib.contextmanager
def faking() -> Iterator[None]:
    """Skip where there is no libfaketime; remove what it leaves of processes that were killed."""
    if which("faketime") is None:
        pytest.skip("not installed: faketime (sh lib/loadcurve/lab/system.sh install lab-test)")
    before = left()
    yield
    for path in left() - before:
        if not psutil.pid_exists(int(path.name.rpartition("_")[2])):
            path.unlink(missing_ok=True)
