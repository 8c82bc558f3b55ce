"""Commands about studies: make one, list them, show the results of one."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from loadcurve.cli.answers import print_analysis
from loadcurve.cli.options import number, warn_of_secrets
from loadcurve.errors import LoadcurveError
from loadcurve.files import paths
from loadcurve.files.atomic import new_folder, temporary_folder, write_text
from loadcurve.runtime.output import echo
from loadcurve.units import format_quantity


def new(
    name: Annotated[str, typer.Argument(help="Name of the study: lower case letters, digits, underscores.")],
    url: Annotated[str | None, typer.Option(help="Server to load; without it, loadcurve starts its own nginx.")] = None,
    connections: Annotated[str | None, typer.Option(help="Range 1..256, which doubles, or list 1,8,64.")] = None,
    rates: Annotated[
        str | None, typer.Option(help="Offered requests/s of an open loop (wrk2), with one level of connections.")
    ] = None,
    tool: Annotated[str | None, typer.Option(help="Load generator.")] = None,
    seconds: Annotated[int | None, number("--seconds", 1, 86_400, whole=True, help="Duration of each run.")] = None,
    repeats: Annotated[int | None, number("--repeats", 1, 10_000, whole=True, help="Runs of each level.")] = None,
) -> None:
    """Write a commented study.yml; asks for what no option gives.

    Example: loadcurve new shop --url http://127.0.0.1:8080/ --connections 1..256 --tool wrk
    """
    from loadcurve.lab.tools.generators import GENERATORS
    from loadcurve.launching.studies import study_text

    if sys.stdin is not None and sys.stdin.isatty() and url is connections is rates is tool is None:
        url = typer.prompt("URL of the server (empty: an nginx that loadcurve starts)", default="", show_default=False)
        connections = typer.prompt("Connections", default="1..256")
        tool = typer.prompt("Load generator", default="wrk")
        seconds = typer.prompt("Seconds of each run", default=10, type=int)
        repeats = typer.prompt("Runs of each level", default=3, type=int)
    if (tool := tool or "wrk") not in GENERATORS:
        raise LoadcurveError(f"tool must be one of {', '.join(GENERATORS)}, got {tool!r}")
    text = study_text(
        name,
        url=url or "",
        tool=tool,
        connections=connections or ("64" if rates else "1..256"),
        rates=rates or "",
        seconds=seconds or 10,
        repeats=repeats or 3,
    )
    written = write_new(folder_of_new(name), text)
    warn_of_secrets(folder_of_new(name) / "study.yml")
    echo(f"{written} is written; next: loadcurve launch {name} --plan, then loadcurve launch {name}")


def folder_of_new(name: str) -> Path:
    """Return the folder of a study of this name."""
    try:
        return paths.studies() / name
    except LoadcurveError:  # outside a checkout, the working directory becomes the place of studies
        return Path("data") / "studies" / name


def write_new(folder: Path, text: str) -> str:
    """Write the study.yml of a new study, and return its path; raise if there is one, or if this one cannot run."""
    from loadcurve.lab.run.own_programs import trust
    from loadcurve.lab.study_file import read_checked

    if folder.exists():
        raise LoadcurveError(f"{folder}: expected no study of this name yet, got one: choose another name or edit it")
    name = folder.name
    with temporary_folder() as draft:
        file = draft / name / "study.yml"
        file.parent.mkdir()
        file.write_text(text, "utf-8")
        try:
            trust(read_checked(file))  # its text is loadcurve's, its values are those of this command
        except LoadcurveError as error:
            raise LoadcurveError(str(error).replace(str(file), f"{name}/study.yml")) from None
    with new_folder(folder) as draft:
        write_text(draft / "study.yml", text)
    return paths.shown(folder / "study.yml")


def list_() -> None:
    """List the recorded studies and the designs, with their state.

    Example: loadcurve list
    """
    from loadcurve.blocks.text import table
    from loadcurve.launching.studies import list_studies

    studies = list_studies()
    rows = [
        [
            row["study"],
            row["state"],
            str(row["finished"] if row["state"] == "answered" else row["planned"] or "")
            if row["state"] in ("answered", "design", "wrong")
            else f"{row['finished']}/{row['planned']}",
            format_quantity(float(row["bytes"]), "bytes") if row["bytes"] else "",
            "" if row["last"] != row["last"] else f"{row['last']:%Y-%m-%d}",
            row["question"],
        ]
        for row in studies.to_dict("records")
    ]
    echo(table(["study", "state", "runs", "size", "last run", "question"], rows, left=2))


def show(
    study: Annotated[str, typer.Argument(help="Name or folder of a study.")],
    objective: Annotated[list[str] | None, typer.Option(help="What a load has to keep, such as p99=200ms.")] = None,
) -> None:
    """Print the results of a study, as `loadcurve analyse` prints them for any folder.

    Example: loadcurve show connections_on_loopback --objective p99=12ms
    """
    from loadcurve.launching import objectives_of
    from loadcurve.study.records import read_study, run_folders

    folder = paths.study_folder(study)
    if not run_folders(folder):
        raise LoadcurveError(f"{paths.shown(folder)} must hold a run, got none: loadcurve launch {study}")
    print_analysis([str(folder)], objective or objectives_of(read_study(folder)), paths.shown(folder))


def pack(
    studies: Annotated[list[str], typer.Argument(help="Names or folders of studies.")],
    every: Annotated[bool, typer.Option("--all", help="Pack the first run too, which else stays readable.")] = False,
) -> None:
    """Move the finished runs of a study into its archive runs.tar.xz, except the first; every command reads them there.

    Example: loadcurve pack shop
    """
    from loadcurve.lab.run.resume import lock_folder
    from loadcurve.study import archive
    from loadcurve.study.records import read_run, run_folders

    for study in studies:
        folder = paths.study_folder(study)
        warn_of_secrets(folder)
        with lock_folder(folder):
            finished = [path.name for path in run_folders(folder) if read_run(path).status == "finished"]
            runs = finished if every else finished[1:]
            packed = archive.pack(folder, runs) if any((folder / run).is_dir() for run in runs) else []
        if packed:
            count = f"{len(packed)} run{'s' * (len(packed) > 1)}"
            echo(f"{paths.shown(folder)}: {count} packed in {paths.ARCHIVE}", err=True)


def unpack(
    study: Annotated[str, typer.Argument(help="Name or folder of a study.")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="New folder for a copy of the study.")] = None,
) -> None:
    """Give back the run folders of a packed study, byte for byte: in the study itself, or a copy in another folder.

    Example: loadcurve unpack connections_on_loopback -o /tmp/runs
    """
    from loadcurve.lab.run.resume import lock_folder
    from loadcurve.study import archive
    from loadcurve.study.records import run_folders

    folder = paths.study_folder(study)
    if output is None:
        with lock_folder(folder):
            archive.unpack(folder)
    elif output.exists() or output.resolve().is_relative_to(folder):
        raise LoadcurveError(f"{output}: expected a new folder outside the study, got one that exists: name another")
    else:
        archive.copy_study(folder, output)
    echo(f"{output or paths.shown(folder)}: {len(run_folders(output or folder))} runs")
