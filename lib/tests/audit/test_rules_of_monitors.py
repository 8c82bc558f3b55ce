"""Rules about monitored hosts: each fires, stays silent, ignores samples outside the load, and says what is missing."""

import pytest
from examined import examiner

of_run = examiner(tool="wrk", threads=2, duration_s=10.0, server_cpu="0", generator_cpu="1")
IDLE = {"cpu_user_ratio": 0.0, "cpu_idle_ratio": 1.0, "cpu_iowait_ratio": 0.0, "cpu_steal_ratio": 0.0,
        "cpu_softirq_ratio": 0.0}  # fmt: skip


def cpu(**shares):
    return {"cpu": [{"cpu": "all"} | IDLE | shares]}


def each_cpu(*shares, **others):
    return {"cpu": [{"cpu": str(i)} | IDLE | share | others for i, share in enumerate(shares)]}


def device(table, share):
    name = {"disks": "device", "network": "interface"}[table]
    return {table: [{name: "x0", "utilisation_ratio": 0.1}, {name: "x1", "utilisation_ratio": share}]}


def listening(waiting):
    return {"connections": [{"state": "LISTEN", "receive_queue": waiting, "send_queue": 511, "local_port": "80"}]}


def tcp(again):
    return {"tcp": [{"segments_sent_pps": 10000.0, "retransmits_pps": again}]}


def swap(*used):
    return {"memory": [{"elapsed_s": 2.0 + i, "swap_used_bytes": each} for i, each in enumerate(used)]}


def threads(*used):
    process = {"command": "wrk", "pid": 7, "cpu_used_ratio": sum(used)}
    return {"processes": [process] + [process | {"tid": 7 + i, "cpu_used_ratio": u} for i, u in enumerate(used)]}


def packets(**shares):
    return each_cpu({}, shares) | {"network": [{"interface": "x0", "received_pps": 9e5, "transmitted_pps": 5e5}]}


def counted(name, *values):
    times = (-0.5, 10.5)
    rows = [{"counter": name, "tool": "nstat", "value": v, "elapsed_s": t} for v, t in zip(values, times, strict=True)]
    return {"counters": rows}


def quota(periods, throttled):
    return {
        "counters": counted("nr_periods", 5, 5 + periods)["counters"]
        + counted("nr_throttled", 3, 3 + throttled)["counters"]
    }


CASES = [  # rule, tables in which it is silent, tables in which it warns, tables in which it is an error
    ("stolen-processors", cpu(cpu_steal_ratio=0.02), cpu(cpu_steal_ratio=0.03), cpu(cpu_steal_ratio=0.2)),
    ("saturated-processors", cpu(cpu_idle_ratio=0.11), cpu(cpu_idle_ratio=0.09), None),
    ("saturated-generator", each_cpu({"cpu_idle_ratio": 0.0}, {"cpu_idle_ratio": 0.11}),
     each_cpu({}, {"cpu_idle_ratio": 0.09}), None),
    ("one-saturated-processor", each_cpu({"cpu_idle_ratio": 0.11}, {"cpu_idle_ratio": 0.05}),
     each_cpu({"cpu_idle_ratio": 0.09}, {}), None),
    ("saturated-generator-thread", threads(0.9), threads(0.91), None),
    ("packet-rate", packets(cpu_softirq_ratio=0.9), packets(cpu_softirq_ratio=0.91), None),
    ("listen-overflows", counted("TcpExtListenDrops", 7, 7), counted("TcpExtListenDrops", 7, 8), None),
    ("cpu-quota", quota(100, 1), quota(100, 2), None),
    ("softirq-on-one-processor", each_cpu({"cpu_softirq_ratio": 0.6}, {"cpu_softirq_ratio": 0.5}),
     each_cpu({"cpu_softirq_ratio": 0.6}, {}), None),
    ("waiting-for-disks", cpu(cpu_iowait_ratio=0.1), cpu(cpu_iowait_ratio=0.11), None),
    ("saturated-disk", device("disks", 0.9), device("disks", 0.91), None),
    ("saturated-link", device("network", 0.9), device("network", 0.91), None),
    ("retransmissions", tcp(10.0), tcp(11.0), tcp(101.0)),
    ("dropped-packets", {"network": [{"interface": "x0", "received_dropped_pps": 0.0}]},
     {"network": [{"interface": "x0", "received_dropped_pps": 0.5}]}, None),
    ("swapping", swap(0.0, 2.0**20), swap(0.0, 2.0**20 + 4096), None),
    ("full-accept-queue", listening(255), listening(300), listening(511)),
]  # fmt: skip


