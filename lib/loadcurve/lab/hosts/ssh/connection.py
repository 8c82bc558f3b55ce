"""One OpenSSH connection to a host for all that a launch does there.

A master (ControlMaster) carries the connection; each command is a session of its own over it.  The user's own
configuration, known hosts and agent are honoured, and a host whose key is not known is refused.  The master also runs
the keeper of `remote_agent.py`, which holds a folder on the host.

Nothing is left when the launcher is killed: its processes here end with it (``setpriv --pdeathsig``), so the
connection closes, the host's keeper and commands see their input end, and the last of them removes the folder.  Where
the network swallows even that, the keeper goes by the launcher's silence.
"""

import contextlib
import json
import os
import secrets
import shlex
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from loadcurve.errors import LabError
from loadcurve.lab.hosts.network.ledger import runtime_folder
from loadcurve.lab.hosts.process import pipe
from loadcurve.lab.hosts.ssh.address import parse_url
from loadcurve.lab.hosts.ssh.messages import last_words, login_hint, shown
from loadcurve.lab.hosts.ssh.reader import Reader
from loadcurve.lab.hosts.tools import which

_REMOTE_AGENT = Path(__file__).with_name("remote_agent.py").read_text("utf-8")
# The only command that the login shell of a host ever sees; what is to be done comes on standard input.
_BOOTSTRAP = "exec python3 -I -S -c " + shlex.quote(
    "import sys; far = sys.stdin.buffer; exec(far.read(int(far.readline())))"
)
_OLDEST_PYTHON = [3, 9]
# Before the caller's options, since ssh takes the first value of each.
_FIRM = ("BatchMode=yes", "ControlMaster=yes", "ControlPersist=no", "RemoteCommand=none", "PermitLocalCommand=no",
         "ForwardAgent=no", "ForwardX11=no", "ClearAllForwardings=yes", "LogLevel=INFO")  # fmt: skip
_DEFAULT = ("ConnectTimeout=10", "ServerAliveInterval=5", "ServerAliveCountMax=3")
# For one login, with the name service and a busy host: longer than ConnectTimeout.
_LOGIN_LIMIT_S = 30.0
_ANSWER_LIMIT_S = 20.0
# The keeper hears from the launcher this often, and ends after such a silence: a launcher may be busy for a while.
_WORD_EVERY_S = 5.0
_SILENCE_S = 60.0
_END_LIMIT_S = 5.0
_MOST_BYTES = 16 * 1024 * 1024


