"""Where a run's commands work: a folder on their host, into which files are put and from which they come back."""

import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol

from loadcurve.errors import LabError
from loadcurve.lab.hosts import background, facts, process
from loadcurve.lab.hosts.clock import both_clocks
from loadcurve.lab.hosts.host import Host
from loadcurve.lab.hosts.process import Started, guarded
from loadcurve.lab.hosts.tools import SEARCH_PATH
from loadcurve.study import Command


class Executor(Protocol):
    """A host for the time of one run.

    Commands are started in its folder; what they print goes to files of the run's folder on this machine, line by
    line as it comes.  Other files that they write are in the run's folder at the latest after `fetch`.

    Attributes
    ----------
    host : Host
        Whose commands work here.
    is_here : bool
        Whether it is of this machine: its clocks are these, and files are here as they are written.
    """

    host: Host
    is_here: ClassVar[bool]

    def argv(self, command: tuple[str, ...], limit_s: float) -> tuple[str, ...]:
        """Return the command as it runs on the host, pinned and under an outer time limit."""
        ...

    def put(self, files: Mapping[str, str], folders: Iterable[str] = ()) -> None:
        """Make empty folders, then write files (name → text), all below the place's folder."""
        ...

    def start(self, command: Command) -> Started:
        """Start a command whose argv is from `argv`, its streams going to the files that it names."""
        ...

    def wait(self, started: Started) -> Command:
        """Wait until it ends by itself, which its time limit sees to; return it with its end and exit code."""
        ...

    def stop(self, started: Started) -> Command:
        """Ask it to end, wait for its last lines, end what is left of its processes; as `wait` when it has ended."""
        ...

    def check_output(self, argv: tuple[str, ...], limit_s: float) -> str:
        """Return what a short command prints on the host; raise `LabError` when it fails or is late."""
        ...

    def instant_ns(self, monotonic_ns: int) -> int:
        """Return an instant of this machine's monotonic clock by that of the host."""
        ...

    def clocks(self) -> tuple[float, float]:
        """Return wall clock and monotonic clock of the host now, in s."""
        ...

    def facts(self) -> dict[str, Any]:
        """Return what of the machine decides what a number means, see `machine.facts`."""
        ...

    def processor_use(self) -> dict[str, Any]:
        """Return what processes of the run, others, and each processor have used so far, see `background.sample`."""
        ...

    def fetch(self, without: Iterable[str]) -> None:
        """Bring all files that the commands wrote, but those below the folders `without`, to the run's folder."""
        ...

    def close(self) -> None:
        """Remove what was made on the host beyond the run's folder."""
        ...


@dataclass(frozen=True)
class LocalExecutor:
    """A host of this machine, be it the machine itself or a namespace: the run's folder itself.

    Attributes
    ----------
    host : Host
        Whose commands work here.
    folder : pathlib.Path
        Of the run.
    """

    host: Host
    folder: Path
    is_here: ClassVar[bool] = True

    def argv(self, command: tuple[str, ...], limit_s: float) -> tuple[str, ...]:
        """Return the command as it runs, see `Executor`."""
        return guarded(self.host.argv(command), limit_s)

    def put(self, files: Mapping[str, str], folders: Iterable[str] = ()) -> None:
        """Make folders and write files, see `Executor`."""
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
        done = subprocess.run(
            self.argv(argv, limit_s),
            cwd=self.folder,
            env={**os.environ, "PATH": SEARCH_PATH},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        if done.returncode:
            words = done.stderr.decode("utf-8", "replace").strip().splitlines()
            raise LabError(f"{self.host.name}: {words[-1] if words else f'exit code {done.returncode}'}")
        return done.stdout.decode("utf-8", "replace")

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
        """Return what has been used on this machine; what the launcher started belongs to the run."""
        return background.sample(str(self.folder.resolve()), [os.getpid()], below=True)

    def fetch(self, without: Iterable[str]) -> None:
        """Remove the folders `without`; the files are here already."""
        for name in without:
            shutil.rmtree(self.folder / name, ignore_errors=True)

    def close(self) -> None:
        """Do nothing: nothing was made beyond the run's folder."""
