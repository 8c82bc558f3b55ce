"""Commands that answer from measured files: one measurement, one metric over dates, a comparison that gates a build."""

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from loadcurve.cli.options import (
    FactorsFile,
    Follow,
    Patterns,
    RepeatPattern,
    Timezone,
    given_factors,
    number,
    prints_blocks,
    terminal_width,
    warn_of_secrets,
)
from loadcurve.errors import printable
from loadcurve.files.atomic import is_stream
from loadcurve.runtime.output import echo

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

    from loadcurve import report
    from loadcurve.analysis import analyse as analyse_data

    target = report.check_suffix(Path(output))  # before minutes of reading
    found = analyse_data(paths, objectives=objective or (), factors=given, timezone=timezone, follow=follow)
    shorten = report.shortener([*paths, output, *sys.argv[1:]])
    command = printable(shlex.join(["loadcurve", *map(shorten, sys.argv[1:])]))
    provenance = report.provenance_of(found, paths, command, follow=follow)
    report.write_report(report.shortened(found, shorten), target, provenance)
    for line in found.not_read:
        echo(line, err=True)
    warn_of_secrets(*map(Path, paths), target)
    echo(f"{printable(str(target))}: {found.verdict}", err=is_stream(target))


def print_analysis(
    paths: list[str], objectives: list[str], source: str = "", factors: "Factors" = None, **options: Any
) -> None:
    """Analyse paths and print the report, as wide as the terminal; further options are those of `analyse`."""
    from loadcurve.analysis import analyse as analyse_data
    from loadcurve.report import text_report

    found = analyse_data(paths, objectives=objectives, factors=factors, source=source, **options)
    echo(text_report(found, terminal_width(), unicode=prints_blocks()), nl=False)


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
        echo(to_text(each.blocks(), unicode=prints_blocks()) + "\n")
    for warning in warnings:
        echo(f"warning: {warning}")
    echo("".join(f"{line}\n" for each in measurements for line in each.not_read), nl=False, err=True)


def compare(
    baseline: Annotated[str, typer.Argument(metavar="A", help="The baseline: folder, study or file.")],
    others: Annotated[list[str], typer.Argument(metavar="B...", help="Each is compared with A.")],
    metrics: Annotated[
        list[str] | None,
        typer.Option("--metric", help="Column of the runs, such as throughput_rps (default), latency_p99_s."),
    ] = None,
    fail_if: Annotated[
        list[str] | None, typer.Option(help="Gate on B / A, such as 'throughput_rps < 0.95': exit code 1 if it holds.")
    ] = None,
    undecided: Annotated[
        Literal["pass", "fail"],
        typer.Option(help="What a gate counts as if the interval of the ratio contains its limit."),
    ] = "pass",
    margin: Annotated[
        float, number("--margin", 1e-6, 10, help="Largest difference that does not matter, as a ratio.")
    ] = 0.02,
    form: Annotated[
        Literal["text", "json", "junit", "github"],
        typer.Option("--format", help="text, json, junit (XML for build servers), github (annotations)."),
    ] = "text",
    factor: Patterns = None,
    repeats: RepeatPattern = None,
    factors: FactorsFile = None,
    follow: Follow = False,
) -> None:
    """Compare measurements at each load that they have in common: ratio, interval, verdict.

    A gate fails if the whole interval is beyond its limit.  It is undecided if the interval contains the limit; it then
    counts as pass, or with --undecided fail as fail.  Exit code 0 if no gate fails, 1 if one does, 2 for wrong usage.

    Example: loadcurve compare results/main results/change --fail-if 'throughput_rps < 0.95'
    """
    from loadcurve import analysis
    from loadcurve.report import comparison_report
    from loadcurve.report.checks import checks_of_gates, github_annotations, junit_xml
    from loadcurve.report.data import comparison_object

    gates = [analysis.parse_gate(text) for text in fail_if or ()]
    names = dict.fromkeys([*(metrics or (["throughput_rps"] if not gates else [])), *(gate.metric for gate in gates)])
    given = given_factors(factor, factors, repeats)
    first = analysis.analyse(baseline, factors=given, follow=follow)
    pairs = [(path, analysis.analyse(path, factors=given, follow=follow)) for path in others]
    for side in (first, *(other for _, other in pairs)):
        echo("".join(f"{line}\n" for line in side.not_read), nl=False, err=True)
    found = [analysis.compare(first, other, metric, margin_ratio=margin) for _, other in pairs for metric in names]
    checks = [check for comparison in found for check in checks_of_gates(comparison, gates, undecided)]
    if form == "text":
        echo("\n".join(comparison_report(comparison, gates, undecided) for comparison in found), nl=False)
    elif form == "json":
        objects = [comparison_object(comparison, gates) for comparison in found]
        echo(json.dumps(objects, indent=2, ensure_ascii=False, allow_nan=False))
    else:
        echo(junit_xml(checks) if form == "junit" else github_annotations(checks), nl=False)
    if any(check.verdict == "fail" for check in checks):
        raise typer.Exit(1)
