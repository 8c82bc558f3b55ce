"""Planted faults: the load was not the one that the run's label states."""

from loadcurve.audit.atlas import Shows
from validation.faults.mutation import chain, planted_fault, times, with_rows, with_values, without_rows

MUTATIONS = (
    planted_fault(
        "corrected_response_time",
        "Response time corrected for coordinated omission",
        "The mean response time of wrk was raised by half, as its correction does after a stall.",
        ("effective-concurrency",),
        with_values("runs", latency_mean_s=times(1.5)),
        cause="coordinated omission",
        shows=Shows("runs", ("latency_mean_s", "latency_max_s")),
    ),
    planted_fault(
        "wait_for_the_generator",
        "Response time without the wait for a busy wrk",
        "The mean response time was lowered by half, and the generator's processor was always busy.",
        ("effective-concurrency", "saturated-generator"),
        chain(
            with_values("runs", latency_mean_s=times(0.45)),
            with_values("cpu", {"cpu": "1"}, cpu_idle_ratio=0.01, cpu_user_ratio=0.5, cpu_system_ratio=0.49),
        ),
        cause="processor was busy",
        shows=Shows("cpu", ("cpu_idle_ratio",), where={"cpu": "1"}),
    ),
    planted_fault(
        "local_ports",
        "Local ports used up",
        "The generator's host had 66 local ports for 64 connections.",
        ("local-ports",),
        with_values("settings", {"setting": "net.ipv4.ip_local_port_range"}, value="40000 40065"),
        cause="ab -k",
        shows=Shows("sockets", ("established",)),
    ),
    planted_fault(
        "no_descriptor_left",
        "A generator without descriptors to spare",
        "The limit of open files of wrk was 64, for 64 connections.",
        ("descriptor-limit",),
        with_values("settings", {"setting": "Max open files"}, value="64"),
        cause="ulimit -n",
        shows=Shows("runs", ("connections",)),
    ),
    planted_fault(
        "conntrack_table_full",
        "A full table of tracked connections",
        "The host tracked 262,100 of at most 262,144 connections.",
        ("conntrack-full",),
        with_rows(
            "settings",
            {"tool": "sysctl", "setting": "net.netfilter.nf_conntrack_count", "value": "262100"},
            {"tool": "sysctl", "setting": "net.netfilter.nf_conntrack_max", "value": "262144"},
            seconds=5,
        ),
        cause="nf_conntrack_max",
    ),
    planted_fault(
        "orphans",
        "Closed connections that the peer did not close",
        "653 sockets were orphaned while 64 connections were requested.",
        ("orphaned-sockets",),
        with_values("sockets", {"tool": "ss"}, orphaned=653),
        cause="drops FINs",
        shows=Shows("sockets", ("orphaned",), where={"tool": "ss"}),
    ),
    planted_fault(
        "growing_time_wait",
        "A connection for each request",
        "The sockets in TIME_WAIT grew by 900 sockets/s.",
        ("growing-time-wait",),
        with_values("sockets", {"tool": "ss"}, time_wait=lambda rows: [900 * second for second in range(len(rows))]),
        cause="Keep connections alive",
        shows=Shows("sockets", ("time_wait",), where={"tool": "ss"}),
    ),
    planted_fault(
        "missing_at_the_server",
        "Connections that the server never saw",
        "The server's sockets in state ESTAB were removed from the snapshots of ss.",
        ("established-connections",),
        without_rows("connections", {"state": "ESTAB", "local_port": "60679"}),
        shows=Shows("sockets", ("established",)),
    ),
    planted_fault(
        "rate_not_reached",
        "A rate that was not reached",
        "8,000 requests/s were asked for; 5,839 requests/s came.",
        ("target-rate",),
        with_values("runs", target_rate_rps=8000.0, latency_corrected=False),
        cause="beyond the capacity",
        shows=Shows("runs", ("target_rate_rps", "throughput_rps")),
    ),
)
