"""The real Makefile on a small checkout: names that mean something to make, damaged products, two makes at once."""

import fcntl
import hashlib
import os
import re
import subprocess

import pytest
from makefile_tree import STUDY, environment, executed, make_tree, run, run_make, write_programs

pytestmark = pytest.mark.slow

ODD = [
    "load test.txt", "c64:8080.txt", "a|b.txt", "a;id>PWNED;.txt", "$(shell id>PWNED).txt", "$x.txt", "#.txt",
    "a=b.txt", "a%b.txt", "a\nid>PWNED\n.txt", "`id>PWNED`.txt", "a\\.txt", "'\".txt", "~.txt", "-n.txt", "*.txt",
]  # fmt: skip


@pytest.fixture(scope="module")
def report(root):
    return (root / "lib/tests/data/wrk/fdlimit.txt").read_text()


@pytest.fixture(scope="module")
def tree(root, report, tmp_path_factory):
    tree = tmp_path_factory.mktemp("tree")
    make_tree(root, tree)
    by_hand = tree / "data" / "studies" / STUDY / "by hand; id>PWNED"
    by_hand.mkdir()
    for name in ODD:
        (by_hand / name).write_text(report)
        (tree / "handbook" / name).write_text("text")
    (tree / "lib/loadcurve/designs" / "a;id>PWNED;").mkdir()
    (tree / "lib/loadcurve/designs" / "a;id>PWNED;" / "study.yml").write_text("study: a\n")
    (tree / "notebooks" / "3 a;id>PWNED;.ipynb").write_text("")
    done = run_make(tree)
    assert done.returncode == 0, done.stderr
    return tree


def rows(tree, name="1_runs"):
    """What the published value says, read from the site as the reader sees it."""
    values = (tree / f"build/figures/{name}/values.json").read_text()
    assert values in (tree / "build/site/index.html").read_text()
    return int(values.split()[0])


def test_no_name_of_data_is_a_command(tree):
    assert not list(tree.rglob("PWNED"))
    assert rows(tree) == 2 + len(ODD)
    assert run_make(tree, "-q").returncode == 0


def test_a_page_never_stays_stale(tree, report):
    """Whatever a raw file is called, and even if its new content is older than all that was built."""
    before = rows(tree)
    for name in ("a=b.txt", "a\nid>PWNED\n.txt"):
        raw = tree / "data" / "studies" / STUDY / "by hand; id>PWNED" / name
        raw.write_text(f"{report}\n{report}")
        os.utime(raw, (1.0, 1.0))
    done = run_make(tree)
    assert (done.returncode, executed(done)) == (0, {"1_runs"}), done.stderr
    assert rows(tree) == before + 2


def snapshot(tree):
    """Of every file and folder: its state, and what is in it."""
    found = ((path, path.stat()) for path in (tree, *tree.rglob("*")))
    return {
        path: (now.st_mode, now.st_ino, now.st_mtime_ns, path.is_file() and hashlib.sha256(path.read_bytes()).digest())
        for path, now in found
    }


def test_damaged_products_are_built_again_and_a_dry_run_changes_nothing(tree):
    """Edited, cut, empty and deleted ones, all newer than what they were built from."""
    tables, figures, copies = (tree / f"build/{name}" for name in (f"tidy/{STUDY}", "figures", "notebooks"))
    damages = {
        tables / "sockets.parquet": lambda content: content.replace(b"established", b"ESTABLISHED"),
        tables / "runs.parquet": lambda content: content[:-9],
        tables / "cpu.parquet": lambda content: b"",
        tables / "tcp.parquet": None,
        figures / "2_sockets/values.json": lambda content: b"7" + content,
        copies / "1_runs.d": lambda content: b"$(shell touch PWNED)\n\t|",
        tree / "build/site/index.html": lambda content: content[1:],
    }
    before = {path: path.read_bytes() for path in damages}
    later = (tree / "build/site.stamp").stat().st_mtime + 100
    for path, damage in damages.items():
        path.unlink()
        if damage:
            path.write_bytes(damage(before[path]))
            assert path.read_bytes() != before[path]
            os.utime(path, (later, later))
    damaged = snapshot(tree)
    goals = set(re.findall(r"^([a-z-]+):", (tree / "Makefile").read_text(), re.MULTILINE)) | {"build/site/index.html"}
    with (tree / "Makefile").open() as other_make:
        fcntl.flock(other_make, fcntl.LOCK_EX)  # a dry run does not wait
        dry_runs = {options: run_make(tree, options, *goals) for options in ("-n", "-qk", "-npqk", "-t")}
        run_make(tree, "help")
    assert snapshot(tree) == damaged
    assert {options: done.returncode for options, done in dry_runs.items()} == {"-n": 0, "-qk": 1, "-npqk": 1, "-t": 2}
    assert executed(dry_runs["-n"]) == {"1_runs", "2_sockets"}
    done = run_make(tree)
    assert done.returncode == 0, done.stderr
    assert {path: path.read_bytes() for path in damages} == before
    assert executed(done) == {"1_runs", "2_sockets"}


