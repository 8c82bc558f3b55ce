"""Launch a study with eyes: what its runs show decides which one comes next, where it searches or stops.

The laboratory starts processes and reads nothing; ingestion reads and starts nothing; statistics know neither.  Here
they meet.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from tqdm import tqdm

from loadcurve import lab
from loadcurve.ingest.folder import read_run_folder
from loadcurve.ingest.load.failed import failed_ratio
from loadcurve.lab import Eyes, Measured
from loadcurve.records import read_run
from loadcurve.stats import summarise_merged, summarise_stopping
from loadcurve.study import Study

_TABLES = ("runs", "latency", "histogram")


def launch(study: Study, folder: Path, *, public: bool = False, tell: Callable[[str], None] = tqdm.write) -> list[Path]:
    """Run a study as `loadcurve.lab.launch` does, also one that searches or stops.

    Parameters
    ----------
    study : Study
        What to run.
    folder : pathlib.Path
        Folder of the study.
    public : bool
        Whether targets that the study names may be public addresses.
    tell : callable
        What to do with the sentence in which a search or a stop ends; by default it is printed above the progress bar.
    """
    return lab.launch(study, folder, public=public, eyes=eyes(tell))


def eyes(tell: Callable[[str], None] = tqdm.write) -> Eyes:
    """What a study that searches or stops sees its runs with; `tell` as of `launch`."""
    return Eyes(measure, summarise_stopping, tell)


def measure(run_folder: Path, quantile: float) -> Measured | None:
    """What a finished run showed, of all its generators together; None where it did not finish.

    Parameters
    ----------
    run_folder : pathlib.Path
        With its `run.json`.
    quantile : float
        Of the latency, 0 < quantile < 1.

    Raises
    ------
    ParseError
        When a file of the run does not hold what its tool writes.
    """
    if read_run(run_folder).status != "finished":
        return None
    tables = read_run_folder(run_folder, _TABLES).tables
    runs = tables["runs"]
    answered = runs[runs["requests"].fillna(0) > 0]
    return Measured(
        throughput_rps=float(runs["throughput_rps"].sum(min_count=1)),
        latency_mean_s=_mean(answered),
        received_bytes_per_s=float(runs["received_bytes_per_s"].sum(min_count=1)),
        failed_ratio=failed_ratio(runs),
        latency_s=_latency_s(answered, tables["histogram"], tables["latency"], quantile),
    )


def _mean(answered: pd.DataFrame) -> float:
    """Mean of the responses of all generators that had any: each one's mean by its number of responses."""
    means, responses = (answered[name].to_numpy(float, na_value=np.nan) for name in ("latency_mean_s", "requests"))
    return float(np.average(means, weights=responses)) if len(answered) else np.nan


def _latency_s(answered: pd.DataFrame, histogram: pd.DataFrame, printed: pd.DataFrame, quantile: float) -> float:
    """Latency at a quantile: from the histograms of all generators with responses, else as the only one printed it."""
    # Where a tool gives both, the one that counts the requests which a stalled server kept from being sent.
    histogram = histogram[histogram["corrected"].eq(histogram["corrected"].max())]
    if set(answered["generator"]) == set(histogram["generator"]) and len(histogram):
        merged = summarise_merged(answered, histogram, [quantile])
        (upper,) = (name for name in merged if name.startswith("latency_") and name.endswith("_upper_s"))
        return float(merged[upper].iloc[0])
    if len(answered) == 1:
        printed = printed[printed["generator"].eq(answered["generator"].iloc[0])]
        same = printed[np.isclose(printed["quantile"], quantile)]
        if len(same):
            return float(same["latency_s"].iloc[0])
    return np.nan
