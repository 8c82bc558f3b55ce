"""Rules that need the generator's report only: each fires, stays silent, and says what is missing."""

import pandas as pd
import pytest
from examined import NAMES, case, examiner

from loadcurve.audit.rules import established_connections, few_responses
from loadcurve.tables import check

audited = examiner(tool="wrk", connections=8, duration_s=10.0)


def test_more_failed_attempts_than_connections_say_nothing_about_those_that_opened():
    """A published run of wrk counts 88542 connect errors, because wrk retries a refused handshake."""
    found = audited("connections-opened", {"connections": 1000, "errors_connect": 88542}).iloc[0]
    assert found["severity"] == "error" and pd.isna(found["observed"])
    assert "88542 attempts to open 1000 connections failed" in found["evidence"]


def test_limits_of_the_host_are_used_where_they_are_known():
    own = {"host": "C1", "tool": "loadcurve"}
    limits = [own | {"setting": "net.ipv4.ip_local_port_range", "value": "40000 40199"},
              own | {"setting": "Max open files", "process": "generator", "value": "20000"}]  # fmt: skip
    run = {"connections": 1220, "errors_connect": 1020, "host": "C1"}
    found = audited("connections-opened", run, settings=limits).iloc[0]
    assert "200 is just about the number of local ports, 200" in found["advice"]
    other = audited("connections-opened", run | {"host": "C2"}, settings=limits).iloc[0]
    assert "refused or unanswered handshake" in other["advice"]


def test_every_percentile_of_the_tool_is_checked():
    rows = [{"quantile": q, "latency_s": 0.1} for q in (0.5, 0.99, 0.999, 0.9999, 0.99951171875, 1.0)]
    found = audited("few-responses", {"requests": 300}, latency=rows).iloc[0]
    assert found["evidence"] == "p99, p99.9, p99.99 of 300 responses: a 95 % interval needs 368, 3688, 36887."
    assert found["severity"] == "warning" and "p50 is the highest" in found["advice"]
    found = audited("few-responses", {"requests": 3000}, latency=rows).iloc[0]
    assert found["evidence"] == "p99 of 3000 responses; its 95 % interval needs 368. None for p99.9, p99.99."
    assert found["severity"] == "ok"
    found = audited("few-responses", {"requests": 5000}, latency=rows).iloc[0]
    assert found["evidence"] == "p99.9 of 5000 responses; its 95 % interval needs 3688. None for p99.99."
    assert found["severity"] == "ok", "what tools print after every run; a step of a spectrum is no percentile at all"


def test_each_generator_has_its_own_percentiles():
    runs = pd.DataFrame(
        [NAMES | {"status": "finished", "generator": g, "requests": n} for g, n in ((0, 100), (1, 1000))]
    )
    rows = [{"study": "s", "run_id": "r0", "generator": g, "quantile": 0.99, "latency_s": 0.1} for g in (0, 1)]
    tables = {"runs": check("runs", runs), "latency": check("latency", pd.DataFrame(rows))}
    assert few_responses.RULE.audit(tables)["severity"].tolist() == ["warning", "ok"]


def test_mixed_environments():
    same = audited("mixed-environments", {"tool_version": "4.1.0"}, {"tool_version": "4.1.0"}).iloc[0]
    assert same["severity"] == "ok"
    found = audited("mixed-environments", {"tool_version": "4.1.0"}, {"tool_version": "4.2.0"}).iloc[0]
    assert found["severity"] == "warning" and "versions of the generator (4.1.0, 4.2.0)" in found["evidence"]
    of_variants = [{"variant": v, "server_software": f"nginx/{v}"} for v in ("1.24", "1.26")]
    assert audited("mixed-environments", *of_variants).iloc[0]["severity"] == "unchecked", "the version is the factor"
    kernels = [{"run_id": "r0", "host": "a", "kernel": "6.1"}, {"run_id": "r1", "host": "a", "kernel": "6.6"}]
    assert "kernels (6.1, 6.6)" in audited("mixed-environments", {}, {}, hosts=kernels).iloc[0]["evidence"]


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("net.ipv4.tcp_congestion_control", "congestion controls (bbr, reno)"),
        ("scaling_governor", "governors of the clock (bbr, reno)"),
        ("vulnerabilities", "mitigations of processor faults"),
        ("model name", "models of processors"),
    ],
)
def test_settings_of_hosts_are_compared(setting, words):
    rows = [{"run_id": f"r{i}", "host": "S1", "setting": setting, "value": v} for i, v in enumerate(("bbr", "reno"))]
    assert words in audited("mixed-environments", {}, {}, settings=rows).iloc[0]["evidence"]
    same = [row | {"value": "reno"} for row in rows]
    assert audited("mixed-environments", {}, {}, settings=same).iloc[0]["severity"] == "ok"
    other = [row | {"setting": "net.core.somaxconn"} for row in rows]
    found = audited("mixed-environments", {}, {}, settings=other).iloc[0]
    assert found["severity"] == "unchecked" and "uname -r" in found["advice"], "nothing that is compared is known"
    two_hosts = [row | {"host": f"S{i}"} for i, row in enumerate(rows)]
    found = audited("mixed-environments", {}, {}, settings=two_hosts).iloc[0]
    assert found["severity"] == "unchecked", "each host is compared with itself"
    factor = [{"run_id": f"r{i}", "factor": "hosts.S1.tcp", "level": v} for i, v in enumerate(("bbr", "reno"))]
    found = audited("mixed-environments", {}, {}, settings=rows, factors=factor).iloc[0]
    assert found["severity"] != "warning", "a factor of the study is no fault"


