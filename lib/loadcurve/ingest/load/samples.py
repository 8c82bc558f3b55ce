"""Rows of single requests into one row of `runs`, its quantiles, and a row of `labels` for each name.

JMeter's JTL and Gatling's simulation.log hold no summary, so it is computed here, in the way of the tools' own reports:
the time of a run goes from the start of its first request to the end of its last one, and failed requests are part of
every count, rate and quantile.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from loadcurve.ingest.report_text import error_counts, response_counts

QUANTILES = (0.5, 0.75, 0.9, 0.95, 0.99, 0.999)
_ESTIMATOR = "computed by loadcurve: smallest time of which at least the share q of the requests is no larger"


def categories(values: "np.ndarray | list[Any]", texts: list[str]) -> pd.Categorical:
    """Return texts by their index, -1 where missing, without a Python string for each row."""
    return pd.Categorical.from_codes(np.asarray(values), pd.Index(texts, dtype=object))


def indexed(column: pa.ChunkedArray) -> tuple[np.ndarray, list[str]]:
    """Return a column of repeated texts as the index of each row, and the texts."""
    whole = column.unify_dictionaries().combine_chunks()
    chunk = whole.chunk(0) if isinstance(whole, pa.ChunkedArray) else whole
    return chunk.indices.to_numpy(zero_copy_only=False), chunk.dictionary.to_pylist()


def summary_of(requests: pd.DataFrame, failed: np.ndarray, known: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Rows of `runs`, `latency` and `labels` of the requests of one run.

    Examples
    --------
    >>> requests = pd.DataFrame({"tool": categories([0, 0], ["demo"]), "label": categories([0, 0], ["/"]),
    ...     "error": categories([-1, -1], []), "latency_s": [1.0, 1.0],
    ...     "time": pd.to_datetime([0, 1], unit="s", utc=True)})
    >>> rows = summary_of(requests, np.array([False, True]), {})["runs"]
    >>> rows[0]["duration_s"], rows[0]["throughput_rps"], rows[0]["requests_failed"]
    (2.0, 1.0, 1)
    """
    tool, count, bad = str(requests["tool"].iloc[0]), len(requests), int(failed.sum())
    started, duration = _span(requests)
    latency = requests["latency_s"].to_numpy()
    timed = latency[~np.isnan(latency)]
    row = {
        "generator": 0, "tool": tool, "status": "finished", "started_at": started, "duration_s": duration,
        "requests": count, "requests_failed": bad, "requests_succeeded": count - bad,
        "throughput_rps": count / duration, **_bytes(requests, duration),
        **{f"latency_{name}_s": value for name, value in _statistics(timed).items()},
        "percentile_estimator": _ESTIMATOR, "latency_corrected": False, "latency_origin": "measured",
        **_errors(requests, failed), **known,
    }  # fmt: skip
    values = np.quantile(timed, QUANTILES, method="inverted_cdf") if len(timed) else []
    quantiles = [
        {"generator": 0, "quantile": q, "latency_s": float(value), "corrected": False}
        for q, value in zip(QUANTILES, values, strict=False)
    ]
    labels = [_label(requests, rows, failed, duration) for rows in _by_label(requests["label"])]
    return {"runs": [row], "latency": quantiles, "labels": labels}


def _span(requests: pd.DataFrame) -> tuple[pd.Timestamp, float]:
    """Start of the first request, and seconds until the last one ended; missing where no time is known."""
    if "time" not in requests or requests["time"].isna().all():
        return pd.NaT, np.nan
    times = requests["time"].dt.tz_localize(None).to_numpy().astype("datetime64[us]").astype("int64")
    ends = times + np.nan_to_num(requests["latency_s"].to_numpy() * 1e6).round().astype("int64")
    known = requests["time"].notna().to_numpy()
    seconds = float(ends[known].max() - times[known].min()) / 1e6
    return requests["time"].min(), seconds or np.nan  # no rate over no time


def _bytes(requests: pd.DataFrame, duration: float) -> dict[str, float]:
    sums = {name: float(requests[name].sum()) for name in ("received_bytes", "sent_bytes") if name in requests}
    return sums | {f"{name}_per_s": value / duration for name, value in sums.items()}


def _statistics(timed: np.ndarray) -> dict[str, float]:
    if not len(timed):
        return {}
    found = {"mean": timed.mean(), "stdev": timed.std(), "min": timed.min(), "max": timed.max()}
    return {name: float(value) for name, value in found.items()}


def _errors(requests: pd.DataFrame, failed: np.ndarray) -> dict[str, int]:
    """Counts by status class, and of failed requests by class of their message where it is not an error status."""
    status = requests["status"].to_numpy("int64", na_value=0) if "status" in requests else np.zeros(len(failed), int)
    codes, counts = np.unique(status[status > 0], return_counts=True)
    found = response_counts(dict(zip(codes.tolist(), counts.tolist(), strict=True))) if "status" in requests else {}
    without = requests["error"][failed & (status == 0)].value_counts()
    classes = error_counts([(str(text), int(n)) for text, n in without.items() if n])
    classes["errors_other"] += int((failed & (status > 0) & (status < 400)).sum())  # a check of the test plan failed
    return found | classes


def _by_label(labels: pd.Series) -> Iterator[np.ndarray]:
    """Yield the places of the rows of each label, in the order of first occurrence."""
    codes = labels.cat.codes.to_numpy()
    order = np.argsort(codes, kind="stable")
    starts = np.flatnonzero(np.diff(codes[order], prepend=-2))
    yield from sorted(np.split(order, starts[1:]), key=lambda rows: rows[0])


def _label(requests: pd.DataFrame, rows: np.ndarray, failed: np.ndarray, duration: float) -> dict[str, Any]:
    part = requests.iloc[rows]
    latency = part["latency_s"].to_numpy()
    timed = latency[~np.isnan(latency)]
    row = {
        "generator": 0, "label": part["label"].iloc[0], "requests": len(rows),
        "requests_failed": int(failed[rows].sum()),
        "throughput_rps": len(rows) / duration, **_bytes(part, duration),
        **{f"latency_{name}_s": value for name, value in _statistics(timed).items()},
    }  # fmt: skip
    row = {name: value for name, value in row.items() if name not in ("received_bytes", "sent_bytes")}
    for name, q in (("median", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99)) if len(timed) else ():
        row[f"latency_{name}_s"] = float(np.quantile(timed, q, method="inverted_cdf"))
    return row
