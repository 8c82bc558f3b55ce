"""Folders with dashboards of JMeter: each run once, and a line for all the parts of its pages."""

import json
import shutil
from pathlib import Path

import pytest

from loadcurve.analysis import analyse
from loadcurve.ingest.sniff import parse
from loadcurve.reading import read

DATA = Path(__file__).parent / "data"
SAMPLE = "{at},{took},Home,200,OK,Users 1-{user},text,true,,523,123,4,4,http://198.18.0.3/,{took},0,1"
HEADER = (
    "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,sentBytes,"
    "grpThreads,allThreads,URL,Latency,IdleTime,Connect"
)


def statistics_of(times, seconds):
    ranked = sorted(times)
    total = {"transaction": "Total", "sampleCount": len(times), "errorCount": 0, "errorPct": 0.0}
    total |= {"meanResTime": sum(times) / len(times), "minResTime": ranked[0], "maxResTime": ranked[-1]}
    total |= {"medianResTime": ranked[len(times) // 2], "pct1ResTime": ranked[-10], "pct2ResTime": ranked[-5]}
    total |= {"pct3ResTime": ranked[-1], "throughput": len(times) / seconds, "receivedKBytesPerSec": 51.0}
    return {"Total": total, "Home": total | {"transaction": "Home"}}


def write_run(folder):
    """Write what ``jmeter -n -t plan.jmx -l result.jtl -e -o dashboard`` leaves, in small."""
    times = [20 + 7 * i % 60 for i in range(400)]
    starts = [1795383533000 + 100 * i for i in range(400)]
    rows = [
        SAMPLE.format(at=at, took=took, user=i % 4 + 1) for i, (at, took) in enumerate(zip(starts, times, strict=True))
    ]
    page = "<!DOCTYPE html>\n<html><head><title>Apache JMeter Dashboard</title></head></html>\n"
    pages = folder / "dashboard" / "content"
    library = folder / "dashboard" / "sbadmin2-1.0.7" / "bower_components" / "flot"
    for place in (pages / "js", pages / "css", pages / "pages", library):
        place.mkdir(parents=True)
    (folder / "result.jtl").write_text("\n".join([HEADER, *rows, ""]))
    seconds = (starts[-1] + times[-1] - starts[0]) / 1000
    (folder / "dashboard" / "statistics.json").write_text(json.dumps(statistics_of(times, seconds), indent=2))
    for name in ("index.html", "content/pages/OverTime.html", "content/pages/Throughput.html"):
        (folder / "dashboard" / name).write_text(page)
    for name in ("dashboard.js", "graph.js"):
        (pages / "js" / name).write_text('var data = {"result": {"series": [{"data": [[0.0, 1.0]]}]}};\n')
    (pages / "css" / "dashboard.css").write_text(".btn { color: #fff; }\n")
    for at in range(20):
        (library / f"part{at}.js").write_text("/* Requests/sec:   100.00 */\n")
    (library / "README.md").write_text("# Flot\n")


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("jmeter")
    for number in (1, 2, 3):
        write_run(folder / f"run{number}")
    return folder


def test_the_samples_and_their_dashboard_are_one_run(runs):
    found = analyse(runs)
    assert [(curve.runs["requests"].tolist(), curve.runs["connections"].tolist()) for curve in found.curves] == [
        ([400] * 3, [4] * 3)
    ]
    assert sum("sums up the samples of" in line for line in found.origins) == 3


def test_a_dashboard_alone_is_a_run(runs, tmp_path):
    shutil.copytree(runs / "run1" / "dashboard", tmp_path / "run1" / "dashboard")
    assert read(tmp_path).tables["runs"]["requests"].tolist() == [400]


def test_parts_of_pages_are_one_line(runs):
    """3 dashboards have 80 files that are no reports."""
    found = analyse(runs)
    assert len(found.not_read) == 1
    assert found.not_read[0].endswith("and 5 more")
    assert [line for line in found.warnings if line.endswith("not read (.css, .js, bower_components/)")]
    assert "README" not in str(found)
    assert len(str(found).splitlines()) < 90


def test_equal_warnings_are_one_with_the_files(tmp_path):
    for number in (1, 2, 4, 8, 16):
        text = (DATA / "ab" / "flaky.txt").read_text("utf-8")
        (tmp_path / f"c{number}.txt").write_text(
            text.replace("Concurrency Level:      10", f"Concurrency Level:      {number}")
        )
    shown = " ".join(str(analyse(tmp_path)).split())
    assert shown.count("ab prints whole milliseconds") == 1, shown


@pytest.mark.parametrize(
    ("fragment", "report"),
    [
        ("Status code distribution:\n  [200]\t200 responses\n", "hey/plain"),
        ("Status code distribution:\n  [200] 5 responses\n", "oha/text"),
        ("  Latency Distribution\n     50%    1.00ms\n     75%    2.00ms\n", "wrk/latency"),
        (
            "Percentage of the requests served within a certain time (ms)\n  50%   1\n 100%   3 (longest request)\n",
            "ab/sleep",
        ),
        ("Status Codes  [code:count]  200:100\n", "vegeta/text"),
    ],
)
def test_a_table_before_the_whole_report_is_no_run(fragment, report):
    text = (DATA / f"{report}.txt").read_text("utf-8")
    found, whole = parse(f"{fragment}\n{text}"), parse(text)
    for name in ("requests", "throughput_rps"):
        assert found.tables["runs"][name].tolist() == whole.tables["runs"][name].tolist()
    assert any("a whole report is in the same text" in warning for warning in found.warnings)
    assert len(found.tables["latency"]) == len(whole.tables["latency"])


def test_a_failed_run_beside_a_whole_one_is_kept():
    aborted, whole = ((DATA / "ab" / f"{name}.txt").read_text("utf-8") for name in ("aborted", "sleep"))
    assert parse(aborted + whole).tables["runs"]["status"].tolist() == ["failed", "finished"]
