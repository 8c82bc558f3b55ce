"""Rules about clocks, monitors, congestion control and the loop of the generator."""

import numpy as np
import pytest
from examined import case, examiner

audited = examiner(tool="wrk", duration_s=60.0)


def sampled(host, first, last, every=1, shift=0.0, busy=(0, 60)):
    """Samples of an interface that carries packets while a load of 60 s runs, by a clock that is ahead by `shift`."""
    times = np.arange(first, last + 0.5, every, dtype=float)
    inside = (times > busy[0]) & (times <= busy[1])
    return [
        {"host": host, "interface": "eth0", "elapsed_s": at + shift, "received_pps": 5000.0 if load else 3.0}
        for at, load in zip(times, inside, strict=True)
    ]


def settings(control, link, host="S1"):
    pairs = (("net.ipv4.tcp_congestion_control", control), ("link eth0", link))
    return [{"host": host, "setting": name, "value": value} for name, value in pairs]


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


def coarse(lasts, every, severity):
    return case("coarse-monitor", severity, {"duration_s": float(lasts)}, network=sampled("S1", 0, lasts, every))


def bbr(severities, *links, size=2000):
    """Congestion control, link and host of the settings; size of a response."""
    run = {"requests": 1000, "received_bytes": 1000.0 * size} if size else {}
    return case("bbr-on-veth", severities, run, settings=[row for link in links for row in settings(*link)])


def omission(severities, **change):
    return case("coordinated-omission", severities, LOST_SYN | change, latency=percentiles(p99=0.013))


RATE = {"requests": 60000, "throughput_rps": 1000.0, "target_rate_rps": None}
OPEN = RATE | {"tool": "vegeta", "target_rate_rps": 1000.0}
NO_TIME = dict.fromkeys(("latency_mean_s", "latency_max_s"))
IDLE = {"cpu": [{"cpu": "all", "elapsed_s": 30.0, "cpu_idle_ratio": 0.8}]}
CASES = [
    *[case("clock-skew", severity, network=[*sampled("C1", -5, 65), *sampled("S1", -5, 65, shift=shift)],
           observed=abs(shift)) for shift, severity in ((0.0, "ok"), (1.0, "ok"), (3.0, "warning"), (-3.0, "warning"))],
    # A standby server gets its load later, but the load ends at the same time on both.
    case("clock-skew", "ok", network=[*sampled("C1", -5, 65), *sampled("S2", -5, 65, busy=(30, 60))]),
    # A file in local time.
    case("clock-skew", "warning", network=sampled("S1", 0, 60, shift=3600.0),
         says="S1 was sampled from 3600 s to 3660 s"),
    # A sample of 0.4 s after the start may be printed as 0.6 s before it: it is labelled with a whole second.
    *[case("clock-skew", severity, network=[{"host": "S1", "interface": "eth0", "elapsed_s": at, "received_pps": 5e3}])
      for at, severity in ((-0.6, "ok"), (60.6, "ok"), (-1.6, "warning"), (61.6, "warning"))],
    case("clock-skew", "ok", network=sampled("S1", 0, 60), says="fewer than two hosts"),
    case("clock-skew", "unchecked", says="sar -A 1"),
    # 60 s with 5 s between samples: 12 samples, of which the last one is not within the load.
    *[coarse(60, every, severity) for every, severity in ((1, "ok"), (5, "ok"), (6, "warning"), (30, "warning"))],
    coarse(6, 1, "ok"),
    coarse(6, 2, "warning"),
    case("coarse-monitor", "warning", network=sampled("S1", 0, 60),
         cpu=[{"host": "C1", "cpu": "all", "elapsed_s": at} for at in (20.0, 40.0)],
         says="2 samples of cpu of C1 lie within a load of 60 s, one every 20 s."),
    case("coarse-monitor", ""),
    # wrk in namespaces, one connection a thread: 616 bytes and 1,233 bytes beside about 240 bytes of header.
    bbr("warning", ("bbr", "veth noqueue"), size=1473),
    bbr("ok", ("bbr", "veth noqueue"), size=856),
    bbr("ok", ("reno", "veth noqueue"), size=1473),
    bbr("ok", ("bbr", "veth fq limit 10000p"), size=1473),
    bbr("warning", ("bbr", "veth fq_codel"), size=1473),
    bbr("unchecked", ("bbr", "veth noqueue"), size=None),
    bbr("ok", ("bbr", "tun noqueue", "C1"), ("reno", "veth noqueue")),
    bbr("", ("bbr", "tun noqueue")),
    case("bbr-on-veth", ""),  # a host whose links are not known
    omission("", latency_corrected=True),
    # A percentile needs ln 0.025 / ln 0.99 = 367.04 responses; 1.5 · 13 ms + 0.01 · 32 · 1.179 s = 396.78 ms.
    *[omission(severity, requests=n) for n, severity in ((367, ""), (368, "warning"))],
    *[omission(severity, latency_max_s=s) for s, severity in ((0.3967, "ok"), (0.3969, "warning"))],
    omission("", latency_max_s=None),
    omission("ok", connections=100),
    omission("ok", latency_max_s=0.39),  # a short stall
    case("shared-machine", "warning", RATE | {"url": "http://localhost:8080/"}),
    case("shared-machine", "warning", RATE | {"url": "http://[::1]/"}),
    case("shared-machine", "warning", RATE | {"url": "http://c1:80/", "host": "C1"}),
    case("shared-machine", "ok", RATE | {"url": "http://198.18.0.3/", "host": "C1"}),
    case("shared-machine", "ok", RATE | {"url": "http://127.0.0.1/", "server_cpu": 0, "generator_cpu": 1}),
    case("shared-machine", "ok", RATE | {"url": "http://127.0.0.1/"}, **IDLE),
    case("missing-latencies", "ok", RATE | {"latency_mean_s": 0.01}),
    case("missing-latencies", "warning", RATE | {"latency_mean_s": 0.01, "latency_origin": "derived (N/X)"}),
    case("missing-latencies", "warning", RATE | NO_TIME),
    case("missing-latencies", "error", RATE | dict.fromkeys(NO_TIME, 0.0)),
    case("missing-latencies", "ok", RATE | dict.fromkeys(NO_TIME, 0.0) | {"tool": "ab"}),  # below half a millisecond
    case("other-processes", "ok", RATE | {"cpu_other_ratio": 0.02}),
    case("other-processes", "warning", RATE | {"cpu_other_ratio": 0.1}),
    case("other-processes", "error", RATE | {"cpu_other_ratio": 0.11}),
    # wrk2 -R2000 at capacity, and vegeta whose queue grew to the end of the run; a slow server is no queue.
    case("target-rate", "error", RATE | {"tool": "wrk2", "connections": 50, "latency_mean_s": 5.2,
                                         "latency_corrected": True}),
    case("target-rate", "error", OPEN | {"latency_mean_s": 5.0, "latency_min_s": 0.01}),
    case("target-rate", "ok", OPEN | {"latency_mean_s": 5.0, "latency_min_s": 4.0}),
    case("contradicting-numbers", "ok", RATE | {"tool": "h2load", "throughput_rps": 12.0, "requests": 600}),  # warm-up
    case("contradicting-numbers", "error", RATE | {"tool": "wrk", "throughput_rps": 12.0, "requests": 600}),
    case("contradicting-numbers", "ok", RATE | {"tool": "siege", "throughput_rps": 0.21, "requests": 12}),  # 2 decimals
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_severities_and_words(case):
    case.check(audited)
