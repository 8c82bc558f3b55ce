"""One OpenSSH connection to a remote host (``ssh://USER@HOST[:PORT]``), shared by all commands of a launch.

A master (ControlMaster) carries the connection; each command is a separate session over it.  ssh uses the user's
configuration, known hosts and agent, and refuses a host with an unknown key.  The master also runs
the keeper of `remote_agent.py`, which holds a folder on the host.

Nothing is left when the launcher is killed.  Its local processes end with the launcher (``setpriv --pdeathsig``), so
the connection closes; the keeper and the commands on the host read end-of-file, and the last of them removes the
folder.  If the network drops the close as well, the keeper ends after hearing nothing from the launcher for a while.
"""

import contextlib
import ipaddress
import json
import os
import re
import secrets
import select
import shlex
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from loadcurve.errors import LabError, ValueRuleError
from loadcurve.files.atomic import runtime_folder
from loadcurve.lab.hosts.process import pipe
from loadcurve.lab.hosts.tools import which
from loadcurve.runtime.signals import interruptible

_URL = re.compile(r"ssh://(?P<user>[^@]+)@(?:\[(?P<ipv6>[^]]+)\]|(?P<host>[^]:@\[]+))(?::(?P<port>[0-9]{1,5}))?")
# Excludes a leading "-" (an option), "%" (expanded by ssh), and characters that are special to a shell, which the
# user's ssh configuration may run.
_USER = re.compile(r"[A-Za-z_][A-Za-z0-9._-]{0,63}")
_HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,252}")
_RULE = "ssh://USER@HOST or ssh://USER@HOST:PORT"


@dataclass(frozen=True)
class Address:
    """Address of an ssh login: host, user and port."""

    # `user` and `host`: the host is a name, an alias of the user's ssh configuration, or an IP address.
    user: str
    host: str
    port: int | None = None  # None for the port in the user's ssh configuration, or 22 if it names none

    @property
    def words(self) -> tuple[str, ...]:
        """Return the address as arguments of ssh, the last ones before the command."""
        port = ("-p", str(self.port)) if self.port else ()
        return (*port, "-l", self.user, "--", self.host)


def parse_url(url: str) -> Address:
    """Return the address in an ``ssh://`` URL.

    Raises ValueRuleError when the URL has another scheme, when the user or the host contains characters other than
    letters, digits and ``. _ -`` or begins with ``-``, or when the port is not within 1–65535.

    Examples
    --------
    >>> parse_url("ssh://bench@client1:2222").words
    ('-p', '2222', '-l', 'bench', '--', 'client1')
    """
    found = _URL.fullmatch(url)
    if not found or not _USER.fullmatch(found["user"]) or not _is_host(found):
        raise ValueRuleError("ssh", _RULE, url)
    port = int(found["port"]) if found["port"] else None
    if port is not None and not 1 <= port <= 65535:
        raise ValueRuleError("port", "within 1–65535", port)
    return Address(found["user"], found["host"] or found["ipv6"], port)


def _is_host(found: re.Match[str]) -> bool:
    if found["host"]:
        return bool(_HOST.fullmatch(found["host"]))
    try:
        ipaddress.IPv6Address(found["ipv6"])
    except ValueError:
        return False
    return "%" not in found["ipv6"]


_LOGIN_HINTS = {
    "IDENTIFICATION HAS CHANGED": "its key is not the one in known_hosts",
    "Host key verification failed": "log in once by hand, and compare its key",
    "Permission denied": "the login must need no password: a key, or an agent that has it",
}
_REFUSED = "Session open refused by peer"
_LONGEST = 200


def shown(text: str) -> str:
    r"""Return a text that a host sent, shortened and without control characters.

    Examples
    --------
    >>> shown("a\x1b[2Jb\n")
    'a?[2Jb'
    """
    return "".join(letter if letter.isprintable() else "?" for letter in text.strip())[:_LONGEST]


def last_line(text: str) -> str:
    r"""Return the last line that is not empty; for a session that the host refused, the line with the refusal.

    Examples
    --------
    >>> last_line("Warning: this\nPermission denied (publickey).\r\n\n")
    'Permission denied (publickey).'
    """
    lines = [line for line in text.splitlines() if line.strip()]
    for line in lines:
        if _REFUSED in line:  # the following lines are from ssh, which retries without its master
            return f"{_REFUSED} (MaxSessions of its sshd: each command there is a session)"
    return shown(lines[-1]) if lines else ""


