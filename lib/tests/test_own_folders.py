"""Folders of raw files that somebody brought: which runs they hold, and to which run each row belongs."""

import gzip
import os
import re
import shutil
import subprocess
from pathlib import Path, PurePosixPath

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import loadcurve
from loadcurve.analysis import analyse
from loadcurve.analysis.sources import read_sources
from loadcurve.audit import audit
from loadcurve.cli import app
from loadcurve.errors import LoadcurveError, ValueRuleError
from loadcurve.ingest import on_disk, raw_folder
from loadcurve.ingest.fact_columns import GivenFactors
from loadcurve.ingest.parsed import Tables
from loadcurve.ingest.raw_file import RawFile
from loadcurve.ingest.raw_folder import read_raw_folder
from loadcurve.ingest.run_facts import name_runs, parse_factor
from loadcurve.ingest.run_labels import name_hosts, with_host
from loadcurve.ingest.run_times import assign
from loadcurve.lab.tools.monitors import sadf
from loadcurve.runtime import many_files
from loadcurve.tables.curves import UNNAMED

SADC = Path("/usr/lib/sysstat/sadc")  # Debian's place of it
FOLDERS = Path(__file__).parent / "data" / "folders"
LEVELS = (1, 2, 4, 6, 8, 12, 16, 32, 64, 96, 128, 256)
WRK = (FOLDERS / "wrk_only" / "c64.txt").read_text("utf-8")
SAR = (FOLDERS / "wrk_monitors" / "sweep.sar.txt").read_text("utf-8")
REFUSED = "unable to connect to h:80 Connection refused"
PERCENTILES = (Path(__file__).parent / "data" / "ab" / "percentiles.txt").read_text("utf-8")
WRITTEN = dict(re.findall(r"^(c\d+\.wrk\.txt) (\S+Z)$", (FOLDERS / "README.md").read_text("utf-8"), re.MULTILINE))


def put(folder, files):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return folder


def runs_of(folder, table="runs"):
    """Run of each file's rows; None for rows without a run."""
    frame = loadcurve.read(folder).tables[table]
    pairs = frame[["source", "run_id"]].astype(object).where(frame[["source", "run_id"]].notna(), None)
    return {str(Path(source).relative_to(folder)): run for source, run in pairs.drop_duplicates().to_numpy()}


@pytest.fixture
def monitored(tmp_path):
    """A sweep as the scripts left it, with the times at which the reports were written."""
    folder = tmp_path / "sweep"
    shutil.copytree(FOLDERS / "wrk_monitors", folder, ignore=shutil.ignore_patterns("factors.csv"))
    for name, time in WRITTEN.items():
        at = pd.Timestamp(time).value
        os.utime(folder / name, ns=(at, at))
    return folder


def test_each_report_of_a_folder_is_a_run():
    runs = loadcurve.read(FOLDERS / "wrk_only").tables["runs"]
    assert runs.set_index("run_id")["connections"].to_dict() == {f"c{n}": n for n in LEVELS}
    assert runs["variant"].isna().all()


def test_monitors_belong_to_runs_by_name_and_by_time(monitored):
    """ss beside each report by its name, sar over all of them by its times: four whole seconds lie in each run."""
    found = loadcurve.read(monitored)
    snapshots = found.tables["connections"]
    assert {
        Path(source).name.split(".")[0]: run
        for source, run in zip(snapshots["source"], snapshots["run_id"], strict=True)
    } == {f"c{n}": f"c{n}" for n in LEVELS}
    samples = found.tables["cpu"].query("cpu == '0'")
    assert samples["run_id"].value_counts(dropna=True).to_dict() == {f"c{n}": 4 for n in LEVELS}
    assert samples["elapsed_s"].dropna().between(0, 4.2).all()
    outside = len(samples) - 4 * len(LEVELS)
    assert outside == 16 and samples.loc[samples["run_id"].isna(), "elapsed_s"].isna().all()
    assert [w.split(": ", 1)[1] for w in found.warnings] == [
        "80 of 320 rows have a time outside all runs and belong to no run"  # 5 rows in each of 16 seconds
    ]
    assert [origin.split(":")[0] for origin in found.origins] == [
        "started_at of 12 runs",
        "run of c1.ss.txt, c12.ss.txt, c128.ss.txt, c16.ss.txt and 8 more files",
        "run of each row of sweep.sar.txt",
    ]


def test_the_start_of_a_run_in_factors_csv_finds_its_samples(monitored):
    """As after git or a copy, all files have the same time."""
    for name in WRITTEN:
        os.utime(monitored / name, (1795383540, 1795383540))
    shutil.copy(FOLDERS / "wrk_monitors" / "factors.csv", monitored)
    found = loadcurve.read(monitored)
    samples = found.tables["cpu"].query("cpu == '0'")
    assert samples["run_id"].value_counts(dropna=True).to_dict() == {f"c{n}": 4 for n in LEVELS}
    assert found.tables["runs"]["started_at"].notna().all()
    assert "started_at of 12 runs: factors.csv" in found.origins
    assert "Bottleneck" not in analyse(found).curves[0].missing


