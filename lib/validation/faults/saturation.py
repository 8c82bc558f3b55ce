"""Planted faults: a resource at its limit."""

from typing import Any

from loadcurve.audit.atlas import Fault, Shows
from validation.faults.mutation import Mutation, around, with_rows, with_values

_BUSY: dict[str, Any] = {
    "cpu_idle_ratio": 0.01,
    "cpu_iowait_ratio": 0.0,
    "cpu_user_ratio": 0.4,
    "cpu_system_ratio": 0.59,
}
_MiB = 2.0**20

MUTATIONS = (
    Mutation(
        "busy_generator",
        Fault(
            "A load generator without processor time",
            "The generator's processor had 1 % idle time.",
            ("saturated-generator",),
            cause="more threads and processors",
            shows=Shows("cpu", ("cpu_idle_ratio",), by="cpu"),
        ),
        with_values("cpu", {"cpu": "1"}, **_BUSY),
    ),
    Mutation(
        "busy_processors",
        Fault(
            "All processors busy",
            "All processors of the host had 1 % idle time.",
            ("saturated-processors",),
            shows=Shows("cpu", ("cpu_idle_ratio",), by="cpu"),
        ),
        with_values("cpu", None, **_BUSY),
    ),
    Mutation(
        "softirq",
        Fault(
            "One processor in softirq",
            "Processor 0 was in softirq for 80 % of the time, the other for 1 %.",
            ("softirq-on-one-processor",),
            shows=Shows("cpu", ("cpu_softirq_ratio",), by="cpu", limit="softirq-on-one-processor.warning"),
        ),
        with_values("cpu", {"cpu": "0"}, cpu_softirq_ratio=around(0.8), cpu_idle_ratio=0.03, cpu_user_ratio=0.02),
    ),
    Mutation(
        "link_at_line_rate",
        Fault(
            "A link at line rate",
            "The interface was used to 99 % of its speed.",
            ("saturated-link",),
            cause="wire model",
            shows=Shows("network", ("utilisation_ratio",), {"interface": "eth0"}, limit="saturated-link.warning"),
        ),
        with_values(
            "network",
            {"interface": "eth0"},
            utilisation_ratio=lambda column: 1 - around(0.01)(column),
            transmitted_bytes_per_s=1.237e9,
        ),
        not_recorded="A virtual link (veth) has no speed of its own, so sar prints no share of it.",
    ),
    Mutation(
        "busy_disk",
        Fault(
            "A disk without time to spare",
            "A disk was in use for 97 % of the time.",
            ("saturated-disk",),
            shows=Shows("disks", ("utilisation_ratio",), limit="saturated-disk.warning"),
        ),
        with_rows("disks", {"device": "vda", "utilisation_ratio": 0.97, "tool": "sar"}, seconds=6),
    ),
    Mutation(
        "waiting_for_disks",
        Fault(
            "Processors that wait for a disk",
            "The processors waited for disks for 35 % of the time.",
            ("waiting-for-disks",),
            shows=Shows("cpu", ("cpu_iowait_ratio",), {"cpu": "all"}, limit="waiting-for-disks.warning"),
        ),
        with_values("cpu", cpu_iowait_ratio=around(0.35), cpu_idle_ratio=0.5),
    ),
    Mutation(
        "steal",
        Fault(
            "Processors stolen by a neighbour",
            "The hypervisor gave 20 % of the processors' time to other guests.",
            ("stolen-processors",),
            cause="another time",
            shows=Shows("cpu", ("cpu_steal_ratio",), {"cpu": "all"}, limit="stolen-processors.warning"),
        ),
        with_values("cpu", cpu_steal_ratio=around(0.2), cpu_idle_ratio=0.7),
        not_recorded="Steal comes from other guests of the same hypervisor, which a guest cannot make.",
    ),
    Mutation(
        "swapped_pages",
        Fault(
            "Memory written to swap",
            "The swap in use grew by 100 MiB in each second.",
            ("swapping",),
            cause="more memory",
            shows=Shows("memory", ("swap_used_bytes",)),
        ),
        with_rows("memory", {"swap_used_bytes": lambda second: 100 * _MiB * second, "tool": "sar"}, seconds=6),
        not_recorded="The machine of the laboratory has no swap.",
    ),
    Mutation(
        "lost_segments",
        Fault(
            "Segments sent again",
            "2 % of the segments were sent again.",
            ("retransmissions",),
            shows=Shows("tcp", ("retransmits_pps", "segments_sent_pps")),
        ),
        with_values("tcp", retransmits_pps=around(240.0), segments_sent_pps=12000.0),
    ),
    Mutation(
        "dropped_packets",
        Fault(
            "Packets dropped by an interface",
            "The interface dropped 800 received packets/s.",
            ("dropped-packets",),
            shows=Shows("network", ("received_dropped_pps",), {"interface": "eth0"}),
        ),
        with_values("network", {"interface": "eth0"}, received_dropped_pps=around(800.0), transmitted_dropped_pps=0.0),
    ),
    Mutation(
        "accept_queue",
        Fault(
            "A full accept queue",
            "128 connections waited to be accepted in a queue for 128.",
            ("full-accept-queue",),
            cause="backlog",
            shows=Shows("connections", ("receive_queue", "send_queue"), {"state": "LISTEN"}),
        ),
        with_values("connections", {"state": "LISTEN"}, receive_queue=129, send_queue=128),
    ),
)
