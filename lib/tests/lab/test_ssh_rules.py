"""Hosts by OpenSSH without a host: addresses, names of files, what a hostile host sends, offsets of clocks."""

import ast
import inspect
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Collection
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadcurve.errors import LabError, LoadcurveError, ValueRuleError
from loadcurve.lab.hosts import facts
from loadcurve.lab.hosts.executor import Executor, LocalExecutor
from loadcurve.lab.hosts.ssh import RemoteExecutor, connection, executor, parse_url
from loadcurve.lab.hosts.ssh.connection import Reader
from loadcurve.lab.hosts.ssh.executor import Exchange, check_names, offset_of, receive
from loadcurve.lab.study_file import check_study
from loadcurve.study import Study


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("ssh://bench@client1", ["-l", "bench", "--", "client1"]),
        ("ssh://a.b-c_d@10.0.0.11:65535", ["-p", "65535", "-l", "a.b-c_d", "--", "10.0.0.11"]),
        ("ssh://bench@[fd00::1]:22", ["-p", "22", "-l", "bench", "--", "fd00::1"]),
    ],
)
def test_an_address(url, words):
    assert list(parse_url(url).words) == words


@pytest.mark.parametrize(
    "url",
    """
    ssh://client1|http://a@b|ssh://@b|ssh://a@|ssh://a@b:|ssh://a@b:x|ssh://a@b:22x|ssh://a@b:-1|ssh://a@b/|ssh://a@b:22/x
    ssh://-oProxyCommand=x@b|ssh://a@-oProxyCommand=x|ssh://a b@c|ssh://a@b c|ssh://a@b;id|ssh://a@$(id)|ssh://a@`id`
    ssh://a;id@b|ssh://a:secret@b|ssh://a@b@c|ssh://%r@b|ssh://a@%h|ssh://a@[::1|ssh://a@::1|ssh://a@[-x]|ssh://a@[fe80::1%-x]
    ssh://a@b#c|ssh://a@b?c| ssh://a@b|ssh://a@ü|SSH://a@b|a@b
    """.strip()
    .replace("\n    ", "|")
    .split("|"),
)
def test_an_address_can_become_no_option_and_no_shell(url):
    with pytest.raises(ValueRuleError, match="ssh must be ssh://USER@HOST"):
        parse_url(url)


@pytest.mark.parametrize("url", ["ssh://a@b\n", "ssh://a\n@b", "ssh://a@b\0", "ssh://a@b:22\n", ""])
def test_nor_with_a_line_break(url):
    with pytest.raises(ValueRuleError):
        parse_url(url)


@pytest.mark.parametrize("port", ["0", "65536", "99999"])
def test_a_port_has_its_range(port):
    with pytest.raises(ValueRuleError, match="within 1–65535"):
        parse_url(f"ssh://a@b:{port}")


@pytest.mark.parametrize("name", ["", ".", "..", "/etc/x", "../x", "a/../../x", "a//b", "a/", "./a", "a\nb", "a\0b"])
def test_names_that_lead_out_of_a_folder(name, tmp_path):
    with pytest.raises(ValueRuleError, match="name of a file must be below its folder"):
        check_names(["fine", name])
    with pytest.raises(LabError, match="S1: "):
        received(tmp_path / "run", [{"name": name, "size": 1}, b"x", {"name": "", "size": 0}])
    assert [path.name for path in tmp_path.rglob("*")] in (["run"], [])


def received(folder: Path, stream: list[dict | bytes], streams: Collection[str] = ()) -> None:
    """What comes of a host that sends this."""
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryFile() as file:
        file.write(b"".join(part if isinstance(part, bytes) else json.dumps(part).encode() + b"\n" for part in stream))
        file.seek(0)
        receive(Reader(file.fileno(), 2.0), folder, "S1", streams)


def test_files_come_whole(tmp_path):
    end = {"name": "", "size": 0}
    received(tmp_path, [{"name": "logs/a b.txt", "size": 4}, b"\n\0x\n", {"name": "empty", "size": 0}, end])
    assert (tmp_path / "logs" / "a b.txt").read_bytes() == b"\n\0x\n"
    assert (tmp_path / "empty").read_bytes() == b""


def test_a_command_may_write_the_file_of_its_own_stream(tmp_path):
    for name, text in {"S1.a.txt": "", "S1.b.txt": "printed"}.items():
        (tmp_path / name).write_text(text)
    stream = [{"name": "S1.a.txt", "size": 2}, b"hi", {"name": "S1.b.txt", "size": 2}, b"hi"]
    with pytest.raises(LabError, match=r"another S1\.b\.txt"):
        received(tmp_path, stream, {"S1.a.txt", "S1.b.txt"})
    assert [(tmp_path / name).read_text() for name in ("S1.a.txt", "S1.b.txt")] == ["hi", "printed"]


