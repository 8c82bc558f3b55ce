"""wrk: what its own C code says, as properties; what it refuses; every sample at hand."""

import json
import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loadcurve.errors import ParseError
from loadcurve.ingest.wrk import parse_wrk
from loadcurve.units import parse_bytes, parse_count, parse_time_s

DATA = Path(__file__).parents[1] / "data/wrk"
SAMPLES = Path(__file__).parents[3].parent / "shared/samples"
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
    assert parse_time_s(format_time(us)) == pytest.approx(us * 1e-6, rel=0.006, abs=0.006e-6)


@given(st.floats(0, 1e15))
def test_sizes_and_counts_come_back(n):
    assert parse_bytes(format_bytes(n)) == pytest.approx(n, rel=0.006, abs=0.006)
    assert parse_count(format_count(n)) == pytest.approx(n, rel=0.006, abs=0.006)


@settings(max_examples=300)
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
    assert run.throughput_rps == pytest.approx(requests / us * 1e6, abs=0.005001)
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
        ("269667 requests", "26966 requests", 7),
        ("in 2.10s", "in 2.12s", 7),
        ("219.88MB", "229.88MB", 8),
        ("219.88MB", "219.88KB", 8),
        ("128408.94", "128908.94", 7),
        ("104.70MB", "105.70MB", 8),
    ],
)
def test_a_changed_digit_contradicts_the_other_numbers(right, wrong, line):
    with pytest.raises(ParseError, match=r"duration, which is") as raised:
        parse_wrk(PLAIN.replace(right, wrong))
    assert raised.value.line == line


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", 1),
        ("\n\n", 1),
        ("unable to connect to 198.18.0.3:9999 Connection refused\n", 1),
        ("$ wrk -c1 http://h/\nunable to connect to h:http Connection timed out\n", 2),
        ("number of connections must be >= threads\nUsage: wrk <options> <url>\n", 1),
        ("\nKilled by signal 2.\n", 2),
    ],
)
def test_no_report(text, line):
    with pytest.raises(ParseError) as raised:
        parse_wrk(text)
    error = raised.value
    assert (error.line, error.expected, error.got) == (line, "a wrk report", (text.split("\n"))[line - 1])


def test_lost_newlines_glue_no_numbers():
    with pytest.raises(ParseError, match="cut off"):
        parse_wrk(PLAIN.replace("\n", ""))


@pytest.mark.parametrize("kept", range(1, 8))
def test_a_cut_report_says_what_is_missing(kept):
    lines = PLAIN.split("\n")
    missing = lines[kept].strip().split(":")[0].split()[0]
    with pytest.raises(ParseError, match="cut off") as raised:
        parse_wrk("\n".join(lines[:kept]) + "\n\n")
    assert raised.value.line == kept
    assert raised.value.got == lines[kept - 1].strip()
    assert missing in raised.value.expected or missing.isdigit()


def test_reports_follow_each_other_between_prompts():
    interrupted = LATENCY.replace("  Thread", "^C  Thread")
    parsed = parse_wrk(f"client:~$ wrk ...\n{PLAIN}\nclient:~$ wrk --latency ...\n{interrupted}client:~$")
    assert parsed.tables["runs"]["generator"].tolist() == [0, 1]
    assert parsed.tables["latency"]["generator"].tolist() == [1] * 4
    with pytest.raises(ParseError) as raised:
        parse_wrk("\n".join(PLAIN.split("\n")[:4]) + "\n" + LATENCY)
    assert raised.value.line == 5


def test_a_lost_heading_is_not_passed_over():
    with pytest.raises(ParseError, match="heading") as raised:
        parse_wrk(PLAIN + LATENCY.split("\n", 1)[1])
    assert raised.value.line == 9


def test_wrk_1_has_another_heading_and_no_correction():
    text = PLAIN.replace("Running 2s test @", "Making 269667 requests to")
    assert parse_wrk(text).tables["runs"]["latency_corrected"].tolist() == [False]
    assert parse_wrk(PLAIN).tables["runs"]["latency_corrected"].tolist() == [True]


@pytest.mark.parametrize(
    ("right", "wrong", "line"),
    [
        ("     75%  594.00us", "     75%  544.00us", 8),  # below the 50th
        ("     75%  594.00us", "     45%  594.00us", 8),
        ("     99%    2.55ms", "     99%    2.5ms", 10),  # printf writes two decimals
        ("Latency   605.10us", "Latency   -605.10us", 4),
        ("Latency Distribution", "Latency Distribution (HdrHistogram - Recorded Latency)", 6),
        ("  Latency Distribution", "  Thread calibration: mean lat.: 0.696ms", 6),
        ("  Thread Stats   Avg      Stdev     Max", "  Thread Stats   Avg      Stdev     99%", 3),
        ("Requests/sec", "Socket errors: connect 1, read x, write 0, timeout 0\nRequests/sec", 12),
        ("Requests/sec", "Non-2xx or 3xx responses: 223241\nRequests/sec", 12),  # more than the requests
    ],
)
def test_refused(right, wrong, line):
    with pytest.raises(ParseError) as raised:
        parse_wrk(LATENCY.replace(right, wrong))
    assert raised.value.line == line


@pytest.mark.parametrize("odd", ["-nan%", "nan%"])
def test_nan_is_missing_with_a_warning(odd):
    parsed = parse_wrk((DATA / "timeout.txt").read_text().replace("-nan%", odd))
    assert math.isnan(parsed.tables["runs"].latency_mean_s[0])
    assert parsed.tables["latency"].latency_s.isna().all()
    assert len(parsed.warnings) == 1


# Samples without a report: usage text, or the one line of a failure.
NO_REPORT = {"badurl.out", "c-lt-t.out", "minutes-suffix.out", "noargs.out"} | {
    "badhost.err", "badurl.err", "c-lt-t.err", "refused.err", "syn-dropped.err", "wrk-close-100c.err",
}  # fmt: skip


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="the samples are not here")
def test_every_sample():
    found = [*SAMPLES.glob("wrk/*"), *SAMPLES.glob("*/wrk-*")]
    found = [path for path in found if not path.name.startswith("cmd-") and path.suffix in {".txt", ".out", ".err"}]
    assert len(found) > 100
    for path in found:
        try:
            parsed = parse_wrk(path.read_text())
        except ParseError as error:
            assert path.name in NO_REPORT, (path, error)
            assert error.expected == "a wrk report"
        else:
            assert path.name not in NO_REPORT
            assert len(parsed.tables["runs"]) == path.read_text().count(" test @ ")
    for path in SAMPLES.glob("wrk2/*.txt"):  # another tool
        with pytest.raises(ParseError, match="Thread calibration"):
            parse_wrk(path.read_text())
