"""weighttp: what its C code prints, as properties; the traps of real files; what is refused."""

from pathlib import Path

import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from refused import refused_line

from loadcurve import parse
from loadcurve.ingest.load.weighttp import parse_weighttp

DATA = Path(__file__).parents[2] / "data/weighttp"
V04 = (DATA / "v04.txt").read_text()
JSON = (DATA / "keepalive.txt").read_text()


def run_of(text):
    return parse_weighttp(text).tables["runs"].iloc[0]


def report(done, good, micros, codes, sizes, connections):
    """What main of weighttp 0.3 prints."""
    seconds, rest = divmod(micros, 1_000_000)
    return "\n".join(
        [
            "weighttp - a lightweight and simple webserver benchmarking tool",
            "",
            "starting benchmark...",
            *(
                f"spawning thread #{i + 1}: {n} concurrent requests, 100 total requests"
                for i, n in enumerate(connections)
            ),
            "progress: 100% done",
            "",
            f"finished in {seconds} sec, {rest // 1000} millisec and {rest % 1000} microsec, "
            f"{int(done / (micros / 1e6))} req/s, {int(sum(sizes) / (micros / 1e6) / 1024)} kbyte/s",
            f"requests: {done} total, {done} started, {done} done, {good} succeeded, {done - good} failed, 0 errored",
            "status codes: {} 2xx, {} 3xx, {} 4xx, {} 5xx".format(*codes),
            "traffic: {} bytes total, {} bytes http, {} bytes data".format(sum(sizes), *sizes),
            "",
        ]
    )


@pytest.mark.slow
@examples(200)
@given(
    done=st.integers(1, 10**9),
    micros=st.integers(1, 10**11),
    good=st.floats(0, 1),
    codes=st.tuples(*[st.integers(0, 10**6)] * 4),
    sizes=st.tuples(*[st.integers(1, 10**14)] * 2),
    connections=st.lists(st.integers(1, 10000), min_size=1, max_size=4),
)
def test_reports_that_weighttp_can_write_are_read(done, micros, good, codes, sizes, connections):
    parsed = parse_weighttp(report(done, int(good * done), micros, codes, sizes, connections))
    run = parsed.tables["runs"].iloc[0]
    assert (run.requests, run.requests_succeeded, run.threads) == (done, int(good * done), len(connections))
    assert run.duration_s == pytest.approx(micros / 1e6, abs=1e-9)
    assert run.throughput_rps == pytest.approx(done / micros * 1e6, rel=0.0011)
    assert run.received_bytes_per_s == pytest.approx(sum(sizes) / micros * 1e6, rel=0.0011)
    assert run.connections == sum(connections)
    assert run.latency_mean_s == pytest.approx(sum(connections) * micros / 1e6 / done, rel=0.0011)
    assert run.latency_origin == "derived (N/X)"
    assert tuple(run[f"responses_{n}xx"] for n in (2, 3, 4, 5)) == codes
    assert not [w for w in parsed.warnings if "status codes" not in w]


def test_a_rate_is_cut_to_a_whole_number_so_a_small_one_is_made_anew():
    run = run_of(V04.replace("1000000", "20").replace("149110 req", "2 req"))
    assert run.throughput_rps == pytest.approx(20 / 6.706434)
    assert run.latency_mean_s == pytest.approx(100 / (20 / 6.706434))


def test_failures_that_the_status_codes_do_not_show():
    text = V04.replace("1000000 succeeded, 0 failed", "1255 succeeded, 998745 failed")
    run = run_of("error: read() failed: Connection reset by peer (104)\n" * 3 + text)
    counts = (run.requests_succeeded, run.requests_failed, run.responses_2xx, run.errors_read)
    assert counts == (1255, 998745, 1000000, 3)
    assert "errors_other" not in run  # "0 errored" says nothing
    less = parse_weighttp(V04.replace("1000000 2xx", "999000 2xx"))
    assert less.warnings == ("line 20: the status codes are 999000, not 1000000",)


def test_connections_from_the_command_alone():
    text = "\n".join(line for line in V04.split("\n") if "spawning" not in line)
    run = run_of(text)
    assert run.connections == 100
    assert "threads" not in run
    unknown = run_of(text.split("\n", 1)[1])
    assert "connections" not in unknown
    assert "latency_mean_s" not in unknown


def test_the_json_of_earlier_versions():
    head = JSON[: JSON.index(',\n  "connect_times"')] + "\n}\n"
    text = head.replace('"keep-alive": 99968', '"total":   100000')
    run = run_of(text)
    assert (run.requests_asked, run.connections, run.latency_origin) == (100000, 32, "derived (N/X)")
    assert run.latency_mean_s == pytest.approx(32 / 120273)
    quiet = parse(text[text.index("{") :])
    assert quiet.tables["runs"].throughput_rps.tolist() == [120273]
    assert "latency_mean_s" not in quiet.tables["runs"]


def test_reports_follow_each_other():
    runs = parse(f"{V04}$ weighttp\n{JSON}\n$ weighttp\n{JSON}{V04}").tables["runs"]
    assert runs.generator.tolist() == [0, 1, 2, 3]
    assert runs.throughput_rps.tolist() == [149110, 120273, 120273, 149110]
    assert runs.connections.tolist() == [100, 32, 32, 100]


@pytest.mark.parametrize(
    ("right", "wrong", "line"),
    [
        ("706 millisec", "7o6 millisec", 17),
        ("18347 kbyte/s", "18347", 17),
        ("1000000 done", "1111111111111111111 done", 18),
        ("0 5xx", "x 5xx", 19),
        ("traffic: 126000000", "traffic: ", 20),
        ("status codes: ", "codes: ", 19),
    ],
)
def test_refused(right, wrong, line):
    assert refused_line(parse_weighttp, "\n" + V04.replace(right, wrong)) == line + 1