@pytest.mark.parametrize(
    ("stream", "why"),
    [
        ([{"name": "run.json", "size": 1}, b"x"], "another run.json in the run's folder already"),
        ([{"name": "link", "size": 1}, b"x"], "another link in the run's folder already"),
        ([{"name": "out/x", "size": 1}, b"x"], "out/x leads out of the run's folder"),
        ([{"name": "run.json/x", "size": 1}, b"x"], "another run.json/x in the run's folder already"),
        ([{"name": "x", "size": executor.MAX_BYTES + 1}], "must be smaller than"),
        ([{"name": "x", "size": -1}], "must have a name and a size"),
        ([{"name": ["x"], "size": 1}], "must have a name and a size"),
        ([{"name": "x", "size": "1"}], "must have a name and a size"),
        ([{"name": "", "size": 7}], "below its folder"),
    ],
)
def test_a_hostile_host_writes_nothing_outside_and_over_nothing(tmp_path, stream, why):
    folder, elsewhere = tmp_path / "run", tmp_path / "elsewhere"
    folder.mkdir(), elsewhere.mkdir()
    (folder / "run.json").write_text("ours")
    (folder / "link").symlink_to(elsewhere / "new")
    (folder / "out").symlink_to(elsewhere)
    with pytest.raises(LabError, match=why):
        received(folder, stream)
    assert (folder / "run.json").read_text() == "ours"
    assert list(elsewhere.iterdir()) == []


def test_too_many_files(tmp_path, monkeypatch):
    monkeypatch.setattr(executor, "MAX_FILES", 3)
    with pytest.raises(LabError, match="fewer than 3 files"):
        received(tmp_path, [{"name": f"f{i}", "size": 0} for i in range(9)])


@pytest.mark.parametrize("stream", [[], [{"name": "x", "size": 9}, b"short"], [b"no json\n"], [b"x" * 66_000]])
def test_a_stream_that_breaks_off(tmp_path, stream):
    with pytest.raises((EOFError, ValueError)):
        received(tmp_path, stream)


def test_a_silent_host_holds_nobody():
    out, into = os.pipe()
    with pytest.raises(TimeoutError):
        Reader(out, 0.05).line()
    os.close(out), os.close(into)


ns = st.integers(-(10**19), 10**19)


@given(ns, ns, st.lists(st.tuples(st.integers(0, 10**9), st.integers(0, 10**9)), min_size=1, max_size=9))
def test_the_true_offset_is_within_the_bound(monotonic_ns, wall_ns, trips):
    """However unlike the ways there and back are (RFC 5905: the error of an offset is at most half the delay)."""
    exchanges, clock = [], 10**12
    for there, back in trips:
        read = (clock + there + monotonic_ns, clock + there + 5 + wall_ns)
        exchanges.append(Exchange((clock, clock + 5), read, (clock + there + back, clock + there + back + 5)))
        clock += 10**10
    offset = offset_of(exchanges)
    assert abs(offset.monotonic_ns - monotonic_ns) <= offset.bound_ns
    assert abs(offset.wall_ns - wall_ns) <= offset.bound_ns
    assert offset.bound_ns == min((there + back + 1) // 2 for there, back in trips)


def test_the_worked_example_of_two_symmetric_ways():
    """T1 = 0, T2 = T3 = 1,000,010, T4 = 20: the offset is a million, the delay 20, so it is known to 10."""
    offset = offset_of([Exchange((0, 0), (1_000_010, 10), (20, 20))])
    assert (offset.monotonic_ns, offset.wall_ns, offset.bound_ns) == (1_000_000, 0, 10)


@pytest.mark.parametrize("program", [facts.__file__, connection.__file__.replace("connection", "remote_agent")])
def test_what_is_sent_to_hosts_runs_on_old_pythons_without_packages(program):
    tree = ast.parse(Path(program).read_text("utf-8"), feature_version=(3, 9))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            assert all(alias.name in sys.stdlib_module_names for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0 and node.module.partition(".")[0] in sys.stdlib_module_names


def test_the_machine_tells_a_host_s_facts_as_its_own():
    argv = [sys.executable, "-I", "-S", facts.__file__]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == facts.facts()


def test_the_login_shell_sees_one_constant_line():
    shell = ["sh", "-c", connection._BOOTSTRAP]
    done = subprocess.run(shell, input=b"11\nprint('ok')rest", capture_output=True, check=True)
    assert done.stdout == b"ok\n"


def test_executors_have_the_methods_of_the_protocol():
    methods = {name for name, value in vars(Executor).items() if not name.startswith("_") and callable(value)}
    assert methods >= {"argv", "put", "start", "wait", "stop", "check_output", "fetch", "close"}
    for kind in (RemoteExecutor, LocalExecutor):
        for name in methods:
            wanted = inspect.signature(getattr(Executor, name)).parameters
            assert inspect.signature(getattr(kind, name)).parameters == wanted, name
    assert LocalExecutor.is_here and not RemoteExecutor.is_here


def test_a_share_of_the_processors_is_of_this_machine_alone():
    """Its control group is made here; a limit of open files stands before the command, wherever that runs."""
    there, here = {"ssh": "ssh://bench@server1", "address": "10.0.0.2"}, {"ssh": "", "address": "127.0.0.1"}
    machines = {"machines": {"C1": here, "S1": there}}
    check_study(Study("s", "?", topology=machines, hosts={"C1": {"cpu_quota": 0.5}, "S1": {"open_files": 1024}}))
    for name in ("S1", "S"):
        with pytest.raises(LoadcurveError, match=f"hosts.{name}.cpu_quota to be left out for a machine by ssh"):
            check_study(Study("s", "?", topology=machines, hosts={name: {"cpu_quota": 0.5}}))
