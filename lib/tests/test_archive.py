"""A packed study: read as its plain folders are, converted back byte for byte, and never trusted more than they are."""

import contextlib
import json
import lzma
import os
import shutil
import subprocess
import sys
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import copy_runs

import loadcurve
from loadcurve.errors import LoadcurveError, ParseError
from loadcurve.files.paths import ARCHIVE, on_disk, shown
from loadcurve.ingest.store import read_table, read_warnings
from loadcurve.study import archive
from loadcurve.study.archive import opened, pack, unpack
from loadcurve.study.records import read_run, run_folders, write_run

STUDY = "connections_on_loopback"
RUNS = ("cpu-c0008-r1", "delay-c0008-r1")


@pytest.fixture
def study(checkout):
    """Two recorded runs with their manifest, plain."""
    return copy_runs(checkout / "data" / "studies" / STUDY, *RUNS, listed=True)


def content(folder: Path) -> dict[str, tuple[int, bytes]]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): (path.stat().st_mode, path.read_bytes()) for path in files}


def write_archive(study: Path, *members: tuple[tarfile.TarInfo, bytes], end: bytes = bytes(1024)) -> Path:
    """Write members, each as its header says, however wrong."""
    with lzma.open(study / ARCHIVE, "wb", check=lzma.CHECK_SHA256) as tar:
        for info, text in members:
            form = tarfile.USTAR_FORMAT if 0 <= info.size < 1 << 33 and len(info.name) < 256 else tarfile.GNU_FORMAT
            tar.write(info.tobuf(form, "utf-8", "surrogateescape") + text + bytes(-len(text) % 512))
        tar.write(end)
    return study / ARCHIVE


def member(name: str, text: bytes = b"x", **facts) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.size = len(text)
    for key, value in facts.items():
        setattr(info, key, value)
    return info, text


def edited(study: Path, change) -> None:
    """Pack all runs, and write the archive again with other members."""
    pack(study, RUNS)
    with tarfile.open(study / ARCHIVE) as tar:
        members = {info.name: tar.extractfile(info).read() for info in tar.getmembers()}
    change(members)
    write_archive(study, *(member(name, text, mode=0o644) for name, text in sorted(members.items())))


def test_a_packed_study_reads_as_the_plain_one(study, called, monkeypatch):
    plain = loadcurve.read(study), [called(verb, study)[1] for verb in ("audit", "analyse")], read_warnings(STUDY)
    assert pack(study, RUNS[1:]) == list(RUNS[1:])
    assert sorted(path.name for path in study.iterdir()) == [RUNS[0], "runs.json", ARCHIVE, "study.yml"]
    packed = loadcurve.read(study), [called(verb, study)[1] for verb in ("audit", "analyse")], read_warnings(STUDY)
    assert packed[1:] == plain[1:] and packed[0].warnings == plain[0].warnings
    for name, table in plain[0].tables.items():
        assert table.equals(packed[0].tables[name]), name
    monkeypatch.chdir(study.parent)
    for path in (f"{STUDY}/{RUNS[1]}", str(study / RUNS[1]), f"{STUDY}/{RUNS[1]}/local.wrk.txt"):
        found = loadcurve.read(path).tables["runs"]
        assert len(found) == 1 and found["source"][0].startswith(path), path
        assert called("audit", path)[1].count(RUNS[1]), path
    answers = []
    for folder in (study, opened(study)):
        called("analyse", folder, "-o", study.parent / "answer.json")
        answers.append(json.loads((study.parent / "answer.json").read_text())["provenance"]["files"])
    assert answers[0] == answers[1] and any(file["path"] == f"{RUNS[1]}/local.wrk.txt" for file in answers[0])


def test_unpack_gives_back_every_byte_mode_and_name(study, called, tmp_path):
    (study / RUNS[0] / "local.wrk.txt").chmod(0o755)
    before = content(study)
    assert called("pack", "--all", STUDY)[0] == 0 and not (study / RUNS[0]).exists()
    packed = (study / ARCHIVE).read_bytes()
    assert called("unpack", STUDY, "-o", tmp_path / "copy")[0] == 0 and content(tmp_path / "copy") == before
    assert called("unpack", STUDY)[0] == 0 and content(study) == before
    assert called("pack", STUDY)[0] == 0 and (study / RUNS[0]).is_dir(), "one run stays readable"
    called("pack", "--all", STUDY)
    assert (study / ARCHIVE).read_bytes() == packed, "one content, one archive"


