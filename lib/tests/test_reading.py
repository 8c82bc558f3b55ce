"""Files and folders as people leave them: packed, damaged, several tools side by side, no record of anything."""

import bz2
import functools
import gzip
import io
import json
import lzma
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import copy_runs
from one_test import in_one_test

import loadcurve
from loadcurve import tables
from loadcurve.errors import LoadcurveError, ParseError
from loadcurve.ingest.files import Hints
from loadcurve.lab.hosts.tools import SEARCH_PATH
from loadcurve.reading import read_each
from loadcurve.reading.export import write_tables
from loadcurve.study.records import run_folders

SADC = Path("/usr/lib/sysstat/sadc")  # Debian's place of it
DATA = Path(__file__).parent / "data"
WRK = (DATA / "wrk" / "latency.txt").read_text("utf-8")
SUMMARY = (DATA / "ss" / "summary.txt").read_text("utf-8")


@pytest.fixture
def folder(tmp_path) -> Path:
    """Runs made by hand, years ago: two folders, a note, a hidden file, an empty one."""
    for name, text in {
        "c64/load.txt": WRK,
        "c64/sockets.txt": SUMMARY,
        "c128/load.log": WRK.replace("64 connections", "128 connections"),
        "c128/err.txt": "",
        "README": "Measured on the old cluster.\n",
        ".hidden/load.txt": WRK,
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    return tmp_path


def zstd(raw: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(raw)
    return sink.getvalue().to_pybytes()


PACK = {"plain": bytes, "gzip": gzip.compress, "xz": lzma.compress, "bzip2": bz2.compress, "zstd": zstd}


@pytest.mark.parametrize("pack", PACK)
def test_packed_files_are_told_from_their_bytes(tmp_path, pack):
    file = tmp_path / "load"
    file.write_bytes(PACK[pack](WRK.encode()))
    assert loadcurve.read(file).tables["runs"]["requests"].tolist() == [223240]


@pytest.mark.parametrize("pack", ["gzip", "xz", "bzip2", "zstd"])
def test_a_packed_file_that_is_cut_is_never_whole(tmp_path, pack):
    file = tmp_path / "load"
    whole = PACK[pack](WRK.encode())
    file.write_bytes(whole[: len(whole) * 2 // 3])
    try:
        found = loadcurve.read(file)
    except ParseError as error:
        assert str(error).startswith(f"{file}:")
    else:
        assert found.warnings[0] == f"the {pack} file ends too early; its content up to there was read"
        assert found.tables["runs"]["status"].tolist() != ["finished"]
        assert found.tables["runs"]["throughput_rps"].isna().all()


def test_members_of_a_packed_file_follow_each_other(tmp_path):
    file = tmp_path / "load.gz"
    file.write_bytes(gzip.compress(WRK.encode()) + gzip.compress(WRK.encode()) + b"\0\0\0")
    assert len(loadcurve.read(file).tables["runs"]) == 2


@pytest.mark.parametrize(
    ("pack", "padding"), [("gzip", b""), ("gzip", b"\0\0"), ("xz", b""), ("bzip2", b""), ("zstd", b"")]
)
def test_bytes_after_packed_data_are_reported(tmp_path, pack, padding):
    file = tmp_path / "load"
    file.write_bytes(PACK[pack](WRK.encode()) + padding + b"not packed")
    try:
        found = loadcurve.read(file)
    except ParseError as error:
        assert pack == "zstd" and "expected a whole Zstandard file" in str(error)
    else:
        assert found.warnings[0] == f"10 bytes after the {pack} data are no {pack} data and were left out"
        assert found.tables["runs"]["requests"].tolist() == [223240]


def archive(kind, content):
    """An archive of one file, as the standard library writes it."""
    out = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(out, "w") as pack:
            pack.writestr("load.txt", content)
    else:
        form = {"ustar": tarfile.USTAR_FORMAT, "gnu": tarfile.GNU_FORMAT, "pax": tarfile.PAX_FORMAT}
        with tarfile.open(fileobj=out, mode="w", format=form[kind]) as pack:
            info = tarfile.TarInfo("load.txt" if kind != "pax" else "läd.txt")
            info.size = len(content)
            pack.addfile(info, io.BytesIO(content))
    return out.getvalue()


@pytest.mark.parametrize("pack", ["plain", "gzip", "xz"])
@pytest.mark.parametrize("kind", ["zip", "ustar", "gnu", "pax"])
def test_an_archive_is_refused_with_what_to_do(tmp_path, kind, pack):
    file = tmp_path / "load.txt"
    file.write_bytes(PACK[pack](archive(kind, WRK.encode())))
    with pytest.raises(ParseError) as caught:
        loadcurve.read(file)
    name = "zip" if kind == "zip" else "tar"
    said = f"expected one file (unpack the archive, then name its folder), got 'an archive ({name})'"
    assert str(caught.value) == f"{file}: {said}"


def test_a_file_has_its_declared_tables(tmp_path):
    file = tmp_path / "x"
    file.write_text(WRK, "utf-8")
    found = loadcurve.read(file)
    assert found.tool == "wrk"
    for name, frame in found.tables.items():
        assert list(frame.columns) == list(tables.SCHEMAS[name].columns)
        assert set(frame["source"]) == {str(file)}
        assert frame[["study", "run_id"]].isna().all(axis=None)


def test_a_folder_is_a_set_of_runs(folder):
    found = loadcurve.read(folder)
    runs = found.tables["runs"].set_index("run_id")
    assert runs["connections"].to_dict() == {"c64": 64, "c128": 128}
    assert runs["source"].to_dict() == {n: str(folder / n / f) for n, f in (("c64", "load.txt"), ("c128", "load.log"))}
    assert runs[["study", "started_at", "variant", "repeat"]].isna().all(axis=None)
    assert found.tables["sockets"]["run_id"].tolist() == ["c64"]
    expected = "expected output of a tool that loadcurve reads, got"
    assert found.warnings == (
        f"not read: {folder}/README:1: {expected} 'Measured on the old cluster.'",
        f"not read: {folder}/c128/err.txt: {expected} 'an empty file'",
    )


@pytest.mark.slow
def test_a_study_is_read_with_its_records(root):
    found = loadcurve.read(root / "data" / "studies" / "connections_on_loopback")
    assert set(found.tables["runs"]["study"]) == {"connections_on_loopback"}
    assert found.tables["cpu"]["elapsed_s"].notna().all()


@pytest.mark.slow
@pytest.mark.real
@pytest.mark.skipif(not SADC.exists(), reason="sysstat is not installed")
@pytest.mark.parametrize("place", ["", "c0001"])
def test_a_study_is_written_run_by_run_with_its_factors(root, tmp_path, place):
    """wrk's text and its reporter's JSON are one row, and the row knows its variant."""
    study = root / "data/studies/connections_on_loopback"
    runs = run_folders(study)[:1] if place else run_folders(study)
    named = study / runs[0].name if place else study
    write_tables(read_each(named, Hints()), tmp_path, "parquet")
    written = pd.read_parquet(tmp_path / "runs.parquet").set_index("run_id")
    recorded = {path.name: json.loads((path / "run.json").read_text("utf-8"))["factors"] for path in runs}
    assert sorted(written.index) == sorted(recorded)
    for column in ("variant", "connections", "repeat"):
        assert written[column].to_dict() == {name: facts[column] for name, facts in recorded.items()}


def test_a_recorded_run_that_was_changed_is_refused_and_the_others_are_read(tmp_path):
    names = ["cpu-c0001-r1", "cpu-c0001-r2"]
    copied = copy_runs(tmp_path / "connections_on_loopback", *names)
    report = next((copied / names[0]).glob("*.wrk.txt"))
    report.write_text(report.read_text("utf-8").replace("1 threads", "2 threads"), "utf-8")
    changed, whole = read_each(copied, Hints())
    assert not changed.parsed.tables and report.name in changed.refused
    assert whole.parsed.tables["runs"]["run_id"].tolist() == [names[1]]


def test_a_binary_recording_is_put_into_words(tmp_path):
    """sysstat's own collector records this machine; its sar and ours must tell the same of it."""
    file = tmp_path / "sa"
    subprocess.run([SADC, "1", "2", file], check=True, timeout=120)
    environment = {"LC_ALL": "C", "TZ": "UTC", "PATH": SEARCH_PATH}
    said = subprocess.run(
        ["sar", "-u", "-f", file], env=environment, capture_output=True, check=True, timeout=120
    ).stdout
    by_sar = loadcurve.parse(said.decode()).tables["cpu"]
    for path, raw in ((file, None), (tmp_path / "sa.xz", lzma.compress(file.read_bytes()))):
        if raw:
            path.write_bytes(raw)
        by_sadf = loadcurve.read(path).tables["cpu"].query("cpu == 'all'").reset_index(drop=True)
        assert by_sadf["cpu_idle_ratio"].round(4).tolist() == by_sar["cpu_idle_ratio"].round(4).tolist()
        assert by_sadf["time"].tolist() == by_sar["time"].tolist()
    file.write_bytes(file.read_bytes()[:200])
    with pytest.raises(LoadcurveError, match="sadf cannot read this recording"):
        loadcurve.read(file)


def test_what_is_not_there(tmp_path):
    with pytest.raises(LoadcurveError, match=f"{tmp_path}/x: expected a file or a folder, got nothing of that name"):
        loadcurve.read(tmp_path / "x")


@pytest.fixture
def ingest(called):
    return functools.partial(called, "ingest")


def ingest_of(stdin):
    """What a process makes of its standard input: exit code, stdout, stderr."""
    argv = [sys.executable, "-m", "loadcurve", "ingest", "-"]
    done = subprocess.run(argv, capture_output=True, input=stdin, timeout=120, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_json_is_a_line_for_each_file(folder, ingest):
    code, out, err = ingest(folder)
    found = [json.loads(line) for line in out.splitlines()]
    assert code == 1  # two files were refused
    assert err.count("\n") == 2 and f"{folder}/README:1: expected" in err
    assert [set(document) for document in found] == [{"source", "tool", "version", "tables", "warnings"}] * 3
    assert [document["tool"] for document in found] == ["wrk", "wrk", "ss"]
    assert found[0]["tables"]["runs"][0]["requests"] == 223240
    for document in found:
        for name, rows in document["tables"].items():
            assert {key for row in rows for key in row} <= set(tables.SCHEMAS[name].columns)


@pytest.mark.slow
def test_json_of_standard_input():
    code, out, err = ingest_of(gzip.compress(WRK.encode()))
    assert (code, err) == (0, "")
    assert json.loads(out)["source"] == "-"
    code, out, err = ingest_of(b"Hello\n")
    assert (code, out) == (1, "")
    assert err == "-:1: expected output of a tool that loadcurve reads, got 'Hello'\n"


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_a_file_for_each_table(folder, tmp_path, form, ingest):
    target = tmp_path / "out" / "tidy"
    code, out, _ = ingest(folder / "c64", folder / "c128" / "load.log", "--format", form, "-o", target)
    assert (code, out) == (0, f"{target}: runs 2, latency 8, sockets 1\n")
    read = {"parquet": pd.read_parquet, "csv": pd.read_csv}[form]
    frame = tables.check("runs", read(target / f"runs.{form}"))
    assert frame["requests"].tolist() == [223240, 223240]
    assert frame["run_id"].isna().tolist() == [False, True]
    code, _, err = ingest(folder / "c128" / "load.log", "--format", form, "-o", target)
    assert (code, err.count("warning")) == (0, 1) and f"sockets.{form}: not of these files" in err  # of the first call


def test_parquet_keeps_the_types_of_an_empty_column(folder, tmp_path, ingest):
    ingest(folder / "c64", "--format", "parquet", "-o", tmp_path / "out")
    schema = pq.read_schema(tmp_path / "out" / "runs.parquet")
    assert schema.field("study").type == pa.large_string()
    assert schema.field("started_at").type == pa.timestamp("us", "UTC")
    assert schema.field("server_cpu").type == pa.int64()


def test_a_format_that_needs_a_folder_asks_for_it(folder, ingest):
    code, out, err = ingest(folder, "--format", "csv")
    assert (code, out, err) == (1, "", "--output must be named for --format csv\n")


def test_one_table_on_standard_output(folder, ingest):
    report = folder / "c128" / "load.log"
    code, out, err = ingest(report, "--format", "csv", "-o", "-", "--table", "runs")
    assert (code, err, pd.read_csv(io.StringIO(out))["requests"].tolist()) == (0, "", [223240])
    code, out, _ = ingest(report, "-o", "-", "--table", "latency", "--jobs", 1)
    assert (code, set(json.loads(out)["tables"])) == (0, {"latency"})
    for wrong, why in {
        ("--format", "csv"): "--output - must get one table, got runs, latency: name one with --table",
        ("--format", "csv", "--table", "cpu"): "--output - must get one table, got none",
        ("--format", "parquet"): "--output must be a folder for --format parquet, got -",
        ("--table", "run"): "table must be one of runs, ",
    }.items():
        code, out, err = ingest(report, "-o", "-", *wrong)
        assert (code, out, err.count("\n")) == (1, "", 1) and err.startswith(why)


@pytest.mark.parametrize(
    ("imports", "heavy"),
    {
        "loadcurve, loadcurve.cli": "pandas numpy pyarrow",
        # `loadcurve run` starts once for each notebook of the site.
        "loadcurve.batch": "pandas scipy matplotlib loadcurve.lab rfc3987_syntax",
    }.items(),
)
def test_importing_is_light(imports, heavy):
    """Nothing heavy is imported before it is asked for; `make bench` says how long it takes."""
    code = f"import sys, {imports}; print([name for name in {heavy.split()} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout == "[]\n"


LOG = "1795213596.123 200 0.010\n1795213597.500 502 1.200\n"
FORMAT = "$msec $status $request_time"


def test_a_log_format_is_of_access_logs_alone(folder):
    (folder / "c64" / "access.log").write_text(LOG, "utf-8")
    assert "access.log:1: expected output of a tool" in " ".join(loadcurve.read(folder).warnings)
    parsed = loadcurve.read(folder, log_format=FORMAT)
    assert parsed.tables["requests"]["latency_s"].tolist() == [0.01, 1.2]
    assert parsed.tables["requests"]["tool"].tolist() == ["nginx", "nginx"]
    assert len(parsed.tables["runs"]) == 2
    assert "README:1: expected a line of an access log in this format" in " ".join(parsed.warnings)


def test_a_log_format_rules_over_what_a_text_looks_like():
    line = '198.18.0.1 - - [20/Nov/2026:22:34:32 +0000] "GET /a HTTP/1.1" 200 616 1500\n'
    apache = 'LogFormat "%h %l %u %t \\"%r\\" %>s %b %D" timed'
    parsed = loadcurve.parse(line, log_format=apache)
    assert parsed.tool == "apache"
    assert parsed.tables["requests"]["latency_s"].tolist() == [0.0015]
    with pytest.raises(ParseError, match=":1: expected a line of an access log in this format"):
        loadcurve.parse(line, log_format=FORMAT)
    with pytest.raises(LoadcurveError, match="tool must be nginx:access or apache:access"):
        loadcurve.parse(line, tool="wrk", log_format=FORMAT)


def test_a_log_format_on_the_command_line(tmp_path, ingest):
    for name in ("a.log", "b.log"):
        (tmp_path / name).write_text(LOG, "utf-8")
    code, out, _ = ingest(tmp_path, "--log-format", FORMAT)
    assert code == 0
    rows = json.loads(out.split("\n")[0])["tables"]["requests"]
    assert [row["status"] for row in rows] == [200, 502]
    code, _, err = ingest(tmp_path, "--log-format", "nothing")
    assert code == 1
    assert err.count("log_format must be") == 1


AB = DATA / "ab"
REPORT = (AB / "sleep.txt").read_text("utf-8")


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"a.out": REPORT, "a.err": "Completed 10 requests\nFinished 20 requests\n"}, [("finished", None)]),
        ({"a.out": REPORT, "a.err": ""}, [("finished", None)]),
        ({"a.txt": "", "a.err": "unable to connect to 198.18.0.3:9999 Connection refused\n"},
         [("failed", "unable to connect to 198.18.0.3:9999 Connection refused")]),
        ({"a.out": REPORT.split("Server Software")[0],
          "a.err": "apr_pollset_poll: The timeout specified has expired (70007)\n"},
         [("failed", "apr_pollset_poll: The timeout specified has expired (70007)")]),
        ({"a.out": REPORT, "b.err": "apr_socket_recv: Connection refused (111)\n"},
         [("finished", None), ("failed", "apr_socket_recv: Connection refused (111)")]),
        ({"a.out": WRK, "a.err": "apr_socket_recv: Connection refused (111)\n"},
         [("finished", None), ("failed", "apr_socket_recv: Connection refused (111)")]),
    ],
)  # fmt: skip
def test_both_outputs_of_a_command_are_one_run(tmp_path, files, expected):
    for name, text in files.items():
        (tmp_path / name).write_text(text, "utf-8")
    parsed = loadcurve.read(tmp_path)
    runs = parsed.tables["runs"]
    assert [(s, None if pd.isna(r) else r) for s, r in zip(runs["status"], runs["reason"], strict=True)] == expected
    assert not [warning for warning in parsed.warnings if "not read" in warning]


def test_a_file_that_is_all_of_a_command_and_empty_is_said(tmp_path):
    (tmp_path / "a.out").write_text("", "utf-8")
    assert loadcurve.read(tmp_path).warnings == (
        f"not read: {tmp_path}/a.out: expected output of a tool that loadcurve reads, got 'an empty file'",
    )


@pytest.mark.parametrize(("form", "agents"), [("csv", ["'=HYPERLINK(1)", "-5"]), ("parquet", ["=HYPERLINK(1)", "-5"])])
def test_text_of_a_log_is_no_formula_of_a_spreadsheet(tmp_path, form, agents, ingest):
    line = '127.0.0.1 - - [22/Nov/2026:14:00:00 +0000] "GET /a HTTP/1.1" 200 616 "-" "{}"\n'
    (tmp_path / "access.log").write_text("".join(map(line.format, ["=HYPERLINK(1)", "-5"])), "utf-8")
    ingest(tmp_path / "access.log", "--format", form, "-o", tmp_path / "out")
    read = {"parquet": pd.read_parquet, "csv": functools.partial(pd.read_csv, dtype=str)}[form]
    assert read(tmp_path / "out" / f"requests.{form}")["user_agent"].tolist() == agents


@pytest.mark.parametrize("value", [3, None, b"a.txt", pd.Series(dtype=float)], ids=lambda value: type(value).__name__)
@in_one_test("name", ["analyse", "audit", "describe_study", "parse", "read", "read_curves", "read_machine",
                      "read_published_tables", "read_warnings"])  # fmt: skip
def test_an_argument_of_a_type_that_is_not_accepted_is_one_line_that_says_what_is(name, value):
    with pytest.raises(TypeError, match=rf"^\w+ must be (a|the|what) .*, got {type(value).__name__} ") as caught:
        getattr(loadcurve, name)(value)
    assert isinstance(caught.value, LoadcurveError) and "\n" not in str(caught.value)
