"""Planted faults: numbers that cannot be true together."""

from loadcurve.audit.atlas import Fault, Shows
from validation.faults.mutation import Mutation, times, with_values

MUTATIONS = (
    Mutation(
        "throughput_of_another_run",
        Fault(
            "Throughput that is not requests over time",
            "The throughput was replaced by three times its value, as if copied from another run.",
            ("contradicting-numbers",),
            cause="throughput is",
            shows=Shows("runs", ("throughput_rps", "goodput_rps")),
        ),
        with_values("runs", throughput_rps=times(3)),
    ),
    Mutation(
        "transfer_rate_of_another_run",
        Fault(
            "Transfer rate that is not bytes over time",
            "The transfer rate was replaced by half its value.",
            ("contradicting-numbers",),
            cause="transfer rate is",
            shows=Shows("runs", ("received_bytes_per_s",)),
        ),
        with_values("runs", received_bytes_per_s=times(0.5)),
    ),
)
