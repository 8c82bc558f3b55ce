"""The rerun of delay and loss between client and server (`lossy_path`), beside what models predict."""

from dataclasses import replace

import numpy as np
import pandas as pd

from loadcurve.analysis.cells import label_settings
from loadcurve.models import wire
from loadcurve.stats import Estimate, find_mean
from validation.reruns.rerun_10gbe import labels_of

_LONG_BYTES = 1_000_000  # their body; the header is less than 0.03 % of it
LOSSES = {"lossy": 0.01, "delayed_lossy": 0.01, "reno_half": 0.005, "reno_1": 0.01, "reno_2": 0.02, "reno_4": 0.04}
"""Share of packets lost in each direction, by setting."""


def compare_exchanges(runs: pd.DataFrame, connections: int = 64) -> pd.DataFrame:
    """Return the runs of short responses with ``setting`` and ``model_rps``, the rate of the model of a lost packet.

    It is connections / response time, whose round trip is the measured one of the same path without loss; NaN there.
    """
    ordered = label_settings(runs, labels_of("lossy_path", "short"))
    without = {"lossy": "clean", "delayed_lossy": "delayed"}
    model = {}
    for lossy, path in without.items():
        round_trip_s = connections / ordered.loc[ordered["variant"] == path, "throughput_rps"].mean()
        timeout_s = round_trip_s + wire.LINUX_TIMEOUT_S
        model[lossy] = connections / float(wire.lossy_exchange_s(round_trip_s, LOSSES[lossy], timeout_s))
    return ordered.assign(model_rps=ordered["variant"].map(model))


def compare_transfers(runs: pd.DataFrame, round_trip_s: float, connections: int = 4) -> pd.DataFrame:
    """Return the runs of long responses with ``setting``, ``throughput_rps`` and the rates of two models of reno.

    The throughput is from the bytes received, which include unfinished responses; ``model_rps`` is Mathis's, without
    timeouts, ``timeouts_rps`` that of RFC 5348.
    """
    ordered = label_settings(runs, labels_of("lossy_path", "long"))
    ordered["throughput_rps"] = ordered["received_bytes_per_s"] / _LONG_BYTES
    lost = ordered["variant"].map(LOSSES).to_numpy(float)
    with_timeouts = wire.tfrc_bytes_per_s(round_trip_s, lost, round_trip_s + wire.LINUX_TIMEOUT_S)
    ordered["timeouts_rps"] = connections * with_timeouts / _LONG_BYTES
    ordered["model_rps"] = connections * wire.mathis_bytes_per_s(round_trip_s, lost) / _LONG_BYTES
    return ordered


def round_trip_s(runs: pd.DataFrame, connections: int = 64) -> float:
    """Return the round trip of the path without loss, connections / rate of short responses, in s."""
    return connections / float(runs.loc[runs["variant"] == "delayed", "throughput_rps"].mean())


def numbers_of_paths(exchanges: pd.DataFrame, transfers: pd.DataFrame) -> dict[str, Estimate]:
    """Return the mean rate ``SETTING_rps`` of each setting, and by which ratio it differs from the models.

    ``SETTING_miss_ratio`` is against ``model_rps``, ``SETTING_timeouts_ratio`` against RFC 5348.
    """
    rates = pd.concat([exchanges, transfers]).groupby("variant")["throughput_rps"]
    missed = misses_of_model(exchanges) | misses_of_model(transfers)
    timeouts = misses_of_model(transfers, "timeouts_rps")
    return (
        {f"{name}_rps": find_mean(of) for name, of in rates}
        | {f"{name}_miss_ratio": miss for name, miss in missed.items()}
        | {f"{name}_timeouts_ratio": miss for name, miss in timeouts.items()}
    )


def misses_of_model(compared: pd.DataFrame, column: str = "model_rps") -> dict[str, Estimate]:
    """Return by which ratio the mean rate of each setting differs from its model, by name of the setting."""
    found = {}
    for variant, rows in compared.dropna(subset=[column]).groupby("variant", sort=False):
        mean, model = find_mean(rows["throughput_rps"]), float(np.mean(rows[column]))
        ends = {end: getattr(mean, end) / model - 1 for end in ("value", "lo", "hi")}
        found[str(variant)] = replace(mean, **ends)
    return found
