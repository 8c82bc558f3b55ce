"""Rules about clocks, monitors, congestion control and the loop of the generator."""

import numpy as np
import pandas as pd
import pytest

from loadcurve.audit import all_rules
from loadcurve.tables import check

RUN = {"study": "s", "run_id": "a", "status": "finished", "tool": "wrk", "duration_s": 60.0}


def audited(rule, run=None, **tables):
    named = {name: check(name, pd.DataFrame(rows).assign(study="s", run_id="a")) for name, rows in tables.items()}
    return all_rules()[rule].audit({"runs": check("runs", pd.DataFrame([RUN | (run or {})])), **named})


def sampled(host, first, last, every=1, shift=0.0, busy=(0, 60)):
    """Samples of an interface that carries packets while a load of 60 s runs, by a clock that is ahead by `shift`."""
    times = np.arange(first, last + 0.5, every, dtype=float)
    inside = (times > busy[0]) & (times <= busy[1])
    return [
        {"host": host, "interface": "eth0", "elapsed_s": at + shift, "received_pps": 5000.0 if load else 3.0}
        for at, load in zip(times, inside, strict=True)
    ]


@pytest.mark.parametrize(("shift", "severity"), [(0.0, "ok"), (1.0, "ok"), (3.0, "warning"), (-3.0, "warning")])
def test_two_clocks_are_compared(shift, severity):
    rows = [*sampled("C1", -5, 65), *sampled("S1", -5, 65, shift=shift)]
    found = audited("clock-skew", network=rows).iloc[0]
    assert (found["severity"], found["observed"]) == (severity, abs(shift))


def test_a_standby_server_is_no_skew():
    """It gets its load later, but the load ends at the same time on both."""
    rows = [*sampled("C1", -5, 65), *sampled("S2", -5, 65, busy=(30, 60))]
    assert audited("clock-skew", network=rows).iloc[0]["severity"] == "ok"


def test_a_file_in_local_time_is_an_hour_off():
    found = audited("clock-skew", network=sampled("S1", 0, 60, shift=3600.0)).iloc[0]
    assert found["severity"] == "warning" and "S1 was sampled from 3600 s to 3660 s" in found["evidence"]


@pytest.mark.parametrize(("at_s", "severity"), [(-0.6, "ok"), (60.6, "ok"), (-1.6, "warning"), (61.6, "warning")])
def test_a_sample_is_labelled_with_a_whole_second(at_s, severity):
    """A sample of 0.4 s after the start may be printed as 0.6 s before it."""
    samples = [{"host": "S1", "interface": "eth0", "elapsed_s": at_s, "received_pps": 5000.0}]
    assert audited("clock-skew", network=samples).iloc[0]["severity"] == severity


def test_one_clock_is_not_compared():
    assert "fewer than two hosts" in audited("clock-skew", network=sampled("S1", 0, 60)).iloc[0]["evidence"]
    missing = audited("clock-skew").iloc[0]
    assert missing["severity"] == "unchecked" and "sar -A 1" in missing["advice"]


# 60 s with 5 s between samples: 12 samples, of which the last one is not within the load.
@pytest.mark.parametrize(
    ("lasts", "every", "severity"),
    [(60, 1, "ok"), (60, 5, "ok"), (60, 6, "warning"), (60, 30, "warning"), (6, 1, "ok"), (6, 2, "warning")],
)
def test_coarse_monitor(lasts, every, severity):
    rows = sampled("S1", 0, lasts, every)
    assert audited("coarse-monitor", {"duration_s": float(lasts)}, network=rows).iloc[0]["severity"] == severity


def test_the_coarsest_monitor_counts():
    cpu = [{"host": "C1", "cpu": "all", "elapsed_s": at} for at in (20.0, 40.0)]
    found = audited("coarse-monitor", network=sampled("S1", 0, 60), cpu=cpu).iloc[0]
    assert "2 samples of cpu of C1 lie within a load of 60 s, one every 20 s." in found["evidence"]


def test_a_run_without_monitors_is_not_examined():
    assert audited("coarse-monitor").empty


def settings(control, link, host="S1"):
    pairs = (("net.ipv4.tcp_congestion_control", control), ("link eth0", link))
    return [{"host": host, "setting": name, "value": value} for name, value in pairs]


# wrk in namespaces, one connection a thread: 616 bytes and 1,233 bytes beside about 240 bytes of header.
@pytest.mark.parametrize(
    ("control", "link", "size", "severity"),
    [
        ("bbr", "veth noqueue", 1473, "warning"),
        ("bbr", "veth noqueue", 856, "ok"),
        ("reno", "veth noqueue", 1473, "ok"),
        ("bbr", "veth fq limit 10000p", 1473, "ok"),
        ("bbr", "veth fq_codel", 1473, "warning"),
        ("bbr", "veth noqueue", None, "unchecked"),
    ],
)
def test_bbr_on_veth(control, link, size, severity):
    run = {"requests": 1000, "received_bytes": 1000.0 * size} if size else {}
    assert audited("bbr-on-veth", run, settings=settings(control, link))["severity"].tolist() == [severity]


def test_bbr_of_another_host_or_link_is_not_meant():
    run = {"requests": 1000, "received_bytes": 2e6}
    rows = [*settings("bbr", "tun noqueue", "C1"), *settings("reno", "veth noqueue")]
    assert audited("bbr-on-veth", run, settings=rows)["severity"].tolist() == ["ok"]
    assert audited("bbr-on-veth", run, settings=settings("bbr", "tun noqueue")).empty
    assert audited("bbr-on-veth", run).empty, "a host whose links are not known"


