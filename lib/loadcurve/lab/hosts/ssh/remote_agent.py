"""What works on a host for the laboratory: sent along with each session, run by ``python3 -I -S``, leaves nothing.

The first line of standard input is the job, as JSON; its `verb` is `keep`, `run` or `send`.  A host has one keeper for
as long as the launcher's connection lasts, which also answers what needs no process of its own, and one process for
each command.  All of them hold a shared lock on the keeper's folder, and the last one to end removes it.  A command is
stopped when its standard input ends or the keeper does: that is how the launcher asks for it, and what its death or a
broken network comes to.

It imports nothing but the standard library, Python 3.9 or newer.
"""

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
from pathlib import Path

# How long sar may take to print what it has begun to print.
_QUIET_S = 0.5
# How long what is left in a pipe may take to reach the launcher after a command's end.
_LAST_LINES_S = 5.0
_PART = 65536
_ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


def keep(job):
    """Hold a folder until standard input ends or says nothing for `silence_s`; answer each job that comes meanwhile."""
    for number in _ENDING:
        signal.signal(number, _end)
    base, heard = tempfile.mkdtemp(prefix="loadcurve-"), b""
    lock = _share(base)
    try:
        Path(base, "ends").mkdir()
        _say({"base": base, "keeper": os.getpid(), "python": list(sys.version_info[:2])})
        while select.select([0], [], [], job["silence_s"])[0]:
            part = os.read(0, _PART)
            if not part:
                break
            heard += part
            if b"\n" in part:
                *lines, heard = heard.split(b"\n")
                for line in filter(None, lines):  # an empty one only breaks the silence
                    _answer(json.loads(line))
    finally:
        _leave(base, lock)


def _answer(job):
    verbs = {each.__name__: each for each in (begin, clock, put, remove, end_of, facts)}
    try:
        answer = verbs[job["verb"]](job) or {}
    except OSError as error:
        answer = {"error": str(error)}
    _say(answer)


def _end(number, _frame):
    for each in _ENDING:
        signal.signal(each, signal.SIG_IGN)  # once is enough
    sys.exit(128 + number)


def begin(job):
    """Make the folder of a run."""
    Path(job["folder"]).mkdir(0o700)


def clock(_):
    """Tell the monotonic and the wall clock, in ns: of some readings the one that took least."""
    readings = [(time.monotonic_ns(), time.time_ns(), time.monotonic_ns()) for _ in range(5)]
    before, wall, after = min(readings, key=lambda each: each[2] - each[0])
    return {"ns": [(before + after) // 2, wall]}


def put(job):
    """Make folders, then write files."""
    for name in job["folders"]:
        Path(job["folder"], name).mkdir(parents=True)
    for name, text in job["files"].items():
        path = Path(job["folder"], name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def remove(job):
    """Remove the folder of a run."""
    shutil.rmtree(job["folder"])


def facts(job):
    """Tell what `facts` of a program does."""
    program = {"__name__": "facts"}
    exec(job["program"], program)
    return program["facts"]()


def end_of(job):
    """Tell the exit code that `run` noted, if it did."""
    try:
        return {"code": int(Path(job["base"], "ends", str(job["number"])).read_text("ascii"))}
    except FileNotFoundError:
        return {}


def send(job):
    """Print each file below a folder: a line with its name and size, then its bytes.  Links are left where they are."""
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


def run(job):
    """Run a command in a session of its own, pass on what it prints, and end as it does.

    Its own exit code, negative for a signal, is also noted beside the run's folder: 255 may be ssh's.
    """
    told, teller = os.pipe()
    os.set_blocking(teller, False)
    signal.set_wakeup_fd(teller)
    for number in _ENDING:
        signal.signal(number, lambda *_: None)  # the pipe tells
    keeper = os.pidfd_open(job["keeper"])
    out, err = os.pipe(), os.pipe()
    signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)  # until the command can be ended by them
    pid = os.fork()
    if not pid:
        _become(job, out[1], err[1])
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDING)
    copies = [threading.Thread(target=_copy, args=ends, daemon=True) for ends in ((out[0], 1), (err[0], 2))]
    for thread, inlet in zip(copies, (out[1], err[1])):  # noqa: B905 - `strict` is of Python 3.10
        os.close(inlet)
        thread.start()
    ended, kept = os.pidfd_open(pid), True
    if not _ends_by_itself(ended, keeper, told):
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


def _become(job, out, err):
    """Become the command; the code is that of a shell which finds none."""
    try:
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDONLY)
        for target, source in enumerate((nothing, out, err)):
            os.dup2(source, target)
        signal.set_wakeup_fd(-1)
        # Python ignores two, and that would be inherited.
        for number in (signal.SIGPIPE, signal.SIGXFSZ, *_ENDING):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDING)
        os.chdir(job["folder"])
        path = os.environ.get("PATH", os.defpath) + ":/usr/local/sbin:/usr/sbin:/sbin"
        os.environ.update({"PATH": path, **job["env"]})
        os.execvp(job["argv"][0], job["argv"])
    except OSError as error:
        os.write(2, f"{job['argv'][0]}: {error.strerror}\n".encode("utf-8", "replace"))
    finally:
        os._exit(127)


