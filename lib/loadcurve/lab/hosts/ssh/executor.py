"""Execute the commands of a run on a remote host by OpenSSH.

The offset of the host's clocks is measured as NTP does it: it is ½[(T2 − T1) + (T3 − T4)], with an error of at most
half the round trip, and the exchange with the shortest round trip is used (RFC 5905, sections 8 and 10).  The host
reads its clocks once in each exchange, so T2 = T3.
"""

import contextlib
import json
import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar

from loadcurve.errors import LabError, ValueRuleError
from loadcurve.lab.hosts import background, facts
from loadcurve.lab.hosts.host import Host
from loadcurve.lab.hosts.process import INTERRUPTED, Started, ends, guarded, now
from loadcurve.lab.hosts.ssh.connection import Connection, Reader, end, last_line
from loadcurve.lab.hosts.tools import FIXED, PASSED
from loadcurve.study import Command

# The logs of a run are far smaller; a host that sends more is broken or hostile.
MAX_BYTES = 4 * 1024**3
MAX_FILES = 20_000


def check_names(names: Iterable[str]) -> None:
    """Raise ValueRuleError for a name that points outside a folder, has an empty part or an unprintable character.

    Examples
    --------
    >>> check_names(["www/index.html", ".htaccess"])
    """
    for name in names:
        parts = PurePosixPath(name).parts
        if not parts or ".." in parts or "/".join(parts) != name or name.startswith("/") or not name.isprintable():
            raise ValueRuleError("name of a file", "below its folder, in letters that print", name)


def receive(reader: Reader, folder: Path, sender: str, streams: Collection[str] = ()) -> None:
    """Write the files that `remote_agent.send` prints to a folder.

    The sender is not trusted: every file is written inside the folder, and never replaces an existing file.  Only an
    empty one of the `streams`, which hold the output of remote commands, is replaced if a command wrote a file of the
    same name itself.  Raises LabError, which names the `sender`, when a name points outside the folder or exists
    already, or when the host sends more than `MAX_BYTES` bytes or `MAX_FILES` files.
    """
    left_bytes = MAX_BYTES
    for _ in range(MAX_FILES):
        heading = json.loads(reader.line())
        name, size = heading["name"], heading["size"]
        if name == "" and size == 0:
            return
        if not isinstance(name, str) or not isinstance(size, int) or size < 0:
            raise LabError(f"{sender}: a file must have a name and a size, got {heading}")
        left_bytes -= size
        if left_bytes < 0:
            raise LabError(f"{sender}: its files must be smaller than {MAX_BYTES} bytes together")
        try:
            check_names([name])
        except ValueRuleError as error:
            raise LabError(f"{sender}: {error}") from None
        if name in streams and not (folder / name).stat().st_size:
            (folder / name).unlink()
        _write(reader, folder, name, size, sender)
    raise LabError(f"{sender}: it must have fewer than {MAX_FILES} files")


def _write(reader: Reader, folder: Path, name: str, size: int, sender: str) -> None:
    path = folder / name
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.parent.resolve().is_relative_to(folder.resolve()):
            raise LabError(f"{sender}: {name} leads out of the run's folder")
        file = path.open("xb")  # "x" neither follows a link nor overwrites a file
    except (FileExistsError, NotADirectoryError):
        raise LabError(f"{sender}: there is another {name} in the run's folder already") from None
    with file:
        for part in reader.parts(size):
            file.write(part)


@dataclass(frozen=True)
class Exchange:
    """A request to a host and its response, with times in ns."""

    # `asked_ns` and `answered_ns`: monotonic and wall clock of this machine, before the request and after the response.
    asked_ns: tuple[int, int]
    read_ns: tuple[int, int]  # Monotonic and wall clock of the host, between the two
    answered_ns: tuple[int, int]


@dataclass(frozen=True)
class Offset:
    """Clocks of a host minus those of this machine, at the instant of the exchange."""

    # `monotonic_ns` and `wall_ns`: offset of the monotonic clock and of the wall clock.
    monotonic_ns: int
    wall_ns: int
    bound_ns: int  # Largest possible error of each offset


