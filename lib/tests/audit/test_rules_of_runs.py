"""Rules that need the generator's report only: each fires, stays silent, and says what is missing."""

import pandas as pd
import pytest

from loadcurve.audit.rules import (
    connections_opened,
    drift_of_repeats,
    established_connections,
    few_repeats,
    few_responses,
    mixed_environments,
    target_rate,
)
from loadcurve.tables import check

RUN = {"study": "s", "run_id": "a", "status": "finished", "tool": "wrk", "connections": 8, "duration_s": 10.0}


def audited(rule, *runs, **tables):
    rows = [RUN | {"run_id": f"r{i}"} | run for i, run in enumerate(runs)]
    others = {name: check(name, pd.DataFrame([{"study": "s", "run_id": "r0"} | row for row in rows_]))
              for name, rows_ in tables.items()}  # fmt: skip
    return rule.audit({"runs": check("runs", pd.DataFrame(rows)), **others})


# The first run is of the published report "Nginx Performance Test": 1,024 descriptors, of which 1,020 for connections.
@pytest.mark.parametrize(
    ("requested", "failed", "severity", "words"),
    [
        (8000, 6980, "error", "1020 is just below 1024, a usual limit of open files"),
        (30000, 1768, "warning", "28232 is just about the number of local ports, 28232"),
        (1000, 11, "warning", "refused or unanswered handshake"),
        (1000, 10, "ok", ""),
    ],
)
def test_connections_opened(requested, failed, severity, words):
    found = audited(connections_opened.RULE, {"connections": requested, "errors_connect": failed}).iloc[0]
    assert (found["severity"], found["observed"]) == (severity, requested - failed)
    assert words in found["advice"] and f"{failed} of {requested}" in found["evidence"]


def test_more_failed_attempts_than_connections_say_nothing_about_those_that_opened():
    """A published run of wrk counts 88542 connect errors, because wrk retries a refused handshake."""
    found = audited(connections_opened.RULE, {"connections": 1000, "errors_connect": 88542}).iloc[0]
    assert found["severity"] == "error" and pd.isna(found["observed"])
    assert "88542 attempts to open 1000 connections failed" in found["evidence"]


def test_limits_of_the_host_are_used_where_they_are_known():
    own = {"host": "C1", "tool": "loadcurve"}
    limits = [own | {"setting": "net.ipv4.ip_local_port_range", "value": "40000 40199"},
              own | {"setting": "Max open files", "process": "generator", "value": "20000"}]  # fmt: skip
    run = {"connections": 1220, "errors_connect": 1020, "host": "C1"}
    found = audited(connections_opened.RULE, run, settings=limits).iloc[0]
    assert "200 is just about the number of local ports, 200" in found["advice"]
    other = audited(connections_opened.RULE, run | {"host": "C2"}, settings=limits).iloc[0]
    assert "refused or unanswered handshake" in other["advice"]


def test_a_generator_that_does_not_count_failed_connections_is_not_examined():
    assert audited(connections_opened.RULE, {"tool": "k6"}).empty


@pytest.mark.parametrize(("rate", "severity"), [(981, "ok"), (979, "warning"), (899, "error")])
def test_target_rate(rate, severity):
    found = audited(target_rate.RULE, {"target_rate_rps": 1000.0, "throughput_rps": float(rate)})
    assert found["severity"].tolist() == [severity]


def test_a_closed_loop_has_no_target_rate():
    assert audited(target_rate.RULE, {"throughput_rps": 10.0}).empty


# ln 0.025 / ln 0.99 = 367.04, ln 0.025 / ln 0.999 = 3687.04
@pytest.mark.parametrize(
    ("quantile", "requests", "severity"),
    [(0.99, 368, "ok"), (0.99, 367, "warning"), (0.999, 3688, "ok"), (0.999, 3687, "warning")],
)
def test_few_responses(quantile, requests, severity):
    rows = [{"quantile": q, "latency_s": 0.1} for q in (0.5, quantile, 1.0)]
    assert audited(few_responses.RULE, {"requests": requests}, latency=rows)["severity"].tolist() == [severity]


