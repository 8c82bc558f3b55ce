"""Commands that turn raw output into tables."""

import contextlib
import sys
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from loadcurve.cli.options import (
    FactorsFile,
    Follow,
    Jobs,
    Patterns,
    RepeatPattern,
    Timezone,
    given_factors,
    note,
    number,
)
from loadcurve.errors import LoadcurveError, printable
from loadcurve.files import paths
from loadcurve.files.paths import is_url
from loadcurve.files.remote import local_copy, local_target
from loadcurve.runtime.output import echo

if TYPE_CHECKING:
    from loadcurve.ingest.fact_columns import GivenFactors
    from loadcurve.ingest.files import Hints
    from loadcurve.reading import Reading


OutputFormat = Literal["json", "csv", "parquet"]


def ingest(
    paths: Annotated[
        list[str],
        typer.Argument(metavar="PATH...", help="Files, folders, their URLs (s3://, gs://), or - for standard input."),
    ],
    tool: Annotated[str | None, typer.Option(help="TOOL or TOOL:VARIANT; detected from each text by default.")] = None,
    form: Annotated[OutputFormat, typer.Option("--format", help="json prints one line per file.")] = "json",
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
        int, number("--max-bytes", 1, 1 << 40, whole=True, help="Maximum size of an unpacked file; others are refused.")
    ] = 256_000_000,
    jobs: Jobs = 0,
    scheduler: Annotated[
        str, typer.Option(help="Dask scheduler that reads folders: tcp://HOST:PORT, or local for --jobs workers here.")
    ] = "",
    factor: Patterns = None,
    repeats: RepeatPattern = None,
    factors: FactorsFile = None,
    follow: Follow = False,
) -> None:
    """Read raw output of load generators and monitors, of any version, into tables in SI units.

    Each file that cannot be read gives one line on stderr and exit code 1; all other files are still written.  Large
    folders are read by several processes.  In csv and parquet, the rows of a folder name their run, as `loadcurve
    analyse` names it; each fact that no text states gives a line on stderr with its origin.

    Example: loadcurve ingest results/ --format parquet -o tables
    """
    from loadcurve.ingest.files import Hints
    from loadcurve.reading import export

    _check_options(form, output, table, log_format)
    if scheduler:
        _check_scheduler(scheduler, form, [*paths, str(output)])
    is_json = form == "json"
    if is_json and (factor or factors):
        raise LoadcurveError("--factor and --factors must be left out for --format json, in which no row names a run")
    hints = Hints(tool, timezone, log_format, max_bytes, follow)
    inputs = _Inputs(paths, hints, jobs, given_factors(factor, factors, repeats), table, matched=not is_json)
    if is_json:
        for reading in inputs.readings():
            for line in export.json_lines(reading):
                echo(line, nl=False)
    elif output == "-":
        export.write_csv(inputs.readings(), sys.stdout.buffer)
    elif output is not None:
        _write_folder(inputs, output, form, scheduler)
    if inputs.refused:
        raise typer.Exit(1)


@dataclass
class _Inputs:
    """What one call reads, with all that the options say about it."""

    paths: list[str]  # Files, folders, their URLs, or ``-``
    # `hints`, `jobs` and `factors`: as in `loadcurve.reading.read_matched`.
    hints: "Hints"
    jobs: int
    factors: "GivenFactors"
    table: str | None  # The only table that is read
    matched: bool  # Whether rows of a folder name their run
    refused: int = 0  # Number of files that could not be read so far

    def readings(self, **options: Any) -> Generator["Reading"]:
        """Yield what can be read, and print on standard error what cannot, as soon as it is known."""
        for path in self.paths:
            for reading in self._each(path, **options):
                _print_notes(reading, path)
                if reading.refused:
                    self.refused += 1
                else:
                    yield reading if self.table is None else reading.only(self.table)

    def _each(self, path: str, **options: Any) -> Iterator["Reading"]:
        if not is_url(path):
            yield from self._each_local(path, **options)
            return
        name = path.rstrip("/")
        with local_copy(path) as copy:
            for reading in self._each_local(str(copy), called=name, **options):
                yield reading.renamed(str(copy), name)

    def _each_local(self, path: str, **options: Any) -> Iterator["Reading"]:
        from loadcurve.ingest.files import is_folder
        from loadcurve.reading import read_matched, read_named

        if self.matched and path not in ("", "-") and is_folder(Path(path)):
            return read_matched(Path(path), self.hints, self.jobs, self.factors, store=True, **options)
        return read_named(path, self.hints, self.jobs)


