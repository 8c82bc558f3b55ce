"""What saturated: thresholds that the bottleneck report shares, threads, counters across the load, and plateaus."""

import numpy as np
import pandas as pd
import pytest

from loadcurve.analysis import analyse
from loadcurve.analysis.bottlenecks import summarise_usage
from loadcurve.audit import AuditSettings, all_rules, audit
from loadcurve.audit.utilisation import busy_links, busy_processors
from loadcurve.models.capacity import bottleneck_verdict
from loadcurve.reading import read
from loadcurve.tables import check

RULES = ("saturated-processors", "one-saturated-processor", "saturated-generator", "nothing-saturated")
LOADS = [1, 2, 4, 8, 16, 32]


def sweep(throughput, repeats=2, **columns):
    rows = [
        {
            "study": "s", "run_id": f"c{load}-r{r}", "variant": "v", "tool": "wrk", "threads": 1, "status": "finished",
            "duration_s": 10.0, "connections": load, "repeat": r, "throughput_rps": float(rate), **columns,
        }
        for load, rate in zip(LOADS, throughput, strict=True)
        for r in range(repeats)
    ]  # fmt: skip
    return check("runs", pd.DataFrame(rows))


def watched(runs, busy, host="h"):
    """One sample of each processor in the middle of each run: `busy` has a list of shares for each load."""
    rows = [
        {"study": "s", "run_id": run.run_id, "host": host, "elapsed_s": 5.0, "cpu": str(i), "cpu_idle_ratio": 1 - share,
         "cpu_iowait_ratio": 0.0, "cpu_softirq_ratio": 0.0}
        for run in runs.itertuples()
        for i, share in enumerate(busy[LOADS.index(run.connections)])
    ]  # fmt: skip
    return check("cpu", pd.DataFrame(rows))


FLAT = [100, 200, 390, 400, 402, 398]
RISING = [100, 200, 400, 800, 1600, 3200]


@pytest.mark.parametrize(
    ("name", "throughput", "busy", "pins", "verdict", "rules"),
    [
        ("all", FLAT, [[x / 410] * 2 for x in FLAT], {}, "saturated: ", {"saturated-processors"}),
        ("one", FLAT, [[x / 410, 0.1] for x in FLAT], {}, "saturated: busiest CPU", {"one-saturated-processor"}),
        ("server", FLAT, [[x / 410, 0.5] for x in FLAT], {"server_cpu": 0, "generator_cpu": 1}, "saturated: server CPU",
         {"one-saturated-processor"}),
        ("generator", FLAT, [[0.5, x / 410] for x in FLAT], {"server_cpu": 0, "generator_cpu": 1},
         "saturated: generator CPU", {"saturated-generator"}),
        ("none", FLAT, [[0.3, 0.3]] * 6, {}, "no watched resource saturates", {"nothing-saturated"}),
        ("rising", RISING, [[x / 4000] * 2 for x in RISING], {}, "no bottleneck was reached", set()),
    ],
)  # fmt: skip
def test_the_bottleneck_and_the_rules_report_the_same(name, throughput, busy, pins, verdict, rules):
    runs = sweep(throughput, **pins)
    tables = {"runs": runs, "cpu": watched(runs, busy)}
    assert bottleneck_verdict(summarise_usage(tables, runs)).startswith(verdict)
    found = audit(tables, AuditSettings(select=RULES))
    assert set(found.loc[found["severity"] == "warning", "rule"]) == rules


@pytest.mark.slow
def test_the_recorded_bottleneck_and_the_rules_report_the_same(root):
    found = analyse(root / "data/studies/connections_on_loopback")
    for curve in found.curves:
        means = curve.usage.query("resource == 'generator CPU'").groupby("connections")["utilisation_ratio"].mean()
        rows = found.findings[found.findings["run_id"].isin(curve.runs["run_id"])]
        fired = rows[(rows["rule"] == "saturated-generator") & (rows["severity"] == "warning")]
        by_rule = fired["run_id"].map(curve.runs.set_index("run_id")["connections"])
        assert set(means.index[means >= 0.9]) <= set(by_rule)
        assert curve.bottleneck.startswith("saturated: generator CPU") == bool(len(fired))
    plateaus = found.findings.query("rule == 'nothing-saturated'")
    assert plateaus["severity"].tolist() == ["ok", "ok"]
    both = plateaus["evidence"].str.contains("generator CPU and server CPU|server CPU and generator CPU")
    assert both.tolist() == [True, False]