# As ab printed behind nft, without keep-alive: one SYN of 20,000 was lost, and sent again after a second.
LOST_SYN = {"tool": "ab", "connections": 32, "duration_s": 1.179, "requests": 20000, "latency_max_s": 1.031,
            "latency_corrected": False}  # fmt: skip


def percentiles(**times):
    return [{"quantile": float(f"0.{name[1:]}"), "latency_s": latency} for name, latency in times.items()]


def test_a_stall_of_one_connection_is_in_no_percentile():
    """S - (1 - q) N T = 1.031 - 0.01 · 32 · 1.179 = 0.6537 s, ab prints 13 ms."""
    found = audited("coordinated-omission", LOST_SYN, latency=percentiles(p50=0.001, p98=0.012, p99=0.013)).iloc[0]
    assert found["severity"] == "warning" and found["observed"] == pytest.approx(0.65372 / 0.013, rel=1e-4)
    assert "p99 is at least 653.7 ms, printed is 13 ms" in found["evidence"]


@pytest.mark.parametrize(
    ("change", "silent"),
    [({"latency_corrected": True}, True), ({"connections": 100}, False), ({"requests": 300}, True),
     ({"latency_max_s": 0.39}, False), ({"latency_max_s": None}, True)],
    ids=["corrected", "many connections", "too few responses", "short stall", "no maximum"],
)  # fmt: skip
def test_what_hides_no_percentile(change, silent):
    found = audited("coordinated-omission", LOST_SYN | change, latency=percentiles(p99=0.013))
    assert found["severity"].tolist() == ([] if silent else ["ok"])


# fortio with 8 connections and a rate of 1,000 requests/s: Little's law gives 8 busy connections at 10 ms and 800/s.
@pytest.mark.parametrize(
    ("served", "latency", "severity"),
    [(800.0, 0.01, "warning"), (990.0, 0.008, "ok"), (800.0, 0.005, "ok"), (700.0, 0.01, "ok")],
)
def test_a_rate_that_the_connections_cannot_carry(served, latency, severity):
    run = {"connections": 8, "target_rate_rps": 1000.0, "throughput_rps": served, "latency_mean_s": latency}
    for corrected in (False, True):  # wrk2 times from the intended start
        found = audited("target-rate", run | {"latency_corrected": corrected}).iloc[0]
        closed = severity == "warning" and not corrected
        assert ("of 8 connections waited" in found["evidence"]) == closed
        assert ("at least 16 connections" in found["advice"]) == closed


NO_TIME = dict.fromkeys(("latency_mean_s", "latency_max_s"))
IDLE = {"cpu": [{"cpu": "all", "elapsed_s": 30.0, "cpu_idle_ratio": 0.8}]}
JUDGED = [
    ("shared-machine", {"url": "http://localhost:8080/"}, {}, "warning"),
    ("shared-machine", {"url": "http://[::1]/"}, {}, "warning"),
    ("shared-machine", {"url": "http://c1:80/", "host": "C1"}, {}, "warning"),
    ("shared-machine", {"url": "http://198.18.0.3/", "host": "C1"}, {}, "ok"),
    ("shared-machine", {"url": "http://127.0.0.1/", "server_cpu": 0, "generator_cpu": 1}, {}, "ok"),
    ("shared-machine", {"url": "http://127.0.0.1/"}, IDLE, "ok"),
    ("missing-latencies", {"latency_mean_s": 0.01}, {}, "ok"),
    ("missing-latencies", {"latency_mean_s": 0.01, "latency_origin": "derived (N/X)"}, {}, "warning"),
    ("missing-latencies", NO_TIME, {}, "warning"),
    ("missing-latencies", dict.fromkeys(NO_TIME, 0.0), {}, "error"),
    ("missing-latencies", dict.fromkeys(NO_TIME, 0.0) | {"tool": "ab"}, {}, "ok"),  # below half a millisecond
    ("other-processes", {"cpu_other_ratio": 0.02}, {}, "ok"),
    ("other-processes", {"cpu_other_ratio": 0.4}, {}, "warning"),
    ("other-processes", {"cpu_other_ratio": 0.97}, {}, "error"),
    # wrk2 -R2000 at capacity, and vegeta whose queue grew to the end of the run; a slow server is no queue.
    ("target-rate", {"tool": "wrk2", "connections": 50, "latency_mean_s": 5.2, "latency_corrected": True}, {}, "error"),
    ("target-rate", {"tool": "vegeta", "latency_mean_s": 5.0, "latency_min_s": 0.01}, {}, "error"),
    ("target-rate", {"tool": "vegeta", "latency_mean_s": 5.0, "latency_min_s": 4.0}, {}, "ok"),
    ("contradicting-numbers", {"tool": "h2load", "throughput_rps": 12.0, "requests": 600}, {}, "ok"),  # with warm-up
    ("contradicting-numbers", {"tool": "wrk", "throughput_rps": 12.0, "requests": 600}, {}, "error"),
    ("contradicting-numbers", {"tool": "siege", "throughput_rps": 0.21, "requests": 12}, {}, "ok"),  # two decimals
]  # fmt: skip


@pytest.mark.parametrize(("rule", "run", "others", "severity"), JUDGED)
def test_severity_follows_the_consequence(rule, run, others, severity):
    rate = {
        "requests": 60000,
        "throughput_rps": 1000.0,
        "target_rate_rps": 1000.0 if run.get("tool") == "vegeta" else None,
    }
    assert audited(rule, rate | run, **others)["severity"].tolist() == [severity]
