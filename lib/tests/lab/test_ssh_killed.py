"""Hosts by OpenSSH when something dies: the launcher, the connection, the network, the keeper; and refused logins."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
import pytest
from events import HANG_S, wait_until
from ssh_hosts import SshHost, make_key, serving

from loadcurve.errors import LabError
from loadcurve.lab.hosts import ssh
from loadcurve.lab.hosts.host import Host
from loadcurve.lab.hosts.ssh import connection
from loadcurve.study import Command

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("network_tools", "ssh_tools")]


@pytest.fixture
def far(hosts, tmp_path):
    with serving(hosts["S1"], tmp_path / "S1") as started:
        yield started


# Holds every signal but the last one, and has a child that does so too.
DEAF = "trap '' TERM INT HUP; sh -c \"trap '' TERM INT HUP; sleep 50\" & echo here; sleep 50; sleep 50"


def run_deaf(place, stem: str = "x"):
    argv = place.argv(("sh", "-c", DEAF), 40)
    running = place.start(Command("server", "sh", argv, f"{stem}.out", f"{stem}.err", 40))
    while not (place.folder / f"{stem}.out").read_bytes():
        assert running.process.poll() is None, (place.folder / f"{stem}.err").read_text()
        time.sleep(0.02)
    return running


@pytest.fixture
def runtime(monkeypatch):
    """A folder for control sockets that no other launcher uses; their paths must be short."""
    with tempfile.TemporaryDirectory(prefix="lc-", dir="/tmp") as folder:
        monkeypatch.setattr(connection, "runtime_folder", lambda: Path(folder))
        yield Path(folder)
        assert list(Path(folder).iterdir()) == []


LAUNCHER = """
import json, signal, sys, time
# A test run in the background of a shell inherits an ignored SIGINT; a person's Ctrl-C meets Python's own handler.
signal.signal(signal.SIGINT, signal.default_int_handler)
from pathlib import Path
from loadcurve.lab.hosts import ssh
from loadcurve.lab.hosts.host import Host
from loadcurve.lab.hosts.ssh import connection
from loadcurve.study import Command

url, options, prefix, folder, deaf, runtime = json.loads(sys.argv[1])
connection.runtime_folder = lambda: Path(runtime)
with ssh.connected(url, options=tuple(options), prefix=tuple(prefix)) as connection:
    executor = ssh.open_executor(connection, Host("S1", "10.0.0.1"), Path(folder))
    executor.put({"x": "1"}, ["logs"])
    for tool, argv in {"sh": ("sh", "-c", deaf), "sar": ("sar", "1", "40"), "cat": ("cat", "/dev/zero")}.items():
        executor.start(Command("server", tool, executor.argv(argv, 40), f"{tool}.out", f"{tool}.err", 40))
    while not (executor.folder / "sh.out").read_bytes():
        time.sleep(0.02)
    print("ready", flush=True)
    time.sleep(40)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_nothing_is_left_of_a_killed_launcher(far, hosts, tmp_path, runtime, number):
    (run := tmp_path / "run").mkdir()
    setting = json.dumps([far.url, far.options, hosts["C1"].prefix, str(run), DEAF, str(runtime)])
    argv = [sys.executable, "-c", LAUNCHER, setting]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True) as launcher:
        assert launcher.stdout.readline() == b"ready\n"
        clients = psutil.Process(launcher.pid).children(recursive=True)
        assert len(clients) >= 4 and far.left and len(far.processes) > 9
        launcher.send_signal(number)
        launcher.wait(HANG_S)
    assert far.comes_to_rest(), (far.processes, far.left)
    assert not psutil.wait_procs(clients, 2)[1]


@pytest.mark.parametrize("seed", range(6))
def test_killed_at_any_moment(far, hosts, tmp_path, runtime, seed):
    """Also while it logs in, makes folders and sends files."""
    (run := tmp_path / "run").mkdir()
    setting = json.dumps([far.url, far.options, hosts["C1"].prefix, str(run), DEAF, str(runtime)])
    with subprocess.Popen([sys.executable, "-c", LAUNCHER, setting], stdout=subprocess.DEVNULL) as launcher:
        while not far.processes:
            time.sleep(0.005)
        time.sleep(seed * 0.15)
        launcher.kill()
    assert far.comes_to_rest(), (far.processes, far.left)


