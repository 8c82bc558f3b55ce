"""The declarations of every table: each column's type, unit, rule and meaning.

Column = quantity + statistic + unit.  Suffixes: ``_s`` seconds, ``_bytes``, ``_rps`` requests per second, ``_pps``
packets (or segments) per second, ``_bytes_per_s``, ``_per_s`` events per second, ``_ratio`` (0–1, never percent).
No suffix means a count or a name.
"""

import pandas as pd
import pandera.pandas as pa

_TEXT = pd.StringDtype("python")
_COUNT = pd.Int64Dtype()
_TRUTH = pd.BooleanDtype()
_TIME = pd.DatetimeTZDtype("us", "UTC")


def _name(meaning: str, required: bool = False) -> pa.Column:
    return pa.Column(_TEXT, nullable=not required, coerce=True, description=meaning, metadata={"unit": ""})


def _count(meaning: str) -> pa.Column:
    return pa.Column(_COUNT, pa.Check.ge(0), nullable=True, coerce=True, description=meaning, metadata={"unit": ""})


def _truth(meaning: str) -> pa.Column:
    return pa.Column(_TRUTH, nullable=True, coerce=True, description=meaning, metadata={"unit": ""})


def _number(unit: str, meaning: str, *checks: pa.Check) -> pa.Column:
    return pa.Column(float, list(checks), nullable=True, coerce=True, description=meaning, metadata={"unit": unit})


def _at_least_0(unit: str, meaning: str) -> pa.Column:
    return _number(unit, meaning, pa.Check.ge(0))


def _ratio(meaning: str) -> pa.Column:
    return _number("ratio", meaning, pa.Check.in_range(0, 1))


def _time(meaning: str) -> pa.Column:
    return pa.Column(_TIME, nullable=True, coerce=True, description=meaning, metadata={"unit": "UTC"})


_RUN = {
    "study": _name("Study the run belongs to: the name of its folder.", required=True),
    "run_id": _name("Run: sorts and reads, and is never parsed.", required=True),
}
_SAMPLE = {
    **_RUN,
    "host": _name("Host on which the collector ran."),
    "time": _time("Instant of the sample; for a rate, the end of its interval."),
    "elapsed_s": _number("s", "Time since the load generator of the run was started; negative before it."),
}