def test_a_notebook_depends_on_the_archive(study, tmp_path, monkeypatch):
    pack(study, RUNS)
    monkeypatch.setenv("LOADCURVE_READS", str(tmp_path / "reads"))
    read_table("cpu", STUDY)
    names = (tmp_path / "reads").read_text().split("\0")
    assert f"data/studies/{STUDY}/{ARCHIVE}" in names and not any("opened" in name or RUNS[0] in name for name in names)
    raw = opened(study / RUNS[0] / "local.wrk.txt")
    assert (shown(raw), on_disk(raw)) == (f"data/studies/{STUDY}/{RUNS[0]}/local.wrk.txt", study / ARCHIVE)


def change(members):
    members[f"{RUNS[0]}/local.wrk.txt"] += b"\n"


def lose(members):
    del members[f"{RUNS[0]}/local.wrk.txt"]


def add(members):
    members[f"{RUNS[0]}/more.txt"] = b"x"


def lose_a_run(members):
    for name in [name for name in members if name.startswith(RUNS[0])]:
        del members[name]


def add_a_run(members):
    members |= {name.replace(RUNS[0], "more"): text for name, text in members.items() if name.startswith(RUNS[0])}


def replace_a_run(members):
    members[f"{RUNS[0]}/run.json"] = members[f"{RUNS[1]}/run.json"]


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (change, f"{RUNS[0]}/local.wrk.txt:1: expected the bytes that run.json recorded"),
        (lose, f"{RUNS[0]}/local.wrk.txt: expected the file that run.json names"),
        (add, f"{RUNS[0]}/more.txt: expected only the files that run.json lists"),
        (lose_a_run, f"{RUNS[0]}: missing: runs.json lists it"),
        (add_a_run, "more/run.json:3: expected the run_id 'more' of this folder"),
        (replace_a_run, f"{RUNS[0]}/run.json:3: expected the run_id '{RUNS[0]}' of this folder"),
    ],
)
def test_what_was_changed_in_an_archive_is_named_as_in_a_folder(study, called, edit, said):
    edited(study, edit)
    code, out, err = called("tidy", STUDY)
    assert code == 1 and f"data/studies/{STUDY}/{said}" in err and "/opened/" not in out + err
    assert called("audit", study)[0] != 0


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ([member("../escaped/x")], "expected names such as RUN/FILE"),
        ([member("a/../../escaped")], "expected names such as RUN/FILE"),
        ([member("/etc/escaped")], "expected names such as RUN/FILE"),
        ([member("study.yml")], "expected names such as RUN/FILE"),
        ([member(".hidden/x")], "expected names such as RUN/FILE"),
        ([member("a/b/c")], "expected names such as RUN/FILE"),
        ([member("a/x\ny")], "expected names such as RUN/FILE"),
        ([member("a/link", b"", type=tarfile.SYMTYPE, linkname="/etc/passwd")], "expected regular files only"),
        ([member("a/link", b"", type=tarfile.LNKTYPE, linkname="a/x")], "expected regular files only"),
        ([member("a/null", b"", type=tarfile.CHRTYPE)], "expected regular files only"),
        ([member("a", b"", type=tarfile.DIRTYPE)], "expected regular files only"),
        ([member("a/x", mode=0o4755)], "expected regular files only"),
        ([member("a/" + "x" * 300)], "expected regular files only"),  # of which GNU tar writes a further header
        ([member("a/x"), member("a/x")], "expected each file once, in the order of names"),
        ([member("b/x"), member("a/x")], "expected each file once, in the order of names"),
        ([member("C:/x")], "expected names such as RUN/FILE"),
        ([member("a/..\\x")], "expected names such as RUN/FILE"),
        ([member("a/x\0/../../escaped")], "expected headers as loadcurve pack writes them"),
        ([member("a/x", mtime=1)], "expected headers as loadcurve pack writes them"),
        ([member("a/x", bytes(2 << 20))], "expected at most 1,048,576 bytes in a, as its run.json lists"),
        ([member("a/x"), member("A/y")], "expected names that differ in more than case"),
        ([member("a/ä"), member("a/a\u0308")], "expected names that differ in more than case"),
        ([member("a/\udcff")], "expected names in UTF-8"),
        ([member("a/x", size=1 << 40)], "expected at most"),
        ([member("a/x", size=-1)], "expected at most"),
        ([member("a/x", size=2000)], "expected a whole archive"),
    ],
)
def test_an_archive_that_pack_would_not_write_is_refused_in_one_line(study, called, tmp_path, members, said):
    write_archive(study, *members)
    code, _, err = called("tidy", STUDY)
    assert code == 1 and err.startswith(f"data/studies/{STUDY}/{ARCHIVE}: {said}") and err.count("\n") == 1
    with pytest.raises(ParseError):
        opened(study)
    _, out, err = called("audit", study.parent)
    assert said in " ".join((out + err).split()), "one broken study of several is named"
    assert not list(tmp_path.rglob("escaped"))


