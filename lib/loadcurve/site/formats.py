"""Generate the handbook's pages about input formats: a table, a page for each tool, and what large folders need."""

import csv
import inspect
import re

from loadcurve.files import paths
from loadcurve.ingest.registry import FORMS

FOLDER = "reference/formats"


def formats_markdown() -> str:
    """Return the formats that ingestion reads, as Markdown: name, link to the page, and what the parser reads."""
    rows = ["| form | read as |", "|---|---|"]
    for form in sorted(FORMS, key=lambda form: form.name):
        meaning = (form.parser.__doc__ or "").strip().split("\n")[0]
        rows.append(f"| [`{form.name}`]({form.tool}.md) | {_markdown(meaning)} |")
    return "\n".join(rows)


def tools() -> list[str]:
    """Return the tools with a page, in alphabetical order."""
    return sorted({form.tool for form in FORMS})


def page_markdown(tool: str) -> str:
    """Return the page of a tool without a handwritten page: the docstrings of the modules that parse its output."""
    modules = dict.fromkeys(inspect.getmodule(form.parser) for form in FORMS if form.tool == tool)
    return "\n\n".join([f"# {tool}", *(_markdown(inspect.getdoc(module) or "") for module in modules)]) + "\n"


def pages() -> dict[str, str]:
    """Return the heading of each tool in the navigation, and the path of its page."""
    return {tool: f"{FOLDER}/{tool}.md" for tool in tools()}


def _markdown(docstring: str) -> str:
    return re.sub("``?", "`", docstring)


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
