"""A run's record is enough to repeat it by hand: in an empty folder, with subprocess and what run.json says."""

import contextlib
import hashlib
import json
import os
import signal
import subprocess
from functools import partial
from pathlib import Path

import pytest
from events import HANG_S, wait_until
from launched_runs import runnable

from loadcurve.ingest.clean import clean
from loadcurve.ingest.registry import form_of
from loadcurve.lab import launch
from loadcurve.lab.hosts.network import namespaces
from loadcurve.lab.hosts.network.ledger import NAMESPACES
from loadcurve.lab.hosts.tools import environment
from loadcurve.study import Study
from loadcurve.study.records import read_run

pytestmark = pytest.mark.lab

LOAD = {"duration_s": 1, "connections": 4}
# So often that each sees the load.
MONITORS = {"sar": 1, "ss_summary": 0.2, "ss_connections": 0.2}
IN_NAMESPACES = {
    "one": {"topology": {"recipe": "client_server"}},
    "delayed": {
        "topology": {"recipe": "client_server"},
        "links": {"S1": {"delay_s": 0.005}},
        "hosts": {"S1": {"cpu_quota": 0.5, "open_files": 1000}},
    },
    "several_generators": {
        "topology": {"recipe": "several_clients", "clients": 2},
        "server": {"nginx": {"response": {"files": {"sizes_bytes": [616]}}}},
        "load": {**LOAD, "processes": 2},
    },
    "rules_before_servers": {"topology": {"recipe": "client_l4_servers", "servers": 2}, "balancer": {"nft": {}}},
    "a_proxy_before_servers": {"topology": {"recipe": "client_proxy_servers"}, "balancer": {"nginx_l7": {}}},
}
ON_LOOPBACK = {
    "text": {},
    "files": {"server": {"nginx": {"response": {"files": {"sizes_bytes": [616, 100_000]}}}}},
    "warmed_up": {"server": {"lighttpd": {}}, "load": {**LOAD, "tool": "ab"}, "warm_up_s": 1.0},
    "php_and_its_database": {"server": {"php": {"children": 2}}},
}


def made(name: str, settings: dict, folder: Path) -> Path:
    study = Study(name, "?", repeats=1, **{"load": LOAD, "monitors": MONITORS, **settings})
    (run,) = launch(runnable(study), folder / name)
    return run


def copied(kept: Path, folder: Path) -> dict:
    """The record, and in an empty folder the files that it names, but what the commands printed."""
    record = json.loads((kept / "run.json").read_text())
    printed = {command[stream] for command in record["commands"] for stream in ("stdout", "stderr")}
    folder.mkdir()
    folder.chmod(0o777)  # generators that give up root write their reports here
    for name, held in record["files"].items():
        content = (kept / name).read_bytes()
        assert hashlib.sha256(content).hexdigest() == held["sha256"]
        if name not in printed:
            (folder / name).write_bytes(content)
            (folder / name).chmod(0o666)
    return record


def started(command: dict, folder: Path) -> subprocess.Popen:
    """A command of the record, with its folders, its archive and its streams."""
    for name in command["folders"]:
        (folder / name).mkdir()
    if command["unpacked"]:
        subprocess.run(["tar", "-xzf", command["unpacked"]], cwd=folder, check=True)
    streams = {}
    with contextlib.ExitStack() as stack:
        for stream in ("stdout", "stderr"):
            streams[stream] = stack.enter_context((folder / (command[stream] or os.devnull)).open("wb"))
        streams["stdin"] = stack.enter_context((folder / (command["stdin"] or os.devnull)).open("rb"))
        return subprocess.Popen(
            command["argv"], cwd=folder, env=environment(command["env"]), start_new_session=True, **streams
        )


