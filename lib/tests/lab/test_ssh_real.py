"""Places on hosts by OpenSSH: against a real sshd, in network namespaces of this machine."""

import contextlib
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from events import wait_until
from ssh_hosts import SshHost, serving

from loadcurve.errors import LabError, ValueRuleError
from loadcurve.lab.hosts import facts, ssh
from loadcurve.lab.hosts.executor import LocalExecutor
from loadcurve.lab.hosts.host import Host
from loadcurve.lab.hosts.process import Started
from loadcurve.lab.hosts.ssh import RemoteExecutor
from loadcurve.lab.hosts.tools import FIXED, PASSED, which
from loadcurve.study import Command

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("network_tools", "ssh_tools")]


@pytest.fixture
def far(hosts, tmp_path):
    """A host beyond this machine: the namespace of the server, to which the client's leads."""
    with serving(hosts["S1"], tmp_path / "S1") as started:
        yield started
        assert started.comes_to_rest(), (started.processes, started.left)


@contextlib.contextmanager
def on(far: SshHost, client: Host, folder: Path) -> Iterator[RemoteExecutor]:
    folder.mkdir(exist_ok=True)
    with ssh.connected(far.url, options=far.options, prefix=client.prefix) as connection:
        executor = ssh.open_executor(connection, Host(far.host.name, far.host.address), folder)
        yield executor
        executor.close()


@pytest.fixture
def executor(far, hosts, tmp_path):
    with on(far, hosts["C1"], tmp_path / "run") as made:
        yield made


def started(executor, argv: tuple[str, ...], limit_s: float = 8.0, stem: str = "x", env: dict | None = None) -> Started:
    tool, whole = argv[0], executor.argv(argv, limit_s)
    return executor.start(Command("generator", tool, whole, f"{stem}.out", f"{stem}.err", limit_s, env=env or {}))


def test_a_load_from_one_host_on_another(far, hosts, tmp_path):
    page = {"www/index.html": "hello\n"}
    with (
        serving(hosts["C1"], tmp_path / "C1") as near,
        on(far, hosts["C1"], tmp_path / "run") as server,
        on(near, hosts["C1"], tmp_path / "run") as client,
    ):
        url = f"http://{server.host.address}:8080/"
        server.put(page, ["logs"])
        serve = ("python3", "-u", "-m", "http.server", "8080", "--bind", server.host.address, "-d", "www")
        serving_ = started(server, serve, stem="S1")
        until = 'until curl -s --max-time 3 "$1"; do sleep 0.05; done'
        assert client.check_output(("sh", "-c", until, "sh", url), 5) == "hello\n"
        wrk = client.wait(started(client, ("wrk", "-t1", "-c2", "-d1s", url), stem="C1"))
        stopped = server.stop(serving_)
        server.fetch(["logs"])
        client.fetch([])
    assert wrk.exit_code == 0 and wrk.host == "C1"
    assert wrk.argv[7:] == ("8", "wrk", "-t1", "-c2", "-d1s", url), "as it ran there: no ssh, no path of this machine"
    assert stopped.exit_code == -15, "by its signal, as on this machine"
    requests = int(re.search(r"(\d+) requests in 1", (tmp_path / "run/C1.out").read_text())[1])
    logged = (tmp_path / "run/S1.err").read_text().count('"GET / HTTP/1.1" 200')
    assert 0 < requests <= logged - 1 <= requests + 2, "the server saw curl, them, and those on their way at the end"
    assert (tmp_path / "run/www/index.html").read_text() == "hello\n"


def test_streams_come_as_they_are_printed_and_apart(executor):
    running = started(
        executor, ("sh", "-c", "echo one; echo wrong >&2; while [ ! -e go ]; do sleep 0.05; done; echo two; exit 7")
    )
    wait_until(lambda: (executor.folder / "x.out").read_bytes() == b"one\n")
    assert running.process.poll() is None
    executor.put({"go": ""}, [])
    ended = executor.wait(running)
    assert running.process.poll() == ended.exit_code == 7
    assert (executor.folder / "x.out").read_text() == "one\ntwo\n"
    assert (executor.folder / "x.err").read_text() == "wrong\n"
    assert ended.started_at < ended.ended_at


