"""One process that takes all snapshots of a host; started in the run's folder: ``python -I -S sampler.py PLAN.json``.

The plan is a list of series: ``file`` to append to, ``interval_s``, and what a snapshot is: ``paths`` (files to copy),
``argv`` (a command that prints it) or ``url`` (a page, ``[address, port, path]``).  A line with the
time, ``## 2026-11-20T23:40:00.123456Z``, precedes each snapshot.

It imports nothing but the standard library, because it is also sent to machines without this package.  A shell loop
for each series would cost a fork of date and of sleep for every snapshot, and read no file without a third.
TERM and INT end it between two snapshots, so that each one is whole.
"""

import io
import json
import os
import select
import signal
import socket
import sys
import time
from typing import Any

# Tools that print what the kernel holds need some ms; one that hangs must not stop the other series.
_PATIENCE_S = 2.0
_MOST_BYTES = 1 << 20  # of a page; those of HAProxy and php-fpm have some kB


def main() -> None:
    """Take snapshots until a signal arrives or the parent process ends."""
    wake_read, wake_write = os.pipe()
    os.set_blocking(wake_write, False)
    signal.set_wakeup_fd(wake_write)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)  # the pipe wakes the loop
    end = select.poll()
    end.register(wake_read, select.POLLIN)
    with io.FileIO(sys.argv[1]) as plan:
        series = json.load(plan)
    parent, begun = os.getppid(), time.monotonic()
    for one in series:
        one["out"] = os.open(one["file"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        one["due"] = begun
    while os.getppid() == parent:
        due = min(one["due"] for one in series)
        if end.poll(max(0.0, due - time.monotonic()) * 1000):
            return
        _take([one for one in series if one["due"] <= due])
        for one in series:
            # On a busy machine, skip late snapshots rather than take several at once.
            while one["due"] <= due or one["due"] < time.monotonic() - one["interval_s"]:
                one["due"] += one["interval_s"]


def _take(series: list[Any]) -> None:
    """Take one snapshot of each series; the tools run in parallel."""
    running = []
    for one in series:
        one["whole"] = os.fstat(one["out"]).st_size
        try:
            if "argv" in one:
                _write(one["out"], _stamp())
                running.append((one, _spawn(one["argv"], one["out"])))
            else:
                text = _page(*one["url"]) if "url" in one else b"".join(_content(path) for path in one["paths"])
                _write(one["out"], _stamp() + text)
        except OSError as error:
            _report(one, error)
    for one, pid in running:
        _wait(one, pid)


def _spawn(argv: list[Any], out: int) -> int:
    actions = [(os.POSIX_SPAWN_DUP2, out, 1)]
    return os.posix_spawnp(argv[0], argv, os.environ, file_actions=actions)


def _wait(one: dict[str, Any], pid: int) -> None:
    ended = select.poll()
    descriptor = os.pidfd_open(pid)
    ended.register(descriptor, select.POLLIN)
    if not ended.poll(_PATIENCE_S * 1000):
        os.kill(pid, signal.SIGKILL)
        _report(one, f"no end after {_PATIENCE_S:g} s")
    os.close(descriptor)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if code:
        _report(one, f"exit code {code}")


def _content(path: str) -> bytes:
    with io.FileIO(path) as file:
        return file.readall()


def _page(address: str, port: int, path: str) -> bytes:
    """Body of a page; HTTP/1.0, so that the server ends it by closing."""
    got, deadline = b"", time.monotonic() + _PATIENCE_S
    with socket.create_connection((address, port), _PATIENCE_S) as peer:
        peer.sendall(f"GET {path} HTTP/1.0\r\nHost: {address}\r\n\r\n".encode("ascii"))
        while part := peer.recv(65536):
            got += part
            if len(got) > _MOST_BYTES or time.monotonic() > deadline:
                raise OSError(f"{path}: no whole page within {_PATIENCE_S:g} s and {_MOST_BYTES} bytes")
            peer.settimeout(max(0.001, deadline - time.monotonic()))
    head, _, body = got.partition(b"\r\n\r\n")
    if b" 200 " not in head.split(b"\r\n")[0]:
        raise OSError(f"{path}: {head[:40]!r}")
    return body


def _stamp() -> bytes:
    now_us = time.time_ns() // 1000
    clock = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now_us // 1_000_000))
    return f"## {clock}.{now_us % 1_000_000:06d}Z\n".encode("ascii")


def _write(out: int, text: bytes) -> None:
    while text:
        text = text[os.write(out, text) :]


def _report(one: dict[str, Any], why: object) -> None:
    """Print what failed, and remove the partial snapshot, so that the file has complete ones only."""
    os.ftruncate(one["out"], one["whole"])
    os.write(2, f"{one['file']}: {_stamp()[3:-1].decode('ascii')}: {why}\n".encode("utf-8", "replace"))


if __name__ == "__main__":
    main()
