"""Commands that turn raw output into tables."""

import sys
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from loadcurve.cli.options import FactorsFile, Patterns, given_factors, print_origins
from loadcurve.errors import LoadcurveError, printable

if TYPE_CHECKING:
    from loadcurve.reading import Reading


class OutputFormat(StrEnum):
    """Output formats of `loadcurve ingest`."""

    json = "json"
    csv = "csv"
    parquet = "parquet"


def ingest(
    paths: Annotated[list[str], typer.Argument(metavar="PATH...", help="Files, folders, or - for standard input.")],
    tool: Annotated[str | None, typer.Option(help="TOOL or TOOL:VARIANT; detected from each text by default.")] = None,
    form: Annotated[OutputFormat, typer.Option("--format", help="json prints one line per file.")] = OutputFormat.json,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder for csv and parquet, one file per table; - for standard output."),
    ] = None,
    table: Annotated[str | None, typer.Option(help="Write this table only, such as runs.")] = None,
    timezone: Annotated[
        str, typer.Option(help="Time zone of local times in the texts, such as Europe/Berlin.")
    ] = "UTC",
    log_format: Annotated[
        str, typer.Option(help="Format of access logs, as log_format in nginx.conf or LogFormat in httpd.conf.")
    ] = "",
    max_bytes: Annotated[
        int,
        typer.Option(min=1, max=1 << 40, help="Maximum size of an unpacked file in bytes; a larger file is refused."),
    ] = 256_000_000,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", min=0, help="Maximum number of processes; 0 for one per processor.")
    ] = 0,
    factor: Patterns = None,
    factors: FactorsFile = None,
) -> None:
    """Read raw output of load generators and monitors, of any version, into tables in SI units.

    Each file that cannot be read gives one line on stderr and exit code 1; all other files are still written.  Large
    folders are read by several processes.  In csv and parquet, the rows of a folder name their run, as `loadcurve
    analyse` names it; each fact that no text states gives a line on stderr with its origin.

    Example: loadcurve ingest results/ --format parquet -o tables
    """
    from loadcurve import export, reading
    from loadcurve.files.progress import hidden
    from loadcurve.ingest.files import is_folder
    from loadcurve.ingest.hints import Hints
    from loadcurve.ingest.servers.access_layout import layout_of_format

    is_json, to_stdout = form is OutputFormat.json, str(output) == "-"
    if is_json and output and not to_stdout:
        raise LoadcurveError("--output must be left out or - for --format json")
    if not is_json and output is None:
        raise LoadcurveError(f"--output must be named for --format {form.value}")
    if to_stdout and form is OutputFormat.parquet:
        raise LoadcurveError("--output must be a folder for --format parquet, got -")
    if table is not None:
        from loadcurve.tables import columns

        columns(table)  # raises for an unknown name
    if log_format:
        layout_of_format(log_format)  # one error, not one per file
    if is_json and (factor or factors):
        raise LoadcurveError("--factor and --factors must be left out for --format json, in which no row names a run")
    given = given_factors(factor, factors)
    refused, hints = 0, Hints(tool, timezone, log_format, max_bytes)

    def each(path: str) -> Iterator["Reading"]:
        if is_json or path in ("", "-") or not is_folder(Path(path)):
            return reading.read_named(path, hints, jobs)
        return reading.read_matched(Path(path), hints, jobs, given, store=True)

    def readings() -> Iterator["Reading"]:
        nonlocal refused
        for path in paths:
            for found in each(path):
                named = "" if found.labelled else f"{found.source}: "
                lines = [f"{named}warning: {warning}" for warning in found.parsed.warnings]
                if lines or found.refused or found.parsed.origins:
                    with hidden():
                        for line in filter(None, (*lines, found.refused)):
                            typer.echo(printable(line), err=True)
                        print_origins(printable(path), found.parsed.origins)
                if found.refused:
                    refused += 1
                else:
                    yield found if table is None else found.only(table)

    if is_json:
        for found in readings():
            with hidden():
                sys.stdout.writelines(export.json_lines(found))
    elif to_stdout:
        export.write_csv(readings(), sys.stdout.buffer)
    elif output is not None:
        rows = export.write_tables(readings(), output, form.value, threaded=jobs != 1)
        typer.echo(f"{printable(str(output))}: " + (", ".join(f"{name} {n}" for name, n in rows.items()) or "no table"))
    if refused:
        raise typer.Exit(1)


def tidy(
    studies: Annotated[
        list[str] | None, typer.Argument(help="Names or folders; by default all recorded studies.")
    ] = None,
) -> None:
    """Read the raw files of recorded studies into tidy tables under build/tidy, and audit them, as make does."""
    from loadcurve import paths
    from loadcurve.audit.registry import all_rules, audit
    from loadcurve.audit.settings import default_settings
    from loadcurve.ingest.store import recorded_studies
    from loadcurve.reading import tables  # which reads on all processors, with progress

    refused = 0
    for study in studies or recorded_studies():
        try:
            rows = tables.tidy(study, _note)
            for warning in tables.read_warnings(study):
                typer.echo(f"warning: {warning}", err=True)
            settings = default_settings(all_rules(), paths.study_folder(study))
            findings = audit(
                {name: tables.read_table(name, study) for name, n in rows.items() if n or name == "runs"}, settings
            )
        except LoadcurveError as error:
            refused += 1
            typer.echo(str(error), err=True)
            continue
        label = study if isinstance(study, str) else paths.shown(study)
        typer.echo(f"{label}: " + ", ".join(f"{name} {n}" for name, n in rows.items()))
        typer.echo(f"{label}: audit: {findings.verdict}")
    if refused:
        raise typer.Exit(1)


def _note(line: str) -> None:
    typer.echo(line, err=True)


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command("ingest")(ingest)
    app.command("tidy")(tidy)