@contextlib.contextmanager
def hosts(folder: Path):
    """What hosts.json says was made, for as long as the context."""
    if not (folder / "hosts.json").exists():
        yield
        return
    steps = json.loads((folder / "hosts.json").read_text())
    stay = []
    try:
        for step in steps["before"]:
            if not step["stays"]:
                subprocess.run(step["argv"], cwd=folder, env=environment(), input=step["stdin"], text=True, check=True)
                continue
            stay.append(subprocess.Popen(step["argv"], cwd=folder, stdout=subprocess.PIPE, text=True))
            assert stay[-1].stdout.readline() == "ready\n"
        yield
    finally:
        for process in stay:
            process.kill()
            process.communicate()
        for step in steps["after"]:
            subprocess.run(step["argv"], check=True)


def answers(record: dict, command: dict) -> bool:
    """Whether the URL of the record answers, asked from the host of a command."""
    argv, inside = command["argv"], []
    if "netns" in argv:
        inside = argv[argv.index("netns") - 1 : argv.index("netns") + 3]
    asked = ("curl", "-q", "-s", "-o", "/dev/null", "-w", "%{http_code}", "--noproxy", "*")
    done = subprocess.run([*inside, *asked, record["factors"]["url"].split()[0]], capture_output=True, check=False)
    return done.stdout == b"200"


def repeated(kept: Path, folder: Path) -> dict:
    """Repeat a run by its record: in order of start, each process once, however many texts it wrote."""
    record = copied(kept, folder)
    processes: dict[tuple, tuple[dict, subprocess.Popen]] = {}
    with hosts(folder):
        try:
            for at, command in enumerate(record["commands"]):
                key = (command["host"], *command["argv"])
                if key in processes:
                    continue
                if command["role"] == "generator" or command["role"] == "warm_up":
                    wait_until(partial(answers, record, command))
                processes[key] = command, started(command, folder)
                if any(command["ended_at"] <= later["started_at"] for later in record["commands"][at + 1 :]):
                    assert processes[key][1].wait(HANG_S) == command["exit_code"]
            for command, process in processes.values():
                if command["role"] == "generator":
                    assert process.wait(HANG_S) == command["exit_code"] == 0
        finally:
            for command, process in reversed(processes.values()):
                process.send_signal(signal.SIGINT if command["tool"] == "sar" else signal.SIGTERM)
                process.wait(HANG_S)
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)  # sadc of sar
    return record


def check_alike(kept: Path, again: Path) -> None:
    """Each text of the first run has one of the same form in the second."""
    read = 0
    for command in read_run(kept).commands:
        form = form_of(command.tool, command.variant)
        if form is None or command.role not in ("collector", "generator", "warm_up"):
            continue
        tables = [form.parse(clean((place / command.stdout).read_text())).tables for place in (kept, again)]
        rows = [{name for name, table in of.items() if len(table)} for of in tables]
        assert rows[0] == rows[1], command.stdout
        if "runs" in rows[0]:
            assert (tables[1]["runs"]["requests"] > 0).all()
            assert tables[0]["runs"]["connections"].tolist() == tables[1]["runs"]["connections"].tolist()
        read += 1
    assert read >= 3


@pytest.mark.parametrize("name", ON_LOOPBACK)
def test_a_run_on_loopback(tmp_path, name):
    kept = made(name, ON_LOOPBACK[name], tmp_path)
    repeated(kept, tmp_path / "again")
    check_alike(kept, tmp_path / "again")


@pytest.mark.usefixtures("network_tools")
@pytest.mark.parametrize("name", IN_NAMESPACES)
def test_a_run_in_namespaces(tmp_path, name, monkeypatch):
    """The delay is that of a delay line, also where the kernel could do without."""
    monkeypatch.setattr(namespaces, "has_netem", lambda: False)
    kept = made(name, IN_NAMESPACES[name], tmp_path)
    spaces = [step["argv"][-1] for step in json.loads((kept / "hosts.json").read_text())["after"]]
    assert str(tmp_path) not in (kept / "hosts.json").read_text()
    repeated(kept, tmp_path / "again")
    check_alike(kept, tmp_path / "again")
    assert spaces and not any((NAMESPACES / space).exists() for space in spaces)