SCHEMAS: dict[str, pa.DataFrameSchema] = {
    "runs": pa.DataFrameSchema(
        {
            **_RUN,
            "status": _name("finished, failed, interrupted or running, as run.json says.", required=True),
            "generator": _count("Index of the load generator within the run, from 0."),
            "host": _name("Host on which the load generator ran."),
            "tool": _name("Load generator: wrk, ab, weighttp."),
            "tool_version": _name("Version as the tool itself prints it."),
            "variant": _name("Variant of the system under test, a factor of the study."),
            "repeat": _count("Repetition of the same point, from 1."),
            "started_at": _time("Instant at which the load generator was started."),
            "duration_s": _at_least_0("s", "Time over which the generator counted requests, as it reports it."),
            "threads": _count("Threads of the generator."),
            "connections": _count("Concurrent connections asked for (N)."),
            "server_cpu": _count("Processor the server was kept on; missing where it was not pinned."),
            "generator_cpu": _count("Processor the generator was kept on; missing where it was not pinned."),
            "requests": _count("Responses received, whatever their status."),
            "throughput_rps": _at_least_0(
                "rps", "Responses per second (X), as the tool reports it; includes error responses."
            ),
            "goodput_rps": _at_least_0("rps", "Responses per second without those of an error status."),
            "received_bytes": _at_least_0("bytes", "Bytes read from the sockets, headers included."),
            "received_bytes_per_s": _at_least_0("bytes_per_s", "Bytes read per second, headers included."),
            "latency_mean_s": _at_least_0("s", "Mean response time (R)."),
            "latency_stdev_s": _at_least_0("s", "Standard deviation of the response time."),
            "latency_min_s": _at_least_0("s", "Smallest response time."),
            "latency_max_s": _at_least_0("s", "Largest response time."),
            "errors_connect": _count("Connections that could not be opened."),
            "errors_read": _count("Errors while reading a response."),
            "errors_write": _count("Errors while writing a request."),
            "errors_timeout": _count("Responses later than the generator's timeout; may also be counted in requests."),
            "errors_status": _count("Responses with a status of 400 or more."),
            "percentile_estimator": _name("How the tool makes its percentiles."),
            "latency_corrected": _truth("Whether the tool corrects response times for coordinated omission."),
        },
        description="One row for each load generator of each run: what was asked for, and what came of it.",
    ),
    "latency": pa.DataFrameSchema(
        {
            **_RUN,
            "generator": _count("Index of the load generator within the run, from 0."),
            "quantile": _ratio("Part of the responses that were at least as fast."),
            "latency_s": _at_least_0("s", "Response time at that quantile."),
            "corrected": _truth("Whether the tool corrects for coordinated omission."),
        },
        description="Quantiles of the response time, one row for each that the tool printed.",
    ),
    "cpu": pa.DataFrameSchema(
        {
            **_SAMPLE,
            "cpu": _name("Processor number, or `all` for the mean over them."),
            "cpu_user_ratio": _ratio("Time in user mode (without guests where the tool splits them off)."),
            "cpu_nice_ratio": _ratio("Time in user mode at lowered priority."),
            "cpu_system_ratio": _ratio("Time in the kernel (without interrupts where the tool splits them off)."),
            "cpu_iowait_ratio": _ratio("Idle time with disk input or output outstanding."),
            "cpu_steal_ratio": _ratio("Time the hypervisor gave to others."),
            "cpu_irq_ratio": _ratio("Time in hardware interrupts."),
            "cpu_softirq_ratio": _ratio("Time in software interrupts."),
            "cpu_guest_ratio": _ratio("Time running a virtual processor."),
            "cpu_guest_nice_ratio": _ratio("Time running a virtual processor at lowered priority."),
            "cpu_idle_ratio": _ratio("Idle time without disk input or output outstanding."),
        },
        description="Where each processor spent each interval (sar -u ALL -P ALL).",
    ),
    "network": pa.DataFrameSchema(
        {
            **_SAMPLE,
            "interface": _name("Network interface."),
            "received_pps": _at_least_0("pps", "Packets received per second."),
            "transmitted_pps": _at_least_0("pps", "Packets sent per second."),
            "received_bytes_per_s": _at_least_0("bytes_per_s", "Bytes received per second, link headers included."),
            "transmitted_bytes_per_s": _at_least_0("bytes_per_s", "Bytes sent per second, link headers included."),
            "received_compressed_pps": _at_least_0("pps", "Compressed packets received per second."),
            "transmitted_compressed_pps": _at_least_0("pps", "Compressed packets sent per second."),
            "received_multicast_pps": _at_least_0("pps", "Multicast packets received per second."),
            "utilisation_ratio": _at_least_0(
                "ratio", "Share of the interface's nominal speed; over 1 where that speed is wrong."
            ),
        },
        description="Traffic of each network interface (sar -n DEV).",
    ),
    "tcp": pa.DataFrameSchema(
        {
            **_SAMPLE,
            "active_opens_per_s": _at_least_0("per_s", "Connections opened from this side."),
            "passive_opens_per_s": _at_least_0("per_s", "Connections accepted."),
            "segments_received_pps": _at_least_0("pps", "TCP segments received."),
            "segments_sent_pps": _at_least_0("pps", "TCP segments sent, without pure retransmissions."),
            "attempt_fails_per_s": _at_least_0("per_s", "Connections that failed while being opened."),
            "established_resets_per_s": _at_least_0("per_s", "Connections reset after they were established."),
            "retransmits_pps": _at_least_0("pps", "TCP segments sent again."),
            "receive_errors_pps": _at_least_0("pps", "TCP segments received in error."),
            "resets_sent_pps": _at_least_0("pps", "TCP segments sent with the RST flag."),
        },
        description="The kernel's TCP counters as rates (sar -n TCP and ETCP).",
    ),
    "sockets": pa.DataFrameSchema(
        {
            **_SAMPLE,
            "tool": _name("ss or sar: their counts differ in scope, so they stay apart."),
            "total": _count("Sockets of every family."),
            "tcp": _count("TCP sockets: for sar those in use, for ss every state, time-wait included."),
            "established": _count("TCP connections established (ss)."),
            "closed": _count("TCP sockets in a closing or closed state (ss)."),
            "orphaned": _count("TCP sockets without an owner, machine-wide even in a namespace (ss)."),
            "time_wait": _count("TCP connections in TIME-WAIT."),
            "udp": _count("UDP sockets in use."),
            "raw": _count("Raw sockets in use."),
            "fragments": _count("IP fragments queued."),
            "transport_tcp": _count("TCP sockets in the transport table, without time-wait (ss)."),
            "transport_tcp_ipv4": _count("Of these, on IPv4."),
            "transport_tcp_ipv6": _count("Of these, on IPv6."),
        },
        description="Counts of sockets by kind and state (ss -s, sar -n SOCK).",
    ),
    "connections": pa.DataFrameSchema(
        {
            **_SAMPLE,
            "state": _name("TCP state as ss writes it: ESTAB, TIME-WAIT, LISTEN."),
            "receive_queue": _count("Bytes not yet read; of a listener, connections not yet accepted."),
            "send_queue": _count("Bytes not yet acknowledged; of a listener, the limit of its accept queue."),
            "local_address": _name("Local address, without brackets."),
            "local_port": _name("Local port, by number or name."),
            "peer_address": _name("Peer address, without brackets."),
            "peer_port": _name("Peer port, by number or name."),
            "process": _name("What ss -p adds."),
        },
        description="One row for each socket at each snapshot (ss -tan).",
    ),
    "findings": pa.DataFrameSchema(
        {
            "study": _name("Study the finding is about.", required=True),
            "run_id": _name("Run it is about; missing where it is about the study."),
            "rule": _name("Audit rule; each has a page in the handbook.", required=True),
            "severity": _name("ok, warning or error.", required=True),
            "observed": _number("", "What the rule measured, in the rule's own unit."),
            "expected": _number("", "What it should be."),
            "evidence": _name("The numbers in a sentence."),
            "advice": _name("What to do next; empty where nothing is wrong."),
        },
        description="What the audit says of each run: a verdict only from a check that ran.",
    ),
    "fits": pa.DataFrameSchema(
        {
            "study": _name("Study the data come from.", required=True),
            "variant": _name("Variant of the system under test."),
            "law": _name("Model, such as usl.", required=True),
            "parameter": _name("Parameter or derived quantity.", required=True),
            "value": _number("", "Estimate."),
            "lo": _number("", "Lower end of the interval."),
            "hi": _number("", "Upper end of the interval."),
            "level_ratio": _ratio("Confidence level of the interval."),
            "method": _name("How the interval was made."),
            "points": _count("Points the fit used."),
            "r_squared": _number(
                "", "Share of the variance the fit explains; negative where it is worse than the mean."
            ),
            "warnings": _name("What weakens the fit, separated by semicolons."),
        },
        description="Parameters of fitted laws with their intervals.",
    ),
}
