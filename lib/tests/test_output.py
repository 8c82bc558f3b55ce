"""What strangers wrote reaches a terminal as text only, through each command; nothing prints past the one function."""

import ast
import json
import os
import sys
import warnings
from pathlib import Path

import pytest

from loadcurve import cli
from loadcurve.runtime.output import echo, echo_messages, visible

pytestmark = pytest.mark.slow

PACKAGE = Path(cli.__file__).parents[1]
# OSC, CSI, C1, marks of direction, zero width, a carriage return and a byte that is no UTF-8.
HOSTILE = "\x1b]0;title\x07\x1b[2K\x9b31m\u202e\u2066\u200f\u200b\r\udcff"
NAME = f"a{HOSTILE}"
REPORT = f"""\
## heading {HOSTILE[:-1]}
$ wrk -t1 -c8 -d10s http://{HOSTILE[:-1]}/
Running 10s test @ http://{HOSTILE[:-2]}/
  1 threads and 8 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     1.00ms  100.00us   9.00ms   90.00%
    Req/Sec    10.00k   100.00    11.00k    90.00%
  100000 requests in 10.00s, 10.00MB read
Requests/sec:  10000.00
Transfer/sec:      1.00MB
{HOSTILE[:-1]}
"""
STUDY = (
    f"study: small\nquestion: {json.dumps('Does it? ' + HOSTILE[:-1])}\nserver: {{nginx: {{}}}}\n"
    "load: {connections: 2, duration_s: 1}\nrepeats: 1\n"
)
WRONG = f"study: wrong\nquestion: a\n{json.dumps(HOSTILE[:-1])}: 1\n"
STEPS = {
    "analyse": ("analyse", "{raw}"),
    "history": ("history", "{raw}", "{raw}"),
    "audit": ("audit", "{raw}"),
    "explain": ("explain", NAME),
    "compare": ("compare", "{raw}", "{raw}"),
    "accept": ("accept", "{wrong}"),
    "pack": ("pack", "{study}"),
    "unpack": ("unpack", "{wrong}"),
    "new": ("new", NAME),
    "list": ("list",),
    "show": ("show", "{study}"),
    "test": ("test", f"http://127.0.0.1:1/{NAME}"),
    "launch": ("launch", "{study}", "--plan"),
    "doctor": ("doctor",),
    "ingest": ("ingest", "{raw}"),
    "tidy": ("tidy", "{wrong}"),
    "notebook": ("notebook", "{raw}", "-o", "{raw}/no/a.ipynb"),
    "run": ("run", "{raw}/no.ipynb", "-o", "a.ipynb"),
    "batch": ("batch", "{raw}/no.ipynb", "-o", "{raw}/out"),
}


FURTHER = [
    (NAME,), (f"--{NAME}",), ("audit", f"--{NAME}", "{raw}"), ("unpack", "{study}", "-o", NAME),
    *(("audit", "{raw}", "--format", form) for form in ("json", "junit", "github", "html")),
]  # fmt: skip


@pytest.fixture
def folders(checkout, monkeypatch):
    monkeypatch.chdir(checkout)
    raw = checkout / os.fsdecode(os.fsencode(NAME))
    raw.mkdir()
    for number in (1, 2):
        (raw / f"c{number}{HOSTILE}.txt").write_text(REPORT, "utf-8", "surrogateescape")
    for name, text in (("small", STUDY), ("wrong", WRONG)):
        (checkout / "data" / "studies" / name).mkdir()
        (checkout / "data" / "studies" / name / "study.yml").write_text(text, "utf-8")
    return {"raw": raw, "study": "small", "wrong": "wrong"}


def test_each_command_is_tried():
    assert STEPS.keys() == cli.COMMANDS.keys()


@pytest.mark.parametrize("step", [*STEPS.values(), *FURTHER])
def test_a_command_prints_only_what_a_terminal_shows(step, folders, called):
    given = [word.format(**folders) if "{" in word else word for word in step]
    code, out, err = called(*given)
    for text in (out, err):
        assert visible(text) == text
        assert not set(text) & set(HOSTILE[0] + "\x07\x9b\u202e\u2066\u200f\u200b\r\udcff")
    assert "Traceback" not in err and (code in (0, 1, 2)), err


def test_what_python_prints_is_text_too(capsys, monkeypatch):
    monkeypatch.setattr(sys, "excepthook", None)
    with warnings.catch_warnings():
        echo_messages()
        sys.excepthook(ValueError, ValueError(HOSTILE), None)
    err = capsys.readouterr().err
    assert "title" in err and visible(err) == err


def test_json_that_is_printed_stays_json(capsys):
    echo(json.dumps({"url": HOSTILE}, ensure_ascii=False))
    assert json.loads(capsys.readouterr().out)["url"] == HOSTILE


# What hosts and scripts run on their own prints JSON or lines for a program, not for people.
FOR_PROGRAMS = {"lab/hosts", "lab/packages.py", "lab/run/in_flight.py", "lab/tools", "runtime/workers.py"}


def test_nothing_is_printed_past_the_one_function():
    found = []
    for path in PACKAGE.rglob("*.py"):
        name = path.relative_to(PACKAGE).as_posix()
        if name == "runtime/output.py" or name.startswith(tuple(FOR_PROGRAMS)):
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            if called in ("print", "typer.echo", "typer.secho", "click.echo", "tqdm.write") or called.endswith(
                ("stdout.write", "stdout.writelines", "stderr.write", ".StreamHandler")
            ):
                found.append(f"{name}:{node.lineno}: {ast.unparse(node)}")
    assert not found, f"use loadcurve.runtime.output.echo: {found}"
