"""wrk: what its own C code says, as properties; what stands around a report; what is refused; every sample at hand."""

import json
import math
import re
from pathlib import Path

import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

from loadcurve.errors import ParseError
from loadcurve.ingest.load.wrk import parse_wrk
from loadcurve.ingest.load.wrk_runs import number
from loadcurve.ingest.sniff import parse

DATA = Path(__file__).parents[2] / "data/wrk"
PLAIN = (DATA / "plain.txt").read_text()
LATENCY = (DATA / "latency.txt").read_text()


def format_units(n, scale, base, units):
    """What format_units does in wrk's src/units.c; its loop leaves out the last unit of each table."""
    unit = base
    for larger in units[:-1]:
        if n < scale * 0.85:
            break
        n, unit = n / scale, larger
    return f"{n:.2f}{unit}"


def format_time(us):
    return format_units(us / 1e6, 60, "s", "mh") if us >= 1e6 else format_units(us, 1000, "us", ["ms", "s"])


def format_bytes(n):
    return format_units(n, 1024, "", "KMGTP") + "B"


def format_count(n):
    return format_units(n, 1000, "", "kMGTP")


# A unit is changed at 0.85 of the next, so two decimals are within 0.005 / 0.85 = 0.6 % of the value.
@given(st.floats(0, 1e11))
def test_times_come_back(us):
    assert number("duration_s", format_time(us), 1, []) == pytest.approx(us * 1e-6, rel=0.006, abs=0.006e-6)


@given(st.floats(0, 1e15))
def test_sizes_and_counts_come_back(n):
    assert number("received_bytes", format_bytes(n), 1, []) == pytest.approx(n, rel=0.006, abs=0.006)
    assert number("mean_per_thread", format_count(n), 1, []) == pytest.approx(n, rel=0.006, abs=0.006)


@pytest.mark.slow
@examples(300)
@given(
    requests=st.integers(0, 10**10),
    size=st.integers(1, 10**7),
    us=st.integers(1, 10**11),
    latency=st.lists(st.integers(1, 10**8), min_size=4, max_size=4),
    errors=st.tuples(*[st.integers(0, 10**6)] * 4),
)
def test_reports_that_wrk_can_write_are_read(requests, size, us, latency, errors):
    low, *_, high = quantiles = sorted(latency)
    lines = [
        "Running 10s test @ http://127.0.0.1:8080/",
        "  2 threads and 64 connections",
        "  Thread Stats   Avg      Stdev     Max   +/- Stdev",
        f"    Latency   {format_time(low)} {format_time(1.5)} {format_time(high)} 97.47%",
        f"    Req/Sec   {format_count(requests)} {format_count(1.5)} {format_count(requests)} 87.50%",
        "  Latency Distribution",
        *(f"{p:7.0f}%{format_time(n):>10}" for p, n in zip((50, 75, 90, 99), quantiles, strict=True)),
        f"  {requests} requests in {format_time(us)}, {format_bytes(requests * size)} read",
    ]
    if any(errors):
        lines.append("  Socket errors: connect {}, read {}, write {}, timeout {}".format(*errors))
    lines.append(f"Requests/sec: {requests / us * 1e6:9.2f}")
    lines.append(f"Transfer/sec: {format_bytes(requests * size / us * 1e6):>10}")
    run = parse_wrk("\n".join(lines)).tables["runs"].iloc[0]
    assert run.requests == requests
    assert run.throughput_rps == pytest.approx(requests / us * 1e6, rel=1e-14, abs=0.005001)
    assert run.duration_s == pytest.approx(us * 1e-6, rel=0.006, abs=0.006e-6)
    assert tuple(run[f"errors_{name}"] for name in ("connect", "read", "write", "timeout")) == errors


def test_agrees_with_the_unrounded_numbers_a_lua_script_printed():
    text = (DATA / "lua-done.txt").read_text()
    exact = json.loads(text.split("JSON ")[1])
    parsed = parse_wrk(text)
    run = parsed.tables["runs"].iloc[0]
    assert run.requests == exact["requests"]
    assert run.duration_s == pytest.approx(exact["duration_us"] * 1e-6, abs=0.005)
    assert run.received_bytes == pytest.approx(exact["bytes"], abs=0.005 * 1024**2)
    assert run.latency_mean_s == pytest.approx(exact["lat_mean"] * 1e-6, abs=0.005e-6)
    assert run.latency_stdev_s == pytest.approx(exact["lat_stdev"] * 1e-6, abs=0.005e-3)
    assert run.latency_max_s == pytest.approx(exact["lat_max"] * 1e-6, abs=0.005e-3)
    for row in parsed.tables["latency"].itertuples():
        assert row.latency_s == pytest.approx(exact[f"p{row.quantile * 100:g}"] * 1e-6, abs=0.005e-3)