def test_text_and_json_of_a_run_are_one_run(tmp_path):
    data = Path(__file__).parent / "data"
    shutil.copy(data / "wrk" / "few-requests.txt", tmp_path / "c8.wrk.txt")
    shutil.copy(data / "wrk" / "reporter-few-requests.txt", tmp_path / "c8.wrk.json")
    (tmp_path / "c64.wrk.txt").write_text(WRK, "utf-8")
    found = loadcurve.read(tmp_path)
    assert sorted(found.tables["runs"]["run_id"]) == ["c64", "c8"]
    assert set(found.tables["histogram"]["run_id"]) == {"c8"}
    assert any("c8.wrk.json: reports the same run as" in origin for origin in found.origins)
    shutil.copy(tmp_path / "c8.wrk.json", tmp_path / "c64.wrk.json")  # of another run
    assert len(loadcurve.read(tmp_path).tables["runs"]) == 3


def test_a_packed_copy_of_a_report_is_no_repeat(tmp_path):
    """`gzip -k` leaves both; the interval of two equal runs would have no width.  Without the other, it is the run."""
    put(tmp_path, {"c64.txt": WRK, "c128.txt": OTHER, "c64-r2.txt": WRK})
    for name, text in (("c64", WRK), ("c32", WRK), ("c128", WRK)):
        (tmp_path / f"{name}.txt.gz").write_bytes(gzip.compress(text.encode()))
    found = loadcurve.read(tmp_path)
    assert len(found.tables["runs"]) == 5
    [line] = [origin for origin in found.origins if "packed copy" in origin]
    assert line.endswith("c64.txt.gz: a packed copy of c64.txt, so it is not a run of its own")


@pytest.mark.parametrize(
    ("names", "requests", "runs"),
    [
        (("r1.vegeta.txt", "r1.vegeta.json"), (900, 900), {"r1": "r1.vegeta.json"}),
        (("r1.vegeta.txt", "r1.vegeta.json"), (900, 800), {n: n for n in ("r1.vegeta.txt", "r1.vegeta.json")}),
        (("r1.txt", "r1.log"), (900, 900), {"r1.txt": "r1.txt", "r1.log": "r1.log"}),
        (("r1.json", "r2.json"), (900, 900), {"r1": "r1.json", "r2": "r2.json"}),
    ],
)  # fmt: skip
def test_two_reports_of_one_run_count_once(tmp_path, names, requests, runs):
    """The report with more numbers counts; equal names alone, or equal numbers alone, are no reason."""
    files = []
    for name, count in zip(names, requests, strict=True):
        report = {"generator": 0, "tool": "vegeta", "requests": count, "throughput_rps": count / 4, "duration_s": 4.0}
        report |= {"latency_max_s": 0.5} if name.endswith(".json") else {}
        files.append(RawFile(PurePosixPath(name), name, Tables({"runs": [report]})))
    matched = read_raw_folder(files, tmp_path)
    assert {run: file.source for run, file in matched.runs.items()} == runs
    assert len(matched.tables["runs"]) == len(runs)


def test_local_times_of_a_monitor_fit_in_their_zone(monitored):
    """sar in Shanghai prints 05:38 of the next day, and names no zone."""
    text = SAR.replace("2026-11-22", "2026-11-23").replace("\n21:3", "\n05:3")
    (monitored / "sweep.sar.txt").write_text(text, "utf-8")
    assert loadcurve.read(monitored).tables["cpu"]["run_id"].isna().all()
    samples = loadcurve.read(monitored, timezone="Asia/Shanghai").tables["cpu"].query("cpu == '0'")
    assert samples["run_id"].value_counts().to_dict() == {f"c{n}": 4 for n in LEVELS}
    for paths in ([monitored], sorted(monitored.glob("*.txt"))):  # as the commands analyse and audit read them
        assert read_sources(paths, timezone="Asia/Shanghai").tables["cpu"]["run_id"].nunique() == len(LEVELS)
    for command in ("analyse", "audit", "ingest"):
        refused = CliRunner().invoke(app, [command, str(FOLDERS / "wrk_only"), "--timezone", "Shanghai"])
        text = f"{refused.exception} {refused.output}"
        assert text.count("timezone must be the IANA name") == 1  # and not for each file


def test_the_time_of_a_file_counts_only_where_it_fits(monitored):
    """After a copy all reports have one time; after a checkout they are newer than any sample."""
    for name in WRITTEN:
        os.utime(monitored / name, (1795383540, 1795383540))
    found = loadcurve.read(monitored)
    assert found.tables["runs"]["started_at"].isna().all()
    assert found.tables["cpu"]["run_id"].isna().all()
    assert found.tables["connections"]["run_id"].notna().all()
    (warning,) = found.warnings
    assert warning == (
        "not attached to a run: sweep.sar.txt, because no report has the same name or is alone in the folder, and the "
        "reports print no start time; name each file like its report (c64.sar.txt beside c64.wrk.txt), give each run a "
        "folder, name the start of each run in factors.csv (started_at), or name the time zone of the file "
        "(timezone=, --timezone)"
    )


