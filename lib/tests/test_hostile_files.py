"""Files that are no files, and texts made to take all time or memory: one line each, and the rest is read."""

import bz2
import gzip
import json
import lzma
import os
import random
import re
import socket
import subprocess
import sys
import time
import zlib
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from one_test import in_one_test

import loadcurve
from loadcurve.batch.grid import check_parameters
from loadcurve.errors import LoadcurveError, ParseError
from loadcurve.ingest.files import Hints, list_files, parse_bytes
from loadcurve.reading import read_each, read_named

DATA = Path(__file__).parent / "data"
WRK = (DATA / "wrk" / "plain.txt").read_bytes()
AB_ROW = b"Fri Nov 20 22:26:36 2026\t1795213596\t1\t3\t5\t3\n"
AB_HEADING = b"starttime\tseconds\tctime\tdtime\tttime\twait\n"


def fifo(path):
    os.mkfifo(path)


def unix_socket(path):
    with socket.socket(socket.AF_UNIX) as made:
        here = Path.cwd()
        os.chdir(path.parent)  # its name has at most 108 bytes
        try:
            made.bind(path.name)
        finally:
            os.chdir(here)


def link_to(target):
    return lambda path: path.symlink_to(target)


def holding(raw):
    return lambda path: path.write_bytes(raw)


def sparse(length):
    def make(path):
        path.touch()
        os.truncate(path, length)

    return make


def zstd(raw):
    with pa.BufferOutputStream() as sink:
        with pa.output_stream(sink, compression="zstd") as stream:
            stream.write(raw)
        return sink.getvalue().to_pybytes()


NO_FILES = {
    "pipe without a writer": (fifo, "a pipe"),
    "socket": (unix_socket, "a socket"),
    "link to zeros": (link_to("/dev/zero"), "a device"),
    "link to random numbers": (link_to("/dev/urandom"), "a device"),
    "link to the null device": (link_to("/dev/null"), "a device"),
    "link to a full device": (link_to("/dev/full"), "a device"),
    "link to a terminal": (link_to("/dev/tty"), "a device"),
    "link to nothing": (link_to("nothing"), "nothing of that name"),
    "link to itself": (link_to("odd.txt"), "Too many levels of symbolic links"),
    "file of 3 TB": (sparse(3_000_000_000_000), "3,000,000,000,000 bytes"),
}
PACKS = {"gzip": gzip.compress, "xz": lzma.compress, "bzip2": bz2.compress, "zstd": zstd}
LIMIT = 1_000_000
BOMBS = {f"{name} of {what}": pack(raw * (3 * LIMIT)) for name, pack in PACKS.items()
         for what, raw in {"zeros": b"\0", "newlines": b"\n", "one line": b"a"}.items()}  # fmt: skip
