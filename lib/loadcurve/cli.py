"""The command line: thin, each command one call."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
import yaml

from loadcurve.errors import LoadcurveError

app = typer.Typer(add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False, help=__doc__)

Seconds = Annotated[float | None, typer.Option(help="Seconds of load at each point, in place of the study's own.")]
Repeats = Annotated[int | None, typer.Option(help="Repeats of each point, in place of the study's own.")]


@app.command()
def lab(
    study: Annotated[str, typer.Argument(help="Name of a study, or a folder with a study.yml.")],
    seconds: Seconds = None,
    repeats: Repeats = None,
    name: Annotated[str | None, typer.Option(help="Record a copy of the study as data/studies/NAME.")] = None,
) -> None:
    """Launch a study, or go on with one that was interrupted."""
    from loadcurve import paths
    from loadcurve.lab import launch
    from loadcurve.records import read_study

    folder = paths.study_folder(study)
    changes = {k: v for k, v in {"seconds": seconds, "repeats": repeats, "study": name}.items() if v is not None}
    target = paths.root() / "data" / "studies" / name if name else folder
    runs = launch(replace(read_study(folder), **changes), target)
    typer.echo(f"{paths.shown(target)}: {len(runs)} runs finished")


@app.command()
def ingest(studies: Annotated[list[str], typer.Argument(help="Names or folders of studies.")]) -> None:
    """Read the raw files of studies into tidy tables under build/tidy."""
    from loadcurve.ingest.store import ingest as ingest_study

    for study in studies:
        ingested = ingest_study(study)
        for warning in ingested.warnings:
            typer.echo(f"warning: {warning}", err=True)
        typer.echo(f"{study}: " + ", ".join(f"{name} {len(frame)}" for name, frame in ingested.tables.items()))


@app.command()
def run(
    notebook: Annotated[Path, typer.Argument(help="A notebook of notebooks/.")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="The executed copy to write.")] = None,
    parameters: Annotated[
        list[str] | None, typer.Option("--parameter", "-p", help="NAME=VALUE, VALUE as YAML.")
    ] = None,
) -> None:
    """Execute a notebook; as it stands, it publishes, and with an output or parameters of its own it makes a draft."""
    from loadcurve import batch, paths

    given = {}
    for pair in parameters or []:
        key, equals, text = pair.partition("=")
        if not equals:
            raise LoadcurveError(f"parameter must be NAME=VALUE, got {pair!r}")
        given[key] = yaml.safe_load(text)
    batch.quiet()
    as_it_stands = not given and output is None
    place = paths.build() / ("notebooks" if as_it_stands else "draft") / notebook.name
    written = batch.run_notebook(notebook, output or place, given, publish=as_it_stands)
    typer.echo(paths.shown(written))


def main() -> None:
    """Entry point: an error made for the reader is one line on stderr and exit code 1."""
    try:
        app()
    except LoadcurveError as error:
        typer.echo(str(error), err=True)
        raise SystemExit(1) from None


if __name__ == "__main__":
    main()
