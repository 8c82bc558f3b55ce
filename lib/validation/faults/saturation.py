"""Planted faults: a resource at its limit."""

from typing import Any

import pandas as pd

from loadcurve.audit.atlas import Shows
from validation.faults.mutation import Change, Tables, around, planted_fault, scaled, with_rows, with_values

_BUSY: dict[str, Any] = {
    "cpu_idle_ratio": 0.01,
    "cpu_iowait_ratio": 0.0,
    "cpu_user_ratio": 0.4,
    "cpu_system_ratio": 0.59,
}
_MiB = 2.0**20


def _threads(*shares: float) -> list[dict[str, Any]]:
    """Return rows of pidstat about wrk: the process, and each of its threads."""
    process = {"pid": 4711, "command": "wrk", "cpu_used_ratio": sum(shares)}
    return [process, *({**process, "tid": 4711 + at, "cpu_used_ratio": share} for at, share in enumerate(shares))]


def _counters(group: str, item: str, **per_second: int) -> list[dict[str, Any]]:
    """Return rows of counters that grow by so much in each second."""
    return [
        {"tool": "nstat", "group": group, "item": item, "counter": name, "value": lambda at, by=by: float(by * at)}
        for name, by in per_second.items()
    ]


def limited(most_rps: float) -> Change:
    """Return a change: no load has a higher throughput than `most_rps`; response times are then N/X."""

    def change(given: Tables) -> dict[str, pd.DataFrame]:
        runs = given["runs"]
        return {**given, "runs": scaled(runs, (most_rps / runs["throughput_rps"]).clip(upper=1.0))}

    return change


