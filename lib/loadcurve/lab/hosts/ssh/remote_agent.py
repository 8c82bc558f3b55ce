"""Agent that runs commands on a remote host: each session sends it to ``python3 -I -S``; it leaves no files there.

The first line of standard input is the job, as JSON; its `verb` is `keep`, `run` or `send`.  A host has one keeper
while the launcher's connection lasts, which also does the jobs that need no separate process, and one process for
each command.  All of them hold a shared lock on the keeper's folder, and the last one to end removes the folder.  A
command is stopped when its standard input or the keeper ends.  The launcher stops a command by closing that input; the
input also ends when the launcher is killed or the network fails.

The agent imports only the standard library and runs on Python 3.9 or newer.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import select
import shutil
import signal
import stat
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

Job = dict[str, Any]  # of JSON

# Time in s without output after which sar has finished printing.
_QUIET_S = 0.5
# Time in s for the rest of a pipe to reach the launcher after a command has ended.
_LAST_LINES_S = 5.0
_PART = 65536
_ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


def keep(job: Job) -> None:
    """Hold a folder and do each job that arrives, until standard input ends or is silent for `silence_s` seconds."""
    for number in _ENDING:
        signal.signal(number, _end)
    base, unread = tempfile.mkdtemp(prefix="loadcurve-"), b""
    lock = _share(base)
    try:
        Path(base, "ends").mkdir()
        _say({"base": base, "keeper": os.getpid(), "python": list(sys.version_info[:2])})
        while select.select([0], [], [], job["silence_s"])[0]:
            part = os.read(0, _PART)
            if not part:
                break
            unread += part
            if b"\n" in part:
                *lines, unread = unread.split(b"\n")
                for line in filter(None, lines):  # an empty line only shows that the launcher is alive
                    _answer(json.loads(line))
    finally:
        _leave(base, lock)


def _answer(job: Job) -> None:
    verbs: dict[str, Callable[[Job], Job | None]]
    verbs = {each.__name__: each for each in (begin, clock, put, remove, end_of, facts)}
    try:
        answer = verbs[job["verb"]](job) or {}
    except OSError as error:
        answer = {"error": str(error)}
    _say(answer)


def _end(number: int, _frame: object) -> None:
    for each in _ENDING:
        signal.signal(each, signal.SIG_IGN)  # ignore further signals while ending
    sys.exit(128 + number)


def begin(job: Job) -> None:
    """Create the folder of a run."""
    Path(job["folder"]).mkdir(0o700)


def clock(_: Job) -> Job:
    """Return the monotonic and the wall clock, in ns, from the fastest of several readings."""
    readings = [(time.monotonic_ns(), time.time_ns(), time.monotonic_ns()) for _ in range(5)]
    before, wall, after = min(readings, key=lambda each: each[2] - each[0])
    return {"ns": [(before + after) // 2, wall]}


def put(job: Job) -> None:
    """Create folders, then write files."""
    for name in job["folders"]:
        Path(job["folder"], name).mkdir(parents=True)
    for name, text in job["files"].items():
        path = Path(job["folder"], name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def remove(job: Job) -> None:
    """Remove the folder of a run."""
    shutil.rmtree(job["folder"])


def facts(job: Job) -> Job:
    """Return the result of the function `facts` in the given source."""
    program: Job = {"__name__": "facts"}
    exec(job["program"], program)
    found: Job = program["facts"]()
    return found


def end_of(job: Job) -> Job:
    """Return the exit code that `run` recorded, or None if it recorded none."""
    try:
        return {"code": int(Path(job["base"], "ends", str(job["number"])).read_text("ascii"))}
    except FileNotFoundError:
        return {}


def send(job: Job) -> None:
    """Print each file below a folder: a line with its name and size, then its bytes.  Symbolic links are skipped."""
    base, out = Path(job["folder"]), sys.stdout.buffer
    without = {base / name for name in job["without"]}
    for folder, folders, names in os.walk(base):
        folders[:] = sorted(name for name in folders if Path(folder, name) not in without)
        for path in sorted(Path(folder, name) for name in names):
            if stat.S_ISREG(path.lstat().st_mode):
                with path.open("rb") as file:
                    left = os.fstat(file.fileno()).st_size
                    _say({"name": str(path.relative_to(base)), "size": left})
                    while left:
                        part = file.read(min(left, _PART))
                        if not part:
                            raise OSError(f"{path.name} became shorter while it was read")
                        left -= out.write(part)
    _say({"name": "", "size": 0})


def run(job: Job) -> int:
    """Run a command in a session of its own, forward its output, and exit with its exit code.

    The exit code, negative for a signal, is also written to a file next to the run's folder, because ssh itself may
    exit with 255.
    """
    end_read, end_write = os.pipe()
    os.set_blocking(end_write, False)
    signal.set_wakeup_fd(end_write)
    for number in _ENDING:
        signal.signal(number, lambda *_: None)  # the handler does nothing: the wake-up pipe reports the signal
    keeper = os.pidfd_open(job["keeper"])
    out, err = os.pipe(), os.pipe()
    signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)  # blocked until the command can be stopped
    pid = os.fork()
    if not pid:
        _become(job, out[1], err[1])
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDING)
    copies = [threading.Thread(target=_copy, args=ends, daemon=True) for ends in ((out[0], 1), (err[0], 2))]
    for thread, inlet in zip(copies, (out[1], err[1])):  # noqa: B905 - `strict` requires Python 3.10
        os.close(inlet)
        thread.start()
    ended, kept = os.pidfd_open(pid), True
    if not _ends_by_itself(ended, keeper, end_read):
        kept = not select.select([keeper], [], [], 0)[0]
        _stop(pid, ended, job["stop"], job["grace_s"])
    _kill_session(pid)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    deadline = time.monotonic() + _LAST_LINES_S
    for thread in copies:
        thread.join(max(0.0, deadline - time.monotonic()))
    if kept:
        Path(job["base"], "ends", str(job["number"])).write_text(str(code), "ascii")
    return 255 if not kept else code if code >= 0 else 128 - code


def _become(job: Job, out: int, err: int) -> NoReturn:
    """Replace this process by the command; if the command cannot start, exit with a shell's code for it."""
    try:
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDONLY)
        for target, source in enumerate((nothing, out, err)):
            os.dup2(source, target)
        signal.set_wakeup_fd(-1)
        # Python ignores SIGPIPE and SIGXFSZ, and the command would inherit that.
        for number in (signal.SIGPIPE, signal.SIGXFSZ, *_ENDING):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDING)
        os.chdir(job["folder"])
        path = os.environ.get("PATH", os.defpath) + ":/usr/local/sbin:/usr/sbin:/sbin"
        passed = {name: os.environ[name] for name in job["passed"] if name in os.environ}
        os.execvpe(job["argv"][0], job["argv"], {**passed, "PATH": path, **job["env"]})
    except OSError as error:
        os.write(2, f"{job['argv'][0]}: {error.strerror}\n".encode("utf-8", "replace"))
    finally:
        os._exit(127)