def offset_of(exchanges: Iterable[Exchange]) -> Offset:
    """Return the offset computed from the exchange with the shortest round trip; there must be one.

    Examples
    --------
    >>> offset_of([Exchange((0, 0), (1_000_400, 90), (1_000, 1_000)), Exchange((0, 0), (7, 7), (9_000, 9_000))])
    Offset(monotonic_ns=999900, wall_ns=-410, bound_ns=500)
    """
    found = min(exchanges, key=lambda each: each.answered_ns[0] - each.asked_ns[0], default=None)
    if found is None:
        raise ValueRuleError("exchanges", "at least one", "none")
    monotonic_ns, wall_ns = (
        read - (asked + answered) // 2
        for asked, read, answered in zip(found.asked_ns, found.read_ns, found.answered_ns, strict=True)
    )
    trips_ns = (answered - asked for asked, answered in zip(found.asked_ns, found.answered_ns, strict=True))
    return Offset(monotonic_ns, wall_ns, max((trip + 1) // 2 for trip in trips_ns))


_FACTS, _BACKGROUND = (Path(str(program.__file__)).read_text("utf-8") for program in (facts, background))
# Time limit of a short request; allows for the start of Python on a busy machine.
_ASKING_S = 10.0
# Sixteen exchanges take a few ms on a local network; the fastest exchange was not delayed by other traffic.
_EXCHANGES = 16
# Grace period as on this machine, and the longest delay until the end of a command is reported here.
_GRACE_S = 3.0
_WORD_S = 10.0
_FETCH_LIMIT_S = 600.0
# An exit code above this may also be from a signal (128 + its number) or from ssh itself (255).
_PLAIN_CODES = 128


@dataclass
class _Session(Started):
    """A command on the host; `process` is the local ssh client of its session."""

    number: int


@dataclass(frozen=True)
class RemoteExecutor:
    """Executes commands on a remote host, with the methods of `Executor`."""

    host: Host  # Its name, address and processors
    folder: Path  # The run's folder on this machine
    connection: Connection  # Connection to the host
    path: str  # Path of the executor's own folder on the host
    offset: Offset  # Offset of the host's clocks from this machine's clocks, measured when the executor was created
    streams: set[str] = field(default_factory=set)  # Files of the run that hold the output of commands on the host
    is_here: ClassVar[bool] = False

    @property
    def url(self) -> str:
        """The ssh URL of the host."""
        return self.connection.url

    def with_host(self, host: Host) -> "RemoteExecutor":
        """Return the same executor for another host, see `Executor`."""
        return replace(self, host=host)

    def argv(self, command: tuple[str, ...], limit_s: float) -> tuple[str, ...]:
        """Return the command as it runs on the host, pinned and under an outer time limit."""
        return guarded(self.host.argv(command), limit_s)

    def put(self, files: Mapping[str, str], folders: Iterable[str] = ()) -> None:
        """Create empty folders, then write files (name → text).

        Raises ValueRuleError when a name points outside the executor's folder, and LabError when the host reports an
        error, or the connection is lost.
        """
        folders = tuple(folders)
        check_names((*files, *folders))
        if files or folders:
            self.connection.ask({"verb": "put", "folder": self.path, "files": dict(files), "folders": folders})

    def start(self, command: Command) -> Started:
        """Start a command with an argv from `argv`; write its output to files on this machine as it arrives."""
        number, begun = self.connection.number(), now()
        command = replace(command, env={**FIXED, **command.env})
        job = self._job(command.argv, command.env, number, command.tool if command.tool in INTERRUPTED else "TERM")
        self.streams.update((command.stdout, command.stderr))
        with (self.folder / command.stdout).open("wb") as out, (self.folder / command.stderr).open("wb") as err:
            session = self.connection.session(job, out, err)
        return _Session(replace(command, started_at=begun, host=self.host.name), session, number)

    def wait(self, started: Started) -> Command:
        """Wait until the command ends by itself, or its limit; raise LabError if the connection is lost."""
        if not ends(started.process, started.command.limit_s + 2 * _GRACE_S + _WORD_S):
            end(started.process)
            raise LabError(f"{self.host.name}: {started.command.tool} did not report its end in time")
        return self._ended(started)

    def stop(self, started: Started) -> Command:
        """Ask the command to end and wait for its last lines; return and raise as `wait` does."""
        end(started.process, _GRACE_S + _WORD_S)
        return self._ended(started)

    def check_output(self, argv: tuple[str, ...], limit_s: float) -> str:
        """Return what a short command prints on the host, see `Executor`."""
        job = self._job(self.argv(argv, limit_s), FIXED, self.connection.number(), "TERM")
        return self.connection.output(job, limit_s + _GRACE_S + _WORD_S)

    def instant_ns(self, monotonic_ns: int) -> int:
        """Convert an instant of this machine's monotonic clock to the host's, with an error <= `offset.bound_ns`."""
        return monotonic_ns + self.offset.monotonic_ns

    def clocks(self) -> tuple[float, float]:
        """Return wall clock and monotonic clock of the host now, in s."""
        monotonic_ns, wall_ns = self.connection.ask({"verb": "clock"})["ns"]
        return wall_ns / 1e9, monotonic_ns / 1e9

    def facts(self) -> dict[str, Any]:
        """Return the facts of the host, see `hosts.facts`, with its wall clock's offset and its URL."""
        found = self.connection.ask({"verb": "facts", "program": _FACTS})
        return {
            **{name: found.get(name, "not known") for name in facts.facts()},
            "ssh": self.connection.url,
            "clock_offset_s": self.offset.wall_ns / 1e9,
            "clock_offset_bound_s": self.offset.bound_ns / 1e9,
        }

    def processor_use(self) -> dict[str, Any]:
        """Return the processor time used on the host, see `background.sample`."""
        argv = ("python3", "-I", "-S", "-c", _BACKGROUND, self.path)
        used: dict[str, Any] = json.loads(self.check_output(argv, _ASKING_S))
        return used

    def fetch(self, without: Iterable[str]) -> None:
        """Copy all files that the commands wrote, except those below the folders `without`, to the run's folder.

        Raises LabError when the host sends a file that is not allowed, see `files.receive`, or the connection is lost.
        """
        without = tuple(without)
        check_names(without)
        job = {"verb": "send", "folder": self.path, "without": without}
        with self.connection.talking(job, _FETCH_LIMIT_S) as (_, reader):
            receive(reader, self.folder, self.host.name, self.streams)

    def close(self) -> None:
        """Remove the folder on the host; if the connection is lost, the host's keeper removes it."""
        with contextlib.suppress(LabError):
            self.connection.ask({"verb": "remove", "folder": self.path})

    def _job(self, argv: tuple[str, ...], env: Mapping[str, str], number: int, stop: str) -> dict[str, Any]:
        """Return the job of the remote agent that runs a command in the executor's folder."""
        job = {"verb": "run", "folder": self.path, "argv": argv, "number": number, "stop": stop, "grace_s": _GRACE_S}
        return job | {"env": env, "passed": PASSED}

    def _ended(self, started: Started) -> Command:
        """Return the command with its end and exit code; raise if only ssh itself reported an error."""
        ended, code = now(), started.process.returncode
        end(started.process)
        if not 0 <= code <= _PLAIN_CODES:
            if lost := self.connection.lost(patience_s=1.0 if code == 255 else 0.0):
                raise LabError(f"{self.host.name}: {lost}")
            if not isinstance(started, _Session):
                raise TypeError("a command of another host")
            answer = self.connection.ask({"verb": "end_of", "number": started.number})
            if "code" not in answer:
                words = last_line((self.folder / started.command.stderr).read_text("utf-8", "replace"))
                detail = f"; its last line: {words}" if words else ""
                raise LabError(f"{self.host.name}: {started.command.tool} has no exit code{detail}")
            code = int(answer["code"])
        return replace(started.command, ended_at=ended, exit_code=code)


def open_executor(connection: Connection, host: Host, folder: Path) -> RemoteExecutor:
    """Create a folder for a run on a remote host, and measure the offset of its clocks.

    `host` has no prefix.  Raises LabError when the host reports an error, or the connection is lost.
    """
    path = connection.folder(connection.number())
    connection.ask({"verb": "begin", "folder": path})
    return RemoteExecutor(host, folder, connection, path, offset_of(_exchange(connection) for _ in range(_EXCHANGES)))


def _exchange(connection: Connection) -> Exchange:
    asked = (time.monotonic_ns(), time.time_ns())
    monotonic, wall = connection.ask({"verb": "clock"})["ns"]
    return Exchange(asked, (int(monotonic), int(wall)), (time.monotonic_ns(), time.time_ns()))
