"""Limits for real: a quota holds for all commands of a host together, open files run out, and nothing is left."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from events import HANG_S, wait_until

from loadcurve.errors import LabError
from loadcurve.lab.hosts.host import LOCAL, Host
from loadcurve.lab.hosts.limits import Limits, Prefix, limited, mounted_controller, throttling, why_not
from loadcurve.lab.hosts.network import Ledger, Resource, build, clean
from loadcurve.lab.hosts.network.ledger import _boot, is_running
from loadcurve.lab.hosts.network.topology import client_server
from loadcurve.lab.hosts.process import guarded

pytestmark = pytest.mark.lab

PYTHON = (sys.executable, "-I", "-S", "-c")
# Says how much processor time it was given, by the kernel's own count, and in how long.
BURN = (
    "import sys, time; begun = time.monotonic()\n"
    "while time.monotonic() - begun < float(sys.argv[1]): pass\n"
    "print(time.process_time(), time.monotonic() - begun)"
)
WHERE = "import os; print(os.getpid(), os.readlink('/proc/self/ns/net'), open('/proc/self/cgroup').read())"


@pytest.fixture
def quota():
    """Skips where a host can have no quota."""
    if reason := why_not(Limits(cpu_quota=0.25)):
        pytest.skip(reason)


@pytest.fixture
def own(tmp_path):
    """A ledger in the test's own folder; nothing of it may be left when the test is over."""
    with Ledger(tmp_path / "ledgers") as ledger:
        yield ledger
    assert groups_of(ledger.tag) == []
    assert clean(tmp_path / "ledgers") == ()


def groups_of(tag: str) -> list[Path]:
    controller = mounted_controller()
    return list(controller.folder.glob(f"{tag}*")) if controller else []


def limit(host: Host, prefix: Prefix, folder: Path) -> Host:
    for name, text in prefix.files.items():
        (folder / name).write_text(text, "utf-8")
    return replace(host, prefix=(*prefix.argv, *host.prefix))