def test_the_time_of_a_file_never_contradicts_a_name(tmp_path):
    """c64 was written while c96 ran, by its sar; its own sar is a minute later."""
    folder = put(tmp_path, {"c64.wrk.txt": WRK, "c96.wrk.txt": WRK, "c64.sar.txt": SAR.replace("\n21:3", "\n20:3")})
    at = pd.Timestamp(WRITTEN["c64.wrk.txt"]).value
    os.utime(folder / "c64.wrk.txt", ns=(at, at))
    os.utime(folder / "c96.wrk.txt", ns=(at + 10**10, at + 10**10))
    found = loadcurve.read(folder)
    assert found.tables["cpu"]["run_id"].unique().tolist() == ["c64"]
    assert found.tables["runs"]["started_at"].isna().all()


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"c1/load.txt": WRK, "c2/load.txt": WRK}, {"c1/load.txt": "c1", "c2/load.txt": "c2"}),
        ({"a/c1.txt": WRK, "a/c2.log": WRK, "b/c1.txt": WRK},
         {"a/c1.txt": "a/c1", "a/c2.log": "a/c2", "b/c1.txt": "b"}),
        ({"c1.wrk.txt": WRK, "c1.wrk2.txt": WRK, "c2.txt": WRK},
         {"c1.wrk.txt": "c1.wrk", "c1.wrk2.txt": "c1.wrk2", "c2.txt": "c2"}),
        ({"c1.txt": WRK, "c1.log": WRK}, {"c1.txt": "c1.txt", "c1.log": "c1.log"}),
        ({"a/c1.txt": WRK, "a/b.txt": WRK, "a/c1/x.txt": WRK}, {"a/c1.txt": "a/c1.txt", "a/b.txt": "a/b",
                                                                "a/c1/x.txt": "a/c1/x"}),
    ],
)  # fmt: skip
def test_runs_are_named_by_files_or_folders(tmp_path, files, expected):
    assert runs_of(put(tmp_path, files)) == expected


def test_several_reports_of_a_text_are_several_runs(tmp_path):
    folder = put(tmp_path, {"all.txt": WRK + WRK.replace("64 connections", "128 connections"), "one.txt": WRK})
    found = loadcurve.read(folder)
    runs = found.tables["runs"].set_index("run_id")
    assert runs["connections"].to_dict() == {"all-1": 64, "all-2": 128, "one": 64}
    assert runs["generator"].tolist() == [0, 0, 0]
    assert found.tables["latency"].groupby("run_id").size().to_dict() == {"all-1": 4, "all-2": 4, "one": 4}


@pytest.mark.parametrize(
    ("monitor", "run"),
    [
        ("c1.sar.txt", "c1"),
        ("sar-c1.log", "c1"),
        ("monitors/c1.sar.txt", "c1"),
        ("c1.server.sar", "c1"),
        ("c1-tls.sar.txt", "c1-tls"),
        ("20261122_c1_sar.txt", "c1"),
        ("c16.sar.txt", None),  # its report is missing
        ("sar.txt", None),
    ],
)
def test_a_monitor_belongs_to_the_run_with_its_name(tmp_path, monitor, run):
    folder = put(tmp_path, {"c1.wrk.txt": WRK, "c1-tls.wrk.txt": WRK, "c2.wrk.txt": WRK, monitor: SAR})
    assert runs_of(folder, "cpu") == {monitor: run}


def test_a_monitor_in_the_folder_of_one_report_belongs_to_its_run(tmp_path):
    folder = put(tmp_path, {"c1/load.txt": WRK, "c1/monitors/web.sar.txt": SAR, "c2/load.txt": WRK, "c2/x.txt": SAR})
    assert runs_of(folder, "cpu") == {"c1/monitors/web.sar.txt": "c1", "c2/x.txt": "c2"}


