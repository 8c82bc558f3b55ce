"""The command line: one line for what is wrong, exit code 1, nothing of a traceback."""

import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from loadcurve.errors import LoadcurveError
from loadcurve.files.yaml_document import parse_yaml
from loadcurve.ingest.registry import FORMS
from loadcurve.launching import studies
from loadcurve.runtime import cluster

pytestmark = pytest.mark.slow

REPORT = "lib/tests/data/wrk/fdlimit.txt"


def loadcurve(*argv, cwd):
    return subprocess.run(
        [sys.executable, "-m", "loadcurve", *argv], cwd=cwd, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["ingest", "nowhere"], "nowhere: expected a file or a folder, got nothing of that name"),
        (["tidy", "nowhere"], "study must be one of balancer_memory, capacity_"),
        (["launch", "nowhere"], "study must be one of balancer_memory, capacity_"),
        (
            ["launch", "connections_on_loopback", "--seconds", "0.1", "--name", "x"],
            "load.duration_s to be a multiple of 1 s, up to a day, got '0.1'",
        ),
        (["run", "notebooks/00_template.ipynb", "-p", "study"], "parameter must be NAME=VALUE, got 'study'"),
        (["run", "notebooks/00_template.ipynb", "-p", "level=1"], "parameter must be one of study, got 'level'"),
        (
            ["run", "notebooks/21_planted_faults.ipynb", "-p", "most_missed=["],
            "parameter most_missed must be YAML, got '['",
        ),
        (
            ["run", "notebooks/30_throughput_by_connections.ipynb", "-p", "enough=1.5"],
            "enough must be 0 < enough <= 1, got 1.5",
        ),
        (["analyse", REPORT, "-o", "no such/a.html"], "create it with `mkdir -p 'no such'`, or name another"),
        (
            ["notebook", "connections_on_loopback", "-o", "none/a.ipynb"],
            "a.ipynb: expected an existing folder, got 'none'",
        ),
        (["run", "notebooks/none.ipynb"], "notebooks/none.ipynb: expected a notebook, got no file"),
        (["ingest", REPORT, "--format", "csv", "-o", REPORT], "File exists; name another path"),
        (["ingest", REPORT, "--format", "csv", "-o", f"{REPORT}/x"], "Not a directory; name a folder"),
    ],
)
def test_what_is_wrong_is_one_line(root, monkeypatch, called, argv, says):
    monkeypatch.chdir(root)
    code, _, said = called(*argv)
    assert code == 1
    assert says in said
    assert said.count("\n") == 1
    assert "Traceback" not in said


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("$LC ingest $REPORT > /dev/full", "standard input or output: No space left on device; free disk space"),
        ("$LC --help > /dev/full", "standard input or output: No space left on device; free disk space"),
        ("$LC ingest - <&-", "expected output of a tool"),
        ("ulimit -v 200000; $LC ingest $REPORT", "not enough memory"),
    ],
)
def test_what_the_system_refuses_is_one_line(root, command, says):
    env = {**os.environ, "LC": f"{sys.executable} -m loadcurve", "REPORT": REPORT}
    done = subprocess.run(["sh", "-c", command], cwd=root, env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
    assert says in done.stderr


@pytest.mark.parametrize(("to", "code"), [(">&-", 0), ("2>&-", 0), ("> /dev/full 2>&1", 1), ("| head -c 1", 0)])
def test_a_stream_that_is_closed_is_no_traceback(root, tmp_path, to, code):
    (tmp_path / os.fsdecode(b"caf\xe9.txt")).write_bytes((root / REPORT).read_bytes())
    command = f"{sys.executable} -m loadcurve ingest {tmp_path} {to}"
    done = subprocess.run(["sh", "-c", command], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == code
    assert "Traceback" not in done.stderr and "Exception ignored" not in done.stderr


def test_a_study_that_is_finished_is_not_launched_again(root, checkout):
    """The recorded study, on whatever machine this is: either nothing is left to do, or it refuses to mix machines."""
    recorded = "data/studies/connections_on_loopback"
    shutil.copytree(root / recorded, checkout / recorded)
    before = {p: p.stat().st_mtime_ns for p in checkout.rglob("*")}
    done = loadcurve("launch", "connections_on_loopback", cwd=checkout)
    said = done.stdout + done.stderr
    assert "60 runs, 60 finished" in said or "was recorded on another machine" in said or "not installed" in said
    assert {p: p.stat().st_mtime_ns for p in checkout.rglob("*")} == before


def test_help_names_the_commands(root):
    said = loadcurve("--help", cwd=root).stdout
    assert all(word in said for word in ("launch", "lab", "ingest", "run"))


def test_doctor_names_every_tool_whose_output_is_read(called):
    said = {line.split()[0] for line in called("doctor")[1].splitlines()}
    assert {form.tool for form in FORMS} <= said


def test_lab_clean_says_what_it_removed(root):
    done = loadcurve("lab", "clean", cwd=root)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "nothing to remove\n" or all(line.startswith("lc") for line in done.stdout.splitlines())


NUMBERS = (
    "compare {report} {report} --margin", "history {report} {report} --at", "ingest {report} --jobs",
    "ingest {report} --max-bytes", "launch connections_on_loopback --plan --seconds",
    "launch connections_on_loopback --plan --repeats", "batch {notebook} -o {out} --jobs",
    "new a --seconds", "new a --repeats", "new a --connections", "new a --rates", "new a --connections 1..",
    "compare {report} {report} --fail-if throughput_rps<", "analyse {report} --objective max=",
    "audit {report} --limit few-repeats.repeats=", "run {notebook} -o {out}/a.ipynb -p level=",
)  # fmt: skip


@pytest.mark.parametrize("command", NUMBERS)
def test_a_number_that_is_none_or_too_large_is_one_line(root, tmp_path, called, monkeypatch, command):
    monkeypatch.chdir(root)
    given = {"report": REPORT, "notebook": "lib/loadcurve/notebooks/01_your_own_files.ipynb", "out": tmp_path}
    *argv, last = command.format(**given).split()
    ends = "s" if "max=" in command else ""
    for value in ("1e400", "nan", "inf", "-1", "9" * 400, "9" * 5001, "x"):
        own = [f"{last}{value}{ends}"] if last.endswith(("=", "<", "..")) else [last, value]
        code, out, err = called(*argv, *own)
        assert code in (1, 2) and err.count("\n") == 1 and not out, (value, err)
        assert re.search(r"must be |expected a number", err), err


def test_a_missing_folder_of_temporary_files_is_named(root, tmp_path, called, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path / "none"))
    monkeypatch.chdir(root)
    for argv in (
        f"analyse {REPORT} -o {tmp_path}/a.pdf", f"ingest {REPORT} --format csv -o -", "new a --connections 1",
        f"run lib/loadcurve/notebooks/01_your_own_files.ipynb -o {tmp_path}/a.ipynb",
        f"ingest {REPORT} --format parquet -o {tmp_path}/t --scheduler local",
    ):  # fmt: skip
        code, _, err = called(*argv.split())
        assert (code, err.count("\n")) == (1, 1), err
        assert err.startswith(f"TMPDIR must be a folder in which files can be created, got '{tmp_path}/none'")
    assert called("audit", REPORT)[0] == 1, "which needs none"


@pytest.mark.parametrize(
    "argv", [["ingest", "http://{address}/x"], ["ingest", REPORT, "--scheduler", "tcp://{address}"]]
)
def test_a_refused_connection_is_reported_as_one(root, tmp_path, called, monkeypatch, argv):
    monkeypatch.chdir(root)
    monkeypatch.setattr(cluster, "_CONNECT_S", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
    code, _, err = called(*(word.format(address=address) for word in argv), "--format", "parquet", "-o", tmp_path)
    assert (code, err.count("\n")) == (1, 1), err
    assert "Connection refused" in err and address in err


@pytest.mark.parametrize(("scheme", "says"), [("tcp", "no response"), ("tls", "Dask has no certificate: set ")])
def test_a_silent_scheduler_is_one_line(root, tmp_path, called, monkeypatch, scheme, says):
    monkeypatch.chdir(root)
    monkeypatch.setattr(cluster, "_CONNECT_S", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"{scheme}://127.0.0.1:{server.getsockname()[1]}"
        code, _, err = called("ingest", REPORT, "--scheduler", address, "--format", "parquet", "-o", tmp_path)
    assert (code, err.count("\n")) == (1, 1) and f"{address}' ({says}" in err, err


@pytest.mark.parametrize(
    "host", ["0", "127.1", "0x7f.1", "1e3", "on", "null", "[::2]", "a.example:80", "user@b.example"]
)
def test_a_new_study_names_the_host_of_its_url_as_a_text(host):
    text = studies.text_for_url("2024", f"http://{host}/x", None, lambda tool: True, 10, 300)
    study = parse_yaml(text, Path("study.yml")).values
    assert study["study"] == parse_yaml(studies.study_text("2024"), Path("study.yml")).values["study"] == "2024"
    named = study["allow_targets"] == [urlsplit(f"http://{host}").hostname]
    assert named and study["server"]["url"] == f"http://{host}/x"


@pytest.mark.parametrize("url", ["http://[", "http://", "http:///x", "http://a:99999/"])
def test_a_url_without_a_host_is_one_line(url):
    with pytest.raises(LoadcurveError, match="url must begin with http"):
        studies.text_for_url("a", url, None, lambda tool: True, 10, 300)


@pytest.mark.parametrize("name", ["x: y", "../../a", "a\nrepeats: 3"])
def test_a_name_that_is_no_name_is_one_line(name):
    with pytest.raises(LoadcurveError, match="name must be lower case letters"):
        studies.text_for_url(name, "http://a/", None, lambda tool: True, 10, 300)


def test_a_server_that_does_not_answer_leaves_no_study(checkout, called, monkeypatch):
    monkeypatch.chdir(checkout)
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/"
    code, _, err = called("test", url, "--busy")
    assert code == 1 and "target must answer, got [Errno 111] Connection refused" in err
    assert [*(checkout / "data" / "studies").iterdir()] == []
