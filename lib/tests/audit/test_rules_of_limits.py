"""Rules about limits of kernels and processes: descriptors, tracked connections, orphans, TIME_WAIT."""

from pathlib import Path

import pandas as pd
import pytest

import loadcurve
from loadcurve.audit import all_rules
from loadcurve.tables import check

DATA = Path(__file__).parents[1] / "data"
RUN = {"study": "s", "run_id": "a", "status": "finished", "tool": "wrk", "duration_s": 20.0, "host": "C1",
       "connections": 50, "url": "http://198.18.0.3/616.txt"}  # fmt: skip


def audited(rule, run=None, **tables):
    others = {name: check(name, pd.DataFrame([{"study": "s", "run_id": "a"} | row for row in rows]))
              for name, rows in tables.items()}  # fmt: skip
    return all_rules()[rule].audit({"runs": check("runs", pd.DataFrame([RUN | (run or {})])), **others}).iloc[0]


@pytest.mark.parametrize("rule", ["descriptor-limit", "conntrack-full", "orphaned-sockets", "growing-time-wait"])
def test_what_is_missing_is_named(rule):
    found = audited(rule)
    assert found["severity"] == "unchecked" and "Record" in found["advice"]


@pytest.mark.parametrize(
    ("duration_s", "advice"), [(2.9, "Measure for at least 10 s."), (3.0, "Record"), (None, "Record")]
)
@pytest.mark.parametrize("rule", ["cpu-quota", "listen-overflows", "orphaned-sockets"])
def test_a_longer_run_is_advised_only_where_the_run_was_short(rule, duration_s, advice):
    """A folder with the counters of sar lacks those of the rule, however long the run."""
    others = {"counters": [{"counter": "fd/s", "value": 1.0, "elapsed_s": 1.5}]}
    others["sockets"] = [{"orphaned": 1, "elapsed_s": -1.0}]
    found = audited(rule, {"duration_s": duration_s}, **others)
    if rule != "orphaned-sockets" or duration_s:  # without a duration, every sample is within the load
        assert found["severity"] == "unchecked" and found["advice"].startswith(advice)


def files(limit, process="generator", host="C1"):
    return {"host": host, "process": process, "setting": "Max open files", "value": str(limit)}


@pytest.mark.parametrize(
    ("requested", "severity"), [(180, "ok"), (181, "warning"), (196, "warning"), (197, "error"), (1000, "error")]
)
def test_connections_against_the_recorded_limit(requested, severity):
    found = audited("descriptor-limit", {"connections": requested}, settings=[files(200)])
    assert (found["severity"], found["observed"], found["expected"]) == (severity, requested, 200)


def test_a_limit_of_another_process_is_not_the_generators():
    for other in (files(20, "server"), files(20, None), files(20, host="S1")):
        assert audited("descriptor-limit", settings=[other])["severity"] == "unchecked"


@pytest.mark.parametrize(("open_files", "severity"), [(167, "ok"), (168, "error")])
def test_descriptors_of_the_generator(open_files, severity):
    """32 descriptors below a limit of 200 may be those of the program itself."""
    processes = [{"host": "C1", "command": "wrk", "descriptors": open_files}]
    found = audited("descriptor-limit", settings=[files(200)], processes=processes)
    assert found["severity"] == severity and "descriptors were open" in found["evidence"]


@pytest.mark.parametrize("sample", ["ab/fdlimit-r.err", "weighttp/fdlimit.err"])
def test_a_tool_that_had_no_descriptor_left(sample):
    runs = loadcurve.read(DATA / "samples" / sample).tables["runs"]
    found = all_rules()["descriptor-limit"].audit({"runs": runs}).iloc[0]
    assert found["severity"] == "error" and "Too many open files" in found["evidence"]


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        ("accept4() failed (24: Too many open files)", "error"),
        ("512 worker_connections are not enough", "error"),
        ("4096 worker_connections exceed open file resource limit: 1024", "ok"),
    ],
)
def test_the_log_of_a_server(text, severity):
    logged = [{"tool": "nginx", "event": "alert", "text": text}]
    assert audited("descriptor-limit", settings=[files(200)], events=logged)["severity"] == severity


def tracked(count, host="S1"):
    name = "net.netfilter.nf_conntrack_"
    return [{"host": host, "elapsed_s": 5.0, "setting": f"{name}count", "value": str(count)},
            {"host": host, "elapsed_s": 5.0, "setting": f"{name}max", "value": "1000"}]  # fmt: skip