def test_percentiles_with_decimals_replace_those_of_the_report(tmp_path):
    """`ab -e` beside ab's report, which has whole milliseconds."""
    report = (FOLDERS / "ab_sar" / "c4.ab.txt").read_text("utf-8")
    folder = put(tmp_path, {"c4.ab.txt": report, "c8.ab.txt": report, "c4.ab.percentiles.csv": PERCENTILES})
    latency = loadcurve.read(folder).tables["latency"]
    assert {Path(s).name for s in latency.loc[latency["run_id"] == "c4", "source"]} == {"c4.ab.percentiles.csv"}
    assert {Path(s).name for s in latency.loc[latency["run_id"] == "c8", "source"]} == {"c8.ab.txt"}


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"a.txt": "", "b.txt": " "}, "got none; {0}/a.txt: expected {1}, got 'an empty file' (and 1 more)"),
        ({"a.bin": "\x7fELF\x01\x00\x00 wrk"}, "got none; {0}/a.bin: expected {1}, got 'binary data'"),
        ({"sar.txt": SAR}, "got only cpu, network, tcp, averages, hosts: add the output of the load generator, or"),
        ({"c1.txt": f"{REFUSED}\n"}, f"expected a finished run, got 1 run that failed: {REFUSED}"),
    ],
)  # fmt: skip
def test_a_folder_without_a_run_says_what_it_holds_instead(tmp_path, files, said):
    with pytest.raises(LoadcurveError) as refused:
        analyse(put(tmp_path, files))
    text = str(refused.value)
    assert said.format(tmp_path, "output of a tool that loadcurve reads") in text
    assert text.startswith(f"{tmp_path}: expected ") and "\n" not in text


def test_an_empty_folder_is_an_error_with_a_hint(tmp_path):
    with pytest.raises(
        LoadcurveError, match="expected reports of load generators .* got an empty folder: name the fol"
    ):
        loadcurve.read(tmp_path)


def test_facts_come_from_the_text_then_from_factors_csv_then_from_names(tmp_path):
    """k6 prints its users as connections, vegeta prints none; a blank cell is no fact."""
    folder = tmp_path / "mine"
    shutil.copytree(FOLDERS / "json_tools", folder)
    table = "file;variant;connections;kernel\nvus1;a;1;6.18\nvus2.k6.json;a;3;6.18\n./rate250;b;;6.1\n"
    (folder / "factors.csv").write_text(table, "utf-8")
    found = loadcurve.read(folder, factors={"connections": r"(?:vus|rate)(\d+)", "tool_of": r"\.(k6|vegeta)\."})
    runs = found.tables["runs"].set_index("run_id")
    assert runs["connections"].to_dict() == {f"vus{n}": n for n in (1, 2, 4, 8, 16)} | {
        f"rate{n}": n for n in (250, 500, 1000, 2000, 4000)
    }
    assert runs["variant"].dropna().to_dict() == {"vus1": "a", "vus2": "a", "rate250": "b"}
    assert runs["kernel"].dropna().to_dict() == {"vus1": 6.18, "vus2": 6.18, "rate250": 6.1}  # kept, as a number
    levels = found.tables["factors"].set_index(["factor", "run_id"])["level"]
    assert levels["kernel"].to_dict() == {"vus1": "6.18", "vus2": "6.18", "rate250": "6.1"}
    assert levels["tool_of"]["rate4000"] == "vegeta"
    assert found.warnings == (
        "connections differs between factors.csv and names of files, by the pattern (?:vus|rate)(\\d+): vus2 (3, 2); "
        "factors.csv counts",
        "connections differs between the report and factors.csv: vus2 (2, 3); the report counts",
    )
    assert found.origins == (
        "variant of 3 runs: factors.csv",
        "connections of 5 runs: names of files, by the pattern (?:vus|rate)(\\d+)",
        "kernel of 3 runs: factors.csv",
        "tool_of of 10 runs: names of files, by the pattern \\.(k6|vegeta)\\.",
    )


def test_a_factor_that_resembles_a_column_of_runs_gets_a_hint(tmp_path):
    folder = put(tmp_path, {"c1.txt": WRK, "c2.txt": WRK, "factors.csv": "file,rate,kernel\nc1,100,6.1\nc2,200,6.1\n"})
    assert loadcurve.read(folder).warnings == (
        "rate is a factor, because no column of runs has this name: if it means target_rate_rps, write target_rate_rps",
    )


def test_what_a_report_prints_counts_more_than_its_name(tmp_path):
    folder = put(tmp_path, {"c128.txt": WRK, "c64.txt": WRK})
    found = loadcurve.read(folder, factors={"connections": r"c(\d+)"})
    assert found.tables["runs"]["connections"].tolist() == [64, 64]
    assert found.warnings == (
        "connections differs between the report and names of files, by the pattern c(\\d+): c128 (64, 128); the report "
        "counts",
    )
    assert found.tables["runs"]["connections_in_name"].tolist() == [128, 64]


def test_factors_csv_names_the_host_of_monitors(tmp_path):
    """Rules about a generator's host need it; the other rows and files keep theirs."""
    table = "file,host\nc1,client\nc1.client.sar.txt,client\n"
    files = {"c1.txt": WRK, "c1.client.sar.txt": SAR, "c1.server.sar.txt": SAR, "factors.csv": table}
    found = loadcurve.read(put(tmp_path, files)).tables
    assert found["runs"]["host"].tolist() == ["client"]
    for name in ("cpu", "network", "tcp"):
        hosts = found[name].groupby(found[name]["source"].str.contains("client"))["host"]
        assert hosts.apply(lambda of: set(of.fillna(""))).to_dict() == {True: {"client"}, False: {"vm"}}  # headings


