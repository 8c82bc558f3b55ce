"""The command that compares measurements, and gates a build on the result."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from loadcurve.cli.options import (
    FactorsFile,
    Follow,
    Patterns,
    RepeatPattern,
    given_factors,
    number,
    with_code_2,
)  # fmt: skip

if TYPE_CHECKING:
    from loadcurve.report.checks import Check


class GateFormat(StrEnum):
    """Output formats of `loadcurve compare`."""

    text = "text"
    json = "json"
    junit = "junit"
    github = "github"


class Undecided(StrEnum):
    """What an undecided gate counts as."""

    passes = "pass"
    fails = "fail"


Format = Annotated[
    GateFormat, typer.Option("--format", help="text, json, junit (XML for build servers), github (annotations).")
]


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
        Undecided, typer.Option(help="What a gate counts as if the interval of the ratio contains its limit.")
    ] = Undecided.passes,
    margin: Annotated[
        float, number("--margin", 1e-6, 10, help="Largest difference that does not matter, as a ratio.")
    ] = 0.02,
    form: Format = GateFormat.text,
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
    from loadcurve.report.checks import checks_of_gates
    from loadcurve.report.data import comparison_object

    gates = [analysis.parse_gate(text) for text in fail_if or ()]
    counts_as: Literal["pass", "fail"] = "fail" if undecided is Undecided.fails else "pass"
    names = dict.fromkeys([*(metrics or (["throughput_rps"] if not gates else [])), *(gate.metric for gate in gates)])
    given = given_factors(factor, factors, repeats)
    first = analysis.analyse(baseline, factors=given, follow=follow)
    pairs = [(path, analysis.analyse(path, factors=given, follow=follow)) for path in others]
    for side in (first, *(other for _, other in pairs)):
        typer.echo("".join(f"{line}\n" for line in side.not_read), nl=False, err=True)
    found = [analysis.compare(first, other, metric, margin_ratio=margin) for _, other in pairs for metric in names]
    checks = [check for comparison in found for check in checks_of_gates(comparison, gates, counts_as)]
    if form is GateFormat.text:
        typer.echo("\n".join(comparison_report(comparison, gates, counts_as) for comparison in found), nl=False)
    elif form is GateFormat.json:
        typer.echo(_json([comparison_object(comparison, gates) for comparison in found]))
    else:
        _print_checks(checks, form)
    if any(check.verdict == "fail" for check in checks):
        raise typer.Exit(1)


def _print_checks(checks: "list[Check]", form: GateFormat) -> None:
    from loadcurve.report.checks import github_annotations, junit_xml

    typer.echo(junit_xml(checks) if form is GateFormat.junit else github_annotations(checks), nl=False)


def _json(value: object) -> str:
    import json

    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command("compare")(with_code_2(compare))