@pytest.mark.parametrize(
    ("right", "wrong", "line"),
    [
        ("269667 requests", "270867 requests", 7),  # under 0.24 % the rounding of 2.10s hides a change
        ("in 2.10s", "in 2.12s", 7),
        ("219.88MB", "229.88MB", 8),
        ("128408.94", "128908.94", 7),
        ("104.70MB", "105.70MB", 8),
        ("269667 requests", "26966 requests", 0),
        ("219.88MB", "219.88KB", 0),
    ],
)
def test_a_changed_digit_contradicts_the_other_numbers(right, wrong, line):
    text = PLAIN.replace(right, wrong)
    if line:
        assert any(f"line {line}: expected" in warning for warning in parse_wrk(text).warnings)
    else:  # more than a factor of two
        with pytest.raises(ParseError, match="duration, which is"):
            parse_wrk(text)


@pytest.mark.parametrize("text", ["", "\n\n", "Hello\n", "wrk is a load generator\n", "50%  1.20ms\n"])
def test_no_report(text):
    with pytest.raises(ParseError, match="a wrk report"):
        parse_wrk(text)


def test_a_reason_that_may_be_cut_is_missing():
    parsed = parse_wrk("unable to connect to 198.18.0.3:9999 Connection refu")
    assert "reason" not in parsed.tables["runs"]
    assert "may be cut" in parsed.warnings[0]


@pytest.mark.parametrize("kept", range(2, 6))
def test_a_report_cut_after_a_line_keeps_what_it_has(kept):
    parsed = parse_wrk("\n".join(PLAIN.split("\n")[:kept]) + "\n\n")
    run = parsed.tables["runs"].iloc[0]
    assert (run.threads, run.connections, "status" in run, "requests" in run) == (1, 32, False, False)
    assert any(f"line {kept}: " in warning for warning in parsed.warnings)


def test_a_number_cut_at_the_end_is_not_returned():
    """`2.75ms` and `2.75m` are both times that wrk prints; `128408` is no rate of wrk."""
    text = LATENCY[: LATENCY.index("2.55ms") + len("2.55m")]
    assert parse_wrk(text).tables["latency"]["quantile"].tolist() == [0.5, 0.75, 0.9]
    assert "throughput_rps" not in parse_wrk(PLAIN[: PLAIN.index("128408.94") + 6]).tables["runs"]
    timeouts = (DATA / "timeout.txt").read_text()
    cut = parse_wrk(timeouts[: timeouts.index("timeout 8") + len("timeout 8")]).tables["runs"]
    assert "errors_timeout" not in cut


def test_reports_follow_each_other_between_prompts():
    interrupted = LATENCY.replace("  Thread", "^C  Thread")
    parsed = parse_wrk(f"client:~$ wrk ...\n{PLAIN}\nclient:~$ wrk --latency ...\n{interrupted}client:~$")
    assert parsed.tables["runs"]["generator"].tolist() == [0, 1]
    assert parsed.tables["latency"]["generator"].tolist() == [1] * 4
    cut = parse_wrk("\n".join(PLAIN.split("\n")[:4]) + "\n" + LATENCY)
    assert cut.tables["runs"]["status"].isna().tolist() == [True, False]
    assert cut.tables["runs"]["latency_mean_s"].tolist() == pytest.approx([248.89e-6, 605.10e-6])
    assert "line 4: the report ends here" in cut.warnings[0]


@pytest.mark.parametrize("lost", [1, 2, 3])
def test_lost_first_lines_are_said(lost):
    text = "\n".join(PLAIN.split("\n")[lost:])
    parsed = parse(f"| run | threads |\n|---|---|\n| a | 1 |\n\n```\n{text}```\n") if lost < 3 else parse_wrk(text)
    run = parsed.tables["runs"].iloc[0]
    assert run.requests == 269667
    assert "url" not in run
    assert ("connections" in run) == (lost == 1)
    assert ("latency_max_s" in run) == (lost < 3)  # without its heading, the third column may be a percentile
    assert parsed.warnings


def test_lines_of_a_script_may_stand_inside():
    lines = PLAIN.split("\n")
    chatter = "\n".join(f"{line}\nthread 1: token" for line in lines[:-1]) + "\n"
    parsed = parse(chatter)
    plain = parse(PLAIN)
    assert parsed.tables["runs"].equals(plain.tables["runs"])
    assert all("not printed by wrk" in warning for warning in parsed.warnings)
    assert parsed.warnings


def test_prose_with_the_words_of_wrk_is_no_report():
    prose = "Latency is good\nRequests/sec: about 500\nThread Stats are great\nLatency Distribution is short\n"
    again = "Requests/sec: 128408.94\nNon-2xx or 3xx responses: none\nSocket errors: none\nKilled\n"
    parsed = parse(prose + PLAIN + again)
    assert parsed.tables["runs"].equals(parse(PLAIN).tables["runs"])
    assert all("outside a report" in warning for warning in parsed.warnings)


BACKGROUND = """Running 2s test @ http://a/
  1 threads and 32 connections
Running 2s test @ http://b/
  1 threads and 64 connections
"""


