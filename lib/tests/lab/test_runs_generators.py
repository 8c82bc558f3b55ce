"""Each generator by a real launch, on a server of which the answer is known: X = N/R."""

from datetime import datetime

import pytest
from launched_runs import DELAYS, launched, short_study

from loadcurve.lab import list_obstacles
from loadcurve.lab.hosts.tools import which

pytestmark = pytest.mark.lab

TOOLS = ("wrk", "ab", "h2load", "hey")


def test_each_generator_finds_the_law(tmp_path):
    """N/R with a delay of 10 ms and 8 connections: no generator can do more than 800 requests/s."""
    made = launched(tmp_path / "s", server=DELAYS, load={"connections": 8}, factors={"load.tool": TOOLS}, seed=3)
    runs = made.tables["runs"].set_index("tool")
    assert sorted(runs.index) == sorted(TOOLS) and sorted(made.runs) == sorted(f"tool{tool}-r1" for tool in TOOLS)
    assert (runs["latency_mean_s"] >= 0.010).all()
    assert (runs["throughput_rps"] <= 8 / 0.010).all()
    assert (runs["throughput_rps"] * runs["latency_mean_s"] >= 5).all(), "Little's law, also on a busy machine"
    # wrk adds the time of requests that a busy machine kept it from sending.
    others = runs.drop(index="wrk")
    assert (others["throughput_rps"] * others["latency_mean_s"]).between(5, 8.5).all(), "Little's law: it is N"
    lasted = runs["requests"] / runs["throughput_rps"]
    assert (lasted >= 0.9).all(), "it was to last a second"
    for tool in TOOLS:
        (sent,) = (one for one in made.runs[f"tool{tool}-r1"].commands if one.role == "generator")
        took = datetime.fromisoformat(sent.ended_at) - datetime.fromisoformat(sent.started_at)
        assert lasted[tool] <= took.total_seconds(), "no longer than its process"
    latency = made.tables["latency"]
    assert set(latency["run_id"]) >= {"toolwrk-r1", "toolab-r1", "toolhey-r1"}
    # nginx reads the time once for many events, so that one of its timers may end by a millisecond early.
    assert (latency["latency_s"] >= 0.009).all()
    # What this machine does not have is named with where to get it.
    for tool, asked in (("weighttp", {"requests": 10}), ("wrk2", {"rate_rps": 10})):
        if which(tool) is None:
            lacks = list_obstacles(short_study("s", load={"tool": tool, **asked}))
            assert f"{tool} is not installed" in lacks["obstacle"].tolist()
            assert lacks["remedy"].str.contains(tool).any()


def test_requests_as_the_study_says(tmp_path):
    """Method, body, headers and path reach the server: its log has them."""
    made = launched(
        tmp_path / "s", server={"nginx": {"serving": {"access_log": "on"}}},
        load={
            "tool": "h2load", "requests": 20, "connections": 2, "path": "/where?a=1&b=2", "method": "POST",
            "body_bytes": 100, "headers": {"User-Agent": "loadcurve-test"},
        },
    )  # fmt: skip
    log = (made.folder / "r1" / "S1.access.log").read_text().splitlines()
    of_load = [line for line in log if "loadcurve-test" in line]
    assert len(of_load) == 20 and all('"POST /where?a=1&b=2 HTTP/1.1" 200' in line for line in of_load)
    assert (made.folder / "r1" / "local.h2load.body.txt").stat().st_size == 100
    assert made.run.factors["url"].endswith("/where?a=1&b=2")


@pytest.mark.parametrize("tool", ["ab", "h2load"])
def test_a_line_for_each_request_is_in_the_tables(tmp_path, tool):
    made = launched(
        tmp_path / "s", topology={"recipe": "client_server"}, server=DELAYS,
        load={"tool": tool, "requests": 40, "connections": 4, "processes": 2, "each_request": True},
    )  # fmt: skip
    requests = made.tables["requests"]
    assert requests.groupby("generator").size().to_dict() == {0: 20, 1: 20}
    assert (requests["latency_s"] >= 0.009).all()
    if tool == "ab":
        latency = made.tables["latency"]
        assert set(latency["source"]) == {"C1-1.ab.percentiles.csv", "C1-2.ab.percentiles.csv"}
        assert not latency.duplicated(["generator", "quantile"]).any()
        # Under 50 requests the last rows but one are of no request, and left out (see `ab_requests`).
        assert latency["latency_s"].dropna().between(0.009, 10).all()
        assert (latency["latency_s"] * 1e3 % 1 > 0).any(), "decimals of milliseconds, which the report has not"


def test_threads_of_wrk(tmp_path):
    """Four connections and four threads; a fifth thread would have none, and is not started."""
    made = launched(tmp_path / "s", server=DELAYS, load={"threads": 8, "connections": 4})
    (command,) = made.commands("generator")
    assert "-t4" in command.argv and made.row["threads"] == 4 and made.run.factors["threads"] == 8
