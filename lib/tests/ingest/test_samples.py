"""Each sample of data/samples/provenance.csv gives the tables it is listed with, or is refused with its line.

The numbers are looked up in the text by a pattern of this test, not by the parsers.
"""

import csv
import re
from pathlib import Path

import pytest
from one_test import in_one_test
from schema_faults import schema_faults

from loadcurve.errors import ParseError
from loadcurve.ingest.files import parse_bytes

DATA = Path(__file__).parents[1] / "data"
SAMPLES = DATA / "samples"
with (SAMPLES / "provenance.csv").open(encoding="utf-8", newline="") as _listed:
    PROVENANCE = {row["file"]: row for row in csv.DictReader(_listed)}

# Warnings that no sample may cause: of sar none at all, of ipvsadm only that a report ends early.
NOT_UNDERSTOOD = re.compile("not understood")
UNEXPECTED = {"sar": re.compile(""), "ipvsadm": re.compile(r"\A(?!.*ends inside)", re.DOTALL)}
# What the test itself finds in a text: table, column, pattern, factor.  Each match is a row, in order.
FOUND_AGAIN = {
    "wrk": [
        ("runs", "throughput_rps", r"^Requests/sec: +([0-9.]+)$", 1.0),
        ("runs", "requests", r"^ +([0-9]+) requests in ", 1.0),
        ("runs", "connections", r"threads and ([0-9]+) connections$", 1.0),
    ],
    "wrk2": [("runs", "throughput_rps", r"^Requests/sec: +([0-9.]+)$", 1.0)],
    "ab": [
        ("runs", "throughput_rps", r"^Requests per second: +([0-9.]+) ", 1.0),
        ("runs", "connections", r"^Concurrency Level: +([0-9]+)$", 1.0),
        ("runs", "received_bytes", r"^Total transferred: +([0-9]+) bytes$", 1.0),
        ("latency", "latency_s", r"^ +[0-9]+% +([0-9]+)", 1e-3),
        ("requests", "latency_s", r"^.* 2026\t[0-9]+\t[0-9]+\t[0-9]+\t([0-9]+)\t[0-9]+$", 1e-3),
    ],
    "h2load": [("runs", "throughput_rps", r", ([0-9.]+) req/s, ", 1.0)],
    "hey": [("runs", "throughput_rps", r"Requests/sec:\t([0-9.]+)$", 1.0)],
    "ss": [
        ("sockets", "total", r"^Total: ([0-9]+)", 1.0),
        ("sockets", "time_wait", r"timewait ([0-9]+)", 1.0),
        ("connections", "send_queue", r"^(?:tcp|udp|u_\w+|nl)? *(?:[A-Z][A-Z0-9-]+)? +[0-9]+ +([0-9]+) +\S*:", 1.0),
    ],
    "ipvsadm": [("balancer", "active", r"^  -> .* (?:Route|Masq|Local|Tunnel) +[0-9]+ +([0-9]+) +[0-9]+ *$", 1.0)],
    "nginx": [
        ("requests", "status", r'^.*" ([0-9]{3}) ', 1.0),
        ("server", "requests", r"^ [0-9]+ [0-9]+ ([0-9]+)", 1.0),
    ],
}


@pytest.mark.usefixtures("no_tool_is_started")
@in_one_test("name", PROVENANCE)
def test_sample(name):
    raw = (DATA / name).read_bytes()
    expected = PROVENANCE[name]["tables"]
    try:
        parsed = parse_bytes(raw, name)
    except ParseError as error:
        assert expected == "refused", str(error)
        assert re.match(rf"{re.escape(name)}(:[0-9]+)?: expected .+, got .+", str(error))
        return
    tool, _, wanted = expected.partition(": ")
    assert parsed.tool == tool
    filled = {table for table, frame in parsed.tables.items() if len(frame)}
    assert set(wanted.split()) <= filled
    text = raw.decode("utf-8")
    _found_again(text, parsed)
    assert [w for w in parsed.warnings if UNEXPECTED.get(tool, NOT_UNDERSTOOD).search(w)] == []
    if tool in ("wrk", "wrk2"):
        _statuses_of_wrk(name, text, parsed.tables["runs"]["status"])
    if name.endswith(".err") and "runs" in filled:
        runs = parsed.tables["runs"]
        assert runs["reason"].notna().all() if "failed" in runs["status"].tolist() else parsed.warnings


def _found_again(text, parsed):
    for table, column, pattern, factor in FOUND_AGAIN.get(parsed.tool, []):
        stated = [float(m[1]) * factor for m in re.finditer(pattern, text, re.MULTILINE)]
        if table in parsed.tables and stated:
            if table == "runs" and "failed" in parsed.tables["runs"].get("status", []).tolist():
                continue  # what a failed run counted is not throughput
            found = parsed.tables[table][column].dropna().tolist()
            assert found == pytest.approx(stated), (table, column)


def _statuses_of_wrk(name, text, status):
    assert status.ne("failed").sum() == text.count(" test @ ")
    assert status.eq("failed").sum() == (" test @ " not in text)
    assert status.eq("interrupted").any() == (name == "wrk/sigint.txt")


@pytest.mark.slow
def test_tables_fit_their_schemas():
    texts = [(name, (DATA / name).read_bytes()) for name, row in PROVENANCE.items() if row["tables"] != "refused"]
    assert schema_faults((name, parse_bytes(raw, name).tables) for name, raw in texts) == []


def test_each_sample_is_listed_with_its_provenance():
    files = {f"samples/{p.relative_to(SAMPLES)}" for p in SAMPLES.glob("*/*")}
    assert files == {name for name in PROVENANCE if name.startswith("samples/")}
    assert len(files) >= 150
    assert all(row["tool"] and row["command"] for row in PROVENANCE.values())
    sizes = {name: (DATA / name).stat().st_size for name in files}
    assert max(sizes.values()) < 50_000 and sum(sizes.values()) < 2_000_000