def test_every_percentile_of_the_tool_is_checked():
    rows = [{"quantile": q, "latency_s": 0.1} for q in (0.5, 0.99, 0.999, 0.9999, 0.99951171875, 1.0)]
    found = audited(few_responses.RULE, {"requests": 300}, latency=rows).iloc[0]
    assert found["evidence"] == "p99, p99.9, p99.99 of 300 responses: a 95 % interval needs 368, 3688, 36887."
    assert found["severity"] == "warning" and "p50 is the highest" in found["advice"]
    found = audited(few_responses.RULE, {"requests": 3000}, latency=rows).iloc[0]
    assert found["evidence"] == "p99 of 3000 responses; its 95 % interval needs 368. None for p99.9, p99.99."
    assert found["severity"] == "ok"
    found = audited(few_responses.RULE, {"requests": 5000}, latency=rows).iloc[0]
    assert found["evidence"] == "p99.9 of 5000 responses; its 95 % interval needs 3688. None for p99.99."
    assert found["severity"] == "ok", "what tools print after every run; a step of a spectrum is no percentile at all"


def test_each_generator_has_its_own_percentiles():
    runs = pd.DataFrame([RUN | {"run_id": "r0", "generator": g, "requests": n} for g, n in ((0, 100), (1, 1000))])
    rows = [{"study": "s", "run_id": "r0", "generator": g, "quantile": 0.99, "latency_s": 0.1} for g in (0, 1)]
    tables = {"runs": check("runs", runs), "latency": check("latency", pd.DataFrame(rows))}
    assert few_responses.RULE.audit(tables)["severity"].tolist() == ["warning", "ok"]


def test_few_responses_needs_percentiles():
    found = audited(few_responses.RULE, {"requests": 100}).iloc[0]
    assert found["severity"] == "unchecked" and "wrk --latency" in found["advice"]


@pytest.mark.parametrize(("repeats", "severity"), [(1, "warning"), (2, "warning"), (3, "ok"), (4, "ok")])
def test_few_repeats(repeats, severity):
    runs = [{"connections": n, "repeat": r, "throughput_rps": 1.0} for n in (1, 2) for r in range(repeats)]
    found = audited(few_repeats.RULE, *runs).iloc[0]
    assert (found["severity"], found["observed"]) == (severity, repeats) and pd.isna(found["run_id"])


def test_one_run_alone_is_no_sweep():
    assert audited(few_repeats.RULE, {}).empty


def test_mixed_environments():
    same = audited(mixed_environments.RULE, {"tool_version": "4.1.0"}, {"tool_version": "4.1.0"}).iloc[0]
    assert same["severity"] == "ok"
    found = audited(mixed_environments.RULE, {"tool_version": "4.1.0"}, {"tool_version": "4.2.0"}).iloc[0]
    assert found["severity"] == "warning" and "versions of the generator (4.1.0, 4.2.0)" in found["evidence"]
    of_variants = [{"variant": v, "server_software": f"nginx/{v}"} for v in ("1.24", "1.26")]
    assert audited(mixed_environments.RULE, *of_variants).iloc[0]["severity"] == "unchecked", (
        "the version is the factor"
    )
    kernels = [{"run_id": "r0", "host": "a", "kernel": "6.1"}, {"run_id": "r1", "host": "a", "kernel": "6.6"}]
    assert "kernels (6.1, 6.6)" in audited(mixed_environments.RULE, {}, {}, hosts=kernels).iloc[0]["evidence"]


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
    assert words in audited(mixed_environments.RULE, {}, {}, settings=rows).iloc[0]["evidence"]
    same = [row | {"value": "reno"} for row in rows]
    assert audited(mixed_environments.RULE, {}, {}, settings=same).iloc[0]["severity"] == "ok"
    other = [row | {"setting": "net.core.somaxconn"} for row in rows]
    found = audited(mixed_environments.RULE, {}, {}, settings=other).iloc[0]
    assert found["severity"] == "unchecked" and "uname -r" in found["advice"], "nothing that is compared is known"
    two_hosts = [row | {"host": f"S{i}"} for i, row in enumerate(rows)]
    found = audited(mixed_environments.RULE, {}, {}, settings=two_hosts).iloc[0]
    assert found["severity"] == "unchecked", "each host is compared with itself"
    factor = [{"run_id": f"r{i}", "factor": "hosts.S1.tcp", "level": v} for i, v in enumerate(("bbr", "reno"))]
    found = audited(mixed_environments.RULE, {}, {}, settings=rows, factors=factor).iloc[0]
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
    found = audited(drift_of_repeats.RULE, *sweep(change)).iloc[0]
    assert found["severity"] == severity and pd.isna(found["run_id"])
    if change:
        # The mean of a level drifts too, so the slope is not exact.
        assert 0.5 < found["observed"] / change < 1.5