_PART = 65536


class Reader:
    """Reads from a pipe until a deadline."""

    def __init__(self, descriptor: int, limit_s: float):
        self._descriptor, self._held = descriptor, b""
        self._ready = select.poll()  # unlike select.select, poll accepts descriptors above 1023
        self._ready.register(descriptor, select.POLLIN)
        self.allow(limit_s)

    def allow(self, limit_s: float) -> None:
        """Set the deadline to `limit_s` seconds from now."""
        self._deadline = time.monotonic() + limit_s

    def line(self, most: int = _PART) -> bytes:
        """Return the next line, without the line feed.

        Raises EOFError when the input ends before the line does, ValueError when the line is longer than `most` bytes,
        and TimeoutError when the deadline has passed.
        """
        while b"\n" not in self._held:
            if len(self._held) > most:
                raise ValueError(f"a line of more than {most} bytes")
            part = self._some()
            if not part:
                raise EOFError(self._held)
            self._held += part
        line, _, self._held = self._held.partition(b"\n")
        return line

    def parts(self, size: int) -> Iterator[bytes]:
        """Yield the next `size` bytes in parts; raise the errors of `line`."""
        while size:
            part = self._held or self._some()
            if not part:
                raise EOFError(b"")
            part, self._held = part[:size], part[size:]
            size -= len(part)
            yield part

    def rest(self, most: int) -> bytes:
        """Return everything up to the end of the input, at most `most` bytes; raise the errors of `line`."""
        while len(self._held) <= most:
            part = self._some()
            if not part:
                rest, self._held = self._held, b""
                return rest
            self._held += part
        raise ValueError(f"more than {most} bytes")

    def _some(self) -> bytes:
        left_s = self._deadline - time.monotonic()
        with interruptible():
            ready = left_s > 0 and self._ready.poll(left_s * 1000)
        if not ready:
            raise TimeoutError("no answer in time")
        return os.read(self._descriptor, _PART)


_REMOTE_AGENT = Path(__file__).with_name("remote_agent.py").read_text("utf-8")
# The only command passed to the login shell of a host; the agent reads its job from standard input.
_BOOTSTRAP = "exec python3 -I -S -c " + shlex.quote(
    "import sys; far = sys.stdin.buffer; exec(far.read(int(far.readline())))"
)
_OLDEST_PYTHON = [3, 9]
# Placed before the caller's options, because ssh uses the first value of each option.
_FIRM = ("BatchMode=yes", "ControlMaster=yes", "ControlPersist=no", "RemoteCommand=none", "PermitLocalCommand=no",
         "ForwardAgent=no", "ForwardX11=no", "ClearAllForwardings=yes", "LogLevel=INFO")  # fmt: skip
_DEFAULT = ("ConnectTimeout=10", "ServerAliveInterval=5", "ServerAliveCountMax=3")
# Limit of one login, including name resolution and a busy host: longer than ConnectTimeout.
_LOGIN_LIMIT_S = 30.0
_ANSWER_LIMIT_S = 20.0
# The launcher sends the keeper a line this often; the keeper ends after a longer silence, as the launcher may be busy.
_WORD_EVERY_S = 5.0
_SILENCE_S = 60.0
_END_LIMIT_S = 5.0
_MAX_BYTES = 16 * 1024 * 1024