def two_hosts(machines):
    """Processors 0, the server's, and 1, the generator's, as sar prints them on two hosts, with its headings."""
    runs = sweep([400] * len(LOADS), repeats=1, host="C1", server_cpu="0", generator_cpu="1")
    each = [watched(runs, [[0.95, 0.4]] * len(LOADS), host).assign(source=f"{host}.sar.txt") for host in ("C1", "S1")]
    headings = [
        {"study": "s", "run_id": run, "source": f"{host}.sar.txt", "host": machine}
        for run in runs["run_id"]
        for host, machine in zip(("C1", "S1"), machines, strict=True)
    ]
    return {"runs": runs, "cpu": pd.concat(each), "hosts": check("hosts", pd.DataFrame(headings))}


def test_the_processors_of_two_namespaces_of_one_machine_are_listed_once():
    tables = two_hosts(("vm", "vm"))
    assert set(summarise_usage(tables, tables["runs"])["resource"]) == {"C1 generator CPU", "S1 server CPU"}
    found = all_rules()["one-saturated-processor"].audit(tables)
    assert found["evidence"].str.startswith("The server's processor 0 of S1 was busy for 95.0 %").all()
    busy = busy_processors(tables)
    assert set(busy.loc[busy["cpu"] == "all", "host"]) == {"C1", "S1"}, "each host has its mean over all processors"


@pytest.mark.parametrize("machines", [("client", "server"), (None, None)])
def test_processors_of_two_machines_are_different_ones(machines):
    """Two machines have a processor 0 each; where no heading names the machine, nothing is assumed."""
    tables = two_hosts(machines)
    of_client = {"C1 generator CPU", "C1 all CPUs", "C1 busiest other CPU"}
    of_server = {"S1 server CPU", "S1 all CPUs", "S1 busiest other CPU"}
    assert set(summarise_usage(tables, tables["runs"])["resource"]) == of_client | of_server


def test_a_plateau_names_what_was_not_recorded_in_order():
    runs = sweep(FLAT)
    tables = {"runs": runs, "cpu": watched(runs, [[0.3, 0.2]] * 6)}
    found = all_rules()["nothing-saturated"].audit(tables).iloc[0]
    assert "v: throughput stays at 402 requests/s from connections = 4 to 32" in found["evidence"]
    assert "yet the busiest resource is the busiest CPU, 30.0 % busy at connections = 1." in found["evidence"]
    parts = ["pidstat -u -t 1", "cpu.stat", "nstat", "ss -ltn", "stub_status", "sar -n DEV", "sar -d", "offcputime"]
    places = [found["advice"].index(part) for part in parts]
    assert places == sorted(places) and "-P ALL" not in found["advice"]
    only = all_rules()["nothing-saturated"].audit({"runs": runs})
    assert only["severity"].tolist() == ["unchecked"] and "Record each thread" in only["advice"][0]
    assert all_rules()["nothing-saturated"].audit({"runs": runs[runs["connections"] < 4]}).empty


def test_a_processor_belongs_to_the_host_that_it_was_pinned_on():
    """Two machines have a processor 1; the generator was pinned to that of its own host."""
    runs = sweep(FLAT, repeats=1, host="client", server_cpu=1, generator_cpu=1)
    cpu = pd.concat([watched(runs, [[0.2, 0.99]] * 6, "client"), watched(runs, [[0.2, 0.5]] * 6, "server")])
    found = busy_processors({"runs": runs, "cpu": cpu})
    roles = found[found["role"] != ""].drop_duplicates(["host", "role"])
    assert roles[["host", "cpu", "role", "busy"]].round(2).to_numpy().tolist() == [
        ["client", "1", "generator", 0.99],
        ["server", "1", "server", 0.5],
    ]
    three = pd.concat([cpu, watched(runs, [[0.2, 0.5]] * 6, "balancer")])
    assert set(busy_processors({"runs": runs, "cpu": three})["role"]) == {"", "generator"}


