"""Commands that answer from measured files: one measurement, or one metric over dates."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from loadcurve.cli.options import FactorsFile, Follow, Patterns, RepeatPattern, Timezone, given_factors, number
from loadcurve.errors import printable

if TYPE_CHECKING:
    from loadcurve.ingest.fact_columns import Factors


def analyse(
    paths: Annotated[
        list[str], typer.Argument(metavar="PATH...", help="Folders of raw files, studies, or files; never pooled.")
    ],
    objective: Annotated[
        list[str] | None,
        typer.Option(help="What a load has to keep: p99=200ms, mean=5ms, errors=0.1%; may be given several times."),
    ] = None,
    factor: Patterns = None,
    repeats: RepeatPattern = None,
    factors: FactorsFile = None,
    timezone: Timezone = "UTC",
    follow: Follow = False,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", help="Write the report: .html, .json, .md, .pdf or .txt; - prints text."),
    ] = None,
) -> None:
    """Answer from raw files: verdict, throughput over load, model, capacity, bottleneck, what to measure next.

    Several folders are variants named by their folders.  The exit code is 1 if nothing could be analysed.

    Example: loadcurve analyse results/ --objective p99=200ms -o report.html
    """
    given = given_factors(factor, factors, repeats)
    if output is None or output == "-":
        print_analysis(paths, objective or [], factors=given, timezone=timezone, follow=follow)
        return
    import shlex

    from loadcurve import report
    from loadcurve.analysis import analyse as analyse_data
    from loadcurve.files.atomic import is_stream

    target = report.check_suffix(Path(output))  # before minutes of reading
    found = analyse_data(paths, objectives=objective or (), factors=given, timezone=timezone, follow=follow)
    shorten = report.shortener([*paths, output, *sys.argv[1:]])
    command = printable(shlex.join(["loadcurve", *map(shorten, sys.argv[1:])]))
    provenance = report.provenance_of(found, paths, command, follow=follow)
    report.write_report(report.shortened(found, shorten), target, provenance)
    for line in found.not_read:
        typer.echo(line, err=True)
    typer.echo(f"{printable(str(target))}: {found.verdict}", err=is_stream(target))


def print_analysis(
    paths: list[str], objectives: list[str], source: str = "", factors: "Factors" = None, **options: Any
) -> None:
    """Analyse paths and print the report, as wide as the terminal; further options are those of `analyse`."""
    import shutil

    from loadcurve.analysis import analyse as analyse_data
    from loadcurve.report import text_report

    found = analyse_data(paths, objectives=objectives, factors=factors, source=source, **options)
    width = shutil.get_terminal_size((100, 24)).columns
    typer.echo(text_report(found, min(width, 120), unicode=_prints_blocks()), nl=False)


def history(
    paths: Annotated[list[str], typer.Argument(metavar="PATH...", help="One folder for each date.")],
    metric: Annotated[str, typer.Option(help="Column of the runs.")] = "throughput_rps",
    at: Annotated[float | None, number("--at", 0, 10**12, help="Load to compare at; by default the fastest.")] = None,
    factor: Patterns = None,
    repeats: RepeatPattern = None,
    factors: FactorsFile = None,
    follow: Follow = False,
) -> None:
    """Show one metric over dates, for each variant that several folders have, and where it changed.

    Example: loadcurve history results/2026-*/ --metric latency_p99_s --at 64
    """
    from loadcurve.analysis import analyse as analyse_data
    from loadcurve.analysis import common_variants, compare_over_time
    from loadcurve.blocks import to_text

    given = given_factors(factor, factors, repeats)
    measurements = [analyse_data(path, factors=given, follow=follow) for path in paths]
    variants, warnings = common_variants(measurements)
    found = [compare_over_time(measurements, metric, at=at, variant=variant) for variant in variants]
    for each in found:
        typer.echo(to_text(each.blocks(), unicode=_prints_blocks()) + "\n")
    for warning in warnings:
        typer.echo(f"warning: {warning}")
    typer.echo("".join(f"{line}\n" for each in measurements for line in each.not_read), nl=False, err=True)


def _prints_blocks() -> bool:
    return (sys.stdout.encoding or "").lower().startswith("utf")


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command("analyse")(analyse)
    app.command("history")(history)
