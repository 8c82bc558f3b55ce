"""Planted faults: numbers that cannot be true together."""

from loadcurve.audit.atlas import Fault, Shows
from validation.faults.mutation import Mutation, chain, times, with_values

MUTATIONS = (
    Mutation(
        "throughput_of_another_run",
        Fault(
            "Throughput that is not requests over time",
            "The throughput was replaced by three times its value, as if copied from another run.",
            ("contradicting-numbers",),
            cause="throughput 17,",
            shows=Shows("runs", ("throughput_rps", "goodput_rps")),
        ),
        with_values("runs", throughput_rps=times(3)),
        not_recorded="No load generator contradicts itself; only somebody who copies or edits its numbers does.",
    ),
    Mutation(
        "transfer_rate_of_another_run",
        Fault(
            "Transfer rate that is not bytes over time",
            "The transfer rate was replaced by half its value.",
            ("contradicting-numbers",),
            cause="transfer rate 2,",
            shows=Shows("runs", ("received_bytes_per_s",)),
        ),
        with_values("runs", received_bytes_per_s=times(0.5)),
    ),
    Mutation(
        "bandwidth_of_another_moment",
        Fault(
            "Bandwidth of another moment",
            "The bytes per second of the interfaces were halved, as if both rates were peaks of different moments.",
            ("bytes-per-response",),
            cause="same seconds",
            shows=Shows("network", ("received_bytes_per_s",), where={"interface": "lo"}),
        ),
        with_values("network", received_bytes_per_s=times(0.5), transmitted_bytes_per_s=times(0.5)),
    ),
    Mutation(
        "rate_above_the_link",
        Fault(
            "Throughput above the link",
            "The throughput was replaced by a peak of three times its value, on a link that is stated as 100 Mbit/s.",
            ("throughput-above-link",),
            cause="no link carries that",
            shows=Shows("runs", ("throughput_rps",)),
        ),
        with_values("runs", link_bps=100e6, throughput_rps=times(3)),
    ),
    Mutation(
        "requests_past_the_interfaces",
        Fault(
            "Requests that did not cross the interfaces",
            "The packets of all interfaces were reduced to 30 %, as if most requests went to another namespace.",
            ("packets-per-request",),
            cause="did not cross these interfaces",
            shows=Shows("network", ("received_pps",), where={"interface": "lo"}),
        ),
        with_values("network", received_pps=times(0.3), transmitted_pps=times(0.3)),
    ),
    Mutation(
        "faster_than_the_network",
        Fault(
            "Response times below the round trip",
            "The round trips of the generator's connections were set to 50 ms, four times its mean response time.",
            ("response-time-below-round-trip",),
            cause="faster than the network",
            shows=Shows("connections", ("min_rtt_s",)),
        ),
        with_values("connections", min_rtt_s=0.05),
    ),
    Mutation(
        "baseline_too_small",
        Fault(
            "Scale-out from a baseline that is too small",
            "One repeat of each load was declared as one unit, and another, with 2.5 times its throughput, as two.",
            ("super-linear-scale-out",),
            cause="baseline is too small",
            shows=Shows("runs", ("throughput_rps",)),
        ),
        chain(
            with_values("runs", {"repeat": 1}, server_units=1),
            with_values("runs", {"repeat": 2}, server_units=2, throughput_rps=times(2.5), goodput_rps=times(2.5)),
        ),
        sweep=True,
    ),
)
