"""Load-test HTTP servers: launch studies, analyse anybody's files, compare measurements, execute notebooks."""

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from loadcurve import __version__
from loadcurve.cli import gates, notebooks, studies
from loadcurve.errors import LoadcurveError, in_one_line, printable
from loadcurve.extras import missing_extra

if TYPE_CHECKING:
    from loadcurve.reading import Reading

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, help=__doc__)


class OutputFormat(StrEnum):
    """Output formats of `loadcurve ingest`."""

    json = "json"
    csv = "csv"
    parquet = "parquet"


Seconds = Annotated[float | None, typer.Option(help="Seconds of load at each point, instead of the study's value.")]
Repeats = Annotated[int | None, typer.Option(help="Repeats of each point, instead of the study's value.")]


lab = typer.Typer(no_args_is_help=True, help="Print the schema of study.yml; remove what a killed launch left.")
app.add_typer(lab, name="lab")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"loadcurve {__version__}")
        raise typer.Exit


@app.callback(help=__doc__)
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Take the options that hold for every command."""


studies.register(app)
gates.register(app)
notebooks.register(app)


@app.command()
def launch(
    study: Annotated[str, typer.Argument(help="Name of a study or a design, or a folder with a study.yml.")],
    seconds: Seconds = None,
    repeats: Repeats = None,
    name: Annotated[str | None, typer.Option(help="Record a copy of the study as data/studies/NAME.")] = None,
    plan: Annotated[
        bool, typer.Option("--plan", help="Print the commands of each run and the total duration; start nothing.")
    ] = False,
    public: Annotated[
        bool, typer.Option("--public", help="Allow load on public addresses that the study names.")
    ] = False,
) -> None:
    """Launch a study, or resume an interrupted one; the runs of a design go to data/studies."""
    from loadcurve import paths
    from loadcurve.lab import describe, describe_obstacles, read_checked
    from loadcurve.lab.hosts.signals import signal_of
    from loadcurve.launching import interruption
    from loadcurve.launching import launch as launch_study

    folder = paths.study_folder(study)
    found = read_checked(folder)
    changes: dict[str, Any] = {k: v for k, v in {"repeats": repeats, "study": name}.items() if v is not None}
    if seconds is not None:
        changes["load"] = {**found.load, "duration_s": seconds}
    if plan:
        planned = replace(found, **changes)
        for line in describe(planned):
            typer.echo(line)
        for line in describe_obstacles(planned, public=public):
            typer.echo(line, err=True)
        return
    target = paths.studies() / name if name else paths.record_folder(folder)
    try:
        launch_study(replace(found, **changes), target, public=public)
    except KeyboardInterrupt as interrupt:
        with contextlib.suppress(OSError):  # the terminal may be what was closed
            typer.echo(interruption(interrupt, target), err=True)
        raise typer.Exit(128 + signal_of(interrupt)) from None


@lab.command()
def schema() -> None:
    """Print the JSON schema of study.yml, with which editors complete and check it."""
    import json

    from loadcurve.lab.study_file import schema as schema_of_studies

    typer.echo(json.dumps(schema_of_studies(), indent=2, ensure_ascii=False))


@lab.command()
def clean() -> None:
    """Remove the network namespaces, rules and cgroups left by killed launches, and nothing else."""
    from loadcurve.lab.hosts.network import clean as clean_networks

    typer.echo("\n".join(clean_networks()) or "nothing to remove")


@app.command()
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
) -> None:
    """Read raw output of load generators and monitors, of any version, into tables in SI units.

    Each file that cannot be read gives one line on stderr and exit code 1; all other files are still written.  Large
    folders are read by several processes.
    """
    from loadcurve import export, reading
    from loadcurve.files.progress import hidden
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
    refused, hints = 0, Hints(tool, timezone, log_format, max_bytes)

    def readings() -> "Iterator[Reading]":
        nonlocal refused
        for path in paths:
            for found in reading.read_named(path, hints, jobs):
                lines = [
                    f"warning: {warning}" if found.recorded else f"{found.source}: warning: {warning}"
                    for warning in found.parsed.warnings
                ]
                if lines or found.refused:
                    with hidden():
                        for line in filter(None, (*lines, found.refused)):
                            typer.echo(printable(line), err=True)
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
        rows = export.write_tables(readings(), output, form.value)
        typer.echo(f"{printable(str(output))}: " + (", ".join(f"{name} {n}" for name, n in rows.items()) or "no table"))
    if refused:
        raise typer.Exit(1)


@app.command()
def analyse(
    paths: Annotated[
        list[str], typer.Argument(metavar="PATH...", help="Folders of raw files, studies, or files; never pooled.")
    ],
    objective: Annotated[
        list[str] | None,
        typer.Option(help="What a load has to keep: p99=200ms, mean=5ms, errors=0.1%; may be given several times."),
    ] = None,
    factor: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=REGEX",
            help="A fact in the names of the files, such as 'connections=c([0-9]+)'; may be given several times.",
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", help="Write the report: .html, .json, .md, .pdf or .txt; - prints text."),
    ] = None,
) -> None:
    """Answer from raw files: verdict, throughput over load, model, capacity, bottleneck, what to measure next.

    Several folders are variants named by their folders.  The exit code is 1 if nothing could be analysed.

    Example: loadcurve analyse results/ --objective p99=200ms -o report.html
    """
    from loadcurve.ingest.run_facts import parse_factor

    factors = dict(parse_factor(text) for text in factor or ())
    if output is None or output == "-":
        print_analysis(paths, objective or [], factors=factors)
        return
    import shlex

    from loadcurve import report
    from loadcurve.analysis import analyse as analyse_data

    target = report.check_suffix(Path(output))  # before minutes of reading
    found = analyse_data(paths, objectives=objective or (), factors=factors)
    command = printable(shlex.join(["loadcurve", *sys.argv[1:]]))
    report.write_report(found, target, report.provenance_of(found, paths, command))
    for line in found.not_read:
        typer.echo(line, err=True)
    typer.echo(f"{printable(str(target))}: {found.verdict}")


def print_analysis(
    paths: list[str], objectives: list[str], source: str = "", factors: dict[str, str] | None = None
) -> None:
    """Analyse paths and print the report, as wide as the terminal."""
    import shutil

    from loadcurve.analysis import analyse as analyse_data
    from loadcurve.report import text_report

    found = analyse_data(paths, objectives=objectives, factors=factors, source=source)
    width = shutil.get_terminal_size((100, 24)).columns
    typer.echo(text_report(found, min(width, 120), unicode=_prints_blocks()), nl=False)


@app.command()
def history(
    paths: Annotated[list[str], typer.Argument(metavar="PATH...", help="One folder for each date.")],
    metric: Annotated[str, typer.Option(help="Column of the runs.")] = "throughput_rps",
    at: Annotated[float | None, typer.Option(help="Load to compare at; by default the one that was fastest.")] = None,
) -> None:
    """Show one metric over dates, and where it changed.

    Example: loadcurve history results/2026-*/ --metric latency_p99_s --at 64
    """
    from loadcurve.analysis import analyse as analyse_data
    from loadcurve.analysis import compare_over_time
    from loadcurve.report import history_report

    found = compare_over_time([analyse_data(path) for path in paths], metric, at=at)
    typer.echo(history_report(found, unicode=_prints_blocks()), nl=False)


def _prints_blocks() -> bool:
    return (sys.stdout.encoding or "").lower().startswith("utf")


@app.command()
def doctor() -> None:
    """List the installed tools with their versions, and how to install the missing ones."""
    from loadcurve.ingest.registry import FORMS
    from loadcurve.lab.known_tools import TOOLS

    for tool in TOOLS.values():
        typer.echo(str(tool))
    for name in sorted({form.tool for form in FORMS} - TOOLS.keys()):
        typer.echo(f"{name:<10} {'output is read':<20} the laboratory does not run it")


@app.command()
def tidy(
    studies: Annotated[
        list[str] | None, typer.Argument(help="Names or folders; by default all recorded studies.")
    ] = None,
) -> None:
    """Read the raw files of recorded studies into tidy tables under build/tidy, as make does."""
    from loadcurve import paths
    from loadcurve.ingest import store

    refused = 0
    for study in studies or store.recorded_studies():
        try:
            rows = store.tidy(study, _note)
            for warning in store.read_warnings(study):
                typer.echo(f"warning: {warning}", err=True)
        except LoadcurveError as error:
            refused += 1
            typer.echo(str(error), err=True)
            continue
        label = study if isinstance(study, str) else paths.shown(study)
        typer.echo(f"{label}: " + ", ".join(f"{name} {n}" for name, n in rows.items()))
    if refused:
        raise typer.Exit(1)


def _note(line: str) -> None:
    typer.echo(line, err=True)


def main() -> None:
    """Run the command line.  A failure with a known reason prints one line on stderr; the exit code is 1."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed by the caller: the next file that is opened would take its number
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # names of files need not be valid text
    try:
        try:
            app()
        finally:
            sys.stdout.flush()
    except LoadcurveError as error:
        _end(str(error))
    except BrokenPipeError:
        _end("")  # the reader of our output exited, as `head` does
    except (OSError, MemoryError, UnicodeError) as error:
        _end(in_one_line(error))
    except ModuleNotFoundError as error:
        found = missing_extra(" ".join(["loadcurve", *sys.argv[1:2]]), error)
        if found is error:
            raise
        _end(str(found))


def _end(message: str) -> None:
    """Print a message on stderr and exit with code 1; drop buffered output that stdout does not accept."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if message:
        with contextlib.suppress(OSError):
            typer.echo(message, err=True)
    raise SystemExit(1) from None


if __name__ == "__main__":
    main()