class Connection:
    """A logged-in ssh connection to a host, created by `connected`."""

    def __init__(
        self, url: str, control: Path, master: subprocess.Popen[bytes], words: IO[bytes], prefix: tuple[str, ...]
    ):
        self.url = url  # URL of the host as written in the study
        self._control, self._master, self._words, self._prefix = control, master, words, prefix
        self._host = parse_url(url).host
        self._numbers, self._base, self._keeper, self._greeted = 0, "", 0, 0
        self._answers, self._in_step = Reader(pipe(master.stdout).fileno(), _LOGIN_LIMIT_S), False
        self._lock = threading.RLock()  # one request at a time; `_speaking` must not send during a request

    def greet(self) -> None:
        """Start the keeper; raise the errors listed at `connected`."""
        _send(self._master, {"verb": "keep", "silence_s": _SILENCE_S})
        try:
            line = self._answers.line()
        except EOFError:
            raise self._refusal() from None
        except (TimeoutError, ValueError) as error:
            raise LabError(f"{self.url}: {error}") from None
        try:
            greeting = json.loads(line)
            base, keeper = str(greeting["base"]), int(greeting["keeper"])
            python = [int(number) for number in greeting["python"]]
        except (ValueError, TypeError, KeyError):
            printed = shown(line.decode("utf-8", "replace"))
            raise LabError(f"{self.url}: its login shell must be quiet, got {printed!r} before a command") from None
        if python < _OLDEST_PYTHON:
            raise LabError(f"{self.url}: python3 must be 3.9 or newer there, got {'.'.join(map(str, python))}")
        self._base, self._keeper, self._in_step = base, keeper, True
        self._greeted = len(_text(self._words))  # login banners and warnings do not explain later errors

    def number(self) -> int:
        """Return a number that is unique within this connection."""
        self._numbers += 1
        return self._numbers

    def folder(self, number: int) -> str:
        """Return the path on the host of the folder with this number; the folder need not exist yet."""
        return f"{self._base}/{number}"

    def say(self, line: bytes = b"") -> None:
        """Send the keeper a line; an empty line only shows that the launcher is alive."""
        with self._lock:
            pipe(self._master.stdin).write(line + b"\n")
            pipe(self._master.stdin).flush()

    def ask(self, job: dict[str, Any]) -> dict[str, Any]:
        """Send the keeper a job and return its response.

        Raises LabError when the keeper cannot do the job, when its response is late, or when the connection is lost.
        """
        with self._lock:
            if not self._in_step:
                raise LabError(self.lost() or f"{self.url}: its answers are out of step; launch again")
            self._in_step = False  # until the whole response has arrived, even if an exception interrupts the read
            try:
                self.say(json.dumps({"base": self._base, **job}).encode("ascii"))
                self._answers.allow(_ANSWER_LIMIT_S)
                answer = json.loads(self._answers.line(_MAX_BYTES))
                if not isinstance(answer, dict):
                    raise ValueError("no answer")
            except (BrokenPipeError, EOFError):
                raise LabError(self.lost(patience_s=2.0) or f"{self.url}: connection lost") from None
            except (TimeoutError, ValueError) as error:
                raise LabError(f"{self.url}: {error}") from None
            self._in_step = True
        if "error" in answer:
            raise LabError(f"{self.url}: {shown(str(answer['error']))}")
        return answer

    def output(self, job: dict[str, Any], limit_s: float) -> str:
        """Return the output of a program; raise the errors of `talking`, also for an exit code other than 0."""
        with self.talking(job, limit_s) as (session, reader):
            text = reader.rest(_MAX_BYTES).decode("utf-8", "replace")
            end(session)
            if session.returncode:
                raise EOFError(f"exit code {session.returncode}")
            return text

    @contextlib.contextmanager
    def talking(self, job: dict[str, Any], limit_s: float) -> Iterator[tuple[subprocess.Popen[bytes], Reader]]:
        """Start a job in a separate session, and read its output.

        Raises LabError when the job fails or is late, or the connection is lost; it quotes the last line of output.
        """
        with tempfile.TemporaryFile() as words:
            session = self.session(job, subprocess.PIPE, words)
            try:
                yield session, Reader(pipe(session.stdout).fileno(), limit_s)
            except (TimeoutError, EOFError, BrokenPipeError, ValueError) as error:
                end(session)
                lost = self.lost(patience_s=1.0) if session.returncode == 255 else ""
                raise LabError(lost or f"{self.url}: {last_line(_text(words)) or error or 'no answer'}") from None
            finally:
                end(session)

    def session(self, job: dict[str, Any], stdout: int | IO[bytes], stderr: IO[bytes]) -> subprocess.Popen[bytes]:
        """Start a job in a separate session; its standard input stays open, and closing it asks the job to end."""
        argv = (
            *("setpriv", "--pdeathsig", "TERM", *self._prefix, "ssh", "-F", "none", "-T", "-S", str(self._control)),
            # Without these options, ssh would log in again if the master has ended.
            *("-o", "BatchMode=yes", "-o", "ProxyCommand=false", "-o", "LogLevel=ERROR", "--", self._host, _BOOTSTRAP),
        )
        started = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=stdout, stderr=stderr, start_new_session=True)
        _send(started, {"base": self._base, "keeper": self._keeper, **job})
        return started

    def lost(self, patience_s: float = 0.0) -> str:
        """Return why the connection was lost, or an empty string while it is open.

        It waits up to `patience_s` for the master to end, because a session may end before its master.
        """
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._master.wait(patience_s)
            why = last_line(_text(self._words)[self._greeted :])
            return f"{self.url}: connection lost{': ' if why else ''}{why}"
        return ""

    def _refusal(self) -> LabError:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._master.wait(_END_LIMIT_S)
        text = _text(self._words)
        last = last_line(text)
        if self._master.returncode in (126, 127):
            return LabError(f"{self.url}: python3 must be there, got {last}")
        last = last or f"ssh ended with exit code {self._master.returncode}"
        hint = next((f" ({hint})" for words, hint in _LOGIN_HINTS.items() if words in text), "")
        return LabError(f"{self.url}: {last}{hint}")