@pytest.mark.parametrize(
    ("table", "faults"),
    [
        ("", ["1: expected a header such as file,variant,connections, got ''"]),
        ("name,variant\nc1,a\n", ["1: expected a header such as file,variant,connections, got 'name,variant'"]),
        ("file,a,a\n", ["1: expected each column once, got 'a'"]),
        ("file,run_id\n", ["1: expected names of factors, none of study, run_id, source, generator, got 'run_id'"]),
        ("file,variant\nc1,a\nc9,b\n", ["3: expected the name of a file with a report in this folder, got 'c9'"]),
        ("file,connections\nc1,many\n\nc2,-1\nc2\n",
         ["2: expected a whole number from 0 as connections, got 'many'",
          "4: expected a whole number from 0 as connections, got '-1'", "5: expected 2 cells, got 'c2'"]),
        ("file,cpu_other_ratio\nc1,2\n", ["2: expected a ratio from 0 to 1 as cpu_other_ratio, got '2'"]),
        ("file,duration_s,started_at\nc1,inf,soon\n",
         ["2: expected a number from 0 as duration_s, got 'inf'",
          "2: expected a time such as 2026-11-22T21:38:15Z as started_at, got 'soon'"]),
    ],
)  # fmt: skip
def test_a_wrong_factors_csv_is_refused_with_a_line_for_each_fault(tmp_path, table, faults):
    folder = put(tmp_path, {"c1.txt": WRK, "c2.txt": WRK, "factors.csv": table})
    with pytest.raises(LoadcurveError) as caught:
        loadcurve.read(folder)
    assert str(caught.value).splitlines() == [f"{folder}/factors.csv:{fault}" for fault in faults]


@pytest.mark.parametrize(
    ("factors", "said"),
    [
        ({"connections": "x("}, "factor connections must be a regular expression"),
        ({"connections": "n(.)"}, "factor connections must be a pattern that matches the name of a report, got 'n"),
        ({"connections": "(c)"}, "factor connections must be a whole number from 0, as its pattern finds it in c1.txt"),
        ({"run_id": "(c)"}, "factor must be none of study, run_id"),
        ({"variant": r"(c)\1"}, "factor variant must be a regular expression without look-around and back-references"),
        # The module re would search for the end of this for longer than the universe is old.
        ({"variant": "(a+)+$"}, "factor variant must be a pattern that matches the name of a report, got '(a+)+$'"),
    ],
)
def test_a_wrong_pattern_is_refused(tmp_path, factors, said):
    with pytest.raises(ValueRuleError) as caught:
        loadcurve.read(put(tmp_path, {"c1.txt": WRK, f"{'a' * 200}!.txt": WRK}), factors=factors)
    assert str(caught.value).startswith(said)


@pytest.mark.parametrize("text", ["connections", "=c", "connections=", "a b=c", r"connections=c(\d+"])
def test_a_wrong_flag_is_refused(text):
    with pytest.raises(ValueRuleError):
        parse_factor(text)


def test_facts_in_names_on_the_command_line(tmp_path):
    folder = put(tmp_path, {f"c{n}.json": (FOLDERS / "json_tools" / f"rate{n}.vegeta.json").read_text() for n in RATES})

    def run(*argv):
        return CliRunner().invoke(app, ["analyse", *map(str, argv)])

    found = run(folder, "--factor", r"kernel=c(\d)")
    assert found.exit_code == 0 and "kernel of 3 runs: names of files" in found.output
    assert str(run(folder, "--factor", "kernel").exception).startswith(
        "factor must be NAME=REGEX, such as connections="
    )
    assert loadcurve.read(folder / "c250.json", factors={"kernel": "c"}).tables["runs"]["kernel"].tolist() == ["c"]


def test_a_file_of_factors_anywhere_counts_more_than_that_of_the_folder(tmp_path, monkeypatch):
    """It may be about several folders, and lie among the raw files without being one."""
    for name in ("a", "b"):
        put(tmp_path / name, {"c1.txt": WRK, "c2.txt": OTHER, "factors.csv": "file,kernel,tool_version\nc1,6.1,1\n"})
    facts = tmp_path / "a" / "facts.csv"
    facts.write_text("file,kernel\nc1.txt,6.18\n../b/c2.txt,5.4\n")
    monkeypatch.chdir(tmp_path)
    given = GivenFactors({"word": "c"}, facts)
    first, second = (loadcurve.read(name, factors=given) for name in ("a", "b"))
    of = [part.tables["runs"].set_index("run_id")["kernel"].dropna().to_dict() for part in (first, second)]
    assert of == [{"c1": 6.18}, {"c1": 6.18, "c2": 5.4}]
    assert first.warnings == (
        f"{facts}:3: ../b/c2.txt names no report in a",
        f"kernel differs between {facts} and factors.csv: c1 (6.18, 6.1); {facts} counts",
    )
    assert f"kernel of 2 runs: {facts}" in second.origins and "word of 2 runs: names of files" in str(second.origins)
    own = loadcurve.read("a", factors=tmp_path / "a" / "factors.csv")
    assert own.tables["runs"]["kernel"].dropna().tolist() == [6.1]
    facts.write_text("file,kernel\nc9,6.18\n")
    with pytest.raises(LoadcurveError, match=r"facts.csv:2: expected the name of a file with a report .* got 'c9'"):
        loadcurve.read("a", factors=facts)