THREADS = [  # command, tid, share of a processor, host
    ("wrk", None, 1.3, "client"), ("wrk", 11, 0.95, "client"), ("wrk", 12, 0.35, "client"),
    ("nginx", None, 1.0, "client"), ("nginx", 21, 1.0, "client"), ("wrk", None, 1.0, "other"),
    ("wrk", 31, 1.0, "other"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("tool", "threads", "rows", "observed", "severity"),
    [
        ("wrk", 2, THREADS, 0.95, "warning"),
        ("wrk2", 2, THREADS, 0.95, "warning"),
        ("wrk", 2, THREADS[:1], 0.65, "ok"),  # 1.3 processors by two threads, which were not recorded
        ("wrk", None, THREADS[:1], np.nan, "unchecked"),
        ("ab", None, [("ab", None, 0.99, "client")], 0.99, "warning"),  # ab has one thread
        ("hey", 2, THREADS, np.nan, "unchecked"),
    ],
)
def test_the_busiest_thread_is_the_generators(tool, threads, rows, observed, severity):
    runs = sweep(FLAT, repeats=1, host="client").head(1).assign(tool=tool, threads=threads)
    names = ["command", "tid", "cpu_used_ratio", "host"]
    pids = {"wrk": 1, "nginx": 2, "ab": 3}
    table = pd.DataFrame(rows, columns=names).assign(study="s", run_id="c1-r0", elapsed_s=5.0)
    table["pid"] = table["command"].map(pids)
    found = all_rules()["saturated-generator-thread"].audit(
        {"runs": check("runs", runs), "processes": check("processes", table)}
    )
    assert found["severity"].tolist() == [severity]
    assert found["observed"][0] == pytest.approx(observed, nan_ok=True)


def counters(*rows):
    names = ["counter", "elapsed_s", "value"]
    return check(
        "counters", pd.DataFrame(rows, columns=names).assign(study="s", run_id="c1-r0", tool="nstat", host="h")
    )


@pytest.mark.parametrize(
    ("rows", "dropped"),
    [
        # Connections open in the first milliseconds: the drops are between the sample before and the next.
        ([("TcpExtListenDrops", -0.4, 7), ("TcpExtListenDrops", 0.6, 19), ("TcpExtListenDrops", 10.2, 19)], 12),
        ([("ListenOverflows", -9.0, 1), ("ListenOverflows", -0.4, 5), ("ListenOverflows", 9.6, 5)], 0),
        ([("ListenOverflows", 0.5, 5), ("ListenOverflows", 10.6, 6), ("ListenOverflows", 30.0, 90)], 1),
        ([("TcpExtListenDrops", 5.0, 7)], np.nan),  # one sample has no growth
        ([("TcpExtListenDrops", 1.0, 9), ("TcpExtListenDrops", 9.0, 2)], np.nan),  # nstat without -a prints increments
        ([("times the listen queue of a socket overflowed", -1, 0), ("SYNs to LISTEN sockets dropped", -1, 0),
          ("times the listen queue of a socket overflowed", 11, 3), ("SYNs to LISTEN sockets dropped", 11, 4)], 4),
    ],
)  # fmt: skip
def test_drops_at_a_listening_socket_count_within_the_load(rows, dropped):
    runs = sweep(FLAT, repeats=1).head(1)
    found = all_rules()["listen-overflows"].audit({"runs": runs, "counters": counters(*rows)}).iloc[0]
    assert found["observed"] == pytest.approx(dropped, nan_ok=True)
    expected = "unchecked" if np.isnan(dropped) else "warning" if dropped else "ok"
    assert found["severity"] == expected


def test_a_recorded_quota_is_used_up_in_every_period(root):
    """A loop in a group with 0.2 processors: 16 of 16 periods (lib/tests/data/cgroup/version-1.txt)."""
    rows = read(root / "lib/tests/data/cgroup/version-1.txt").tables["counters"]
    table = check("counters", rows.assign(study="s", run_id="c1-r0", elapsed_s=range(len(rows))))
    found = all_rules()["cpu-quota"].audit({"runs": sweep(FLAT, repeats=1).head(1), "counters": table}).iloc[0]
    assert found["severity"] == "warning" and "/sys/fs/cgroup/cpu/web" in found["evidence"]
    assert "used up in 100 % of 16 periods" in found["evidence"]


@pytest.mark.parametrize(("stated", "softirq", "severity"), [
    (np.inf, 0.5, "ok"), (9.9e5, 0.5, "warning"), (1.1e6, 0.5, "ok"), (np.inf, 0.95, "warning"),
    (np.inf, None, "unchecked"), (9.9e5, None, "warning"),
])  # fmt: skip
def test_packets_are_compared_with_softirq_and_with_a_stated_limit(stated, softirq, severity):
    runs = sweep(FLAT, repeats=1).head(1)
    row = {"study": "s", "run_id": "c1-r0", "elapsed_s": 5.0}
    network = pd.DataFrame([{**row, "interface": "eth0", "received_pps": 9e5, "transmitted_pps": 4e5}])
    cpu = pd.DataFrame([{**row, "cpu": "0", "cpu_softirq_ratio": softirq}])
    tables = {"runs": runs, "network": check("network", network), "cpu": check("cpu", cpu)}
    found = all_rules()["packet-rate"].audit(tables, {"pps": stated}).iloc[0]
    assert found["severity"] == severity
    assert "900,000 packets/s" in found["evidence"] or severity == "unchecked"


@pytest.mark.parametrize(("frame_bytes", "printed"), [(60, 0.714), (1514, 0.984)])
def test_a_link_at_line_rate_is_full_whatever_its_frames(frame_bytes, printed):
    """IEEE 802.3: a frame occupies 24 bytes more than interfaces count, so 1 Gbit/s carries 1,488,095 of 60 bytes."""
    pps = 1e9 / 8 / (frame_bytes + 24)
    row = {"study": "s", "run_id": "c1-r0", "elapsed_s": 5.0, "interface": "eth0", "received_pps": pps,
           "transmitted_pps": 0.0, "received_bytes_per_s": pps * frame_bytes, "transmitted_bytes_per_s": 0.0,
           "utilisation_ratio": pps * frame_bytes * 8 / 1e9}  # fmt: skip
    assert row["utilisation_ratio"] == pytest.approx(printed, abs=1e-3)
    tables = {"runs": sweep(FLAT, repeats=1).head(1), "network": check("network", pd.DataFrame([row]))}
    assert busy_links(tables)["busy"].tolist() == pytest.approx([1.0])
    assert all_rules()["saturated-link"].audit(tables)["severity"].tolist() == ["warning"]


@pytest.mark.parametrize(("others", "severity"), [(0.02, "ok"), (0.021, "warning"), (None, "unchecked")])
def test_processes_of_others_are_named_as_the_cause(others, severity):
    runs = sweep(FLAT, repeats=1, server_cpu=0, generator_cpu=1, cpu_other_ratio=others)
    tables = {"runs": runs, "cpu": watched(runs, [[0.2, 0.99]] * 6)}
    found = audit(tables, AuditSettings(select=("other-processes", "saturated-generator"))).set_index("rule")
    assert set(found.loc["other-processes", "severity"]) == {severity}
    generator = found.loc["saturated-generator"].iloc[0]
    named = severity == "warning"
    assert ("which used 2.10 % of the run's processors" in generator["evidence"]) == named
    assert generator["advice"].startswith("Stop the other processes first. Give" if named else "Give")


def test_rules_of_saturation_take_tables_with_little_in_them():
    """Only the mean over all processors, no host, no sample within the load, an empty table: no internal error."""
    runs = sweep(FLAT, cpu_other_ratio=0.5)
    whole = watched(runs, [[0.95]] * 6, host=None).assign(cpu="all")
    family = tuple(name for name, rule in all_rules().items() if rule.family == "What saturated")
    for cpu in (whole, whole.assign(elapsed_s=99.0), whole.head(0)):
        tables = {"runs": runs, "cpu": check("cpu", cpu)}
        tables |= {name: check(name, pd.DataFrame()) for name in ("network", "disks", "processes", "counters", "tcp")}
        found = audit(tables, AuditSettings(select=family))
        assert not found["evidence"].str.contains("internal error").any(), found["evidence"].unique()
    assert "one-saturated-processor" in family
