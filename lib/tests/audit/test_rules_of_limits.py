"""Rules about limits of kernels and processes: descriptors, tracked connections, orphans, TIME_WAIT."""

from pathlib import Path

import pytest
from examined import case, examiner

import loadcurve
from loadcurve.audit import all_rules

DATA = Path(__file__).parents[1] / "data"
audited = examiner(tool="wrk", duration_s=20.0, host="C1", connections=50, url="http://198.18.0.3/616.txt")


@pytest.mark.parametrize(
    ("duration_s", "advice"), [(2.9, "Measure for at least 10 s."), (3.0, "Record"), (None, "Record")]
)
@pytest.mark.parametrize("rule", ["cpu-quota", "listen-overflows", "orphaned-sockets"])
def test_a_longer_run_is_advised_only_where_the_run_was_short(rule, duration_s, advice):
    """A folder with the counters of sar lacks those of the rule, however long the run."""
    others = {"counters": [{"counter": "fd/s", "value": 1.0, "elapsed_s": 1.5}]}
    others["sockets"] = [{"orphaned": 1, "elapsed_s": -1.0}]
    found = audited(rule, {"duration_s": duration_s}, **others).iloc[0]
    if rule != "orphaned-sockets" or duration_s:  # without a duration, every sample is within the load
        assert found["severity"] == "unchecked" and found["advice"].startswith(advice)


def files(limit, process="generator", host="C1"):
    return {"host": host, "process": process, "setting": "Max open files", "value": str(limit)}


@pytest.mark.parametrize("sample", ["ab/fdlimit-r.err", "weighttp/fdlimit.err"])
def test_a_tool_that_had_no_descriptor_left(sample):
    runs = loadcurve.read(DATA / "samples" / sample).tables["runs"]
    found = all_rules()["descriptor-limit"].audit({"runs": runs}).iloc[0]
    assert found["severity"] == "error" and "Too many open files" in found["evidence"]


def tracked(count, host="S1"):
    name = "net.netfilter.nf_conntrack_"
    return [{"host": host, "elapsed_s": 5.0, "setting": f"{name}count", "value": str(count)},
            {"host": host, "elapsed_s": 5.0, "setting": f"{name}max", "value": "1000"}]  # fmt: skip


def test_recorded_orphans():
    """53 orphans were recorded at the client of 50 connections, while FINs were dropped."""
    sockets = loadcurve.read(DATA / "samples/ss/ss-s-orphans-client.txt").tables["sockets"]
    assert sockets["orphaned"].tolist() == [53]
    row = {"host": "C1", "orphaned": 53, "elapsed_s": 5.0}
    found = audited("orphaned-sockets", sockets=[row]).iloc[0]
    assert found["severity"] == "warning" and "53 sockets were orphaned on C1" in found["evidence"]
    at_the_end = audited("orphaned-sockets", sockets=[row | {"elapsed_s": 19.5}])
    assert at_the_end["severity"].tolist() == ["unchecked"]


def waiting(*numbers, **others):
    return [{"host": "C1", "tool": "ss", "elapsed_s": 1.0 + second, "time_wait": number} | others
            for second, number in enumerate(numbers)]  # fmt: skip


def orphans(number, *hosts):
    return [{"host": host, "orphaned": number, "elapsed_s": 5.0} for host in hosts or ("C1",)]


def conntrack(counter, grown):
    return [{"host": "S1", "tool": "conntrack", "item": "0", "counter": counter, "elapsed_s": at, "value": value}
            for at, value in ((-1.0, 7.0), (19.0, 7.0 + grown))]  # fmt: skip


FILES = {"settings": [files(200)]}
MOST = [{"host": "C1", "setting": "net.ipv4.tcp_max_orphans", "value": "1000"}]
CASES = [
    *[case(rule, "unchecked", says="Record")
      for rule in ("descriptor-limit", "conntrack-full", "orphaned-sockets", "growing-time-wait")],
    *[case("descriptor-limit", severity, {"connections": requested}, observed=requested, **FILES,
           says=f"{requested} connections were requested from a generator that may have 200 open files.")
      for requested, severity in ((180, "ok"), (181, "warning"), (196, "warning"), (197, "error"), (1000, "error"))],
    # A limit of another process is not the generator's.
    *[case("descriptor-limit", "unchecked", settings=[other])
      for other in (files(20, "server"), files(20, None), files(20, host="S1"))],
    # 32 descriptors below a limit of 200 may be those of the program itself.
    *[case("descriptor-limit", severity, **FILES, says="descriptors were open",
           processes=[{"host": "C1", "command": "wrk", "descriptors": number}])
      for number, severity in ((167, "ok"), (168, "error"))],
    *[case("descriptor-limit", severity, **FILES, events=[{"tool": "nginx", "event": "alert", "text": text}])
      for text, severity in (("accept4() failed (24: Too many open files)", "error"),
                             ("512 worker_connections are not enough", "error"),
                             ("4096 worker_connections exceed open file resource limit: 1024", "ok"))],
    *[case("conntrack-full", severity, settings=[*tracked(count), *tracked(0, "C1")],
           says=f"{count} of 1000 connections were tracked on ")
      for count, severity in ((0, "ok"), (900, "ok"), (901, "warning"), (990, "warning"), (991, "error"))],
    case("conntrack-full", "unchecked", settings=tracked(999)[:1]),  # a count without its maximum
    *[case("conntrack-full", severity, counters=conntrack(counter, grown))
      for counter, grown, severity in (("drop", 0, "ok"), ("drop", 1, "error"), ("early_drop", 1, "warning"),
                                       ("insert_failed", 1, "warning"), ("found", 9, "unchecked"))],
    # The kernel counts a failed insertion as a drop too: only further drops come from a full table.
    *[case("conntrack-full", severity, counters=[*conntrack("drop", dropped), *conntrack("insert_failed", 3)])
      for dropped, severity in ((3, "warning"), (4, "error"))],
    # ab closed 64 connections at once: `ss -s` printed the 64 orphans of the machine in both namespaces.
    *[case("orphaned-sockets", severity, sockets=orphans(number, "C1", "S1"))
      for number, severity in ((64, "ok"), (100, "ok"), (101, "warning"))],
    *[case("orphaned-sockets", severity, {"connections": requested}, sockets=orphans(number), settings=MOST)
      for number, requested, severity in ((9, 1, "ok"), (10, 1, "warning"), (100, 100, "ok"), (101, 100, "warning"),
                                          (950, 100000, "ok"), (951, 100000, "error"))],
    case("growing-time-wait", "ok", sockets=waiting(*range(0, 1900, 100))),  # 100 sockets/s
    case("growing-time-wait", "warning", sockets=waiting(*range(0, 2000, 101))),
    case("growing-time-wait", "ok", sockets=waiting(*[min(500 * at, 4500) for at in range(19)])),  # levelled off
    case("growing-time-wait", "ok", sockets=waiting(*[4500 - 200 * at for at in range(19)])),  # of the run before
    # sar counts more than ss of a namespace, and must not be mixed with it; nor must two hosts.
    case("growing-time-wait", "ok", sockets=[*waiting(*[0] * 18), *waiting(*[9000] * 18, tool="sar"),
                                             *waiting(*[5000] * 18, host="S1")]),
    case("growing-time-wait", "unchecked", sockets=waiting(0, 5000)),  # too short for a rate
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_severities_and_words(case):
    case.check(audited)
