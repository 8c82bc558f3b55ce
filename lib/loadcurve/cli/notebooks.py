"""Commands about notebooks: write the one for a folder of raw files, execute one, and execute many."""

import contextlib
import json
import os
import re
import shlex
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from loadcurve.cli.options import Jobs, note, warn_of_secrets
from loadcurve.errors import LoadcurveError
from loadcurve.files import paths
from loadcurve.files.atomic import check_target, write_text
from loadcurve.files.paths import check_local, local_path
from loadcurve.runtime.output import echo
from loadcurve.runtime.signals import signal_of


def notebook(
    folder: Annotated[str, typer.Argument(help="Folder of raw files, or name of a study.")],
    objective: Annotated[str | None, typer.Option(help="What a load has to keep, such as p99=200ms.")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="The notebook to write.")] = None,
) -> None:
    """Write a notebook that answers for a folder of raw files, as `loadcurve analyse` does, to go on in JupyterLab.

    Example: loadcurve notebook results/ --objective p99=200ms
    """
    from loadcurve.analysis.objective import parse_objectives

    source = paths.own_notebook()
    target = check_target(output or Path(source.name))
    if target.exists():
        raise LoadcurveError(f"{target}: expected no file of this name yet, got one: name another with --output")
    found = paths.data_folder(folder)
    is_study = not Path(folder).expanduser().is_dir()
    given = {"folder": folder if is_study else os.path.relpath(found, target.absolute().parent.resolve())}
    if objective:
        parse_objectives([objective])
        # papermill finds no parameter in a line with two =
        given["objective"] = re.sub(r"\s*[<=≤]+\s*", " < ", objective)
    text = source.read_text("utf-8")
    content = json.loads(text)
    (cell,) = (cell for cell in content["cells"] if "parameters" in cell["metadata"].get("tags", ()))
    cell["source"] = [_with_value(line, given) for line in cell["source"]]
    write_text(target, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    name = shlex.quote(str(target))
    echo(f"{target} is written; next: jupyter lab {name}, or loadcurve run {name} -o answer.ipynb")


def _with_value(line: str, given: dict[str, str]) -> str:
    """Return a line of the parameters with another value, and the same comment."""
    name, _, rest = line.partition(": ")
    if name not in given:
        return line
    return f"{name}: str = {json.dumps(given[name], ensure_ascii=False)}  #{rest.partition('#')[2]}"


Values = Annotated[
    list[str] | None,
    typer.Option("--parameter", "-p", metavar="NAME=VALUE", help="A value, as YAML; may be given several times."),
]


def run(
    notebook: Annotated[Path, typer.Argument(help="Path of the notebook.")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="The executed copy to write.")] = None,
    parameters: Values = None,
) -> None:
    """Execute a notebook and publish its figures; with --output or --parameter write a draft instead.

    Example: loadcurve run notebooks/43_capacity_under_an_objective.ipynb -p study=results/ -o answer.ipynb
    """
    from loadcurve import batch
    from loadcurve.batch.grid import Text, typed

    given = typed(parameters or [], Text)
    if output is not None:
        check_local(output)
    batch.quiet()
    publish = not given and output is None
    default = paths.build() / ("notebooks" if publish else "draft") / notebook.name
    with _interrupts("nothing is written"):
        written = batch.run_alone(notebook, output or default, given, publish=publish, report=note)
    warn_of_secrets(written, written.with_suffix(".figures"))
    echo(paths.shown(written))


def batch(
    notebooks: Annotated[list[Path], typer.Argument(metavar="NOTEBOOK...", help="Paths of notebooks.")],
    output: Annotated[
        str,
        typer.Option("--output", "-o", metavar="FOLDER", help="Folder for all outputs, or a URL: s3://BUCKET/FOLDER."),
    ],
    parameters: Values = None,
    file: Annotated[
        Path | None, typer.Option("--file", "-f", help="YAML file with values by name; --parameter overrides it.")
    ] = None,
    grid: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=A,B,C", help="Values of which each run takes one; may be given several times."),
    ] = None,
    jobs: Jobs = 0,
    scheduler: Annotated[
        str, typer.Option(help="Dask scheduler: tcp://HOST:PORT, or local for a Dask cluster on this machine.")
    ] = "",
) -> None:
    """Execute notebooks with every combination of parameters; the same command again runs only what is missing.

    A parameter goes to each notebook that declares it.  The exit code is 1 if a notebook failed.

    Example: loadcurve batch notebooks/30*.ipynb --grid study=monday/,tuesday/ --grid enough=0.8,0.9 -o grid/
    """
    from loadcurve import batch
    from loadcurve.batch.grid import Text, Texts, read_parameters, typed

    given = (read_parameters(file) if file else {}) | typed(parameters or [], Text)
    planned = batch.jobs_of(notebooks, given, typed(grid or [], Texts))
    batch.quiet()
    with _interrupts("the outputs so far are kept; the same command runs the others"):
        found = batch.run_batch(planned, output, at_once=jobs, scheduler=scheduler, report=note)
    if (local := local_path(output)) is not None:
        warn_of_secrets(local)
    failed = sum(one.state == "failed" for one in found)
    counts = f"{len(found) - failed} of {len(found)} outputs are complete" + f", {failed} failed" * bool(failed)
    index = paths.shown(local / "index.html") if local is not None else f"{output.rstrip('/')}/index.html"
    echo(f"{index}: {counts}")
    if failed:
        raise typer.Exit(1)


@contextlib.contextmanager
def _interrupts(kept: str) -> Iterator[None]:
    """Print an interrupt in one line, and a failed notebook with its last cell; both end the command."""
    from loadcurve.batch import NotebookError, failure_text

    try:
        yield
    except NotebookError as error:
        partial = paths.shown(error.partial) if error.partial else ""
        echo(failure_text(str(error), error.cell, partial), err=True)
        raise typer.Exit(1) from None
    except KeyboardInterrupt as interrupt:
        number = signal_of(interrupt)
        with contextlib.suppress(OSError):  # the terminal may be what was closed
            echo(f"interrupted by {signal.Signals(number).name}: {kept}", err=True)
        raise typer.Exit(128 + number) from None