class Connection:
    """A host that is logged in to; made by `connected`.

    Attributes
    ----------
    url : str
        As the study names it.
    """

    def __init__(self, url: str, control: Path, master: subprocess.Popen, words: IO[bytes], prefix: tuple[str, ...]):
        self.url = url
        self._control, self._master, self._words, self._prefix = control, master, words, prefix
        self._host = parse_url(url).host
        self._numbers, self._base, self._keeper, self._greeted = 0, "", 0, 0
        self._answers, self._in_step = Reader(pipe(master.stdout).fileno(), _LOGIN_LIMIT_S), False
        self._lock = threading.RLock()  # one question at a time, and no word of `_speaking` within it

    def greet(self) -> None:
        """Start the keeper; see `connected` for what is raised."""
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
        self._greeted = len(_text(self._words))  # a banner, a warning: no reason for what happens later

    def number(self) -> int:
        """Return a number that nothing else on the host has in this connection."""
        self._numbers += 1
        return self._numbers

    def folder(self, number: int) -> str:
        """Path on the host of a folder with a number, to be made there."""
        return f"{self._base}/{number}"

    def say(self, line: bytes = b"") -> None:
        """Send the keeper a line; an empty one only tells that the launcher is there."""
        with self._lock:
            pipe(self._master.stdin).write(line + b"\n")
            pipe(self._master.stdin).flush()

    def ask(self, job: dict[str, Any]) -> dict[str, Any]:
        """Return the keeper's answer to a job.

        Raises
        ------
        LabError
            When it cannot do it, its answer is late, or the connection is lost.
        """
        with self._lock:
            if not self._in_step:
                raise LabError(self.lost() or f"{self.url}: its answers are out of step; launch again")
            self._in_step = False  # until the whole answer is here, whatever comes between
            try:
                self.say(json.dumps({"base": self._base, **job}).encode("ascii"))
                self._answers.allow(_ANSWER_LIMIT_S)
                answer = json.loads(self._answers.line(_MOST_BYTES))
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
        """Return all that a program prints; errors as of `talking`, also for an exit code other than 0."""
        with self.talking(job, limit_s) as (session, reader):
            text = reader.rest(_MOST_BYTES).decode("utf-8", "replace")
            end(session)
            if session.returncode:
                raise EOFError(f"exit code {session.returncode}")
            return text

    @contextlib.contextmanager
    def talking(self, job: dict[str, Any], limit_s: float) -> Iterator[tuple[subprocess.Popen, Reader]]:
        """Start a job in a session of its own, and read what it prints.

        Raises
        ------
        LabError
            When it fails or is late, or the connection is lost; with the last words that came.
        """
        with tempfile.TemporaryFile() as words:
            session = self.session(job, subprocess.PIPE, words)
            try:
                yield session, Reader(pipe(session.stdout).fileno(), limit_s)
            except (TimeoutError, EOFError, BrokenPipeError, ValueError) as error:
                end(session)
                lost = self.lost(patience_s=1.0) if session.returncode == 255 else ""
                raise LabError(lost or f"{self.url}: {last_words(_text(words)) or error or 'no answer'}") from None
            finally:
                end(session)

    def session(self, job: dict[str, Any], stdout: int | IO[bytes], stderr: IO[bytes]) -> subprocess.Popen:
        """Start a job in a session of its own; its standard input stays open, and to close it asks the job to end."""
        argv = (
            *("setpriv", "--pdeathsig", "TERM", *self._prefix, "ssh", "-F", "none", "-T", "-S", str(self._control)),
            # Without the master there would be a login of its own.
            *("-o", "BatchMode=yes", "-o", "ProxyCommand=false", "-o", "LogLevel=ERROR", "--", self._host, _BOOTSTRAP),
        )
        started = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=stdout, stderr=stderr, start_new_session=True)
        _send(started, {"base": self._base, "keeper": self._keeper, **job})
        return started

    def lost(self, patience_s: float = 0.0) -> str:
        """Say why the connection is no more; empty while it stands.

        Parameters
        ----------
        patience_s : float
            How long to wait for its end, in s: a session may end before its master.
        """
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._master.wait(patience_s)
            why = last_words(_text(self._words)[self._greeted :])
            return f"{self.url}: connection lost{': ' if why else ''}{why}"
        return ""

    def _refusal(self) -> LabError:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._master.wait(_END_LIMIT_S)
        text = _text(self._words)
        last = last_words(text)
        if self._master.returncode in (126, 127):
            return LabError(f"{self.url}: python3 must be there, got {last}")
        last = last or f"ssh ended with exit code {self._master.returncode}"
        return LabError(f"{self.url}: {last}{login_hint(text)}")


@contextlib.contextmanager
def connected(url: str, *, options: tuple[str, ...] = (), prefix: tuple[str, ...] = ()) -> Iterator[Connection]:
    """Log in to a host for as long as the context lasts.

    Call it in a thread that lasts as long as the connection: its processes end with the thread that started them.

    Parameters
    ----------
    url : str
        ``ssh://USER@HOST[:PORT]``.
    options : tuple of str
        Further arguments of ssh, such as ``-F FILE``.  Never of a study: some of them run commands.
    prefix : tuple of str
        Before ssh's own argv, such as ``ip netns exec NAME``.

    Raises
    ------
    ValueRuleError
        When the URL is not of that form.
    LabError
        When there is no ssh here, the host cannot be reached, its key is unknown or another one, it refuses the user,
        or has no python3: one line with ssh's own last words.
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
    """Remove sockets that nobody listens to: a master that was killed before it heeded signals left them."""
    for path in folder.glob("lc*.ssh*"):
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as probe:
            if time.time() - path.stat().st_mtime < _LOGIN_LIMIT_S:
                continue  # of a master that is about to listen
            try:
                probe.connect(str(path))
            except ConnectionRefusedError:
                path.unlink()


def end(session: subprocess.Popen, limit_s: float = 1.0) -> None:
    """Close a session's standard input, and end it here if it does not end there."""
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
    """Say a word to the keeper now and then."""
    over = threading.Event()

    def speak() -> None:
        with contextlib.suppress(OSError, ValueError):  # the connection is lost: whoever uses it is told
            while not over.wait(_WORD_EVERY_S):
                connection.say()

    thread = threading.Thread(target=speak, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _send(session: subprocess.Popen, job: dict[str, Any]) -> None:
    code = _REMOTE_AGENT.encode("utf-8")
    with contextlib.suppress(BrokenPipeError):  # its end says why
        pipe(session.stdin).write(b"%d\n%b%b\n" % (len(code), code, json.dumps(job).encode("ascii")))
        pipe(session.stdin).flush()


def _text(words: IO[bytes]) -> str:
    # The program that writes shares the file's position: it must not be moved.
    return os.pread(words.fileno(), _MOST_BYTES, 0).decode("utf-8", "replace")