BOMBS["gzip of rows of ss"] = gzip.compress(b"ESTAB 0 0 1.2.3.4:5 6.7.8.9:10\n" * (LIMIT // 10))
BOMBS["many members"] = gzip.compress(b"a" * 1000) * 2000
BOMBS["text"] = b"Total: 5\n" * LIMIT


@pytest.mark.slow
@pytest.mark.parametrize("kind", NO_FILES)
def test_what_is_no_file_is_one_line_and_the_rest_of_the_folder_is_read(tmp_path, kind):
    make, got = NO_FILES[kind]
    (tmp_path / "run.txt").write_bytes(WRK)
    make(tmp_path / "odd.txt")
    with pytest.raises(LoadcurveError) as caught:
        loadcurve.read(tmp_path / "odd.txt")
    assert str(caught.value).startswith(f"{tmp_path}/odd.txt: expected ") and got in str(caught.value)
    found = loadcurve.read(tmp_path, follow=True)
    assert len(found.tables["runs"]) == 1
    assert [got in warning for warning in found.warnings] == [True]


SECRET = "root:x:0:0:root"
LINKS = {
    "file": "a.txt", "factors": "factors.csv", "record of a study": "study.yml", "source": "source.yml",
    "folder": "sub", "run": "r1", "record of a run": "r2/run.json", "manifest": "runs.json",
}  # fmt: skip


@pytest.fixture(params=LINKS)
def linked(request, tmp_path):
    """A folder with two reports and a link to a file or a folder outside, through another link."""
    outside, folder = tmp_path / "outside", tmp_path / "given"
    for made in (outside, folder):
        made.mkdir()
    (outside / "run.json").write_text(SECRET)
    link = folder / LINKS[request.param]
    if request.param in ("run", "record of a run", "manifest"):
        (folder / "study.yml").write_text("study: given\nquestion: q\n")
        (folder / "r2").mkdir()
        (folder / "r2" / "c32.txt").write_bytes(WRK)
    target = outside if request.param in ("folder", "run") else outside / "run.json"
    (folder / ".hidden").symlink_to(target)
    link.symlink_to(os.path.relpath(folder / ".hidden", link.parent))
    for name in ("c64.txt", "c65.txt"):
        (folder / name).write_bytes(WRK)
    return link


@pytest.mark.slow
def test_nothing_is_read_or_quoted_through_a_link_out_of_a_folder(linked, tmp_path, called, monkeypatch):
    folder = linked.parent if linked.parent.name == "given" else linked.parent.parent
    monkeypatch.chdir(tmp_path)
    (tmp_path / "given-too").symlink_to(folder)  # the folder that is named may be a link
    for argv in (
        "audit given-too", "analyse given-too", "analyse given -o o.html", "ingest given", "compare given given",
        "ingest given --format csv -o o", "tidy given", "launch given --plan", "history given given", "accept given",
    ):  # fmt: skip
        _, out, err = called(*argv.split())
        written = [path.read_text("utf-8") for path in (*tmp_path.glob("o.*"), *tmp_path.glob("o/*"))]
        assert SECRET not in "".join((out, err, *written)), argv
    try:
        found = loadcurve.read(folder)
    except LoadcurveError as error:
        said = f"{linked}: expected a file of this folder (copy it here), got 'a link that leads out of it'"
        assert said in str(error)
    else:
        name = linked.relative_to(folder)
        said = f"{folder}: expected files of this folder, got 1 link out of it ({name}): copy the files here"
        if (folder / "study.yml").is_file() and linked.name != "study.yml":
            said = f"{folder}/{name}: a link out of the study, so it is not read"
        assert [said in warning for warning in found.warnings].count(True) == 1


def test_links_are_followed_on_request_each_folder_once(tmp_path):
    given, outside = tmp_path / "given", tmp_path / "outside"
    (given / "sub").mkdir(parents=True)
    outside.mkdir()
    for place in (given, given / "sub", outside):
        (place / "c64.txt").write_bytes(WRK)
    for number, target in enumerate((outside, "../outside/c64.txt", "sub", "sub/c64.txt", ".", "..", "l0")):
        (given / f"l{number}").symlink_to(target)
    (outside / "back").symlink_to(given)
    (outside / "round").symlink_to(".")
    assert [str(path.relative_to(given)) for path in list_files(given)[0]] == ["c64.txt", "l3", "sub/c64.txt"]
    assert [path.name for path in list_files(given)[1]] == ["l0", "l1", "l5", "l6"]
    found, left, _ = list_files(given, follow=True)
    each = sorted(str(path) for path in [given / "c64.txt", given / "sub" / "c64.txt"] * 2 + [outside / "c64.txt"] * 2)
    assert sorted(os.path.realpath(path) for path in found) == each[1:] and not left
    assert len(loadcurve.read(given, follow=True).tables["runs"]) > len(loadcurve.read(given).tables["runs"])


@pytest.mark.parametrize("kind", BOMBS)
def test_a_text_over_the_limit_is_one_line_and_the_rest_of_the_folder_is_read(tmp_path, kind):
    (tmp_path / "bomb").write_bytes(BOMBS[kind])
    (tmp_path / "run.txt").write_bytes(WRK)
    refused, read = read_each(tmp_path, Hints(max_bytes=LIMIT))
    assert re.fullmatch(r"\S+/bomb: expected at most 1,000,000 bytes of text \(.*\), got '.*'", refused.refused)
    assert read.parsed.tool == "wrk"


def test_the_limit_is_of_the_text_and_exact():
    text = WRK + b"\n" * 9
    for pack in (bytes, *PACKS.values()):
        parse_bytes(pack(text), "file", Hints(max_bytes=len(text)))
    for pack in PACKS.values():
        with pytest.raises(ParseError, match="expected at most"):
            parse_bytes(pack(text), "file", Hints(max_bytes=len(text) - 1))


def test_rows_of_ab_may_take_eight_times_as_much(tmp_path):
    rows = AB_HEADING + AB_ROW * 100
    for raw in (rows, gzip.compress(rows), zstd(rows)):
        (tmp_path / "rows.tsv").write_bytes(raw)
        assert len(loadcurve.read(tmp_path / "rows.tsv", max_bytes=len(rows) // 8 + 1).tables["requests"]) == 100
        with pytest.raises(ParseError, match="at most"):
            loadcurve.read(tmp_path / "rows.tsv", max_bytes=len(rows) // 9)


def test_a_file_that_tells_no_size_is_read():
    assert loadcurve.read("/proc/net/sockstat").tool == "proc"


# VmHWM, as ru_maxrss of a new process begins with that of its parent, which may be large.
BOMB_IN_A_PROCESS = """
import re, sys
from pathlib import Path
from loadcurve.cli import main
try:
    main()
finally:
    print(re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1], file=sys.stderr)
"""


@pytest.mark.slow
def test_a_bomb_of_a_gigabyte_takes_no_gigabyte(tmp_path):
    bomb = tmp_path / "bomb.gz"
    with gzip.open(bomb, "wb", 1) as out:
        for _ in range(1000):
            out.write(bytes(1_000_000))
    argv = [sys.executable, "-c", BOMB_IN_A_PROCESS, "ingest", str(bomb), "--max-bytes", "50000000"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    said, peak_kb = done.stderr.splitlines()
    assert done.returncode == 1 and "expected at most 50,000,000 bytes" in said
    assert int(peak_kb) * 1024 < 400e6, "Python and its libraries, the text twice"


UNITS = ["\n", "\r", "\r\n", " \n", "\n\r", "a\r", " ", "\t", "\b", "a\b", "\0", "\u00a0", "\ufeff"]
UNITS += ["\x1b", "\x1b[", "\x1b]", "\x1b[0m", "\x1b(", "#", "> ", "| ", "0 ", "a@b ", "1:", *'[{"<-=,;:.\\']


def cpu_s(raw: bytes) -> float:
    begun = time.process_time()
    try:
        parse_bytes(raw, "file")
    except ParseError as error:
        assert "\n" not in str(error) and len(str(error)) < 1000
    return time.process_time() - begun


@pytest.mark.slow
@in_one_test("unit", UNITS, ids=repr)
def test_a_text_of_nothing_else_takes_time_in_proportion(unit):
    """Four times as much text takes about four times as long; sixteen would be quadratic.

    Half of the square of 100,000 characters, at ten nanoseconds a step of `re`, is 50 seconds.
    """
    small, large = (unit.encode() * (n // len(unit)) for n in (25_000, 100_000))
    small_s = max(min(cpu_s(small) for _ in range(3)), 0.1)  # the least: other work only makes it longer
    assert any(cpu_s(large) < 10 * small_s for _ in range(3))


@pytest.mark.parametrize("lines", [2_000_000, 20_000_000])
def test_empty_lines_without_end_are_refused_at_once(lines):
    text = "Running 1s test @ http://h/\n" + "\n" * lines
    with pytest.raises(ParseError, match="expected lines of at least 8 characters on average"):
        loadcurve.parse(text)


CASES = sorted(p for p in DATA.glob("*/*.txt") if p.parent.name != "published" and p.stat().st_size < 20_000)
FILLS = [" ", "\t", "0", "a", "-", ".", "/", "%", "(", ",", ":", "a ", "0 ", "=", '"', "#", "a.", "_", "1:", "[", ";"]
ENDS = ["!", " !", '"', ")"]
# Patterns of which each took quadratic time once: file, line, what stands before the run, the run, what follows it.
FOUND = [
    ("ipvsadm/flags.txt", 16, "[2001::1]:8", "1:", "!"),
    ("nginx/stub-status.txt", 3, " 1275001 1275001 4", " ", "!"),
    ("proc/net-dev.txt", 5, "", ":", "!"),
    ("siege/json.txt", 3, '\t"availability":\t\t\t      10', "\t", "!"),
    ("siege/text.txt", 14, "ssful transactions:         62", "\t", "!"),
    ("k6/text-1.txt", 7, "█ TOTAL RESUL", " ", "!"),
    ("ss/unix.txt", 4, "", "/", " !"),
]


def with_a_run(lines: list[bytes], at: int, column: int, unit: bytes, length: int, end: bytes) -> bytes:
    line = lines[at]
    run = unit * (length // len(unit))
    return b"\n".join([*lines[:at], line[:column] + run + line[column:] + end, *lines[at + 1 :]])


def check_a_run(lines, at, column, unit, end):
    taken = {n: cpu_s(with_a_run(lines, at, column, unit, n, end)) for n in (10, 4000)}
    if taken[4000] - taken[10] > 0.05:
        longer = min(cpu_s(with_a_run(lines, at, column, unit, 16_000, end)) for _ in range(2))
        assert longer - taken[10] < 8 * (taken[4000] - taken[10]), (at + 1, column, unit)


@pytest.mark.parametrize(("name", "line", "before", "unit", "end"), FOUND)
def test_a_long_run_takes_time_in_proportion(name, line, before, unit, end):
    lines = (DATA / name).read_bytes().split(b"\n")
    column = lines[line - 1].find(before.strip().encode()) + len(before.strip())
    check_a_run(lines, line - 1, column, unit.encode(), end.encode())


@pytest.mark.slow
@in_one_test("tool", sorted({p.parent.name for p in CASES}))
def test_a_long_run_anywhere_takes_time_in_proportion(tool):
    for case in (p for p in CASES if p.parent.name == tool):
        lines, chance = case.read_bytes().split(b"\n"), random.Random(zlib.crc32(f"{tool}/{case.name}".encode()))
        at = chance.randrange(len(lines))
        column, unit, end = chance.randrange(len(lines[at]) + 1), chance.choice(FILLS), chance.choice(ENDS)
        check_a_run(lines, at, column, unit.encode(), end.encode())


@pytest.fixture
def oddly_named(tmp_path):
    """A folder with a run whose names are no text and would move the cursor."""
    folder = tmp_path / "runs" / os.fsdecode(b"c\xff\x1b[2J")
    folder.mkdir(parents=True)
    (folder / os.fsdecode(b"a\nb\x07\xfe.txt")).write_bytes(WRK)
    (folder / "README\x1b[31m").write_bytes(b"Hello\n")
    return tmp_path / "runs"


@pytest.mark.slow
@pytest.mark.parametrize("form", ["json", "csv", "parquet"])
def test_names_that_are_no_text_are_written_as_text(oddly_named, tmp_path, form):
    output = [] if form == "json" else ["-o", str(tmp_path / "out")]
    done = ingest(str(oddly_named), "--format", form, *output)
    printed = done.stdout + done.stderr
    assert done.returncode == 1 and done.stderr.count(b"\n") == 1, "one refusal"
    assert printed.isascii() and not re.search(rb"[\x00-\x09\x0b-\x1f\x7f]", printed)
    if form == "json":
        source = json.loads(done.stdout)["source"]
    elif form == "csv":
        source = pd.read_csv(tmp_path / "out" / "runs.csv")["source"].item()
    else:
        source = pd.read_parquet(tmp_path / "out" / "runs.parquet")["source"].item()
    assert source == f"{oddly_named}/" + r"c\udcff\x1b[2J/a\nb\x07\udcfe.txt"


def ingest(*argv):
    return subprocess.run([sys.executable, "-m", "loadcurve", "ingest", *argv], capture_output=True, check=False)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("run.txt", "File exists|Not a directory"),
        ("run.txt/below", "Not a directory"),
        ("/proc/no/such", "No such file"),
        ("/dev/full/below", "Not a directory"),
        ("loop/below", "Too many levels of symbolic links"),
        ("n" * 300, "File name too long"),
    ],
)
def test_an_output_that_cannot_be_written_is_one_line(tmp_path, monkeypatch, called, place, said):
    (tmp_path / "run.txt").write_bytes(WRK)
    (tmp_path / "loop").symlink_to("loop")
    monkeypatch.chdir(tmp_path)
    code, _, printed = called("ingest", "run.txt", "--format", "csv", "-o", place)
    assert code == 1 and printed.count("\n") == 1
    assert re.search(said, printed)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["json", "csv"])
def test_a_full_device_is_one_line(tmp_path, form):
    (tmp_path / "run.txt").write_bytes(WRK)
    (tmp_path / "out").mkdir()
    with Path("/dev/full").open("wb") as full:
        argv = [sys.executable, "-m", "loadcurve", "ingest", "run.txt", "--format", form]
        argv += [] if form == "json" else ["-o", "out"]
        done = subprocess.run(argv, cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 1 and done.stderr.count(b"\n") == 1 and b"No space left on device" in done.stderr


def test_a_folder_that_may_not_be_looked_into_is_named(tmp_path, monkeypatch):
    """Root may look everywhere, so the system's refusal is put in its place."""
    closed = tmp_path / "closed"
    closed.mkdir()
    (tmp_path / "run.txt").write_bytes(WRK)
    scan = os.scandir

    def refusing(path):
        if not isinstance(path, int) and Path(os.fsdecode(path)) == closed:  # shutil removes folders by number
            raise PermissionError(13, "Permission denied", str(closed))
        return scan(path)

    monkeypatch.setattr(os, "scandir", refusing)
    found = loadcurve.read(tmp_path)
    assert len(found.tables["runs"]) == 1
    assert found.warnings == (f"not read: {closed}: expected a file that can be read, got 'Permission denied'",)


def test_memory_that_is_missing_for_one_file_is_one_line(tmp_path, monkeypatch):
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_bytes(WRK)

    def first_fails(raw, source, *rest):
        if source.endswith("a.txt"):
            raise MemoryError
        return parse_bytes(raw, source, *rest)

    monkeypatch.setattr("loadcurve.ingest.streams.parse_bytes", first_fails)
    refused, read = read_each(tmp_path, Hints())
    assert refused.refused == f"{tmp_path}/a.txt: expected enough memory for its text and tables, got 'too little'"
    assert read.parsed.tool == "wrk"


@pytest.mark.parametrize(
    "text", ["", "x", "[]", "{}", "null", '{"nbformat":99,"cells":[]}', '{"cells":5,"nbformat":4}']
)
def test_what_is_no_notebook_is_refused(tmp_path, text):
    notebook = tmp_path / "a.ipynb"
    notebook.write_text(text)
    with pytest.raises(ParseError, match=r"a\.ipynb: expected a notebook, got '\w+'$"):
        check_parameters(notebook, {})


def test_an_empty_folder_and_an_empty_name_are_refused(tmp_path):
    (empty,) = read_each(tmp_path, Hints())
    assert empty.refused.startswith(f"{tmp_path}: expected reports of load generators")
    assert "got an empty folder: name the folder that your tools wrote to" in empty.refused
    (unnamed,) = read_named("", Hints())
    assert unnamed.refused == "the name of a file or folder must not be empty"


def test_a_limit_larger_than_any_memory_takes_no_more_than_the_file(tmp_path):
    for name, pack in {"plain": bytes, **PACKS}.items():
        (tmp_path / name).write_bytes(pack(WRK))
        assert loadcurve.read(tmp_path / name, max_bytes=1 << 40).tool == "wrk"
