"""Tools are stopped so that their output is whole, and at once."""

import os
import random
import re
import signal
import time

import psutil
import pytest
from events import wait_until
from private_services import need

from loadcurve.ingest.registry import form_of
from loadcurve.lab.hosts.executor import LocalExecutor
from loadcurve.lab.hosts.host import LOCAL
from loadcurve.lab.hosts.network.conditions import run
from loadcurve.lab.hosts.process import guarded, start, stop
from loadcurve.lab.hosts.tools import FIXED, PASSED
from loadcurve.lab.tools.monitors.kinds import pidstat
from loadcurve.study import Command

pytestmark = pytest.mark.real

ARGV = {
    "sar": ("sar", "-u", "ALL", "-P", "ALL", "-n", "DEV", "1"),
    "mpstat": ("mpstat", "-P", "ALL", "1"),
    "pidstat": pidstat().argv,
}
ENV = {"LC_ALL": "C", "S_TIME_FORMAT": "ISO", "TZ": "UTC"}
CHANGING = {
    "http_proxy": "http://127.0.0.1:9", "HTTPS_PROXY": "http://127.0.0.1:9", "ALL_PROXY": "http://127.0.0.1:9",
    "NO_PROXY": "10.0.0.0/8", "LC_ALL": "de_DE.UTF-8", "LC_NUMERIC": "de_DE.UTF-8", "LANGUAGE": "de",
    "GODEBUG": "netdns=go", "K6_VUS": "1", "LUA_INIT": "os.exit(3)", "SSLKEYLOGFILE": "keys.txt",
    "OPENSSL_CONF": "evil.cnf", "LD_PRELOAD": "libm.so.6", "MALLOC_ARENA_MAX": "1", "PYTHONSTARTUP": "evil.py",
}  # fmt: skip


def begin(tool, folder):
    return start(Command("collector", tool, guarded(ARGV[tool], 20), f"{tool}.txt", f"{tool}.err", 20, env=ENV), folder)


@pytest.mark.parametrize("tool", ARGV)
def test_interrupted_once_and_while_nothing_is_printed(tool, tmp_path):
    need("setpriv", "timeout", tool)
    started = begin(tool, tmp_path)
    rows = re.compile(r"^[0-9:]+ +(?:all|[0-9]+) ", re.MULTILINE)
    wait_until(lambda: rows.search((tmp_path / f"{tool}.txt").read_text()))
    ended = stop(started)
    text = (tmp_path / f"{tool}.txt").read_text()
    parsed = form_of(tool, "").parse(text)
    assert ended.exit_code == 0
    assert parsed.warnings == ()
    assert len(parsed.tables.get("averages", parsed.tables.get("processes")))
    before = text.partition("Average:")[0]
    # Each average has an empty line before it; the handler of each signal adds one.
    assert len(before) - len(before.rstrip("\n")) == (2 if tool == "mpstat" else 3)


@pytest.mark.parametrize("after_s", [0, 0.002, 0.005, 0.01, 0.02])
def test_one_that_has_hardly_begun_ends_too(after_s, tmp_path):
    need("setpriv", "timeout", "sar")
    started = begin("sar", tmp_path)
    time.sleep(after_s)
    family = psutil.Process(started.process.pid).children(recursive=True)
    assert stop(started).exit_code is not None
    assert not [p for p in family if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]


def test_one_whose_sadc_died_ends_too(tmp_path):
    need("setpriv", "timeout", "sar")
    started = begin("sar", tmp_path)

    def family():
        return psutil.Process(started.process.pid).children(recursive=True)

    wait_until(lambda: any(p.name() == "sadc" for p in family()))
    sar = family()
    next(p for p in sar if p.name() == "sadc").kill()
    assert stop(started).exit_code is not None
    assert not [p for p in sar if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]


@pytest.mark.parametrize("name", CHANGING)
def test_a_tool_gets_nothing_of_the_launcher_that_could_change_it(name, tmp_path, monkeypatch):
    monkeypatch.setenv(name, CHANGING[name])
    executor = LocalExecutor(LOCAL, tmp_path)
    command = Command("generator", "env", executor.argv(("env",), 5), "env.txt", "env.err", 5, env={"TZ": "UTC"})
    ended = executor.wait(executor.start(command))
    assert ended.env == {**FIXED, "TZ": "UTC"}, "what the record lists"
    for text in ((tmp_path / "env.txt").read_text(), executor.check_output(("env",), 5), run(("env",))):
        names = {line.partition("=")[0] for line in text.splitlines()}
        # The last two are of the shell that starts a tool.
        assert {"PATH", *FIXED} <= names <= {"PATH", "TZ", *PASSED, *FIXED, "PWD", "OLDPWD"}
        assert "LC_ALL=C" in text.splitlines()


def begins_and_waits(folder) -> int:
    """A process that starts a tool again and again, until it is killed."""
    if pid := os.fork():
        return pid
    try:
        for number in range(100):
            command = Command("server", "sleep", guarded(("sleep", "30"), 30), f"{number}.txt", f"{number}.err", 30)
            start(command, folder)
    finally:
        os._exit(0)


def works_in(folder) -> list[psutil.Process]:
    every = psutil.process_iter(["cwd", "status"])
    return [p for p in every if p.info["cwd"] == str(folder) and p.info["status"] != psutil.STATUS_ZOMBIE]


def test_a_tool_ends_with_a_launcher_that_is_killed_while_it_starts(tmp_path):
    """Also before the tool has asked to be told of it."""
    need("setpriv", "timeout")
    moments = random.Random(20261121)
    for number in range(60):
        (folder := tmp_path / str(number)).mkdir()
        pid = begins_and_waits(folder)
        time.sleep(moments.uniform(0.005, 0.05))
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    wait_until(lambda: not any(works_in(folder) for folder in tmp_path.iterdir()))