@pytest.mark.parametrize("code", [0, 1, 124, 137, 254, 255])
def test_an_exit_code_is_the_command_s_own(executor, tmp_path, code):
    command = ("sh", "-c", f"exit {code}")
    assert executor.wait(started(executor, command)).exit_code == code
    local = LocalExecutor(Host("local", "127.0.0.1"), tmp_path)
    assert local.wait(started(local, command)).exit_code == code


def test_ends_are_as_on_this_machine(executor, tmp_path):
    local = LocalExecutor(Host("local", "127.0.0.1"), tmp_path)
    for here in (executor, local):
        assert here.wait(started(here, ("sleep", "9"), 0.5)).exit_code == 124, "its time limit"
        assert here.wait(started(here, ("sh", "-c", "kill -KILL $$"))).exit_code == -9
        assert here.wait(started(here, ("no-such-tool",))).exit_code == 127
        running = started(here, ("sh", "-c", "echo here; exec sleep 9"))
        wait_until((here.folder / "x.out").read_text)
        assert here.stop(running).exit_code == -15
        assert here.stop(running).exit_code == -15, "once more is no harm"
        assert here.check_output(("printf", "%s", "a b"), 3) == "a b"
        with pytest.raises(LabError, match="no such folder|No such file"):
            here.check_output(("ls", "nothing"), 3)
        with pytest.raises(LabError, match="exit code 124"):
            here.check_output(("sleep", "9"), 0.3)


def test_a_command_that_is_deaf_is_killed_with_its_children(executor, far):
    deaf = started(executor, ("sh", "-c", 'trap "" TERM; sleep 30 & setsid -f true; echo here; wait; sleep 30'), 30)
    while not (executor.folder / "x.out").read_bytes():
        time.sleep(0.02)
    assert executor.stop(deaf).exit_code in (-9, 137)
    assert not [words for words in far.processes.values() if "sleep" in words]


ODD = [
    "a b", "*", "$(touch pwned)", "`id`", "'", '"', "\\", ";", "&", "|", "~", "$HOME", "--", "-o", "ü", "", "\n", "!!",
]  # fmt: skip


def test_arguments_reach_the_command_as_they_are(executor):
    env = {"LOADCURVE_ODD": "$(id) 'x'\n;"}
    ended = executor.wait(started(executor, ("printf", "%s\\0", *ODD), env=env))
    assert ended.exit_code == 0
    assert (executor.folder / "x.out").read_bytes().decode().split("\0")[:-1] == ODD
    executor.wait(started(executor, ("printenv", "-0", "LOADCURVE_ODD"), env=env))
    assert (executor.folder / "x.out").read_text() == env["LOADCURVE_ODD"] + "\0"
    assert ended.env == {**FIXED, **env}, "what the record lists"
    found = dict(line.split("=", 1) for line in executor.check_output(("env",), 3).splitlines())
    assert {"PATH", "TMPDIR", *FIXED} <= found.keys() <= {"PATH", *PASSED, *FIXED, "PWD", "OLDPWD"}, "not of the login"
    assert found["LC_ALL"] == "C"
    assert executor.check_output(("ls", "-A"), 3) == "", "nothing was written"