def test_reports_of_runs_in_the_background_are_given_only_what_is_sure():
    block = "\n".join(PLAIN.split("\n")[2:])
    parsed = parse_wrk(BACKGROUND + block + block)
    runs = parsed.tables["runs"]
    assert runs["threads"].tolist() == [1, 1]
    assert not {"url", "connections"} & set(runs)
    assert "which belong together is not known" in parsed.warnings[0]
    killed = BACKGROUND.replace("Running 2s test @ http://b/", "Killed\n$ wrk\nRunning 2s test @ http://b/")
    runs = parse_wrk(killed + block).tables["runs"]
    assert runs["url"].tolist() == ["http://a/", "http://b/"]
    assert runs["status"].tolist() == ["failed", "finished"]


def test_a_tool_with_the_same_heading_is_refused():
    text = "Running 5s test @ http://h:8080\n  8 goroutine(s) running concurrently\n9 requests in 4.9s, 19.57MB read\n"
    with pytest.raises(ParseError, match="another tool") as raised:
        parse(text)
    assert raised.value.line == 2


def test_wrk_1_has_another_heading_and_no_correction():
    text = PLAIN.replace("Running 2s test @", "Making 269667 requests to")
    assert parse_wrk(text).tables["runs"]["latency_corrected"].tolist() == [False]
    assert parse_wrk(PLAIN).tables["runs"]["latency_corrected"].tolist() == [True]


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ("     99%    2.55ms", "     99%    2.5ms", "line 10: '2.5ms'"),
        ("15.89ms", "70.2s", "line 4: '70.2s'"),
        ("616.txt", "616.txt (broke)", "line 1: '(broke)'"),
        ("550.00us", "550.00us <- median", "line 7: '<- median'"),
        ("90.98MB", "90.98MB # as thought", "line 13: what follows the #"),
        (
            "Transfer",
            "Socket errors: connect 1, read 2, write 0, timeout -1094967296\nTransfer",
            "line 13: -1094967296",
        ),
    ],
)
def test_what_people_changed_is_taken_with_a_warning(right, wrong, said):
    parsed = parse_wrk(LATENCY.replace(right, wrong))
    assert any(warning.startswith(said) for warning in parsed.warnings)
    assert parsed.tables["runs"]["requests"].tolist() == [223240]


@pytest.mark.parametrize("odd", ["-nan%", "nan%"])
def test_nan_is_missing_with_a_warning(odd):
    parsed = parse_wrk((DATA / "timeout.txt").read_text().replace("-nan%", odd))
    assert math.isnan(parsed.tables["runs"].latency_mean_s[0])
    assert parsed.tables["latency"].latency_s.isna().all()
    assert len(parsed.warnings) == 1


@pytest.mark.parametrize(
    ("version", "corrected"),
    [("1.1.0", False), ("2.2.2", False), ("3.1.1", False), ("4.0.0", True), ("4.2.0", True), ("debian/4.1.0-3", True),
     ("4.0.2-2-g91655b5", True), ("0896020", True)],
)  # fmt: skip
def test_only_wrk_4_corrects_for_coordinated_omission(version, corrected):
    tables = parse_wrk(f"wrk {version} [epoll] Copyright (C) 2012 Will Glozer\n{LATENCY}").tables
    assert tables["runs"].latency_corrected.tolist() == [corrected]
    assert set(tables["latency"].corrected) == {corrected}


@pytest.mark.parametrize(
    ("asked", "measured", "status"),
    [("10s", "10.00s", "finished"), ("10s", "8.90s", "interrupted"), ("10s", "999.00ms", "interrupted"),
     ("2m", "1.50m", "finished"), ("1m", "51.00s", "finished"), ("2m", "45.00s", "interrupted")],
)  # fmt: skip
def test_a_run_that_ended_long_before_its_duration_is_no_finished_one(asked, measured, status):
    requests, seconds = 1000, number("duration_s", measured, 1, [])
    report = (
        f"Running {asked} test @ http://h/\n  2 threads and 4 connections\n"
        "  Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency     1.00ms  100.00us   2.00ms   90.00%\n"
        f"    Req/Sec     1.00k    10.00     1.10k    90.00%\n  {requests} requests in {measured}, 1.00MB read\n"
        f"Requests/sec: {requests / seconds:9.2f}\nTransfer/sec: {format_bytes(2**20 / seconds)}\n"
    )
    parsed = parse_wrk(report)
    assert parsed.tables["runs"].status.tolist() == [status]
    assert len(parsed.warnings) == (status == "interrupted"), parsed.warnings


def test_quantiles_beside_each_other():
    rows = [line for line in LATENCY.split("\n") if re.match(r" +[0-9]+% ", line)]
    assert len(rows) == 4
    beside = LATENCY.replace("\n".join(rows), "\n".join(rows[i] + "    " + rows[i + 1].strip() for i in (0, 2)))
    assert parse_wrk(beside).tables["latency"].equals(parse_wrk(LATENCY).tables["latency"])


@pytest.mark.parametrize("line", range(LATENCY.count("\n")))
def test_a_line_of_control_characters_changes_no_table(line):
    lines = LATENCY.split("\n")
    parsed = parse_wrk("\n".join([*lines[:line], "\x1f", *lines[line:]]))
    assert parsed.tables["runs"].equals(parse_wrk(LATENCY).tables["runs"])
    assert parsed.tables["latency"].equals(parse_wrk(LATENCY).tables["latency"])