MUTATIONS = (
    planted_fault(
        "busy_generator",
        "A load generator without processor time",
        "The generator's processor had 1 % idle time.",
        ("saturated-generator",),
        with_values("cpu", {"cpu": "1"}, **_BUSY),
        cause="more threads and processors",
        shows=Shows("cpu", ("cpu_idle_ratio",), by="cpu"),
    ),
    planted_fault(
        "busy_processors",
        "All processors busy",
        "All processors of the host had 1 % idle time.",
        ("saturated-processors",),
        with_values("cpu", None, **_BUSY),
        shows=Shows("cpu", ("cpu_idle_ratio",), by="cpu"),
    ),
    planted_fault(
        "softirq",
        "One processor in softirq",
        "Processor 0 was in softirq for 80 % of the time, the other for 1 %.",
        ("softirq-on-one-processor",),
        with_values("cpu", {"cpu": "0"}, cpu_softirq_ratio=around(0.8), cpu_idle_ratio=0.03, cpu_user_ratio=0.02),
        shows=Shows("cpu", ("cpu_softirq_ratio",), by="cpu", limit="softirq-on-one-processor.warning"),
    ),
    planted_fault(
        "link_at_line_rate",
        "A link at line rate",
        "The interface was used to 99 % of its speed.",
        ("saturated-link",),
        with_values(
            "network",
            {"interface": "eth0"},
            utilisation_ratio=lambda column: 1 - around(0.01)(column),
            transmitted_bytes_per_s=1.237e9,
        ),
        cause="wire model",
        shows=Shows("network", ("utilisation_ratio",), {"interface": "eth0"}, limit="saturated-link.warning"),
    ),
    planted_fault(
        "busy_disk",
        "A disk without time to spare",
        "A disk was in use for 97 % of the time.",
        ("saturated-disk",),
        with_rows("disks", {"device": "vda", "utilisation_ratio": 0.97, "tool": "sar"}, seconds=6),
        shows=Shows("disks", ("utilisation_ratio",), limit="saturated-disk.warning"),
    ),
    planted_fault(
        "waiting_for_disks",
        "Processors that wait for a disk",
        "The processors waited for disks for 35 % of the time.",
        ("waiting-for-disks",),
        with_values("cpu", cpu_iowait_ratio=around(0.35), cpu_idle_ratio=0.5),
        shows=Shows("cpu", ("cpu_iowait_ratio",), {"cpu": "all"}, limit="waiting-for-disks.warning"),
    ),
    planted_fault(
        "steal",
        "Processors stolen by a neighbour",
        "The hypervisor gave 20 % of the processors' time to other guests.",
        ("stolen-processors",),
        with_values("cpu", cpu_steal_ratio=around(0.2), cpu_idle_ratio=0.7),
        cause="another time",
        shows=Shows("cpu", ("cpu_steal_ratio",), {"cpu": "all"}, limit="stolen-processors.warning"),
        not_recorded="Other guests of the same hypervisor take the time, which no program inside a guest can cause. A "
        "guest of a host with more virtual than real processors shows it, such as a burstable cloud instance.",
    ),
    planted_fault(
        "swapped_pages",
        "Memory written to swap",
        "The swap in use grew by 100 MiB in each second.",
        ("swapping",),
        with_rows("memory", {"swap_used_bytes": lambda second: 100 * _MiB * second, "tool": "sar"}, seconds=6),
        cause="more memory",
        shows=Shows("memory", ("swap_used_bytes",)),
    ),
    planted_fault(
        "lost_segments",
        "Segments sent again",
        "2 % of the segments were sent again.",
        ("retransmissions",),
        with_values("tcp", retransmits_pps=around(240.0), segments_sent_pps=12000.0),
        shows=Shows("tcp", ("retransmits_pps", "segments_sent_pps")),
    ),
    planted_fault(
        "dropped_packets",
        "Packets dropped by an interface",
        "The interface dropped 800 received packets/s.",
        ("dropped-packets",),
        with_values("network", {"interface": "eth0"}, received_dropped_pps=around(800.0), transmitted_dropped_pps=0.0),
        shows=Shows("network", ("received_dropped_pps",), {"interface": "eth0"}),
    ),
    planted_fault(
        "accept_queue",
        "A full accept queue",
        "128 connections waited to be accepted in a queue for 128.",
        ("full-accept-queue",),
        with_values("connections", {"state": "LISTEN"}, receive_queue=129, send_queue=128),
        cause="backlog",
        shows=Shows("connections", ("receive_queue", "send_queue"), {"state": "LISTEN"}),
    ),
    planted_fault(
        "one_busy_processor",
        "One busy processor of two",
        "The server's processor had 2 % idle time, the other one was nearly idle.",
        ("one-saturated-processor",),
        with_values("cpu", {"cpu": "0"}, cpu_idle_ratio=0.02, cpu_user_ratio=0.4, cpu_system_ratio=0.55),
        cause="more workers",
        shows=Shows("cpu", ("cpu_idle_ratio",), by="cpu"),
    ),
    planted_fault(
        "too_many_packets",
        "Packets that take a whole processor",
        "Processor 0 was in softirq for 96 % of the time.",
        ("packet-rate",),
        with_values("cpu", {"cpu": "0"}, cpu_softirq_ratio=0.96, cpu_idle_ratio=0.01, cpu_user_ratio=0.02),
        cause="packets may be the limit",
        shows=Shows("cpu", ("cpu_softirq_ratio",), by="cpu", limit="packet-rate.ratio"),
    ),
    planted_fault(
        "busy_thread",
        "One thread of the generator is busy",
        "One of four threads of wrk used 99 % of a processor, the others 20 %.",
        ("saturated-generator-thread",),
        with_rows("processes", *_threads(0.99, 0.2, 0.2, 0.2), seconds=6),
        cause="more threads",
        shows=Shows("processes", ("cpu_used_ratio",), by="tid", limit="saturated-generator-thread.warning"),
    ),
    planted_fault(
        "quota",
        "A quota of CPU time that was used up",
        "The control group of the server had used up its quota in 6 of 10 periods.",
        ("cpu-quota",),
        with_rows("counters", *_counters("cgroup", "server", nr_periods=10, nr_throttled=6), seconds=6),
        cause="CPU limit",
        shows=Shows("counters", ("value",), by="counter", label="Count"),
    ),
    planted_fault(
        "listen_overflows",
        "Handshakes dropped by a listening socket",
        "The counter of dropped handshakes grew by 40 in each second.",
        ("listen-overflows",),
        with_rows("counters", *_counters("TcpExt", "", TcpExtListenOverflows=40, TcpExtListenDrops=40), seconds=6),
        cause="somaxconn",
        shows=Shows("counters", ("value",), by="counter", label="Count"),
    ),
    planted_fault(
        "hidden_limit",
        "A plateau without a saturated resource",
        "The throughput of all loads was limited to 5,000 requests/s, while every processor was nearly idle.",
        ("nothing-saturated",),
        limited(5000.0),
        cause="Record, in this order",
        shows=Shows("runs", ("throughput_rps",)),
        sweep=True,
    ),
    planted_fault(
        "busy_neighbour_process",
        "Another process on the run's processors",
        "Processes outside the run used 30 % of its processors.",
        ("other-processes",),
        with_values("runs", cpu_other_ratio=0.3),
        cause="Stop them",
        shows=Shows("runs", ("cpu_other_ratio",), limit="other-processes.warning"),
    ),
)