def test_a_cut_or_padded_archive_is_refused(study, monkeypatch):
    pack(study, RUNS)
    whole = (study / ARCHIVE).read_bytes()
    for broken in (b"", whole[:-20], whole[: len(whole) // 2], whole[:4000] + b"x" + whole[4001:], b"no archive"):
        (study / ARCHIVE).write_bytes(broken)
        with pytest.raises(ParseError, match="expected a whole archive"):
            opened(study)
    for end, after in (bytes(1024) + b"more", b""), (bytes(1024), b"more"), (bytes(1024), lzma.compress(b"more")):
        (path := write_archive(study, member("a/x"), end=end)).write_bytes(path.read_bytes() + after)
        with pytest.raises(ParseError, match="nothing after the last file"):
            opened(study)
    large = {"check": lzma.CHECK_SHA256, "filters": [{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 28}]}
    for options, said in ({"check": lzma.CHECK_CRC64}, "a stream without SHA-256"), (large, "Memory usage limit"):
        (study / ARCHIVE).write_bytes(lzma.compress(lzma.decompress(whole), **options))
        with pytest.raises(ParseError, match=said):
            opened(study)
    write_archive(study, member("a/x"), member("a/y"))
    monkeypatch.setattr(archive, "_MAX_FILES", 1)
    with pytest.raises(ParseError, match="at most 1 files"):
        opened(study)


class Killed(BaseException):
    pass


@pytest.mark.parametrize("step", range(40))
def test_every_run_can_be_read_whenever_packing_stops(study, monkeypatch, step):
    """Renames, removals and syncs change what a reader finds; each time, the next one does not happen."""
    left, before = step, {name: file for name, file in content(study).items() if name.count("/")}

    def limited(function):
        def call(*args, **options):
            nonlocal left
            left -= 1
            if left < 0:
                raise Killed
            return function(*args, **options)

        return call

    with monkeypatch.context() as patched, contextlib.suppress(Killed):
        for owner, name in ((os, "sync"), (os, "unlink"), (os, "rename"), (os, "replace"), (shutil, "copytree")):
            patched.setattr(owner, name, limited(getattr(owner, name)))
        pack(study, RUNS[1:])
        unpack(study)
    assert {run.name for run in run_folders(study)} == set(RUNS)
    read = content(opened(study))
    assert {name: read[name] for name in before} == before
    pack(study, RUNS)
    unpack(study)
    assert {name: file for name, file in content(study).items() if name.count("/")} == before


def test_a_run_in_both_forms_must_be_the_same(study):
    shutil.copytree(study / RUNS[0], study / "kept")
    pack(study, RUNS)
    (study / "kept").rename(study / RUNS[0])
    assert len(run_folders(study)) == 2
    (study / RUNS[0] / "local.wrk.txt").write_text("another\n")
    before = content(study)
    for read in run_folders, unpack, lambda study: pack(study, RUNS):
        with pytest.raises(ParseError, match="each run once, .* got 'cpu-c0008-r1 in both, with other content'"):
            read(study)
        assert content(study) == before, "which of them is right, only its owner knows"


def test_only_finished_runs_are_packed_and_no_copy_lies_in_or_on_what_is_there(study, called, tmp_path):
    write_run(replace(read_run(study / RUNS[1]), status="interrupted"), study / RUNS[1])
    before = content(study)
    assert called("pack", "--all", STUDY)[0] == 0 and [path.name for path in run_folders(study)] == list(RUNS)
    assert (study / RUNS[1]).is_dir() and not (study / RUNS[0]).exists()
    os.mkfifo(study / RUNS[1] / "pipe")
    code, _, err = called("unpack", STUDY, "-o", tmp_path / "copy")
    assert code == 1 and "pipe: expected files that can be copied" in err and not (tmp_path / "copy").exists()
    (study / RUNS[1] / "pipe").unlink()
    (tmp_path / "empty").mkdir()  # a folder could be renamed to it
    for place in (tmp_path / "empty", study / "copy", study / RUNS[1] / "copy"):
        code, _, err = called("unpack", STUDY, "-o", place)
        assert code == 1 and err.startswith(f"{place}: expected a new folder outside the study")
    assert called("unpack", STUDY)[0] == 0 and content(study) == before


@pytest.mark.parametrize("listed", [True, False])
def test_a_run_in_an_archive_that_no_manifest_lists_is_named_in_one_line(study, called, listed):
    shutil.copytree(study / RUNS[0], study / "more")
    write_run(replace(read_run(study / RUNS[0]), run_id="more"), study / "more")
    if not listed:
        (study / "runs.json").unlink()
    pack(study, [*RUNS, "more"])
    said = "/more: not of this launch: runs.json" if listed else "/runs.json: not there, so nothing lists the 3 runs"
    assert " ".join(called("show", STUDY)[1].split()).count(said) == 1


SMALL = """mount -t tmpfs -o size=64k none small && mount -t tmpfs -o size=64k none tmp && "$@"
code=$?; find small -mindepth 1; exit $code"""


@pytest.mark.parametrize(
    ("command", "place"),
    [
        ("unpack {0} -o small/copy", "small/copy: No space left on device"),
        ("show {0}", "{1}/tmp (TMPDIR may name another folder): No space left on device"),
        ("unpack {0} -o copy", "copy: File too large"),
        ("unpack {0}", "{0}: File too large"),
        ("pack {0} --all", "{0}/runs.tar.xz: File too large"),
    ],
)
def test_a_full_disk_is_named_in_one_line_and_leaves_nothing(study, tmp_path, command, place):
    """Small file systems in a namespace of mounts, or, which needs no root, a limit of the size of files."""
    for name in ("small", "tmp"):
        (tmp_path / name).mkdir()
    if not command.startswith("pack"):
        pack(study, RUNS)
    before = content(tmp_path)
    limits = ["sh", "-c", 'ulimit -f 4; "$@"', "sh"]
    if "No space" in place:
        limits = ["unshare", "-m", "sh", "-c", SMALL, "sh"]
        if subprocess.run(["unshare", "-m", "true"], check=False, capture_output=True).returncode:
            pytest.skip("a namespace of mounts needs root")
    argv = [*limits, sys.executable, "-m", "loadcurve", *command.format(study).split()]
    env = os.environ | {"TMPDIR": str(tmp_path / "tmp"), "LOADCURVE_ROOT": str(tmp_path / "elsewhere")}
    done = subprocess.run(argv, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.stderr.startswith(f"{place.format(study, tmp_path)}; ") and done.stderr.count("\n") == 1, done.stderr
    assert done.returncode == 1 and not done.stdout and content(tmp_path) == before
    assert {path.name for path in tmp_path.iterdir()} == {"small", "tmp", "data"}


def test_an_archive_that_differs_from_the_folders_keeps_the_folders(study, monkeypatch):
    before, close = content(study), lzma.LZMAFile.close

    def losing(file):
        """A disk that returns other bytes than were written to it, in a whole archive of its own."""
        close(file)
        draft = next(study.glob(".packing-*"))
        text = lzma.decompress(draft.read_bytes())
        draft.write_bytes(lzma.compress(text.replace(b"Running", b"running"), check=lzma.CHECK_SHA256))

    with monkeypatch.context() as patched:
        patched.setattr(lzma.LZMAFile, "close", losing)
        with pytest.raises(LoadcurveError, match="expected the files that were packed, got others: check the disk"):
            pack(study, RUNS)
    assert content(study) == before and pack(study, RUNS) == list(RUNS)


def test_an_archive_that_is_a_link_out_of_the_study_is_refused(study):
    pack(study, RUNS)
    (study / ARCHIVE).rename(study.parent / "elsewhere.tar.xz")
    (study / ARCHIVE).symlink_to(study.parent / "elsewhere.tar.xz")
    with pytest.raises(ParseError, match="a link that leads out of it"):
        opened(study)


def test_what_an_archive_cannot_hold_stays_plain(study):
    made = [study / RUNS[1] / name for name in ("link", ".hidden", "x" * 200, "a\nb", "\udcff", "folder")]
    for path, make in zip(made, [lambda path: path.symlink_to("run.json"), *[Path.touch] * 4, Path.mkdir], strict=True):
        make(path)
        before = content(study)
        with pytest.raises(LoadcurveError, match="expected a regular file with a name of at most 100 bytes"):
            pack(study, RUNS)
        assert content(study) == before and not (study / ARCHIVE).exists()
        path.rmdir() if path.is_dir() else path.unlink()