def start(host: Host, folder: Path, *command: str) -> subprocess.Popen:
    return subprocess.Popen(
        guarded(host.argv(command), 10), cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip


def processors(host: Host, folder: Path, burners: int = 2, seconds: float = 1.5) -> float:
    """Processors' worth of time that burners had between them."""
    started = [start(host, folder, *PYTHON, BURN, f"{seconds}") for _ in range(burners)]
    said = [process.communicate(timeout=HANG_S) for process in started]
    used = [tuple(map(float, out.split())) for out, _ in said]
    return sum(cpu_s for cpu_s, _ in used) / max(wall_s for _, wall_s in used)


def test_all_commands_of_a_host_share_its_quota(tmp_path, own, quota):
    with limited(Limits(cpu_quota=0.25), own, "S1") as prefix:
        host = limit(LOCAL, prefix, tmp_path)
        together = processors(host, tmp_path)
        did = throttling(prefix)
    # Upper bounds only: a busy machine may give them less.
    assert 0 < together < 0.35
    assert 0 < did["throttled"] <= did["periods"]
    assert did["throttled_s"] > 0
    assert processors(LOCAL, tmp_path, seconds=0.5) > together, "the same burners take more where nothing holds them"


def test_two_hosts_have_a_quota_each_and_monitors_none(tmp_path, own, quota):
    with limited(Limits(cpu_quota=0.1), own, "S1") as first, limited(Limits(cpu_quota=0.4), own, "S2") as second:
        hosts = [limit(LOCAL, prefix, tmp_path) for prefix in (first, second)]
        started = [start(host, tmp_path, *PYTHON, BURN, "1.5") for host in (*hosts, LOCAL)]
        shares = []
        for process in started:
            cpu_s, wall_s = map(float, process.communicate(timeout=HANG_S)[0].split())
            shares.append(cpu_s / wall_s)
    assert 0 < shares[0] < 0.17
    assert shares[0] < shares[1] < 0.55
    assert shares[0] < shares[2], "on a machine that does nothing else it would be 1"


def test_it_is_the_same_process_and_its_signals_reach_it(tmp_path, own, quota):
    with limited(Limits(open_files=64, cpu_quota=0.5), own, "S1") as prefix:
        limit(LOCAL, prefix, tmp_path)
        with subprocess.Popen((*prefix.argv, "sleep", "20"), cwd=tmp_path) as process:
            wait_until(lambda: Path(f"/proc/{process.pid}/comm").read_text() == "sleep\n")
            assert Path(prefix.group, "cgroup.procs").read_text().split() == [str(process.pid)]
            limits = Path(f"/proc/{process.pid}/limits").read_text()
            assert re.search(r"Max open files +64 +64 ", limits)
            process.send_signal(signal.SIGTERM)
        assert process.returncode == -signal.SIGTERM


def test_in_a_namespace_the_group_is_entered_before_it(tmp_path, network_tools, own, quota):
    """`ip netns exec` mounts another /sys, so that afterwards there would be no group to enter."""
    with build(client_server(), own) as hosts, limited(Limits(32, 0.25), own, "S1") as prefix:
        host = limit(hosts["S1"], prefix, tmp_path)
        said = [start(h, tmp_path, *PYTHON, WHERE).communicate(timeout=HANG_S)[0] for h in (host, hosts["S1"], LOCAL)]
        net, group = zip(*((text.split()[1], Path(prefix.group).name in text) for text in said), strict=True)
        assert group == (True, False, False)
        assert net[0] == net[1] != net[2]
        assert processors(host, tmp_path, seconds=1) < 0.4


def test_a_command_without_its_group_says_how_to_make_it(tmp_path, own, quota):
    """Whoever repeats a run by hand finds all else in its argv."""
    with limited(Limits(cpu_quota=0.25), own, "S1") as prefix:
        host = limit(LOCAL, prefix, tmp_path)
    out, err = (process := start(host, tmp_path, "echo", "ran")).communicate(timeout=HANG_S)
    assert (process.returncode, out) == (1, "")
    assert err.startswith(f"no control group {prefix.group}") and f"mkdir {prefix.group}`" in err
    assert not Path(prefix.group).exists()
    Path(prefix.group).mkdir()
    try:
        assert start(host, tmp_path, "echo", "ran").communicate(timeout=HANG_S) == ("ran\n", "")
        assert throttling(prefix).keys() == {"periods", "throttled", "throttled_s"}
        settings = dict(word.split("=") for word in prefix.argv[prefix.argv.index(prefix.group) + 1 : -1])
        assert {name: Path(prefix.group, name).read_text().strip() for name in settings} == settings
    finally:
        Path(prefix.group).rmdir()


def test_a_process_has_as_many_open_files_as_it_may(tmp_path, own):
    code = "import socket\nheld = []\ntry:\n while True: held.append(socket.socket())\n"
    code += "except OSError as error: print(len(held), error.errno)"
    with limited(Limits(open_files=64), own, "S1") as prefix:
        assert prefix.group == "", "no quota, no group"
        out, _ = start(limit(LOCAL, prefix, tmp_path), tmp_path, *PYTHON, code).communicate(timeout=HANG_S)
    assert out == "61 24\n", "its streams are three of 64; 24 is EMFILE"


def test_what_a_killed_launcher_left_is_ended_and_removed(tmp_path, quota):
    """Also a process that has left its session, ignores SIGTERM, and has been stopped."""
    code = (
        "import subprocess, sys, time; from pathlib import Path\n"
        "from loadcurve.lab.hosts.limits import Limits, limited; from loadcurve.lab.hosts.network import Ledger\n"
        "here = Path(sys.argv[1])\n"
        "with Ledger(here / 'ledgers') as ledger, limited(Limits(cpu_quota=0.05), ledger, 'S1') as prefix:\n"
        "    for name, text in prefix.files.items(): (here / name).write_text(text)\n"
        "    burn = 'import signal\\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\\nwhile True: pass'\n"
        "    for _ in range(3):\n"
        "        subprocess.Popen((*prefix.argv, sys.executable, '-I', '-S', '-c', burn), cwd=here,\n"
        "                         start_new_session=True, stdout=subprocess.DEVNULL)\n"
        "    while len(pids := Path(prefix.group, 'cgroup.procs').read_text().split()) < 3: time.sleep(0.01)\n"
        "    print(prefix.group, *pids, flush=True); time.sleep(60)"
    )
    argv = [sys.executable, "-c", code, str(tmp_path)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        group, *pids = process.stdout.readline().split()
        process.kill()
    assert len(pids) == 3 and all(is_running(int(pid)) for pid in pids)
    os.kill(int(pids[0]), signal.SIGSTOP)
    with subprocess.Popen(["sleep", "20"]) as bystander:
        tag = Path(group).name.partition("-")[0]
        assert clean(tmp_path / "ledgers") == (f"{tag}: removed cgroup {group}",)
        assert bystander.poll() is None
        bystander.kill()
    assert not Path(group).exists()
    assert not any(is_running(int(pid)) for pid in pids)
    assert clean(tmp_path / "ledgers") == ()


def test_a_group_that_no_ledger_names_is_never_touched(tmp_path, own, quota):
    foreign = mounted_controller().folder / f"foreign-{own.tag}"
    foreign.mkdir()
    try:
        with subprocess.Popen(["sleep", "20"]) as sleeper:
            (foreign / "cgroup.procs").write_text(str(sleeper.pid))
            before = {file: (foreign / file).read_text() for file in ("cgroup.procs", "notify_on_release", "cpu.max")
                      if (foreign / file).exists()}  # fmt: skip
            ledger = tmp_path / "ledgers" / f"lc0000aa.{2**22 + 1}.1.{_boot()}.ledger"
            for name in (str(foreign), f"{foreign}/../lc0000aa-S1", f"{foreign.parent}/lc0000aa-S1/../{foreign.name}"):
                ledger.write_text(json.dumps({"made": [["cgroup", name]]}) + "\n")
                (said,) = clean(tmp_path / "ledgers")
                assert "with a name in lc0000aa*" in said
            ledger.unlink()
            taken = mounted_controller().folder / f"{own.tag}-S1"
            taken.mkdir()
            with pytest.raises(LabError, match="cgroup .* exists already"), limited(Limits(None, 1), own, "S1"):
                pass
            assert taken.exists()
            assert {file: (foreign / file).read_text() for file in before} == before
            assert sleeper.poll() is None
            sleeper.kill()
    finally:
        for folder in (foreign, mounted_controller().folder / f"{own.tag}-S1"):
            with contextlib.suppress(FileNotFoundError):
                folder.rmdir()


def test_a_quota_that_cannot_be_set_leaves_no_group(tmp_path, own, quota, monkeypatch):
    monkeypatch.setattr(type(mounted_controller()), "settings", lambda self, quota: ("no.such.file=1",))
    refused = pytest.raises(LabError, match="no quota of 2 processors here: .*no.such.file")
    with refused, limited(Limits(cpu_quota=2), own, "S1"):
        pass
    assert groups_of(own.tag) == []


def test_a_group_whose_processes_start_others_while_they_are_ended_goes_too(tmp_path, own, quota):
    code = "import os, time\nfor _ in range(400):\n if os.fork(): os._exit(0)\n time.sleep(0.002)"
    with limited(Limits(cpu_quota=0.5), own, "S1") as prefix:
        process = start(limit(LOCAL, prefix, tmp_path), tmp_path, *PYTHON, code)
        process.wait(HANG_S)  # its children go on without it
    assert not Path(prefix.group).exists()
    own.record(Resource("cgroup", prefix.group))  # the name is free again