def test_a_connection_that_breaks_is_told(far, hosts, tmp_path):
    with ssh.connected(far.url, options=far.options, prefix=hosts["C1"].prefix) as connected:
        place = ssh.open_executor(connected, Host("S1", "10.0.0.1"), tmp_path)
        running = run_deaf(place)
        for pid in far.sessions():
            os.kill(pid, signal.SIGKILL)
        wait_until(lambda: running.process.poll() is not None)
        for use in (place.wait, place.stop):
            with pytest.raises(LabError, match=r"^S1: ssh://root@10\S+: connection lost: .* closed by remote host"):
                use(running)
        later = Command("generator", "true", place.argv(("true",), 3), "y.out", "y.err", 3)
        for use in (
            lambda: place.put({"x": ""}),
            lambda: place.fetch([]),
            lambda: place.check_output(("true",), 3),
            lambda: place.wait(place.start(later)),
            place.facts,
        ):
            with pytest.raises(LabError, match="connection lost: .* closed by remote host"):
                use()
        place.close()
    assert far.comes_to_rest(), (far.processes, far.left)


def test_a_network_that_goes_silent(far, hosts, tmp_path, monkeypatch):
    """Neither end hears a word: each side ends by itself."""
    monkeypatch.setattr(connection, "_SILENCE_S", 1.5)
    monkeypatch.setattr(connection, "_WORD_EVERY_S", 0.3)
    options = ("-o", "ServerAliveInterval=1", "-o", "ServerAliveCountMax=1", *far.options)
    with ssh.connected(far.url, options=options, prefix=hosts["C1"].prefix) as connected:
        place = ssh.open_executor(connected, Host("S1", "10.0.0.1"), tmp_path)
        running = run_deaf(place)
        subprocess.run(hosts["S1"].argv(("ip", "link", "set", "eth0", "down")), check=True)
        with pytest.raises(LabError, match=r"connection lost: Timeout, server 10\S+ not responding"):
            place.wait(running)
    wait_until(
        lambda: not far.left and all(words.startswith("sshd: ") for words in far.processes.values()),
        lambda: (far.left, far.processes),
    )


def test_a_keeper_that_is_killed_on_the_host(far, hosts, tmp_path):
    with ssh.connected(far.url, options=far.options, prefix=hosts["C1"].prefix) as connected:
        place = ssh.open_executor(connected, Host("S1", "10.0.0.1"), tmp_path)
        running = run_deaf(place)
        os.kill(connected._keeper, signal.SIGKILL)
        with pytest.raises(LabError, match="connection lost"):
            place.wait(running)
    assert far.comes_to_rest(), (far.processes, far.left)


def test_a_runner_that_is_killed_on_the_host(far, hosts, tmp_path):
    with ssh.connected(far.url, options=far.options, prefix=hosts["C1"].prefix) as connected:
        place = ssh.open_executor(connected, Host("S1", "10.0.0.1"), tmp_path)
        running = place.start(Command("server", "sleep", place.argv(("sleep", "30"), 30), "x.out", "x.err", 30))
        while not (sleeping := [pid for pid, words in far.processes.items() if words == "sleep 30"]):
            time.sleep(0.02)
        timeout = psutil.Process(sleeping[0]).parent()
        timeout.parent().kill()
        with pytest.raises(LabError, match="S1: sleep has no exit code"):
            place.wait(running)
        assert connected.lost() == ""
        psutil.wait_procs([timeout], 3)
    assert far.comes_to_rest(), (far.processes, far.left)


def refusal(far: SshHost, client: Host, options: tuple[str, ...] | None = None, url: str = "") -> str:
    with (
        pytest.raises(LabError) as said,
        ssh.connected(url or far.url, options=options or far.options, prefix=client.prefix),
    ):
        pass
    (line,) = str(said.value).splitlines()
    return line.removeprefix(url or far.url)