@contextlib.contextmanager
def connected(url: str, *, options: tuple[str, ...] = (), prefix: tuple[str, ...] = ()) -> Iterator[Connection]:
    """Log in to a host for the duration of the context.

    Call it in a thread that outlives the connection: the ssh processes end with the thread that started them.
    `options` are further arguments of ssh, such as ``-F FILE``.  Never pass arguments from a study: some options run
    commands.  `prefix` comes before ssh, such as ``ip netns exec NAME``.

    Raises ValueRuleError when the URL is not ``ssh://USER@HOST[:PORT]``, and LabError when ssh is not installed on this
    machine, when the host cannot be reached, has an unknown or changed key, refuses the user, or has no python3.  The
    message is one line and quotes the last line that ssh printed.
    """
    address = parse_url(url)
    if which("ssh") is None:
        raise LabError("not installed: ssh (apt-get install --no-install-recommends openssh-client)")
    control = runtime_folder() / f"lc{secrets.token_hex(3)}.ssh"
    _sweep(control.parent)
    argv = ["setpriv", "--pdeathsig", "TERM", *prefix, "ssh", "-T", "-S", str(control)]
    argv += [word for option in _FIRM for word in ("-o", option)]
    argv += [*options, *(word for option in _DEFAULT for word in ("-o", option)), *address.words, _BOOTSTRAP]
    with tempfile.TemporaryFile() as words, contextlib.ExitStack() as stack:
        master = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=words, start_new_session=True
        )
        stack.callback(control.unlink, missing_ok=True)
        stack.callback(end, master, _END_LIMIT_S)
        connection = Connection(url, control, master, words, prefix)
        connection.greet()
        stack.enter_context(_speaking(connection))
        yield connection


def _sweep(folder: Path) -> None:
    """Remove sockets without a listener, left by masters that were killed before they handled signals."""
    for path in folder.glob("lc*.ssh*"):
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as probe:
            if time.time() - path.stat().st_mtime < _LOGIN_LIMIT_S:
                continue  # socket of a master that is about to listen
            try:
                probe.connect(str(path))
            except ConnectionRefusedError:
                path.unlink()


def end(session: subprocess.Popen[bytes], limit_s: float = 1.0) -> None:
    """Close a session's standard input, and end the local ssh client if the remote command does not end in time."""
    with contextlib.suppress(OSError):
        pipe(session.stdin).close()
    for last_resort in (session.terminate, session.kill):
        with contextlib.suppress(subprocess.TimeoutExpired):
            session.wait(limit_s)
            break
        last_resort()
    session.wait()
    if session.stdout:
        session.stdout.close()


@contextlib.contextmanager
def _speaking(connection: Connection) -> Iterator[None]:
    """Send the keeper an empty line at regular intervals while the context lasts."""
    over = threading.Event()

    def speak() -> None:
        with contextlib.suppress(OSError, ValueError):  # the connection is lost: its next user raises the error
            while not over.wait(_WORD_EVERY_S):
                connection.say()

    thread = threading.Thread(target=speak, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _send(session: subprocess.Popen[bytes], job: dict[str, Any]) -> None:
    code = _REMOTE_AGENT.encode("utf-8")
    with contextlib.suppress(BrokenPipeError):  # the session has ended: its exit code and output give the reason
        pipe(session.stdin).write(b"%d\n%b%b\n" % (len(code), code, json.dumps(job).encode("ascii")))
        pipe(session.stdin).flush()


def _text(words: IO[bytes]) -> str:
    # The program that writes shares the file position, so it must not change: use pread.
    return os.pread(words.fileno(), _MAX_BYTES, 0).decode("utf-8", "replace")
