"""Planted faults: numbers that cannot be true together."""

from loadcurve.audit.atlas import Shows
from validation.faults.mutation import chain, planted_fault, times, with_values

MUTATIONS = (
    planted_fault(
        "throughput_of_another_run",
        "Throughput that is not requests over time",
        "The throughput was replaced by three times its value, as if copied from another run.",
        ("contradicting-numbers",),
        with_values("runs", throughput_rps=times(3)),
        cause="throughput 17,",
        shows=Shows("runs", ("throughput_rps", "goodput_rps")),
        not_recorded="No load generator contradicts itself; only somebody who copies or edits its numbers does.",
    ),
    planted_fault(
        "transfer_rate_of_another_run",
        "Transfer rate that is not bytes over time",
        "The transfer rate was replaced by half its value.",
        ("contradicting-numbers",),
        with_values("runs", received_bytes_per_s=times(0.5)),
        cause="transfer rate 2,",
        shows=Shows("runs", ("received_bytes_per_s",)),
    ),
    planted_fault(
        "bandwidth_of_another_moment",
        "Bandwidth of another moment",
        "The bytes per second of the interfaces were halved, as if both rates were peaks of different moments.",
        ("bytes-per-response",),
        with_values("network", received_bytes_per_s=times(0.5), transmitted_bytes_per_s=times(0.5)),
        cause="same seconds",
        shows=Shows("network", ("received_bytes_per_s",), where={"interface": "lo"}),
    ),
    planted_fault(
        "rate_above_the_link",
        "Throughput above the link",
        "The throughput was replaced by a peak of three times its value, on a link that is stated as 100 Mbit/s.",
        ("throughput-above-link",),
        with_values("runs", link_bps=100e6, throughput_rps=times(3)),
        cause="no link carries that",
        shows=Shows("runs", ("throughput_rps",)),
    ),
    planted_fault(
        "requests_past_the_interfaces",
        "Requests that did not cross the interfaces",
        "The packets of all interfaces were reduced to 30 %, as if most requests went to another namespace.",
        ("packets-per-request",),
        with_values("network", received_pps=times(0.3), transmitted_pps=times(0.3)),
        cause="did not cross these interfaces",
        shows=Shows("network", ("received_pps",), where={"interface": "lo"}),
    ),
    planted_fault(
        "faster_than_the_network",
        "Response times below the round trip",
        "The round trips of the generator's connections were set to 50 ms, four times its mean response time.",
        ("response-time-below-round-trip",),
        with_values("connections", min_rtt_s=0.05),
        cause="faster than the network",
        shows=Shows("connections", ("min_rtt_s",)),
    ),
    planted_fault(
        "baseline_too_small",
        "Scale-out from a baseline that is too small",
        "One repeat of each load was declared as one unit, and another, with 2.5 times its throughput, as two.",
        ("super-linear-scale-out",),
        chain(
            with_values("runs", {"repeat": 1}, server_units=1),
            with_values("runs", {"repeat": 2}, server_units=2, throughput_rps=times(2.5), goodput_rps=times(2.5)),
        ),
        cause="baseline is too small",
        shows=Shows("runs", ("throughput_rps",)),
        sweep=True,
    ),
)