def audited(rule, tables):
    timed = {name: [{"elapsed_s": 5.0} | row for row in rows] for name, rows in tables.items()}
    return of_run(rule, **timed).iloc[0]


@pytest.mark.parametrize(("rule", "silent", "warned", "failed"), CASES, ids=[case[0] for case in CASES])
def test_a_rule_fires_stays_silent_and_says_what_is_missing(rule, silent, warned, failed):
    found = audited(rule, silent)
    assert (found["severity"], found["advice"]) == ("ok", "")
    found = audited(rule, warned)
    assert found["severity"] == "warning" and found["advice"] and "nan" not in found["evidence"]
    if failed is not None:
        assert audited(rule, failed)["severity"] == "error"
    missing = audited(rule, {})
    assert missing["severity"] == "unchecked" and "Record `" in missing["advice"]


@pytest.mark.parametrize("rule", [case[0] for case in CASES if "elapsed_s" not in str(case[2])])
def test_samples_outside_the_load_count_for_nothing(rule):
    warned = next(case[2] for case in CASES if case[0] == rule)
    late = {name: [row | {"elapsed_s": 11.0} for row in rows] for name, rows in warned.items()}
    assert audited(rule, late)["severity"] == "unchecked"


@pytest.mark.parametrize(("rule", "table", "calm", "bad"), [
    ("stolen-processors", "cpu", {"cpu_steal_ratio": 0.0}, {"cpu_steal_ratio": 0.03}),
    ("waiting-for-disks", "cpu", {"cpu_iowait_ratio": 0.0}, {"cpu_iowait_ratio": 0.11}),
    ("dropped-packets", "network", {"received_dropped_pps": 0.0}, {"received_dropped_pps": 0.5}),
])  # fmt: skip
def test_calm_hosts_do_not_hide_one_that_is_not(rule, table, calm, bad):
    place = {"cpu": "all"} | IDLE if table == "cpu" else {"interface": "x0"}
    hosts = [place | {"host": host} | calm for host in ("C1", "LB", "S1", "S2")]
    assert audited(rule, {table: hosts})["severity"] == "ok"
    found = audited(rule, {table: [*hosts, place | {"host": "S3"} | bad]})
    assert (found["severity"], found["observed"]) == ("warning", pytest.approx(max(bad.values())))


def test_retransmissions_are_those_of_the_worst_host_that_sends_much():
    """Of 4 hosts one sends 0.15 % again, of all segments only 0.05 %; a login that is sent again is no load."""
    rows = [{"host": host} | tcp(0.0)["tcp"][0] for host in ("C1", "LB", "S1")]
    login = {"host": "S3", "segments_sent_pps": 2.0, "retransmits_pps": 1.0}
    assert audited("retransmissions", {"tcp": [*rows, login]})["severity"] == "ok"
    for number in (0, 8, 12):  # more servers send less each than a tenth of all
        others = [{"host": f"S{i}"} | tcp(0.0)["tcp"][0] for i in range(10, 10 + number)]
        assert audited("retransmissions", {"tcp": [*rows, login, *others]})["severity"] == "ok"
        found = audited("retransmissions", {"tcp": [*rows, login, *others, {"host": "S2"} | tcp(15.0)["tcp"][0]]})
        assert found["severity"] == "warning"
    assert found["severity"] == "warning" and "0.150 % of the segments of S2 were sent again" in found["evidence"]
