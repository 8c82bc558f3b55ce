"""Commands that judge: audit measurements, explain the rules of the audit, judge an acceptance test of balancers."""

from collections.abc import Mapping, Sequence
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
    prints_blocks,
    terminal_width,
    warn_of_secrets,
)
from loadcurve.errors import LoadcurveError, printable
from loadcurve.files import paths
from loadcurve.files.atomic import check_target, is_stream, write_text
from loadcurve.files.paths import data_folder, is_url
from loadcurve.runtime.output import echo
from loadcurve.units import group_lines

if TYPE_CHECKING:
    from loadcurve.audit.findings import Findings
    from loadcurve.audit.rule import Rule
    from loadcurve.audit.settings import AuditSettings
    from loadcurve.report.acceptance import AcceptanceForm


AuditFormat = Literal["text", "json", "junit", "github", "html"]
FailOn = Literal["error", "warning", "never"]
_FORMAT_OF: dict[str, AuditFormat] = {".html": "html", ".json": "json", ".txt": "text", ".xml": "junit"}


def audit(
    paths: Annotated[
        list[str],
        typer.Argument(metavar="PATH...", help="Raw files, folders of them, runs, studies, or published tables."),
    ],
    form: Annotated[
        AuditFormat | None,
        typer.Option(
            "--format",
            help="text (default), json, junit (XML for build servers), github (annotations), html (one page).",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write to this file; .html, .json, .txt and .xml choose the format."),
    ] = None,
    fail_on: Annotated[FailOn, typer.Option(help="Least severity of a finding for exit code 1.")] = "error",
    select: Annotated[list[str] | None, typer.Option(metavar="RULE", help="Run only these rules.")] = None,
    ignore: Annotated[
        list[str] | None, typer.Option(metavar="RULE=REASON", help="Findings of this rule do not count.")
    ] = None,
    limit: Annotated[
        list[str] | None, typer.Option(metavar="RULE.LIMIT=NUMBER", help="Another value of a rule's threshold.")
    ] = None,
    factor: Patterns = None,
    repeats: RepeatPattern = None,
    factors: FactorsFile = None,
    timezone: Timezone = "UTC",
    follow: Follow = False,
    every: Annotated[
        bool, typer.Option("--all", help="List what could not be checked, with what to record, and all notes.")
    ] = False,
) -> None:
    """Say whether measurements can be believed: a verdict, then each finding with its numbers and what to do.

    Rules and limits may also be set in the section audit of a study.yml and of the loadcurve.toml in the working
    directory.  Exit code 0 without findings, 1 with findings at or above --fail-on, 2 for wrong usage.

    Example: loadcurve audit results/ -o audit.html
    """
    from loadcurve.audit import all_rules
    from loadcurve.audit.settings import parse_settings

    chosen = form or (_FORMAT_OF.get(output.suffix.lower()) if output else "text")
    if chosen is None:
        raise LoadcurveError(f"output must end in {', '.join(_FORMAT_OF)} or have a --format, got {str(output)!r}")
    if output:
        check_target(output)
    rules = all_rules()
    options = parse_settings(select or (), ignore or (), limit or (), rules)
    given = given_factors(factor, factors, repeats)
    found = [
        (path, _audit_path(path, rules, options, factors=given, timezone=timezone, follow=follow)) for path in paths
    ]
    written = _shortened(found) if output or chosen == "html" else found
    text = _shown(written, chosen, fail_on, every)
    if output is None:
        echo(text, nl=False)
    else:
        write_text(output, text)
        warn_of_secrets(*map(Path, paths), output)
        for path, findings in found:
            echo(f"{printable(str(output))}: {path}: {findings.verdict}", err=is_stream(output))
    failing = {"error": ["error"], "warning": ["error", "warning"], "never": []}[fail_on]
    if any(findings["severity"].isin(failing).any() for _, findings in found):
        raise typer.Exit(1)


def _audit_path(
    path: str, rules: "Mapping[str, Rule]", options: "AuditSettings", *, follow: bool, **facts: Any
) -> "Findings":
    """Return the findings about a path or a study's name; print what could not be read on standard error."""
    from loadcurve import reading
    from loadcurve.audit.registry import audit as audit_tables
    from loadcurve.audit.settings import default_settings

    place = Path(path) if is_url(path) or Path(path).exists() else data_folder(path)
    settings = options.over(default_settings(rules, place, follow=follow))  # before minutes of reading
    parsed = reading.read(path if is_url(path) else place, follow=follow, **facts)
    reading.require_report(parsed, path)
    for warning in group_lines(warning for warning in parsed.warnings if warning.startswith(reading.NOT_READ)):
        echo(printable(warning), err=True)
    return audit_tables(parsed, settings)


def _shortened(found: "Sequence[tuple[str, Findings]]") -> "Sequence[tuple[str, Findings]]":
    from loadcurve.report.provenance import shortened_findings, shortener

    shorten = shortener([path for path, _ in found])
    return [(shorten(path), shortened_findings(findings, shorten)) for path, findings in found]


def _shown(found: "Sequence[tuple[str, Findings]]", form: AuditFormat, fail_on: FailOn, every: bool) -> str:
    if form == "text":
        from loadcurve.audit.findings import HOW_TO_EXPLAIN, audit_text

        parts = []
        for path, findings in found:
            known = findings.attrs
            more = known["settings"], known["warnings"], known["beyond"], known["origins"]
            parts.append(audit_text(findings, known["runs"], path, terminal_width(), *more, every=every))
        return "\n\n".join([*parts, HOW_TO_EXPLAIN]) + "\n"
    if form == "json":
        import json

        from loadcurve.report.data import audit_object

        audits = [audit_object(path, findings) for path, findings in found]
        return json.dumps(audits, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    if form == "html":
        from loadcurve.report.audit_page import audit_page

        page: str = audit_page(found, every)
        return page
    from loadcurve.report.checks import checks_of_findings, github_annotations, junit_xml

    checks = [check for path, findings in found for check in checks_of_findings(findings, path, fail_on)]
    return junit_xml(checks) if form == "junit" else github_annotations(checks)


def explain(
    rule: Annotated[str, typer.Argument(help="Name of a rule, as a finding names it; without it, list all.")] = "",
) -> None:
    """Explain a rule of the audit: what its finding means, why it happens, how to fix it, when to ignore it.

    Example: loadcurve explain effective-concurrency
    """
    from loadcurve.audit import all_rules
    from loadcurve.blocks import Grid, to_text

    rules = all_rules()
    if not rule:
        rows = [[name, one.question] for name, one in rules.items()]
        echo(to_text([Grid(["rule", "question"], rows, "Rules of the audit", left=2)], terminal_width()))
        return
    from loadcurve.audit.explanation import explain as explanation_of
    from loadcurve.audit.explanation import rule_named

    blocks = explanation_of(rule_named(rule, rules)).blocks()
    echo(to_text(blocks, terminal_width(), unicode=prints_blocks()))


_FORM_OF: "dict[str, AcceptanceForm]" = {".html": "html", ".txt": "text", ".xml": "junit"}


def accept(
    study: Annotated[str, typer.Argument(help="Name of a recorded acceptance study, or its folder.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write to this file; .html, .txt and .xml (JUnit) choose the format."),
    ] = None,
) -> None:
    """Judge a recorded acceptance test of balancers: pass, fail or not checked for each check, with its numbers.

    Exit code 0 if no check fails, 1 if one does, 2 for wrong usage.

    Example: loadcurve accept lvs_acceptance -o acceptance.xml
    """
    if output is not None and output.suffix.lower() not in _FORM_OF:
        raise LoadcurveError(f"output must end in {', '.join(_FORM_OF)}, got {str(output)!r}")
    if output is not None:
        check_target(output)
    if not print_acceptance(paths.study_folder(study), output):
        raise typer.Exit(1)


def print_acceptance(folder: Path, output: Path | None = None) -> bool:
    """Print or write the report of an acceptance test; return whether no check fails."""
    from loadcurve.acceptance import judge_acceptance
    from loadcurve.report.acceptance import acceptance_report, verdict_line
    from loadcurve.report.provenance import shortener

    judged = judge_acceptance(folder)
    name = paths.shown(folder)
    if output is None:
        echo(acceptance_report(judged, name, "text", terminal_width()), nl=False)
    else:
        name = shortener([name])(name)
        write_text(output, acceptance_report(judged, name, _FORM_OF[output.suffix.lower()]))
        warn_of_secrets(folder, output)
        echo(f"{output}: {verdict_line(judged)}", err=is_stream(output))
    return not (judged["verdict"] == "fail").any()
