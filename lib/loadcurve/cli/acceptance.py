"""The command that judges an acceptance test of balancers."""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from loadcurve.errors import LoadcurveError

if TYPE_CHECKING:
    from loadcurve.report.acceptance import AcceptanceForm

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
    from loadcurve.files import paths
    from loadcurve.files.atomic import check_target

    if output is not None and output.suffix.lower() not in _FORM_OF:
        raise LoadcurveError(f"output must end in {', '.join(_FORM_OF)}, got {str(output)!r}")
    if output is not None:
        check_target(output)
    if not print_acceptance(paths.study_folder(study), output):
        raise typer.Exit(1)


def print_acceptance(folder: Path, output: Path | None = None) -> bool:
    """Print or write the report of an acceptance test; return whether no check fails."""
    from loadcurve.acceptance import judge_acceptance
    from loadcurve.files import paths
    from loadcurve.files.atomic import is_stream, write_text
    from loadcurve.report.acceptance import acceptance_report, verdict_line
    from loadcurve.report.names import shortener

    judged = judge_acceptance(folder)
    name = paths.shown(folder)
    if output is None:
        width = min(shutil.get_terminal_size((100, 24)).columns, 120)
        typer.echo(acceptance_report(judged, name, "text", width), nl=False)
    else:
        name = shortener([name])(name)
        write_text(output, acceptance_report(judged, name, _FORM_OF[output.suffix.lower()]))
        typer.echo(f"{output}: {verdict_line(judged)}", err=is_stream(output))
    return not (judged["verdict"] == "fail").any()


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    from loadcurve.cli.options import with_code_2

    app.command("accept")(with_code_2(accept))
