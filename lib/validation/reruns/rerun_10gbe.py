"""The rerun of the report on nginx on 10 Gigabit Ethernet: what its recorded studies show, beside the wire model.

Each function takes the runs of one study, with the name of a setting in ``variant``.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from loadcurve.analysis.cells import changes_of_settings
from loadcurve.files import paths
from loadcurve.ingest.published import read_published
from loadcurve.models import wire
from loadcurve.stats import Estimate, find_mean
from loadcurve.study import Study
from loadcurve.study.records import read_study

SHAPER = wire.Wire(medium_overhead_bytes=0)
"""A link whose rate a token bucket sets: it counts frames, without preamble, check sequence and gap (tc-tbf(8))."""


def labels_of(study: str, part: str = "") -> dict[str, str]:
    """Return the label of each setting of a part of a recorded study, in the order of its figure."""
    listed = read_published("nginx_10gbe", "settings")
    rows = listed[(listed["study"] == study) & (listed["part"] == part)]
    return dict(zip(rows["variant"], rows["label"], strict=True))


def add_bodies(runs: pd.DataFrame, factors: pd.DataFrame) -> pd.DataFrame:
    """Return the runs with ``body_bytes``, for which each was launched, and ``payload_bytes`` with the header."""
    levels = factors[factors["factor"].str.endswith("body_bytes")].set_index("run_id")["number"]
    payload = (runs["received_bytes"] / runs["requests"]).round()
    return runs.assign(body_bytes=runs["run_id"].map(levels), payload_bytes=payload)


def compare_sizes(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the runs of `response_sizes` with ``setting``, ``variant`` (such as ``body_1299``) and ``model_rps``.

    The model is a server with a time for each request, segment and byte, fitted to the sizes.
    """
    ordered = runs.sort_values("body_bytes")
    means = ordered.groupby("payload_bytes")["throughput_rps"].mean()
    request_s, segment_s, byte_s = np.maximum(wire.server_costs_s(means.index.to_numpy(float), means), 0)
    return ordered.assign(
        setting=ordered["body_bytes"].map("{:.0f} B".format),
        variant=ordered["body_bytes"].map("body_{:.0f}".format),
        model_rps=wire.server_limit_rps(request_s, segment_s, byte_s, ordered["payload_bytes"]),
    )


def predict_size(trials: pd.DataFrame, link_bps: float, full_ratio: float, server_rps: float) -> dict[str, float]:
    """Return ``body_bytes``, the smallest that fills a link by the wire model, for a server whose rate is known.

    The trials show ``header_bytes``; from `full_ratio` of its rate on the link counts as full.
    """
    header = float((trials["payload_bytes"] - trials["body_bytes"]).median())
    payload = wire.smallest_payload_bytes(full_ratio * link_bps, 1 / server_rps, least_bytes=header, wire=SHAPER)
    return {"header_bytes": header, "body_bytes": float(payload) - header}


def miss_of_search(answer: pd.Series, predicted_bytes: float, level: float = 0.95) -> Estimate:
    """Return by which ratio the size that a search found differs from a predicted one.

    The value is of the smallest size that filled the link; the interval begins at the largest size that did not.
    """
    lower, upper = (float(answer[end]) / predicted_bytes - 1 for end in ("lower", "upper"))
    return Estimate(upper, lower, upper, level, "search")


def read_design(study: str) -> Study:
    """Return the settings of a recorded study, such as its link and its objective."""
    return read_study(paths.study_folder(study))


def numbers_of_search(trials: pd.DataFrame, answer: pd.Series, study: Study) -> dict[str, Estimate | float]:
    """Return the smallest size that filled the link of `nginx_saturating_size`, beside two predictions.

    ``found_size`` and ``below_size`` are the ends of the search; ``predicted_size`` is from the settings alone (rate of
    the server = connections / wait), ``by_rate_size`` from the measured rate of the shortest responses.
    """
    link_bps, search = float(study.links["S1"]["rate_bps"]), study.search or {}
    full_ratio = 1 - search["saturating_size"]["tolerance_ratio"]
    wait_s = study.server["nginx"]["response"]["delay"]["delay_ms"] / 1000
    rates = {"predicted": study.load["connections"] / wait_s}
    rates["by_rate"] = trials.loc[trials["body_bytes"] == trials["body_bytes"].min(), "throughput_rps"].mean()
    sizes = {name: predict_size(trials, link_bps, full_ratio, float(rate)) for name, rate in rates.items()}
    bodies = {name: size["body_bytes"] for name, size in sizes.items()}
    return {
        "found_size": float(answer["upper"]), "below_size": float(answer["lower"]), "search_link_bps": link_bps,
        "predicted_size": bodies["predicted"], "by_rate_size": bodies["by_rate"], "search_trials": len(trials),
        "search_header": sizes["predicted"]["header_bytes"], "search_full_ratio": full_ratio,
        "settings_rps": rates["predicted"], "shortest_rps": float(rates["by_rate"]),
        "size_miss_ratio": miss_of_search(answer, bodies["predicted"]),
        "by_rate_miss_ratio": miss_of_search(answer, bodies["by_rate"]),
    }  # fmt: skip


def limits_of_search(trials: pd.DataFrame, link_bps: float, server_rps: float) -> pd.DataFrame:
    """Return the requests/s that a link and a server allow at the sizes of the trials of a search, for a plot."""
    at = np.arange(trials["payload_bytes"].min() / 1.02, 1.02 * trials["payload_bytes"].max())
    server = pd.DataFrame({"kind": "server", "limit": "server", "payload_bytes": at, "throughput_rps": server_rps})
    return pd.concat([wire.summarise_limits(at, [link_bps], wire=SHAPER), server], ignore_index=True)


def mixed_rate_rps(runs: pd.DataFrame) -> float:
    """Rate of a mix of two equally frequent responses: the harmonic mean of their rates in `nginx_settings`."""
    mean = runs.groupby("variant")["throughput_rps"].mean()
    return float(2 / (1 / mean["log_off"] + 1 / mean["text_2590"]))


def numbers_of_rerun(runs: Mapping[str, pd.DataFrame]) -> dict[str, Estimate | float]:
    """Return ``NAME_ratio`` for each change within blocks, and the mean rate ``SETTING_mean_rps`` of each setting.

    The runs of `response_sizes` are those of `compare_sizes`.
    """
    found: dict[str, Any] = {}
    listed = read_published("nginx_10gbe", "changes")
    for study, made in runs.items():
        rows = listed[listed["study"] == study]
        pairs = dict(zip(rows["name"], rows["setting"] + " " + rows["baseline"], strict=True))
        changes = changes_of_settings(made, pairs)
        found |= {f"{name}_ratio": change for name, change in changes.items()}
        found |= {f"{name}_mean_rps": find_mean(rates) for name, rates in made.groupby("variant")["throughput_rps"]}
    return found