@pytest.mark.parametrize(
    ("count", "severity"), [(0, "ok"), (900, "ok"), (901, "warning"), (990, "warning"), (991, "error")]
)
def test_tracked_connections_against_their_maximum(count, severity):
    found = audited("conntrack-full", settings=[*tracked(count), *tracked(0, "C1")])
    assert found["severity"] == severity and f"{count} of 1000 connections were tracked on " in found["evidence"]


def test_a_count_without_its_maximum_says_nothing():
    assert audited("conntrack-full", settings=tracked(999)[:1])["severity"] == "unchecked"


@pytest.mark.parametrize(
    ("counter", "grown", "severity"),
    [("drop", 0, "ok"), ("drop", 1, "error"), ("early_drop", 1, "warning"), ("insert_failed", 1, "warning"),
     ("found", 9, "unchecked")],
)  # fmt: skip
def test_counters_of_conntrack_count_from_the_start_of_the_load(counter, grown, severity):
    rows = [{"host": "S1", "tool": "conntrack", "item": "0", "counter": counter, "elapsed_s": at, "value": value}
            for at, value in ((-1.0, 7.0), (19.0, 7.0 + grown))]  # fmt: skip
    assert audited("conntrack-full", counters=rows)["severity"] == severity


def test_recorded_orphans():
    """53 orphans were recorded at the client of 50 connections, while FINs were dropped."""
    sockets = loadcurve.read(DATA / "samples/ss/ss-s-orphans-client.txt").tables["sockets"]
    assert sockets["orphaned"].tolist() == [53]
    row = {"host": "C1", "orphaned": 53, "elapsed_s": 5.0}
    found = audited("orphaned-sockets", sockets=[row])
    assert found["severity"] == "warning" and "53 sockets were orphaned on C1" in found["evidence"]
    assert audited("orphaned-sockets", sockets=[row | {"elapsed_s": 19.5}])["severity"] == "unchecked", "at the end"


def test_orphans_of_two_namespaces_are_those_of_both_ends():
    """ab closed 64 connections at once: `ss -s` printed the 64 orphans of the machine in both namespaces."""
    for orphaned, severity in ((64, "ok"), (100, "ok"), (101, "warning")):
        rows = [{"host": host, "orphaned": orphaned, "elapsed_s": 5.0} for host in ("C1", "S1")]
        assert audited("orphaned-sockets", sockets=rows)["severity"] == severity


@pytest.mark.parametrize(
    ("orphaned", "requested", "severity"),
    [(9, 1, "ok"), (10, 1, "warning"), (100, 100, "ok"), (101, 100, "warning"), (950, 100000, "ok"),
     (951, 100000, "error")],
)  # fmt: skip
def test_orphans_against_the_connections_and_the_maximum(orphaned, requested, severity):
    sockets = [{"host": "C1", "orphaned": orphaned, "elapsed_s": 5.0}]
    most = [{"host": "C1", "setting": "net.ipv4.tcp_max_orphans", "value": "1000"}]
    found = audited("orphaned-sockets", {"connections": requested}, sockets=sockets, settings=most)
    assert found["severity"] == severity


def waiting(*numbers, **others):
    return [{"host": "C1", "tool": "ss", "elapsed_s": 1.0 + second, "time_wait": number} | others
            for second, number in enumerate(numbers)]  # fmt: skip


@pytest.mark.parametrize(
    ("numbers", "severity"),
    [
        (range(0, 1900, 100), "ok"),  # 100 sockets/s
        (range(0, 2000, 101), "warning"),
        ([min(500 * second, 4500) for second in range(19)], "ok"),  # levelled off at half time
        ([4500 - 200 * second for second in range(19)], "ok"),  # those of the run before
    ],
)
def test_time_wait_that_grows(numbers, severity):
    found = audited("growing-time-wait", sockets=waiting(*numbers))
    assert found["severity"] == severity


def test_growth_is_of_one_host_and_one_tool():
    """sar counts more than ss of a namespace, and must not be mixed with it."""
    mixed = [*waiting(*[0] * 18), *waiting(*[9000] * 18, tool="sar"), *waiting(*[5000] * 18, host="S1")]
    assert audited("growing-time-wait", sockets=mixed)["severity"] == "ok"
    assert audited("growing-time-wait", sockets=waiting(0, 5000))["severity"] == "unchecked", "too short for a rate"