def test_drift_needs_repeats():
    assert audited(drift_of_repeats.RULE, *sweep(0.2)[:4]).iloc[0]["severity"] == "unchecked"


def sockets(established):
    rows = [{"state": "LISTEN", "local_port": "80"}, *[{"state": "ESTAB", "local_port": "80"}] * established]
    return [row | {"elapsed_s": 5.0, "time": pd.Timestamp("2026-01-01", tz="UTC")} for row in rows]


@pytest.mark.parametrize(("seen", "severity"), [(10, "ok"), (9, "ok"), (8, "warning"), (4, "error"), (0, "error")])
def test_established_connections(seen, severity):
    found = audited(established_connections.RULE, {"connections": 10}, connections=sockets(seen)).iloc[0]
    assert found["severity"] == severity and f"{seen} of 10 connections" in found["evidence"]


def ends(host, address, number, port="80"):
    """A snapshot of one host: its listening socket, and established connections at an address."""
    row = {"host": host, "local_port": port, "elapsed_s": 5.0, "time": pd.Timestamp("2026-01-01", tz="UTC")}
    rows = [{"state": "LISTEN", "local_address": "0.0.0.0"}, *[{"state": "ESTAB", "local_address": address}] * number]
    return [row | each for each in rows]


@pytest.mark.parametrize(
    ("snapshots", "seen"),
    [
        # Four servers behind a balancer that translates addresses: each has a part of the connections.
        ([("S1", "198.18.0.3", 5), ("S2", "198.18.0.4", 5)], 10),
        ([("S1", "198.18.0.3", 2), ("S2", "198.18.0.4", 1)], 3),
        # A proxy at the address of the URL: what it opens to its servers are other connections.
        ([("L1", "198.18.0.2", 4), ("S1", "198.18.0.3", 10)], 4),
        ([("L1", "::ffff:198.18.0.2", 10), ("S1", "198.18.0.3", 1)], 10),
    ],
)
def test_connections_to_several_servers_are_added_up_and_those_of_a_proxy_are_not(snapshots, seen):
    rows = [row for snapshot in snapshots for row in ends(*snapshot)]
    run = {"connections": 10, "url": "http://198.18.0.2:80/616.txt"}
    found = audited(established_connections.RULE, run, connections=rows).iloc[0]
    assert f"{seen} of 10 connections" in found["evidence"]


def test_connections_are_counted_without_a_study():
    """As in a folder that somebody brought."""
    rows = pd.DataFrame([RUN]).drop(columns="study").assign(connections=10)
    seen = check("connections", pd.DataFrame([row | {"run_id": "a"} for row in sockets(10)]))
    found = established_connections.RULE.audit({"runs": check("runs", rows), "connections": seen})
    assert found["severity"].tolist() == ["ok"]


def test_established_connections_needs_sockets():
    found = audited(established_connections.RULE, {"connections": 10}).iloc[0]
    assert found["severity"] == "unchecked" and "ss -tan" in found["advice"]