def test_logins_that_are_refused(far, hosts, tmp_path, runtime):
    client, known = hosts["C1"], far.folder / "known_hosts"
    right = known.read_text()
    make_key(tmp_path / "other_key")
    other = tuple(word.replace(str(far.folder / "user_key"), str(tmp_path / "other_key")) for word in far.options)
    assert refusal(far, client, other).startswith(": root@10.99.2.1: Permission denied (publickey)")
    port = far.url.rpartition(":")[2]
    assert refusal(far, client, url=far.url.replace(port, "2")).endswith("port 2: Connection refused")
    known.write_text("")
    assert refusal(far, client) == ": Host key verification failed. (log in once by hand, and compare its key)"
    known.write_text(f"{right.split()[0]} {(tmp_path / 'other_key.pub').read_text()}")
    assert refusal(far, client) == ": Host key verification failed. (its key is not the one in known_hosts)"
    assert far.comes_to_rest()


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ('PATH=/nowhere; eval "$SSH_ORIGINAL_COMMAND"', "python3 must be there, got .*not found"),
        (
            'echo "Welcome to S1"; eval "$SSH_ORIGINAL_COMMAND"',
            "shell must be quiet, got 'Welcome to S1' before a command",
        ),
        ('printf "\\033[31m\\n"; eval "$SSH_ORIGINAL_COMMAND"', r"shell must be quiet, got '\?\[31m' before a command"),
        ("exit 3", "ssh ended with exit code 3"),
        ("sleep 20", "no answer in time"),
        ("""echo '{"base": "/", "keeper": 1, "python": [3, 8]}'""", "python3 must be 3.9 or newer there, got 3.8"),
    ],
)
def test_hosts_that_will_not_do(hosts, tmp_path, monkeypatch, runtime, command, why):
    monkeypatch.setattr(connection, "_LOGIN_LIMIT_S", 1.5)
    monkeypatch.setattr(connection, "_END_LIMIT_S", 0.5)
    with serving(hosts["S1"], tmp_path / "S1", lines=f"ForceCommand {command}\n") as far:
        assert re.search(why, refusal(far, hosts["C1"]))


def test_a_host_with_too_few_sessions(hosts, tmp_path):
    with serving(hosts["S1"], tmp_path / "S1", lines="MaxSessions 1\n") as far:
        with ssh.connected(far.url, options=far.options, prefix=hosts["C1"].prefix) as connected:
            place = ssh.open_executor(connected, Host("S1", "10.0.0.1"), tmp_path)
            refused = Command("generator", "true", place.argv(("true",), 3), "x.out", "x.err", 3)
            for use in (lambda: place.check_output(("true",), 3), lambda: place.wait(place.start(refused))):
                with pytest.raises(LabError, match="Session open refused by peer .MaxSessions of its sshd"):
                    use()
            accepted = (far.folder / "sshd.log").read_text().count("Accepted publickey")
            assert accepted == 1, "there is one connection, and no second one beside it"
        assert far.comes_to_rest(), (far.processes, far.left)


def test_an_error_of_the_launcher_leaves_nothing(far, hosts, tmp_path, runtime):
    with (
        pytest.raises(KeyboardInterrupt),
        ssh.connected(far.url, options=far.options, prefix=hosts["C1"].prefix) as connected,
    ):
        run_deaf(ssh.open_executor(connected, Host("S1", "10.0.0.1"), tmp_path))
        raise KeyboardInterrupt
    assert far.comes_to_rest(), (far.processes, far.left)


def test_a_socket_that_nobody_listens_to_goes(far, hosts, runtime):
    old, new = runtime / "lc000000.ssh", runtime / "lc000001.ssh.abcdefgh"
    for path in (old, new):
        with socket.socket(socket.AF_UNIX) as one:
            one.bind(str(path))
    os.utime(old, (0, 0))
    with ssh.connected(far.url, options=far.options, prefix=hosts["C1"].prefix):
        with socket.socket(socket.AF_UNIX) as living, pytest.raises(LabError):
            living.bind(str(old))
            living.listen()
            os.utime(old, (0, 0))
            with ssh.connected("ssh://root@127.0.0.1:1"):
                pass
        assert old.exists() and new.exists(), "one is listened to, and one may soon be"
        old.unlink()
    new.unlink()