def test_files_go_there_and_back(executor, tmp_path):
    (secret := tmp_path / "secret").write_text("not of this run")
    texts = {"page.html": "grüße\r\n", "conf/with space/ä.conf": "", "skip/kept.conf": "x\n"}
    executor.put(texts, ["logs/deep", "tmp"])
    script = f"head -c 300000 /dev/urandom >logs/big; ln -s {secret} link; ln -s / root; mkfifo pipe; echo >tmp/x"
    assert executor.wait(started(executor, ("sh", "-c", script))).exit_code == 0
    size, digest = executor.check_output(("sh", "-c", "wc -c <logs/big; sha256sum <logs/big"), 3).split()[:2]
    executor.fetch(["tmp", "skip"])
    found = {str(path.relative_to(executor.folder)) for path in executor.folder.rglob("*") if path.is_file()}
    assert found == {"page.html", "conf/with space/ä.conf", "logs/big", "x.out", "x.err"}
    assert (executor.folder / "page.html").read_bytes() == texts["page.html"].encode()
    assert (executor.folder / "logs/big").stat().st_size == int(size) == 300_000
    (tmp_path / "again").mkdir()
    here = LocalExecutor(Host("local", "::1"), executor.folder / "logs")
    assert here.check_output(("sha256sum", "big"), 3).split()[0] == digest


@pytest.mark.parametrize("name", ["/tmp/x", "../x", "a/../../x", ""])
def test_names_that_lead_out_are_not_sent(executor, name):
    for wrong in ({name: "x"}, {}):
        with pytest.raises(ValueRuleError, match="name of a file"):
            executor.put(wrong, [] if wrong else [name])
    with pytest.raises(ValueRuleError, match="name of a file"):
        executor.fetch([name])


def test_what_the_host_refuses_is_one_line(executor):
    executor.put({}, ["www"])
    with pytest.raises(LabError, match=r"^ssh://\S+: .*File exists: '.*www'$"):
        executor.put({}, ["www"])


@pytest.mark.parametrize("pause_s", [0, 0.01, 0.03, 0.06])
def test_one_that_has_hardly_begun_is_ended_and_not_killed(executor, pause_s):
    running = started(executor, ("sleep", "9"))
    time.sleep(pause_s)
    assert executor.stop(running).exit_code in (-15, 128 + 15), "by itself, or as timeout says it of itself"


def test_sar_is_stopped_between_two_lines(executor):
    """Several at once, stopped at many moments of their second."""
    if not which("sar"):
        pytest.skip("not installed: sar")
    running = [started(executor, ("sar", "-u", "1", "60"), 30, f"sar{i}", {"LC_ALL": "C"}) for i in range(4)]
    time.sleep(3.2)
    for i, one in enumerate(running):
        assert executor.stop(one).exit_code == 0
        text = (executor.folder / f"sar{i}.out").read_text()
        rows = [line for line in text.splitlines() if re.match(r"\d\d:\d\d:\d\d +all ", line)]
        assert rows and all(len(row.split()) == 8 for row in rows), text
        assert re.search(r"^Average: +all( +\d+\.\d\d){6}$", text, re.M), text
        assert (executor.folder / f"sar{i}.err").read_text() == ""
        time.sleep(0.23)


def test_the_host_tells_its_facts(executor):
    there, here = executor.facts(), facts.facts()
    assert there.pop("ssh") == executor.connection.url
    assert abs(there.pop("clock_offset_s")) <= there.pop("clock_offset_bound_s")
    assert there.pop("tcp_congestion_control") == "reno", "of its namespace"
    assert list(there) == [name for name in here if name != "tcp_congestion_control"]
    for name in ("kernel", "distribution", "cpu_model", "memory_bytes"):
        assert there[name] == here[name]


def test_processors_are_pinned_there(far, hosts, tmp_path):
    with ssh.connected(far.url, options=far.options, prefix=hosts["C1"].prefix) as connection:
        executor = ssh.open_executor(connection, Host("S1", far.host.address, (), (1,)), tmp_path)
        assert executor.check_output(("sh", "-c", "taskset -cp $$"), 3).endswith("affinity list: 1\n")


def test_places_of_one_connection_are_apart(far, hosts, tmp_path):
    with ssh.connected(far.url, options=far.options, prefix=hosts["C1"].prefix) as connection:
        first, second = (ssh.open_executor(connection, Host("S1", "10.0.0.1"), tmp_path) for _ in range(2))
        first.put({"x": "1"})
        second.put({"x": "2"})
        first.close()
        assert second.check_output(("cat", "x"), 3) == "2"
        assert len(far.left) == 1, "all of it in one folder"