def _copy(source, target):
    """Pass on what comes; where nobody takes it any more, drop it, so that the command can still end orderly."""
    while True:
        part = os.read(source, _PART)
        if not part:
            return
        try:
            while part:
                part = part[os.write(target, part) :]
        except OSError:
            target = os.open(os.devnull, os.O_WRONLY)


def _ends_by_itself(ended, keeper, told):
    """Wait; whether the command ended before anyone asked for it."""
    watched = select.poll()
    for descriptor in (0, ended, keeper, told):
        watched.register(descriptor, select.POLLIN)
    while True:
        found = {descriptor for descriptor, _ in watched.poll()}
        if ended in found:
            return True
        if found - {0} or not os.read(0, 4096):
            return False


def _stop(pid, ended, how, grace_s):
    """Ask a command to end, and give it time for its last lines.

    `how` is TERM, or a tool that prints what it has on INT.  sar prints a newline in the handler of that signal
    (sysstat 12.6, sar.c): it gets one, while it prints nothing.  Its sadc passes its own on to sar, and ends.
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


def _kill_session(leader):
    """Kill whatever is left of a command, such as the workers of a server."""
    for _ in range(100):
        left = [pid for pid, _, state in _session(leader) if state != "Z"]
        if not left:
            return
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.005)


def _session(leader):
    """Number, name and state of each process of a session."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended
            head, _, tail = (process / "stat").read_text("utf-8", "replace").rpartition(")")
            state, _, _, session = tail.split()[:4]
            if int(session) == leader:
                found.append((int(process.name), head.partition("(")[2], state))
    return found


def _share(base):
    lock = os.open(base, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_SH)
    return lock


def _leave(base, lock):
    """Remove the keeper's folder if nobody else holds it, else leave that to them."""
    fcntl.flock(lock, fcntl.LOCK_UN)
    with contextlib.suppress(OSError):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(base, ignore_errors=True)


def _say(answer):
    sys.stdout.buffer.write(json.dumps(answer).encode("ascii") + b"\n")
    sys.stdout.buffer.flush()


def main():
    """Do one job; print an error of the system as one line."""
    job = json.loads(sys.stdin.buffer.readline())
    verbs = {each.__name__: each for each in (keep, send, run)}
    lock, code = None, 0
    try:
        lock = _share(job["base"]) if job["verb"] != "keep" else None
        code = verbs[job["verb"]](job) or 0
    except OSError as error:
        os.write(2, f"{error}\n".encode("utf-8", "replace"))
        code = 1
    if lock is not None:
        _leave(job["base"], lock)
    os._exit(code)  # a stream that nobody takes must not hold it


if __name__ == "__main__":
    main()