@pytest.mark.slow
@pytest.mark.parametrize("command", ["analyse", "audit", "compare", "history", "ingest"])
def test_every_command_takes_facts_and_reports_their_origin(tmp_path, called, command):
    for name in ("a", "b"):
        put(tmp_path / name, {"c1.txt": WRK, "c2.txt": OTHER})
    facts = tmp_path / "facts.csv"
    facts.write_text("file,kernel\nc1,6.18\nc2,6.18\n")
    more = ("--format", "csv", "-o", tmp_path / "out") if command == "ingest" else ()
    options = ("--factors", facts, "--factor", "word=(c)", *more)
    code, out, err = called(command, tmp_path / "a", tmp_path / "b", *options)
    assert code == 0
    for fact in (f"kernel of 2 runs: {facts}", "word of 2 runs: names of files, by the pattern (c)"):
        assert command == "history" or " ".join((out + err).split()).count(fact) == 2
    if command == "ingest":
        levels = pd.read_csv(tmp_path / "out" / "factors.csv", dtype=str)
        assert levels.groupby("factor")["level"].unique().map(list).to_dict() == {"kernel": ["6.18"], "word": ["c"]}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["wrk_only", "wrk_monitors", "ab_sar", "json_tools", "garbled"])
def test_ingest_names_the_runs_as_read_does(name, tmp_path, called, monkeypatch):
    """Table for table and row for row, also when the tables wait on disk and are written in a part for each file."""
    monkeypatch.setattr(on_disk, "_SMALL", 5)
    monkeypatch.setattr(raw_folder, "_PART_ROWS", 1)
    monkeypatch.setattr(many_files, "_WORTH_WORKERS_S", 0.0)
    _, out, _ = called("ingest", FOLDERS / name, "--jobs", 1, "--format", "parquet", "-o", tmp_path)
    found = loadcurve.read(FOLDERS / name).tables
    assert {path.stem for path in tmp_path.glob("*.parquet")} == set(found)
    assert out.startswith(f"{tmp_path}: runs {len(found['runs'])}, ")
    for table, rows in found.items():
        written = pd.read_parquet(tmp_path / f"{table}.parquet")
        pd.testing.assert_frame_equal(written, rows[list(written)], check_dtype=False)


@pytest.mark.slow
@pytest.mark.parametrize("installed", [True, False])
def test_a_binary_recording_in_an_own_folder(tmp_path, monkeypatch, installed):
    """Every reader converts what sysstat's own collector wrote, or says how to."""
    if not SADC.exists():
        pytest.skip("sysstat is not installed")
    folder = put(tmp_path / "mine", {"c64.wrk.txt": WRK})
    subprocess.run([SADC, "1", "2", folder / "c64.sa"], check=True, timeout=120)
    if not installed:
        monkeypatch.setattr(sadf, "which", lambda program: None)
    readers = {
        "read": lambda: loadcurve.read(folder),
        "files": lambda: read_sources([str(path) for path in folder.iterdir()]),
    }
    for read in readers.values():
        found = read()
        if installed:
            assert set(found.tables["cpu"]["run_id"]) == {"c64"} and not found.warnings
        else:
            (warning,) = found.warnings
            assert re.search(r"c64\.sa: expected .*`sadf -j FILE -- -A > FILE.json` .*apt-get install sysstat", warning)
    assert len(loadcurve.read_table("cpu", folder)) == (len(readers["read"]().tables["cpu"]) if installed else 0)
    assert installed or "sadf -j" in " ".join(loadcurve.read_warnings(folder))


RATES = (250, 1000, 4000)
OTHER = WRK.replace("64 connections", "128 connections")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["wrk_only", "wrk_monitors", "ab_sar", "json_tools", "garbled"])
def test_the_audit_and_the_analysis_take_what_read_returns(name):
    """As it is, as tables, and as a path; the cut reports of `garbled` are findings."""
    folder = FOLDERS / name
    parsed = loadcurve.read(folder, factors={"kind": "(c|vus|rate)"})
    findings = audit(parsed)
    pd.testing.assert_frame_equal(findings, audit(parsed.tables))
    assert len(audit(str(folder))) == len(findings) > 0
    curves = analyse(parsed).curves
    assert any(len(curve.levels) for curve in curves)


