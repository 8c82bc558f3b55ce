"""What the ingestion of a large folder needs, as `make bench CASES=folder` measured it."""

import csv

from loadcurve.files import paths

_MEASURED = "data/bench/ingestion.csv"
_TABLE_ROWS = 1e9


def ingestion_limits() -> str:
    """Return Markdown: what was measured with each number of workers, and what a table of 10⁹ rows needs.

    Raises FileNotFoundError when nothing was measured.
    """
    with (paths.root() / _MEASURED).open(encoding="utf-8", newline="") as file:
        measured = list(csv.DictReader(file))
    one = measured[0]
    raw, rows, stored = (float(one[name]) for name in ("raw_bytes", "rows", "table_bytes"))
    lines = [
        f"Measured on {one['measured']} ({one['machine']}): a folder of {raw / 1e6:,.0f} MB of mixed raw files gives "
        f"{rows / 1e6:.1f} million rows, which are {stored / 1e6:,.0f} MB as Parquet.",
        "",
        "| workers | time | raw text | rows | processor time | peak memory of the command "
        "| of the largest worker | of all |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for case in measured:
        took, cpu, own, largest, together = (
            float(case[name]) for name in ("wall_s", "cpu_s", "own_bytes", "largest_bytes", "together_bytes")
        )
        largest_text = f"{largest / 1e6:,.0f} MB" if largest else "–"
        lines.append(
            f"| {case['workers']} | {took:.1f} s | {raw / 1e6 / took:.1f} MB/s | {rows / took / 1e3:,.0f} thousand/s | "
            f"{cpu:.1f} s | {own / 1e6:,.0f} MB | {largest_text} | {max(own, together) / 1e6:,.0f} MB |"
        )
    times = [f"{_hours(_TABLE_ROWS / rows * float(case['wall_s']))} with {case['workers']}" for case in measured]
    scale, rate = _TABLE_ROWS / rows, rows / float(one["wall_s"])
    lines += [
        "",
        f"By arithmetic from these rates, tables with 10⁹ rows in all need {', '.join(times)}. They come from "
        f"{scale * raw / 1e9:,.0f} GB of such raw files, and take {scale * stored / 1e9:,.1f} GB as Parquet. With "
        "workers on other machines, a processor adds at most the rate of one worker, "
        f"{rate / 1e3:,.0f} thousand rows/s, so N processors need at least {_hours(_TABLE_ROWS / rate)} / N.",
    ]
    return "\n".join(lines)


def _hours(seconds: float) -> str:
    return f"{seconds / 3600:.1f} h" if seconds >= 3600 else f"{seconds / 60:.0f} min"
