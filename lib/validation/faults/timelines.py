"""Planted faults: throughput that changes while the load runs, and response times with two modes."""

from collections.abc import Callable

import numpy as np
import pandas as pd

from loadcurve import tables as schemas
from loadcurve.audit.atlas import Shows
from validation.faults.mutation import Change, Tables, planted_fault, with_rows, with_values

SECONDS = 60
RATE = 5839.0
"""Throughput of the clean run, in requests/s."""


def lasting(rate: Callable[[float], float]) -> Change:
    """Return a change: the run lasts a minute, and its throughput at each second is `rate`, with 1 % of noise."""

    def change(given: Tables) -> dict[str, pd.DataFrame]:
        ends = np.arange(1.0, SECONDS + 1)
        noise = np.random.default_rng(20261123).normal(0.0, 0.01, ends.size)  # the same in each build
        rates = np.array([rate(second) for second in ends]) * (1 + noise)
        first = given["tcp"].iloc[[0]].drop(columns=["elapsed_s", "segments_received_pps", "segments_sent_pps", "time"])
        samples = first.loc[first.index.repeat(SECONDS)].assign(
            elapsed_s=ends,
            time=given["runs"]["started_at"].iloc[0] + pd.to_timedelta(ends, unit="s"),
            segments_received_pps=2 * rates,
            segments_sent_pps=2 * rates,
        )
        mean = float(rates.mean())
        of_run = with_values(
            "runs",
            duration_s=float(SECONDS),
            requests=round(mean * SECONDS),
            throughput_rps=mean,
            goodput_rps=mean,
            latency_mean_s=64 / mean,
            received_bytes=lambda column: column * mean * SECONDS / (RATE * 6.03),
            received_bytes_per_s=lambda column: column * mean / RATE,
        )
        return {**of_run(given), "tcp": schemas.check("tcp", samples, extra=True)}

    return change


TIMELINE = Shows("tcp", ("segments_received_pps",))
CLASSES_S = (0.002, 0.004, 0.006, 0.008, 0.010, 0.012, 0.014, 0.016, 0.018, 0.020)
COUNTS = (900, 5200, 8100, 3000, 400, 600, 3900, 8200, 4100, 800)

MUTATIONS = (
    planted_fault(
        "jump",
        "Throughput that falls in the middle",
        "From 30 s on, the throughput was 60 % of what it was before.",
        ("change-of-level",),
        lasting(lambda second: RATE if second < 30 else 0.6 * RATE),
        cause="throughput went from",
        shows=TIMELINE,
    ),
    planted_fault(
        "drift_in_the_run",
        "Throughput that falls all the time",
        "The throughput fell from one second to the next, by 40 % in a minute.",
        ("change-of-level",),
        lasting(lambda second: RATE * (1 - 0.4 * second / SECONDS)),
        cause="drifted",
        shows=TIMELINE,
    ),
    planted_fault(
        "slow_start",
        "A warm-up that counts",
        "The throughput was 30 % of the later one for 8 s.",
        ("warm-up-in-mean",),
        lasting(lambda second: RATE * (0.3 if second <= 8 else 1.0)),
        cause="Discard the first",
        shows=TIMELINE,
    ),
    planted_fault(
        "swings",
        "Throughput that swings",
        "The throughput rose and fell by a third, every 10 s.",
        ("oscillating-throughput",),
        lasting(lambda second: RATE * (1 + 0.33 * np.sin(2 * np.pi * second / 10))),
        cause="with a period of",
        shows=TIMELINE,
    ),
    planted_fault(
        "two_modes",
        "Response times with two modes",
        "Half of the response times are near 5 ms, the other half near 15 ms.",
        ("several-modes",),
        with_rows(
            "histogram",
            *(
                {"generator": 0, "lower_s": upper - 0.002, "upper_s": upper, "responses": count, "corrected": False}
                for upper, count in zip(CLASSES_S, COUNTS, strict=True)
            ),
        ),
        cause="are modes",
        shows=Shows("histogram", ("responses",), by="upper_s", label="Responses"),
    ),
)