def test_a_person_who_installs_nothing_gets_the_site_of_recorded_data(tree, tmp_path):
    (tree / "lib/loadcurve/lab/x.py").write_text('X = Tool("nowhere", "", "", "no-such-package", group="lab-tools")\n')
    write_programs(tmp_path, {"apt-get": '#!/bin/sh\necho "$@" >>"$0.calls"\n', "id": "#!/bin/sh\necho 0\n"})
    asks = {k: v for k, v in environment(tree).items() if k not in ("SYSTEM", "CI")}
    asks["PATH"] = f"{tmp_path}:{asks['PATH']}"
    first, second = (run(["make"], answer, cwd=tree, env=asks) for answer in ("n\n", ""))
    assert first.returncode == 0 and not executed(first), "no notebook uses the laboratory"
    assert "Missing packages: no-such-package" in first.stdout and "make SYSTEM=yes" in first.stdout
    assert (second.returncode, "[y/N]" in second.stdout) == (0, False), "the answer holds while the same is missing"
    assert not (tmp_path / "apt-get.calls").exists()
    third = run(["make", "SYSTEM=yes"], "", cwd=tree, env=asks)
    assert (third.returncode, "[y/N]" in third.stdout) == (0, False)
    assert "no-such-package" in (tmp_path / "apt-get.calls").read_text()


def test_two_makes_at_once_both_end_well(tree):
    (tree / "notebooks" / "1_runs.ipynb").open("a").write("open('entered', 'w').close()\nopen('go').read()\n")
    os.mkfifo(tree / "go")
    argv = {"args": ["make"], "cwd": tree, "env": environment(tree), "text": True}
    first = subprocess.Popen(**argv, stdout=subprocess.DEVNULL)
    with (tree / "go").open("w") as go:  # opens when the notebook of the first make does
        second = subprocess.Popen(**argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        said = second.stderr.readline()
        assert said == "Another make is at work in this folder; waiting until it ends.\n"
        go.write("x")
    out, err = second.communicate(timeout=300)
    assert (first.wait(timeout=300), second.returncode, err) == (0, 0, "")
    assert "loadcurve" not in out, "the first has made all of it"


@pytest.mark.parametrize(("uid", "options"), [(0, "--allow-root "), (1000, "")])
def test_jupyter_opens_for_root_too_and_says_so(tree, tmp_path, monkeypatch, uid, options):
    write_programs(tree / ".venv/bin", {"jupyter": '#!/bin/sh\necho "argv: $*"\n'})
    write_programs(tmp_path, {"id": f"#!/bin/sh\necho {uid}\n"})
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    done = run_make(tree, "jupyter")
    argv = f"argv: lab {options}notebooks/01_your_own_files.ipynb\n"
    assert done.returncode == 0 and argv in done.stdout, done.stderr
    assert ("runs as root" in done.stdout) == (uid == 0)


def test_studies_of_odd_names_are_refused_in_a_line_each(tree):
    names = ["`id>PWNED`", "a;id>PWNED;", "-n", "a b", "a\nb", "a$(shell id>PWNED)"]
    for name in names:
        (tree / "data" / "studies" / name).mkdir()
        (tree / "data" / "studies" / name / "study.yml").write_text("study: x\nquestion: Is this a command?\n")
    done = run_make(tree, "build/tidy.stamp")
    said = [line for line in done.stderr.splitlines() if not line.startswith("make")]
    assert done.returncode == 2 and len(said) == len(names), done.stderr
    assert all("study.yml:1: expected the folder's name" in line for line in said)
    assert not list(tree.rglob("PWNED"))
