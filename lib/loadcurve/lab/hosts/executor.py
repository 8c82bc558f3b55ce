"""Execute the commands of a run on a host: write their files, start and stop them, fetch what they wrote."""

import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Protocol

from loadcurve.errors import LabError
from loadcurve.lab.hosts import background, facts, process
from loadcurve.lab.hosts.host import Host, both_clocks
from loadcurve.lab.hosts.process import Started, guarded
from loadcurve.lab.hosts.tools import environment
from loadcurve.study import Command


class Executor(Protocol):
    """Executes commands on one host, for one run.

    Commands start in a folder of the host; their output goes line by line to files in the run's folder on this
    machine.  Other files that they write reach the run's folder with `fetch` at the latest.
    """

    @property
    def host(self) -> Host:
        """Where commands run."""

    @property
    def folder(self) -> Path:
        """The run's folder on this machine."""

    @property
    def url(self) -> str:
        """The ssh URL of a remote host; empty for this machine."""

    @property
    def is_here(self) -> bool:
        """Whether the host is on this machine, so that it shares its clocks and file system."""

    def with_host(self, host: Host) -> "Executor":
        """Return the same executor for a host with another prefix."""

    def argv(self, command: tuple[str, ...], limit_s: float) -> tuple[str, ...]:
        """Return the command as it runs on the host, pinned and under an outer time limit."""

    def put(self, files: Mapping[str, str], folders: Iterable[str] = ()) -> None:
        """Create empty folders, then write files (name → text), all below the executor's folder."""

    def start(self, command: Command) -> Started:
        """Start a command whose argv is from `argv`; its output goes to the files that it names."""

    def wait(self, started: Started) -> Command:
        """Wait until the command ends, at its time limit at the latest; return it with its end and exit code."""

    def stop(self, started: Started) -> Command:
        """Ask the command to end, wait for its last lines, kill its remaining processes; return it as `wait` does."""

    def check_output(self, argv: tuple[str, ...], limit_s: float) -> str:
        """Return what a short command prints on the host; raise `LabError` if it fails or exceeds its limit."""

    def instant_ns(self, monotonic_ns: int) -> int:
        """Convert an instant of this machine's monotonic clock to that of the host."""

    def clocks(self) -> tuple[float, float]:
        """Return wall clock and monotonic clock of the host now, in s."""

    def facts(self) -> dict[str, Any]:
        """Return the facts of the machine that affect results, see `hosts.facts`."""

    def processor_use(self) -> dict[str, Any]:
        """Return the CPU time used so far by the run, by others and on each processor, see `background.sample`."""

    def fetch(self, without: Iterable[str]) -> None:
        """Copy all files that the commands wrote to the run's folder, except those below the folders `without`."""

    def close(self) -> None:
        """Remove what was created on the host outside the run's folder."""


def output_of(argv: tuple[str, ...], host: Host, folder: Path, stdin: str = os.devnull) -> str:
    """Return what a command of this machine prints; its input is a file of the folder in which it runs.

    Raises `LabError` with the last line of its error output if it fails.
    """
    with (folder / stdin).open("rb") as given:
        done = subprocess.run(argv, cwd=folder, env=environment(), stdin=given, capture_output=True, check=False)
    if done.returncode:
        words = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise LabError(f"{host.name}: {words[-1] if words else f'exit code {done.returncode}'}")
    return done.stdout.decode("utf-8", "replace")


@dataclass(frozen=True)
class LocalExecutor:
    """Executes commands on this machine, or in a network namespace of it, in the run's folder."""

    host: Host
    folder: Path
    url: ClassVar[str] = ""
    is_here: ClassVar[bool] = True

    def with_host(self, host: Host) -> "LocalExecutor":
        """Return the same executor for another host, see `Executor`."""
        return replace(self, host=host)

    def argv(self, command: tuple[str, ...], limit_s: float) -> tuple[str, ...]:
        """Return the command as it runs, see `Executor`."""
        return guarded(self.host.argv(command), limit_s)

    def put(self, files: Mapping[str, str], folders: Iterable[str] = ()) -> None:
        """Create folders and write files, see `Executor`."""
        for name in folders:
            (self.folder / name).mkdir(parents=True)
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")

    def start(self, command: Command) -> Started:
        """Start a command, see `Executor`."""
        return process.start(command, self.folder)

    def wait(self, started: Started) -> Command:
        """Wait for its end, see `Executor`."""
        return process.wait(started)

    def stop(self, started: Started) -> Command:
        """Ask it to end, see `Executor`."""
        return process.stop(started)

    def check_output(self, argv: tuple[str, ...], limit_s: float) -> str:
        """Return what a short command prints, see `Executor`."""
        return output_of(self.argv(argv, limit_s), self.host, self.folder)

    def instant_ns(self, monotonic_ns: int) -> int:
        """Return the same instant: namespaces of one machine share its monotonic clock."""
        return monotonic_ns

    def clocks(self) -> tuple[float, float]:
        """Return both clocks of this machine."""
        return both_clocks()

    def facts(self) -> dict[str, Any]:
        """Return the facts of this machine."""
        return facts.facts()

    def processor_use(self) -> dict[str, Any]:
        """Return the CPU time used on this machine; processes that the launcher started belong to the run."""
        return background.sample(str(self.folder.resolve()), [os.getpid()], below=True)

    def fetch(self, without: Iterable[str]) -> None:
        """Remove the folders `without`; the files are here already."""
        for name in without:
            shutil.rmtree(self.folder / name, ignore_errors=True)

    def close(self) -> None:
        """Do nothing: nothing was created outside the run's folder."""
