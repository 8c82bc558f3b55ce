"""Rate and correction of reports that do not print them, from the command in the same text or in the record."""

from pathlib import Path

import pandas as pd
import pytest

from loadcurve.ingest.load_options import options_of
from loadcurve.ingest.sniff import parse

DATA = Path(__file__).parents[1] / "data"
URL = "http://198.18.0.3/"


@pytest.mark.parametrize(
    ("case", "command", "rate", "corrected"),
    [
        ("oha/text", "oha -z 10s -q 100 --latency-correction URL", 100, True),
        ("oha/text", "oha -z 10s -q 100 URL", 100, False),
        ("oha/json", "oha -c 4 -z 1s --output-format json URL", None, False),
        ("oha/json", "oha -c 4 -z 1s -q 70000 --latency-correction --output-format json URL", 70_000, True),
        ("oha/json", "oha -c 4 -z 1s --latency-correction --output-format json URL", None, False),  # no request is due
        ("hey/flaky", "hey -z 2s -q 25 -c 4 URL", 100, False),  # of each worker
        ("hey/flaky", "hey -z 2s -q=2 URL", 100, False),  # fifty workers
        ("hey/plain", "hey -n 20000 -c 32 URL", None, False),
        ("hey/flaky", "hey -z 2s -q 50 -c 1 URL", None, False),  # the report has twice that rate: of another run
        ("h2load/timed", "h2load --h1 -D 2 -c 32 --rps 4000 URL", 128_000, False),  # of each client
        ("wrk2/rate2000", "wrk2 -t1 -c32 -d12s -R2000 --latency URL", 2000, True),
        ("wrk2/rate2000", "wrk2 -t1 -c32 -d12s --rate 2k --latency URL", 2000, True),
        ("k6/text-1", "k6 run --rps 2000 script.js", 2000, False),
        ("vegeta/text", "echo GET URL | vegeta attack -rate=7 | vegeta report", ..., False),  # it prints the rate
        ("fortio/text", "fortio load -qps 7 URL", ..., False),
    ],
)  # fmt: skip
@pytest.mark.parametrize("around", ["$ COMMAND\n", "root@bench:~# time ./COMMAND | tee report.txt\n"])
def test_the_command_in_a_text_tells_what_the_report_does_not(case, command, rate, corrected, around):
    report = (DATA / f"{case}.txt").read_text("utf-8")
    alone = parse(report).tables["runs"].iloc[0]
    tables = parse(around.replace("COMMAND", command.replace("URL", URL)) + report).tables
    run = tables["runs"].iloc[0]
    expected = alone.get("target_rate_rps") if rate is ... else rate
    assert run.get("target_rate_rps") == expected or (rate is None and pd.isna(run.get("target_rate_rps", pd.NA)))
    assert run["latency_corrected"] == corrected
    if case.startswith("oha"):
        assert set(tables["latency"]["corrected"]) == {corrected}
    if "-c 4 " in command:
        assert run["connections"] == 4
    same = [name for name in alone.index if name not in ("target_rate_rps", "latency_corrected", "connections")]
    assert run[same].equals(alone[same])


@pytest.mark.parametrize(
    "text",
    [
        "REPORT",
        "$ oha -q 100 URL\n$ oha -q 200 URL\nREPORT",  # two commands, one report
        "oha is a tool with the option -q 100.\nREPORT",
        "we measured with aloha -q 100 URL\nREPORT",
        "$ cat oha.txt\nREPORT",
    ],
)
def test_without_one_command_for_each_report_nothing_is_assumed(text):
    report = (DATA / "oha/text.txt").read_text("utf-8")
    runs = parse(text.replace("REPORT", report).replace("URL", URL)).tables["runs"]
    assert "target_rate_rps" not in runs or runs["target_rate_rps"].isna().all()


def test_reports_and_commands_are_paired_in_their_order():
    report = (DATA / "oha/text.txt").read_text("utf-8")
    runs = parse("".join(f"$ oha -q {rate} \\\n -c 8 {URL}\n{report}" for rate in (100, 101))).tables["runs"]
    assert runs["target_rate_rps"].tolist() == [100, 101]


def test_a_record_holds_the_command_behind_others():
    argv = ["setpriv", "--pdeathsig", "TERM", "taskset", "-c", "1", "wrk2", "-R2000", "-t1", "-c8", "-d2s", URL]
    assert options_of("wrk2", argv) == {"target_rate_rps": 2000}
    assert options_of("wrk", argv) == options_of("oha", argv) == {}