def test_a_factor_of_ones_own_divides_the_curves():
    """Runs whose only difference is an undeclared factor are not repeats of one point."""
    found = analyse(loadcurve.read(FOLDERS / "json_tools", factors={"engine": r"\.(k6|vegeta)\."}))
    assert len({curve.variant for curve in found.curves}) == len(found.curves)
    assert "engine of 10 runs: names of files, by the pattern \\.(k6|vegeta)\\." in found.origins


def test_a_folder_of_odd_files_gives_what_can_be_read():
    found = loadcurve.read(FOLDERS / "garbled")
    runs = found.tables["runs"].set_index("run_id")
    assert sorted(runs.index) == ["c16", "c4", "c8", "vus2"]
    assert runs["throughput_rps"][["c16", "c4"]].tolist() == [7040.09, 2457.55]  # as printed; ab's was cut after it
    assert runs["throughput_rps"].isna()["c8"]
    assert found.tables["cpu"]["run_id"].unique().tolist() == ["c16"]
    refused = [w.split(": ")[1].split(":")[0].rpartition("/")[2] for w in found.warnings if w.startswith("not read")]
    assert refused == ["README.md", "c32.wrk.txt", "openssl.txt", "trace.bin"]


def test_the_readers_of_notebooks_take_a_folder(tmp_path):
    folder = tmp_path / "mine"
    shutil.copytree(FOLDERS / "ab_sar", folder)
    curves = loadcurve.read_curves(folder)
    assert curves.set_index("run_id")["connections"].to_dict() == {f"c{n}": n for n in (1, 2, 4, 8, 16, 32, 64)}
    assert curves["study"].unique().tolist() == ["mine"]  # groups by study keep its rows
    assert curves["variant"].unique().tolist() == [UNNAMED]
    assert set(loadcurve.read_table("cpu", folder)["run_id"]) == set(curves["run_id"])
    assert loadcurve.read_table("balancer", folder).empty
    assert loadcurve.read_machine(folder).empty
    study = loadcurve.describe_study(folder)
    assert (study.study, study.factors) == ("mine", {"connections": (1, 2, 4, 8, 16, 32, 64)})
    assert any("ab warns" in warning for warning in loadcurve.read_warnings(folder))
    (folder / "factors.csv").write_text("file,variant\n" + "".join(f"c{n},new\n" for n in (1, 2, 4, 8, 16, 32, 64)))
    assert loadcurve.read_curves(folder)["variant"].unique().tolist() == ["new"]  # a changed folder is read again
    assert loadcurve.describe_study(folder).variants == {"new": {}}
    assert loadcurve.read_warnings(folder)[-1] == "variant of 7 runs: factors.csv"


def test_the_readers_of_notebooks_refuse_an_empty_folder(tmp_path):
    with pytest.raises(LoadcurveError, match="got no files"):
        loadcurve.read_curves(tmp_path)


PATHS = st.lists(st.sampled_from(["a", "b", "c1", "c1.wrk.txt", "c1.txt", "c1-1.log", "x.log", "wrk.txt"]), min_size=1,
                 max_size=3).map(lambda parts: PurePosixPath(*parts))  # fmt: skip


@given(st.dictionaries(PATHS, st.integers(1, 11), min_size=1, max_size=8))
def test_each_report_has_a_name_of_its_own(reports):
    named = name_runs(reports)
    names = [name for some in named.values() for name in some]
    assert len(names) == len(set(names)) == sum(reports.values())


def reported(name, connections, written):
    report = {"generator": 0, "connections": connections, "duration_s": 4.0}
    return RawFile(PurePosixPath(name), name, Tables({"runs": [report]}), written)


def sampled(name, *times):
    cpu = pd.DataFrame({"cpu": "all", "time": pd.to_datetime(times, unit="s", utc=True)})
    return RawFile(PurePosixPath(name), name, Tables({"cpu": cpu}))


@given(st.permutations(range(8)))
def test_the_order_of_the_files_changes_nothing(order):
    """Runs of 4 s, ten seconds apart: at 5, 15, 25, 35 and 45 s."""
    names = ["c1.txt", "c2.txt", "x/c1.txt", "y/c1.txt", "y/c2.txt"]
    files = [reported(name, i, 10.0 * i + 9) for i, name in enumerate(names)]
    files += [sampled("c2.sar.txt", 14, 18, 20), sampled("all.txt", 4, 6, 26, 48, 52), sampled("y/c2.sar.txt", 44, 50)]
    matched = read_raw_folder([files[i] for i in order], Path("mine"))
    cpu = matched.tables["cpu"].sort_values(["source", "time"])
    assert cpu["run_id"].fillna("").tolist() == ["", "c1", "x", "y/c2", "", "c2", "c2", "c2", "y/c2", "y/c2"]
    assert {run: file.source for run, file in matched.runs.items()} == {
        "c1": "c1.txt", "c2": "c2.txt", "x": "x/c1.txt", "y/c1": "y/c1.txt", "y/c2": "y/c2.txt"
    }  # fmt: skip


