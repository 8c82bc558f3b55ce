"""The line of a run that ended: its main results, with the numbers that the analysis of the study will show."""

from pathlib import Path

from loadcurve.analysis.levels import add_quantiles
from loadcurve.errors import LoadcurveError
from loadcurve.ingest.folder import read_reports
from loadcurve.study import Run
from loadcurve.tables import merge_generators
from loadcurve.tables.schemas.failures import error_ratio
from loadcurve.units import format_quantity

# Width of `100,000 requests/s`, so that the lines of all runs have columns.
_RATE_WIDTH = 18


def describe(run: Run, folder: Path) -> str:
    """Return the throughput, the 99th percentile and the share of failed requests of a run, or why it did not finish.

    Parameters
    ----------
    run : Run
        Its record.
    folder : pathlib.Path
        Of the run, with its `run.json`.
    """
    if run.status != "finished":
        return f"{run.status}: {' '.join(run.reason.split())}"
    if run.is_functional:
        return "functional test ended; `loadcurve accept` judges it"
    try:
        tables = read_reports(folder, run).tables
    except LoadcurveError as error:
        return f"not read: {error}"
    rows = add_quantiles(merge_generators(tables["runs"]), tables["latency"])
    rows = rows.assign(failed_ratio=error_ratio(rows))
    names = ["throughput_rps", "latency_p99_s", "latency_mean_s", "failed_ratio"]
    throughput, p99, mean, failed = rows.reindex(columns=names).astype(float).iloc[0]
    parts = [f"{format_quantity(throughput, 'rps'):>{_RATE_WIDTH}}"]
    parts += [f"{name} {format_quantity(time, 's')}" for name, time in (("p99", p99), ("mean", mean)) if time > 0][:1]
    if failed > 0:
        parts.append(f"{format_quantity(failed, 'ratio', 2)} failed")
    return "  ".join(parts)
