"""Commands about notebooks: write the one for a folder of raw files, and execute any."""

import json
import os
import re
import shlex
from pathlib import Path
from typing import Annotated

import typer

from loadcurve.errors import LoadcurveError

_DATA = ("folder", "study", "study_file")  # parameters of notebooks that name data, by a path or by a study's name


def notebook(
    folder: Annotated[str, typer.Argument(help="Folder of raw files, or name of a study.")],
    objective: Annotated[str | None, typer.Option(help="What a load has to keep, such as p99=200ms.")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="The notebook to write.")] = None,
) -> None:
    """Write a notebook that answers for a folder of raw files, as `loadcurve analyse` does, to go on in JupyterLab.

    Example: loadcurve notebook results/ --objective p99=200ms
    """
    from loadcurve import paths
    from loadcurve.analysis.objective import parse_objectives
    from loadcurve.files.atomic import check_target, write_text

    source = paths.own_notebook()
    target = check_target(output or Path(source.name))
    if target.exists():
        raise LoadcurveError(f"{target}: expected no file of this name yet, got one: name another with --output")
    found = paths.data_folder(folder)
    is_study = not Path(folder).expanduser().is_dir()
    given = {"folder": folder if is_study else os.path.relpath(found, target.absolute().parent.resolve())}
    if objective:
        parse_objectives([objective])
        given["objective"] = re.sub(
            r"\s*[<=≤]+\s*", " < ", objective
        )  # papermill finds no parameter in a line with two =
    text = source.read_text("utf-8")
    content = json.loads(text)
    (cell,) = (cell for cell in content["cells"] if "parameters" in cell["metadata"].get("tags", ()))
    cell["source"] = [_with_value(line, given) for line in cell["source"]]
    write_text(target, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    name = shlex.quote(str(target))
    typer.echo(f"{target} is written; next: jupyter lab {name}, or loadcurve run {name} -o answer.ipynb")


def _with_value(line: str, given: dict[str, str]) -> str:
    """Return a line of the parameters with another value, and the same comment."""
    name, _, rest = line.partition(": ")
    if name not in given:
        return line
    return f"{name}: str = {json.dumps(given[name], ensure_ascii=False)}  #{rest.partition('#')[2]}"


def run(
    notebook: Annotated[Path, typer.Argument(help="Path of the notebook.")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="The executed copy to write.")] = None,
    parameters: Annotated[
        list[str] | None, typer.Option("--parameter", "-p", help="NAME=VALUE, VALUE as YAML.")
    ] = None,
) -> None:
    """Execute a notebook and publish its figures; with --output or --parameter write a draft instead.

    Example: loadcurve run notebooks/43_capacity_under_an_objective.ipynb -p study=results/ -o answer.ipynb
    """
    import yaml

    from loadcurve import batch, paths

    given: dict[str, object] = {}
    for pair in parameters or []:
        key, equals, text = pair.partition("=")
        if not equals:
            raise LoadcurveError(f"parameter must be NAME=VALUE, got {pair!r}")
        try:
            given[key] = yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise LoadcurveError(f"parameter {key} must be YAML, got {text!r} ({str(error).splitlines()[0]})") from None
        if key in _DATA and Path(text).exists():  # the kernel works in the folder of the notebook
            given[key] = str(Path(text).resolve())
    batch.quiet()
    publish = not given and output is None
    default = paths.build() / ("notebooks" if publish else "draft") / notebook.name
    written = batch.run_notebook(
        notebook, output or default, given, publish=publish, report=lambda line: typer.echo(line, err=True)
    )
    typer.echo(paths.shown(written))


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command("notebook")(notebook)
    app.command("run")(run)