def _copy(source: int, target: int) -> None:
    """Copy from `source` to `target`; if `target` is closed, discard the rest so that the command can still end."""
    while True:
        part = os.read(source, _PART)
        if not part:
            return
        try:
            while part:
                part = part[os.write(target, part) :]
        except OSError:
            target = os.open(os.devnull, os.O_WRONLY)


def _ends_by_itself(ended: int, keeper: int, end_read: int) -> bool:
    """Wait until the command ends or must be stopped; return whether it ended by itself."""
    watched = select.poll()
    for descriptor in (0, ended, keeper, end_read):
        watched.register(descriptor, select.POLLIN)
    while True:
        found = {descriptor for descriptor, _ in watched.poll()}
        if ended in found:
            return True
        if found - {0} or not os.read(0, 4096):
            return False


def _stop(pid: int, ended: int, how: str, grace_s: float) -> None:
    """Ask a command to end, and give it time to print its last lines.

    `how` is TERM, or the name of a tool that prints its results on INT.  sar prints a newline in its handler of INT
    (sysstat 12.6, sar.c), so it gets a single INT, at a moment when it prints nothing.  The sadc process also gets
    INT, forwards it to sar, and ends.
    """
    number, target = signal.SIGTERM, pid
    if how != "TERM":
        number, names = signal.SIGINT, ["sadc", "sar"] if how == "sar" else [how]
        deadline = time.monotonic() + _QUIET_S
        while time.monotonic() < deadline:
            states = {name: (number_, state) for number_, name, state in _session(pid)}
            chain = [states[name] for name in names if name in states]
            target = chain[0][0] if chain else pid
            if len(chain) == len(names) and all(state == "S" for _, state in chain):
                break
            time.sleep(0.001)
    with contextlib.suppress(ProcessLookupError):
        os.kill(target, number)
    select.select([ended], [], [], grace_s)


def _kill_session(leader: int) -> None:
    """Kill the remaining processes of a command, such as the workers of a server."""
    for _ in range(100):
        left = [pid for pid, _, state in _session(leader) if state != "Z"]
        if not left:
            return
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.005)


def _session(leader: int) -> list[tuple[int, str, str]]:
    """Return the PID, name and state of each process of a session."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # the process has ended
            head, _, tail = (process / "stat").read_text("utf-8", "replace").rpartition(")")
            state, _, _, session = tail.split()[:4]
            if int(session) == leader:
                found.append((int(process.name), head.partition("(")[2], state))
    return found


def _share(base: str) -> int:
    lock = os.open(base, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_SH)
    return lock


def _leave(base: str, lock: int) -> None:
    """Remove the keeper's folder unless another process holds its lock; the last holder removes it."""
    fcntl.flock(lock, fcntl.LOCK_UN)
    with contextlib.suppress(OSError):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(base, ignore_errors=True)


def _say(answer: Job) -> None:
    sys.stdout.buffer.write(json.dumps(answer).encode("ascii") + b"\n")
    sys.stdout.buffer.flush()


def main() -> NoReturn:
    """Do one job; print an operating-system error as one line."""
    job = json.loads(sys.stdin.buffer.readline())
    verbs: dict[str, Callable[[Job], int | None]] = {each.__name__: each for each in (keep, send, run)}
    lock, code = None, 0
    try:
        lock = _share(job["base"]) if job["verb"] != "keep" else None
        code = verbs[job["verb"]](job) or 0
    except OSError as error:
        os.write(2, f"{error}\n".encode("utf-8", "replace"))
        code = 1
    if lock is not None:
        _leave(job["base"], lock)
    os._exit(code)  # a blocked output stream must not delay the exit


if __name__ == "__main__":
    main()
