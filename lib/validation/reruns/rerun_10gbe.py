"""The rerun of the report on nginx on 10 Gigabit Ethernet: what its recorded studies show, beside the wire model.

Each function takes the runs of one study, with the name of a setting in ``variant``.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from loadcurve.analysis.cells import changes_of_settings
from loadcurve.files import paths
from loadcurve.models import wire
from loadcurve.stats import Estimate, find_mean
from loadcurve.study import Study
from loadcurve.study.records import read_study

SHAPER = wire.Wire(medium_overhead_bytes=0)
"""A link whose rate a token bucket sets: it counts frames, without preamble, check sequence and gap (tc-tbf(8))."""

LOG = {
    "log_off": "off", "log_1m": "buffer 1 MiB", "log_64k": "buffer 64 KiB", "log_4k": "buffer 4 KiB",
    "log_on": "no buffer", "log_memory": "no buffer, in memory",
    "two_workers_off": "2 workers, off", "two_workers_64k": "2 workers, buffer 64 KiB",
    "two_workers_on": "2 workers, no buffer",
}  # fmt: skip
"""Labels of the settings of the access log in `nginx_settings`."""

SETTINGS = {
    "text_2590": "text, 2590 B", "text_mixed": "text, 616 or 2590 B", "small": "file, 1200 B",
    "small_nopush": "… tcp_nopush", "large": "file, 10000 B", "large_copied": "… sendfile off",
    "large_gzip": "… gzip", "large_gzip_6": "… gzip, level 6", "large_gzip_9": "… gzip, level 9",
    "large_no_offloads": "… no offloads",
}  # fmt: skip
"""Labels of the other settings in `nginx_settings`."""

PROXY = {
    "direct_0": "no proxy, 0 B", "kept_0": "0 B", "kept_1232": "1232 B", "kept_2590": "2590 B",
    "kept_10000": "10000 B", "kept_100000": "100000 B", "not_kept_0": "not kept, 0 B",
    "not_kept_2590": "not kept, 2590 B", "names_1": "1 name, 0 B", "names_800": "800 names, 0 B",
    "not_kept_names_800": "not kept, 800 names, 0 B",
}  # fmt: skip
"""Labels of the settings of `nginx_proxy`."""

SERVERS = {
    "nginx": "nginx", "lighttpd": "lighttpd", "apache": "Apache", "caddy": "Caddy",
    "nginx_text": "nginx, from memory", "haproxy_text": "HAProxy, from memory", "nginx_empty": "nginx, empty file",
    "lighttpd_empty": "lighttpd, empty file", "apache_empty": "Apache, empty file", "caddy_empty": "Caddy, empty file",
}  # fmt: skip
"""Labels of the settings of `other_servers`."""

PORTS = {"one_address": "1 address", "four_addresses": "4 addresses", "kept": "1 address, kept"}
"""Labels of the settings of `server_addresses`."""

NAMES = {"names_1": "1 name", "names_80": "80 names", "names_800": "800 names", "names_8000": "8000 names"}
"""Labels of the settings of `nginx_names`."""

NOPUSH = {
    "apart_1200": "1200 B", "joined_1200": "… tcp_nopush", "apart_1233": "1233 B", "joined_1233": "… tcp_nopush ",
}  # fmt: skip
"""Labels of the settings of `nginx_nopush`; equal labels would be one setting, hence the blank."""

_CHANGES = {
    "response_sizes": {"step_here": "body_1299 body_1298", "filled": "body_1298 body_0"},
    "nginx_settings": {
        "log_here": "log_on log_off", "memory_off": "log_memory log_off", "memory_here": "log_memory log_on",
        "small_buffer": "log_4k log_off", "large_buffer": "log_1m log_off", "buffers_here": "log_1m log_4k",
        "nopush_here": "small_nopush small", "copied_here": "large_copied large", "gzip_here": "large_gzip large",
        "gzip_6_here": "large_gzip_6 large", "gzip_9_here": "large_gzip_9 large",
        "offloads_here": "large_no_offloads large", "two_workers_here": "two_workers_on two_workers_off",
        "two_workers_buffer": "two_workers_64k two_workers_off",
    },
    "nginx_proxy": {
        "proxy_here": "kept_0 direct_0", "not_kept_here": "not_kept_0 kept_0",
        "not_kept_names": "not_kept_names_800 names_800", "proxy_names": "names_800 names_1",
    },
    "other_servers": {
        "lighttpd_here": "lighttpd nginx", "apache_here": "apache nginx", "caddy_here": "caddy nginx",
        "haproxy_here": "haproxy_text nginx_text", "lighttpd_empty": "lighttpd_empty nginx_empty",
        "apache_empty": "apache_empty nginx_empty", "caddy_empty": "caddy_empty nginx_empty",
    },
    "nginx_names": {
        "few_names": "names_80 names_1", "many_names": "names_800 names_1", "most_names": "names_8000 names_1",
    },
    "nginx_nopush": {"one_segment": "joined_1200 apart_1200", "two_segments": "joined_1233 apart_1233"},
    "server_addresses": {"addresses": "four_addresses one_address", "ports_kept": "kept one_address"},
    "lossy_path": {"lossy_here": "lossy clean", "bbr_here": "bbr_1 reno_1"},
}  # fmt: skip


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
    costs_s = np.maximum(wire.server_costs_s(means.index.to_numpy(float), means), 0)
    return ordered.assign(
        setting=ordered["body_bytes"].map("{:.0f} B".format),
        variant=ordered["body_bytes"].map("body_{:.0f}".format),
        model_rps=wire.server_limit_rps(*costs_s, ordered["payload_bytes"]),
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
    for study, made in runs.items():
        changes = changes_of_settings(made, _CHANGES.get(study, {}))
        found |= {f"{name}_ratio": change for name, change in changes.items()}
        found |= {f"{name}_mean_rps": find_mean(rates) for name, rates in made.groupby("variant")["throughput_rps"]}
    return found
