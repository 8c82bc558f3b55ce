"""Reports that contradict themselves, of every tool: response times, rates, keys of JSON that stand twice."""

import json
import re
from pathlib import Path

import pytest
from one_test import in_one_test

from loadcurve.errors import ParseError
from loadcurve.ingest.clean import clean
from loadcurve.ingest.form import contradictions
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.registry import FORMS, form_of
from loadcurve.ingest.sniff import parse

DATA = Path(__file__).parents[1] / "data"
TOOLS = {form.tool for form in FORMS}
CASES = sorted(p.with_suffix("") for p in DATA.glob("*/*.json") if p.parent.name in TOOLS)
LOAD = ("wrk", "wrk2", "ab", "weighttp", "hey", "oha", "ghz", "h2load", "k6", "vegeta", "fortio", "siege", "httperf")
KNOWN = ("over the maximum", "over the mean", "over the quantile", "over the median", "over the whole range")


def text_of(case):
    return case.with_suffix(".txt").read_bytes().decode("utf-8")


def rows_of(case):
    expected = json.loads(case.with_suffix(".json").read_text(encoding="utf-8"))
    parsed = form_of(case.parent.name, expected.get("variant", "")).parse(clean(text_of(case)))
    return parsed.tool, {name: parsed.tables[name].to_dict("records") for name in ("runs", "latency", "phases")
                         if name in parsed.tables}  # fmt: skip


@in_one_test("case", [c for c in CASES if c.parent.name in LOAD], ids=lambda c: c.name, by=lambda c: c.parent.name)
def test_each_tool_is_quiet_until_its_times_contradict_each_other(case):
    tool, tables = rows_of(case)
    assert contradictions(Parsed(tool, tables)) == []
    for row in tables.get("runs", []):
        for less, more in (("mean", "max"), ("min", "mean"), ("min", "max")):
            low, high = row.get(f"latency_{less}_s"), row.get(f"latency_{more}_s")
            measured = "mean" not in (less, more) or row.get("latency_origin") == "measured"
            if low and high and low > 0 and high > 0 and measured:
                wrong = {**row, f"latency_{less}_s": 1.05 * high}
                said = contradictions(Parsed(tool, {**tables, "runs": [wrong]}))
                assert any(part in sentence for sentence in said for part in KNOWN), (less, more, said)
    rising = [row for row in tables.get("latency", []) if row["latency_s"] > 0]
    if len(rising) > 2 and rising[0]["latency_s"] < 0.9 * rising[-1]["latency_s"]:
        fallen = [{**rising[0], "latency_s": 1.05 * rising[-1]["latency_s"]}, *rising[1:]]
        assert any(
            "the quantile" in sentence for sentence in contradictions(Parsed(tool, {**tables, "latency": fallen}))
        )


@pytest.mark.parametrize(
    ("case", "right", "wrong", "said"),
    [
        ("wrk/latency", "605.10us", "605.10ms", "the mean response time of 605 ms is over the maximum of 15.9 ms"),
        (
            "siege/text",
            "Longest transaction:           30.08",
            "Longest transaction:            3.08",
            "over the maximum",
        ),
        ("vegeta/json", '"95th": 3478629', '"95th": 3978629', "the quantile 0.95 of 3.98 ms is over the maximum"),
        ("vegeta/json", '"90th": 3228223', '"90th": 3628223', "the quantile 0.9 of 3.63 ms is over the quantile 0.95"),
        ("vegeta/json", '"min": 1949582', '"min": 2949582', "the minimum response time of 2.95 ms is over the mean"),
        ("fortio/json", '"Min": 0.001,', '"Min": 0.1,', "the minimum response time of 100 ms is over the"),
        ("k6/summary-export", '"min": 0.0402', '"min": 0.0402', ""),
        ("hey/plain", "Slowest:\t0.0055", "Slowest:\t0.0005", "over the maximum"),
    ],
)
def test_a_report_that_cannot_be_is_kept_and_warned_of(case, right, wrong, said):
    text = text_of(DATA / case)
    assert right in text
    plain, odd = parse(text), parse(text.replace(right, wrong, 1))
    assert len(odd.tables["runs"]) == len(plain.tables["runs"])
    more = [warning for warning in odd.warnings if "which cannot be" in warning]
    assert not any("which cannot be" in warning for warning in plain.warnings)
    assert any(said in warning for warning in more) if said else not more, odd.warnings


FAILED_CALLS = """Ended after 2s : 100 calls. qps=50
Aggregated Function Time : count 100 avg 0.002 +/- 0.0001 min 0.001 max 0.003 sum 0.2
>= 0.001 <= 0.003 , 0.002 , 100.00, 100
# target 50% 0.002
Code  -1 : 100 (100.0 %)
All done 100 calls (plus 0 warmup) 2.000 ms avg, 50.0 qps
"""
NO_SUCCESS = """Summary:
  Success rate:\t0.00%
  Total:\t0.1 secs
  Average:\t0.0000 secs
  Requests/sec:\t200.0

Error distribution:
  [20] Connection refused
"""
REFUSED = """Requests      [total, rate, throughput]         50, 51.04, 0.00
Duration      [total, attack, wait]             979.927ms, 979.613ms, 314.413µs
Latencies     [min, mean, 50, 90, 95, 99, max]  164µs, 290.957µs, 268.115µs, 393.918µs, 417.02µs, 820.052µs, 820.052µs
Bytes In      [total, mean]                     0, 0.00
Success       [ratio]                           0.00%
Status Codes  [code:count]                      0:50
"""


@pytest.mark.parametrize(("tool", "text"), [("fortio", FAILED_CALLS), ("oha", NO_SUCCESS), ("vegeta", REFUSED)])
def test_without_a_response_there_is_no_response_time(tool, text):
    """What is printed is 0, or the time until a connection failed; of the other tools there is a fixture."""
    parsed = form_of(tool, "").parse(text)
    run = parsed.tables["runs"].iloc[0]
    assert run["requests"] == 0
    assert run.filter(regex="^latency_.*_s$").dropna().empty
    assert not any(len(parsed.tables[name]) for name in ("latency", "histogram") if name in parsed.tables)
    assert sum("check the address and that the server listens" in warning for warning in parsed.warnings) == 1


def test_a_rate_that_is_not_the_requests_of_the_time():
    row = {"generator": 0, "requests": 1000, "duration_s": 10.0, "throughput_rps": 500.0}
    assert "500 requests/s over 10.0 s is not the 1,000 requests" in contradictions(Parsed("siege", {"runs": [row]}))[0]
    assert contradictions(Parsed("siege", {"runs": [{**row, "throughput_rps": 101.0}]})) == []


@pytest.mark.parametrize(
    "case", [c for c in CASES if re.match(r"\s*[{\[]\s*[{\"]", text_of(c))], ids=lambda c: f"{c.parent.name}-{c.name}"
)
def test_a_key_that_stands_twice_is_warned_of(case):
    """In every form of JSON: the first key with a number as its value is printed a second time."""
    text = text_of(case)
    assert not any("stands twice" in warning for warning in parse(text).warnings)
    twice, count = re.subn(r'("[^"\n]+"\s*:\s*"?[0-9.]+"?)(?=\s*[,}])', r"\1, \1", text, count=1)
    assert count
    try:
        warnings = parse(twice).warnings
    except ParseError:
        return
    assert any("occurs twice in an object of this JSON" in warning for warning in warnings), warnings