def started(name, at):
    report = {"generator": 0, "duration_s": 4.0, "started_at": pd.Timestamp(at, unit="s", tz="UTC")}
    return RawFile(PurePosixPath(name), name, Tables({"runs": [report]}))


@pytest.mark.parametrize(
    ("monitor", "runs", "elapsed", "warning"),
    [
        (sampled("all.txt", 9, 10, 12, 14, 20, 23, 40), ["", "a", "a", "a", "b", "b", ""], [0, 2, 4, 0, 3],
         "all.txt: 2 of 7 rows have a time outside all runs and belong to no run"),
        (sampled("a.sar.txt", 9, 11, 15), ["a", "a", "a"], [-1, 1, 5], ""),  # before and after its run too
        (sampled("a.sar.txt", 21, 22), ["b", "b"], [1, 2],
         "a.sar.txt: named like run a, but its times are those of other runs"),
        (sampled("a.sar.txt", 3610, 3612), ["a", "a"], [3600, 3602],
         "a.sar.txt: its times are not those of run a, to which its name assigns it: name the time zone of its times "
         "(timezone=, --timezone), or check the clock of its host"),
    ],
)  # fmt: skip
def test_rows_belong_to_the_run_that_printed_its_start(monitor, runs, elapsed, warning):
    """a runs from 10 to 14 s, b from 20 to 24 s."""
    matched = read_raw_folder([started("a.json", 10), started("b.json", 20), monitor], Path("mine"))
    cpu = matched.tables["cpu"]
    assert cpu["run_id"].fillna("").tolist() == runs
    assert cpu["elapsed_s"].dropna().tolist() == elapsed
    assert matched.warnings == ([warning] if warning else [])


@given(
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 9)), max_size=5),
    st.lists(st.integers(-2, 50) | st.just(np.nan), max_size=12),
)
def test_a_time_belongs_to_the_run_that_includes_it(windows, times):
    """Against the definition, time by time; a time at the start of a run that is the end of another is not its own."""
    spans = [(float(start), float(start + length)) for start, length in windows]
    ends = {end for _, end in spans}
    found = assign(np.array(times, float), spans)
    for time, place in zip(times, found, strict=True):
        held = [i for i, (a, b) in enumerate(spans) if (a < time if a in ends else a <= time) and time <= b]
        assert place == (held[0] if len(held) == 1 else -2 if held else -1)


@pytest.mark.parametrize(("hosts", "named"), [(("client", "server"), {"client", "server"}), (("vm", "vm"), set())])
def test_headings_of_several_machines_name_the_host_of_their_rows(tmp_path, hosts, named):
    """Otherwise neither the processors of generator and server nor their clocks could be distinguished."""
    sar = (FOLDERS.parent / "sar" / "all-cpus.txt").read_text("utf-8")
    files = {f"c64.{place}.sar.txt": sar.replace("(vm)", f"({host})") for place, host in enumerate(hosts)}
    cpu = loadcurve.read(put(tmp_path, {"c64.wrk.txt": WRK, **files})).tables["cpu"]
    assert set(cpu["run_id"]) == {"c64"} and set(cpu["host"].dropna()) == named


def test_a_text_of_sar_is_of_the_host_that_sadf_names_beside_it():
    """Otherwise one machine counts as two, and each run as two in the intervals of the bottleneck report."""
    text = Tables({"hosts": [{"host": "vm"}], "tcp": [{"retransmits_pps": 1}]})
    recorded = Tables({"hosts": [{"host": "vm"}], "tcp": [{"host": "vm", "retransmits_pps": 1}]})
    both = name_hosts(RawFile(PurePosixPath(name), name, of) for name, of in (("a.txt", text), ("a.json", recorded)))
    assert [with_host(file, "tcp", file.tables.rows("tcp"))[0]["host"] for file in both] == ["vm", "vm"]


@pytest.mark.slow
def test_samples_that_are_printed_twice_count_once(monitored):
    """One recording of sar, printed section by section beside the whole, changes no number of the audit."""
    for level in LEVELS[3:]:
        (monitored / f"c{level}.wrk.txt").unlink()
    once = loadcurve.read(monitored)
    heading, *parts = SAR.split("\n\n")
    for name, column in (("cpu", " CPU "), ("dev", " rxpck/s "), ("tcp", " active/s "), ("etcp", " atmptf/s ")):
        own = [part for part in parts if column in part and "Average:" not in part]
        (monitored / f"{name}.sar.txt").write_text("\n\n".join([heading, *own]) + "\n", "utf-8")
    again = loadcurve.read(monitored)
    assert len(again.tables["cpu"]) == 2 * len(once.tables["cpu"])
    judged = [audit(found)[["run_id", "rule", "severity", "evidence"]].astype(str) for found in (once, again)]
    assert judged[0].equals(judged[1])
