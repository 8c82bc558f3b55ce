"""Commands that turn raw output into tables."""

import contextlib
import sys
from collections.abc import Generator, Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from loadcurve.cli.options import FactorsFile, Patterns, Timezone, given_factors, print_origins
from loadcurve.errors import LoadcurveError, printable

if TYPE_CHECKING:
    from loadcurve.reading import Reading


class OutputFormat(StrEnum):
    """Output formats of `loadcurve ingest`."""

    json = "json"
    csv = "csv"
    parquet = "parquet"


def ingest(
    paths: Annotated[
        list[str],
        typer.Argument(metavar="PATH...", help="Files, folders, their URLs (s3://, gs://), or - for standard input."),
    ],
    tool: Annotated[str | None, typer.Option(help="TOOL or TOOL:VARIANT; detected from each text by default.")] = None,
    form: Annotated[OutputFormat, typer.Option("--format", help="json prints one line per file.")] = OutputFormat.json,
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", help="Folder or its URL for csv and parquet, one file per table; - for standard output."
        ),
    ] = None,
    table: Annotated[str | None, typer.Option(help="Write this table only, such as runs.")] = None,
    timezone: Timezone = "UTC",
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
    scheduler: Annotated[
        str, typer.Option(help="Dask scheduler that reads folders: tcp://HOST:PORT, or local for --jobs workers here.")
    ] = "",
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
    from loadcurve.cluster import connected
    from loadcurve.files.progress import hidden
    from loadcurve.files.remote import is_url, local_copy, local_target
    from loadcurve.ingest.files import is_folder
    from loadcurve.ingest.hints import Hints
    from loadcurve.ingest.table_parts import parts_of

    _check_options(form, output, table, log_format)
    if scheduler:
        _check_scheduler(scheduler, form, [*paths, str(output)])
    is_json, to_stdout = form is OutputFormat.json, output == "-"
    if is_json and (factor or factors):
        raise LoadcurveError("--factor and --factors must be left out for --format json, in which no row names a run")
    given = given_factors(factor, factors)
    refused, hints = 0, Hints(tool, timezone, log_format, max_bytes)

    def each(named: str, **options: Any) -> Iterator["Reading"]:
        with local_copy(named) if is_url(named) else contextlib.nullcontext(named) as copy:
            for found in each_local(str(copy), called=named.rstrip("/") if is_url(named) else "", **options):
                yield found if copy == named else found.renamed(str(copy), named.rstrip("/"))

    def each_local(path: str, **options: Any) -> Iterator["Reading"]:
        if is_json or path in ("", "-") or not is_folder(Path(path)):
            return reading.read_named(path, hints, jobs)
        return reading.read_matched(Path(path), hints, jobs, given, store=True, **options)

    def readings(**options: Any) -> Generator["Reading"]:
        nonlocal refused
        for path in paths:
            for found in each(path, **options):
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
        with contextlib.ExitStack() as stack:
            target = stack.enter_context(local_target(output))
            if form is OutputFormat.csv:
                rows = export.write_tables(readings(), target, "csv")
            else:
                client = stack.enter_context(connected(scheduler, jobs)) if scheduler else None
                parts = stack.enter_context(parts_of(target, table))
                # Closed before the parts are removed, so that no worker writes any more.
                each_reading = stack.enter_context(contextlib.closing(readings(parts=parts, client=client)))
                rows = export.write_tables(each_reading, target, "parquet", parts=parts)
            left = [] if table else export.other_tables(target, form.value, rows)
        if left:
            why = "not of these files but of an earlier call; remove them, or name another folder"
            typer.echo(f"{printable(output)}: warning: {', '.join(left)}: {why}", err=True)
        typer.echo(f"{printable(output)}: " + (", ".join(f"{name} {n}" for name, n in rows.items()) or "no table"))
    if refused:
        raise typer.Exit(1)


def _check_options(form: OutputFormat, output: str | None, table: str | None, log_format: str) -> None:
    """Raise for options that do not fit together, before minutes of reading."""
    from loadcurve.ingest.servers.access_layout import layout_of_format

    if form is OutputFormat.json and output not in (None, "", "-"):
        raise LoadcurveError("--output must be left out or - for --format json")
    if form is not OutputFormat.json and output is None:
        raise LoadcurveError(f"--output must be named for --format {form.value}")
    if form is OutputFormat.parquet and output == "-":
        raise LoadcurveError("--output must be a folder for --format parquet, got -")
    if table is not None:
        from loadcurve.tables import columns

        columns(table)  # raises for an unknown name
    if log_format:
        layout_of_format(log_format)  # one error, not one per file


def _check_scheduler(scheduler: str, form: OutputFormat, names: list[str]) -> None:
    """Raise where a cluster cannot do the work."""
    from loadcurve.cluster import LOCAL
    from loadcurve.files.remote import is_url

    if form is not OutputFormat.parquet:
        raise LoadcurveError(f"--scheduler must be left out for --format {form.value}")
    if scheduler != LOCAL and (urls := [name for name in names if is_url(name)]):
        raise LoadcurveError(f"--scheduler requires folders that all workers see, got {printable(urls[0])}")


def tidy(
    studies: Annotated[
        list[str] | None, typer.Argument(help="Names or folders; by default all recorded studies.")
    ] = None,
) -> None:
    """Read the raw files of recorded studies into tidy tables under build/tidy, and audit them, as make does."""
    from loadcurve.files.progress import hidden
    from loadcurve.ingest.store import recorded_studies
    from loadcurve.reading.studies import each_study

    refused = 0
    for lines, notes, is_refused in each_study(_tidied, studies or recorded_studies(), _lost):
        with hidden():
            for line in notes:
                typer.echo(line, err=True)
            for line in lines:
                typer.echo(line)
        refused += is_refused
    if refused:
        raise typer.Exit(1)


Told = tuple[list[str], list[str], bool]
"""Lines for standard output and for standard error about a study, and whether it cannot be read."""


def _tidied(study: str | Path) -> Told:
    from loadcurve import paths
    from loadcurve.audit.registry import all_rules, audit
    from loadcurve.audit.settings import default_settings
    from loadcurve.reading import tables  # which reads on all processors, with progress

    try:
        rows = tables.tidy(study, _note)
        notes = [f"warning: {warning}" for warning in tables.read_warnings(study)]
        settings = default_settings(all_rules(), paths.study_folder(study))
        read = {name: tables.read_table(name, study) for name, n in rows.items() if n or name == "runs"}
        verdict = audit(read, settings).verdict
    except LoadcurveError as error:
        return [], [str(error)], True
    label = study if isinstance(study, str) else paths.shown(study)
    counts = ", ".join(f"{name} {n}" for name, n in rows.items())
    return [f"{label}: {counts}", f"{label}: audit: {verdict}"], notes, False


def _lost(study: str | Path, why: str) -> Told:
    return [], [f"{study}: expected a study that can be read, got {why}"], True


def _note(line: str) -> None:
    typer.echo(line, err=True)


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command("ingest")(ingest)
    app.command("tidy")(tidy)