def sweep(change):
    """Three repeats of four levels, one after the other, whose throughput changes by a share from first to last."""
    runs = [{"connections": n, "repeat": r} for r in range(3) for n in (1, 2, 4, 8)]
    for i, run in enumerate(runs):
        drift = 1 + change * i / (len(runs) - 1)
        noise = 1 + 0.002 * (-1) ** (i // 2)
        started = pd.Timestamp("2026-01-01", tz="UTC") + pd.Timedelta(minutes=i)
        run |= {"throughput_rps": 1000.0 * run["connections"] * drift * noise, "started_at": started}
    return runs


@pytest.mark.parametrize(("change", "severity"), [(0.0, "ok"), (0.03, "ok"), (0.2, "warning"), (-0.2, "warning")])
def test_drift_of_repeats(change, severity):
    found = audited("drift-of-repeats", *sweep(change)).iloc[0]
    assert found["severity"] == severity and pd.isna(found["run_id"])
    if change:
        # The mean of a level drifts too, so the slope is not exact.
        assert 0.5 < found["observed"] / change < 1.5


def sockets(established):
    rows = [{"state": "LISTEN", "local_port": "80"}, *[{"state": "ESTAB", "local_port": "80"}] * established]
    return [row | {"elapsed_s": 5.0, "time": pd.Timestamp("2026-01-01", tz="UTC")} for row in rows]


def ends(host, address, number, port="80"):
    """A snapshot of one host: its listening socket, and established connections at an address."""
    row = {"host": host, "local_port": port, "elapsed_s": 5.0, "time": pd.Timestamp("2026-01-01", tz="UTC")}
    rows = [{"state": "LISTEN", "local_address": "0.0.0.0"}, *[{"state": "ESTAB", "local_address": address}] * number]
    return [row | each for each in rows]


def test_connections_are_counted_without_a_study():
    """As in a folder that somebody brought."""
    rows = pd.DataFrame([{"run_id": "a", "status": "finished", "connections": 10, "duration_s": 10.0}])
    seen = check("connections", pd.DataFrame([row | {"run_id": "a"} for row in sockets(10)]))
    found = established_connections.RULE.audit({"runs": check("runs", rows), "connections": seen})
    assert found["severity"].tolist() == ["ok"]


def of_level(repeats):
    return [{"connections": n, "repeat": r, "throughput_rps": 1.0} for n in (1, 2) for r in range(repeats)]


CASES = [
    # The first run is of the published report "Nginx Performance Test": 1,024 descriptors, 1,020 for connections.
    *[case("connections-opened", severity, {"connections": requested, "errors_connect": failed}, says=words,
           observed=requested - failed)
      for requested, failed, severity, words in (
          (8000, 6980, "error", "6980 of 8000 connections failed to open. 1020 is just below 1024, a usual limit"),
          (30000, 1768, "warning", "1768 of 30000 connections failed to open. 28232 is just about the number of local"),
          (1000, 11, "warning", "11 of 1000 connections failed to open. Look for a refused or unanswered handshake"),
          (1000, 10, "ok", "10 of 1000"))],
    case("connections-opened", "", {"tool": "k6"}),  # which does not count them
    *[case("target-rate", severity, {"target_rate_rps": 1000.0, "throughput_rps": rate})
      for rate, severity in ((981.0, "ok"), (979.0, "warning"), (899.0, "error"))],
    case("target-rate", "", {"throughput_rps": 10.0}),  # a closed loop
    # ln 0.025 / ln 0.99 = 367.04, ln 0.025 / ln 0.999 = 3687.04
    *[case("few-responses", severity, {"requests": number},
           latency=[{"quantile": q, "latency_s": 0.1} for q in (0.5, quantile, 1.0)])
      for quantile, number, severity in ((0.99, 368, "ok"), (0.99, 367, "warning"), (0.999, 3688, "ok"),
                                         (0.999, 3687, "warning"))],
    case("few-responses", "unchecked", {"requests": 100}, says="wrk --latency"),
    *[case("few-repeats", severity, *of_level(repeats), observed=repeats)
      for repeats, severity in ((1, "warning"), (2, "warning"), (3, "ok"), (4, "ok"))],
    case("few-repeats", "", {}),  # one run alone is no sweep
    case("drift-of-repeats", "unchecked", *sweep(0.2)[:4]),
    *[case("established-connections", severity, {"connections": 10}, connections=sockets(seen),
           says=f"{seen} of 10 connections")
      for seen, severity in ((10, "ok"), (9, "ok"), (8, "warning"), (4, "error"), (0, "error"))],
    case("established-connections", "unchecked", {"connections": 10}, says="ss -tan"),
    *[case("established-connections", severity, {"connections": 10, "url": "http://198.18.0.2:80/616.txt"},
           connections=[row for snapshot in snapshots for row in ends(*snapshot)], says=f"{seen} of 10 connections")
      for seen, severity, *snapshots in (
          # Four servers behind a balancer that translates addresses: each has a part of the connections.
          (10, "ok", ("S1", "198.18.0.3", 5), ("S2", "198.18.0.4", 5)),
          (3, "error", ("S1", "198.18.0.3", 2), ("S2", "198.18.0.4", 1)),
          # A proxy at the address of the URL: what it opens to its servers are other connections.
          (4, "error", ("L1", "198.18.0.2", 4), ("S1", "198.18.0.3", 10)),
          (10, "ok", ("L1", "::ffff:198.18.0.2", 10), ("S1", "198.18.0.3", 1)))],
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_severities_and_words(case):
    case.check(audited)