def _print_notes(reading: "Reading", path: str) -> None:
    """Print warnings, refusal and origins of facts of a reading of a path on standard error."""
    source = "" if reading.labelled else f"{reading.source}: "
    lines = [f"{source}warning: {warning}" for warning in reading.parsed.warnings]
    if reading.refused:
        lines.append(reading.refused)
    if lines or reading.parsed.origins:
        for line in lines:
            note(printable(line))
        for origin in reading.parsed.origins:
            note(f"{printable(path)}: fact that no report prints: {origin}")


def _write_folder(inputs: _Inputs, output: str, form: OutputFormat, scheduler: str) -> None:
    """Write one file for each table into a folder or its URL, and print the number of rows of each."""
    from loadcurve.ingest.table_parts import parts_of
    from loadcurve.reading import export
    from loadcurve.runtime.cluster import connected

    with contextlib.ExitStack() as stack:
        target = stack.enter_context(local_target(output))
        if form == "csv":
            rows = export.write_tables(inputs.readings(), target, "csv")
        else:
            client = stack.enter_context(connected(scheduler, inputs.jobs)) if scheduler else None
            parts = stack.enter_context(parts_of(target, inputs.table))
            # Closed before the parts are removed, so that no worker writes any more.
            readings = stack.enter_context(contextlib.closing(inputs.readings(parts=parts, client=client)))
            rows = export.write_tables(readings, target, "parquet", parts=parts)
        left = [] if inputs.table else export.other_tables(target, form, rows)
    if left:
        why = "not of these files but of an earlier call; remove them, or name another folder"
        echo(f"{printable(output)}: warning: {', '.join(left)}: {why}", err=True)
    echo(f"{printable(output)}: " + (", ".join(f"{name} {n}" for name, n in rows.items()) or "no table"))


def _check_options(form: OutputFormat, output: str | None, table: str | None, log_format: str) -> None:
    """Raise for options that do not fit together, before minutes of reading."""
    from loadcurve.ingest.servers.access_layout import layout_of_format

    if form == "json" and output not in (None, "", "-"):
        raise LoadcurveError("--output must be left out or - for --format json")
    if form != "json" and output is None:
        raise LoadcurveError(f"--output must be named for --format {form}")
    if form == "parquet" and output == "-":
        raise LoadcurveError("--output must be a folder for --format parquet, got -")
    if table is not None:
        from loadcurve.tables import columns

        columns(table)  # raises for an unknown name
    if log_format:
        layout_of_format(log_format)  # one error, not one per file


def _check_scheduler(scheduler: str, form: OutputFormat, names: list[str]) -> None:
    """Raise where a cluster cannot do the work."""
    from loadcurve.runtime.cluster import LOCAL

    if form != "parquet":
        raise LoadcurveError(f"--scheduler must be left out for --format {form}")
    if scheduler != LOCAL and (urls := [name for name in names if is_url(name)]):
        raise LoadcurveError(f"--scheduler requires folders that all workers see, got {printable(urls[0])}")


def tidy(
    studies: Annotated[
        list[str] | None, typer.Argument(help="Names or folders; by default all recorded studies.")
    ] = None,
) -> None:
    """Read the raw files of recorded studies into tidy tables under build/tidy, and audit them, as make does.

    Exit code 1 where a study cannot be read, or has other runs or files than its manifest runs.json lists.
    """
    from loadcurve.ingest.store import recorded_studies
    from loadcurve.reading.folder import each_study

    refused = 0
    for lines, notes, is_refused in each_study(_tidied, studies or recorded_studies(), _lost):
        for line in notes:
            echo(line, err=True)
        for line in lines:
            echo(line)
        refused += is_refused
    if refused:
        raise typer.Exit(1)


Told = tuple[list[str], list[str], bool]
"""Lines for standard output and for standard error about a study, and whether it cannot be read."""


def _tidied(study: str | Path) -> Told:
    from loadcurve.audit.registry import all_rules, audit
    from loadcurve.audit.settings import default_settings
    from loadcurve.ingest.folder import is_complete
    from loadcurve.reading import tables  # which reads on all processors, with progress

    try:
        rows = tables.tidy(study, note)
        notes = [f"warning: {warning}" for warning in tables.read_warnings(study)]
        settings = default_settings(all_rules(), paths.study_folder(study))
        read = {name: tables.read_table(name, study) for name, n in rows.items() if n or name == "runs"}
        verdict = audit(read, settings).verdict
        complete = is_complete(paths.study_folder(study))
    except LoadcurveError as error:
        return [], [str(error)], True
    label = study if isinstance(study, str) else paths.shown(study)
    counts = ", ".join(f"{name} {n}" for name, n in rows.items())
    return [f"{label}: {counts}", f"{label}: audit: {verdict}"], notes, not complete


def _lost(study: str | Path, why: str) -> Told:
    return [], [f"{study}: expected a study that can be read, got {why}"], True
