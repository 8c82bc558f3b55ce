"""Files are the old ones or the new ones, whole, whenever a writer is stopped; one process at a time holds a lock."""

import os
import signal
import subprocess
import sys

import pytest

from loadcurve.cli import studies
from loadcurve.errors import LoadcurveError
from loadcurve.files import atomic
from loadcurve.ingest import store, table_parts
from loadcurve.ingest.files import Hints
from loadcurve.launching.studies import study_text
from loadcurve.reading import export, read_each

# Two reports are written, then the writer is killed as it asks for the third.
KILLED = """
import os, signal, sys
from pathlib import Path
from loadcurve.reading import export
from loadcurve.ingest import table_parts
from loadcurve.ingest.files import Hints
from loadcurve.reading import read_each

table_parts._SLICE = 1  # each report is written at once
source, target, form = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]

def readings():
    yield from read_each(source, Hints())
    yield from read_each(source, Hints())
    os.kill(os.getpid(), signal.SIGKILL)

export.write_tables(readings(), target, form)
"""


@pytest.fixture
def report(root):
    return root / "lib" / "tests" / "data" / "wrk" / "fdlimit.txt"


@pytest.mark.slow
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_killed_ingest_leaves_the_old_tables(report, tmp_path, form):
    export.write_tables(read_each(report, Hints()), tmp_path, form)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    argv = [sys.executable, "-c", KILLED, str(report), str(tmp_path), form]
    assert subprocess.run(argv, check=False).returncode == -signal.SIGKILL
    after = {path.name: path.is_file() and path.read_bytes() for path in tmp_path.iterdir()}
    assert {name: after[name] for name in before} == before
    assert all(name.startswith(".") for name in set(after) - set(before)), "a draft is never taken for a table"
    export.write_tables(read_each(report, Hints()), tmp_path, form)
    assert {name: (tmp_path / name).read_bytes() for name in before} == before
    assert form == "csv" or set(before) == {path.name for path in tmp_path.iterdir()}, "the drafts are gone"


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_an_ingest_that_fails_leaves_the_old_tables_and_nothing_else(report, tmp_path, monkeypatch, form):
    monkeypatch.setattr(table_parts, "_SLICE", 1)
    export.write_tables(read_each(report, Hints()), tmp_path, form)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def failing():
        yield from read_each(report, Hints())
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        export.write_tables(failing(), tmp_path, form)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_new_folder_appears_complete_or_not_at_all(tmp_path, monkeypatch):
    """A half-written study would block the repetition of the command: its name is taken."""
    text = study_text("shop", url="http://127.0.0.1:1/", tool="wrk", connections="1", rates="", seconds=1, repeats=1)

    def full(target, text):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(studies, "write_text", full)
        with pytest.raises(OSError, match="No space left on device: '.*/shop'"):
            studies.write_new(tmp_path / "shop", text)
    assert not list(tmp_path.iterdir())
    studies.write_new(tmp_path / "shop", text)
    with pytest.raises(LoadcurveError, match="expected no study of this name yet"):
        studies.write_new(tmp_path / "shop", text.replace("wrk", "ab"))
    assert [path.name for path in tmp_path.rglob("*")] == ["shop", "study.yml"]
    assert (tmp_path / "shop" / "study.yml").read_text() == text


def test_nothing_is_written_in_place(root):
    """Files that others read are written by `loadcurve.files.atomic`; run folders have their own writers."""
    package = root / "lib" / "loadcurve"
    # These fill a temporary folder, or a draft that `replacing` puts in its place.
    temporary = {
        "batch/cluster.py", "files/secrets.py", "reading/reading.py", "reading/folder.py", "ingest/on_disk.py",
        "cli/studies.py", "report/write.py", "runtime/git.py", "site/versions.py",
    }  # fmt: skip
    found = {
        str(path.relative_to(package))
        for path in package.rglob("*.py")
        if path.relative_to(package).parts[0] != "lab"
        for line in path.read_text("utf-8").splitlines()
        if not line.lstrip().startswith(">>>")
        if ".write_text(" in line or ".write_bytes(" in line or '.open("w' in line
    }
    assert found <= temporary | {"files/atomic.py"}


def test_sums_are_read_by_sha256sum(checkout):
    (checkout / "build").mkdir()
    file = checkout / "build" / "a.txt"
    file.write_text("abc")
    atomic.write_sums(checkout / "sums", [file], "made from x")
    # FIPS 180-2, appendix B.1: the digest of "abc".
    digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert atomic.read_sums(checkout / "sums") == ("made from x", {"build/a.txt": digest})
    argv = ["sha256sum", "--check", "--strict", "--status", "sums"]
    assert subprocess.run(argv, cwd=checkout, check=False).returncode == 0
    file.write_text("abd")
    assert subprocess.run(argv, cwd=checkout, check=False).returncode == 1
    assert atomic.read_sums(checkout / "none") == ("", {})


def test_a_draft_that_is_gone_since_it_was_listed_stops_no_reader(tmp_path, monkeypatch):
    """A launch renames drafts in the study's folder while another process reads it."""
    (tmp_path / "study.yml").touch()
    alone = store._state(tmp_path)
    monkeypatch.setattr(os, "walk", lambda folder: [(str(folder), [], ["study.yml", ".1-a.tmp"])])
    assert store._state(tmp_path) == alone
