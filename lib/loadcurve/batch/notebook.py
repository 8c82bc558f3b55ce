"""Run one notebook: check its parameters, execute it, and put its outputs into place when they are complete."""

import contextlib
import io
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from loadcurve.batch import execution, grid
from loadcurve.errors import LoadcurveError, named_as
from loadcurve.files import paths
from loadcurve.files.atomic import alone, is_stream, real_path, replace, write_sums, write_text

STAMP = "loadcurve"
"""Key of an executed notebook's metadata that holds what it was made from (`loadcurve.batch.runner`)."""


def run_notebook(
    notebook: Path,
    output: Path,
    parameters: Mapping[str, object] | None = None,
    *,
    publish: bool = False,
    report: Callable[[str], object] = lambda line: None,
    kernels: execution.Kernels | None = None,
) -> Path:
    """Execute `notebook` and write the result to `output`; a lock serialises processes with the same output.

    A published run writes its figures to `build/figures`, and next to `output` the list of files that the notebook read
    (suffix ``.d``) and the SHA-256 of all files that it wrote (suffix ``.sha256``).  Any other run writes its figures
    to a folder next to `output`, with suffix ``.figures``.

    Parameters
    ----------
    publish : bool
        Whether to replace the figures in the handbook; they are replaced only if every cell succeeds.
    report : callable
        Called with one line if another process is writing the same output.
    kernels : Kernels, optional
        To which the kernel is added while it runs.

    Raises
    ------
    LoadcurveError
        Before the kernel starts, for an unknown parameter, one of the wrong type, or one out of its range.
    NotebookError
        With the last line of the traceback, when a cell raises an error; the notebook is kept as far as it was
        executed (`partial_of`).
    """
    values = grid.check_parameters(notebook, parameters or {})
    if publish and not paths.NOTEBOOK_NAME.fullmatch(notebook.stem):
        raise LoadcurveError(f"notebook must be named with lower case letters, digits and _, got {notebook.name!r}")
    if is_stream(output):
        raise LoadcurveError(f"{output}: expected a file, because its figures are written beside it: name an .ipynb")
    output = real_path(output) if output.is_symlink() else output.absolute()
    output.parent.mkdir(parents=True, exist_ok=True)
    # The site shows each notebook in the folder of a published one.
    partial = partial_of(paths.build() / "draft" / output.name if publish else output)
    with alone(f"notebook {paths.shown(output)}", report), work_folder(output) as work:
        try:
            execution.execute(
                notebook, work, output.name, values, notebook.absolute().parent, kernels or execution.Kernels()
            )
        except execution.NotebookError as error:
            raise keep_partial(error, work / output.name, partial, f"{notebook}: ") from None
        partial.unlink(missing_ok=True)
        if publish:
            _publish(notebook.stem, output, work)
        else:
            finish(output, work)
    return output


def partial_of(output: Path) -> Path:
    """Return the path of a notebook that failed: ``answer.failed.ipynb`` for ``answer.ipynb``."""
    return output.with_suffix(f".failed{output.suffix}")


def keep_partial(
    error: execution.NotebookError, draft: Path, partial: Path, label: str = ""
) -> execution.NotebookError:
    """Keep a notebook as far as it was executed; return the error with a label and the path of what was kept."""
    labelled = execution.NotebookError(f"{label}{error}", error.cell)
    if draft.is_file():
        partial.parent.mkdir(parents=True, exist_ok=True)
        replace(draft, partial)
        labelled.partial = partial
    return labelled


def finish(output: Path, work: Path, stamp: Mapping[str, object] | None = None) -> None:
    """Move what a run wrote to its place, the notebook last: an output is complete when the notebook is there."""
    draft = work / output.name
    if stamp is not None:
        content = json.loads(draft.read_text("utf-8"))
        content["metadata"][STAMP] = dict(stamp)
        write_text(draft, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    figures = output.with_suffix(".figures")
    if any((work / "figures").iterdir()):
        _swap(work / "figures", figures, work)
    else:
        shutil.rmtree(figures, ignore_errors=True)
    replace(draft, output)


def _publish(name: str, output: Path, work: Path) -> None:
    """Move the files of a run to their final place; the list of sums comes last, so that a killed run is repeated."""
    published, rule = paths.build() / "figures" / name, output.with_suffix(".d")
    depends = dependencies(output, files_read(work))
    _swap(work / "figures", published, work)
    write_text(rule, depends)
    replace(work / output.name, output)
    write_sums(output.with_suffix(".sha256"), [output, rule, *sorted(published.iterdir())])


def files_read(work: Path) -> list[str]:
    """Return the files that the notebook read which was executed in a folder, each once, in order."""
    return sorted({*(work / "reads").read_text("utf-8", "surrogateescape").split("\0")} - {""})


@contextlib.contextmanager
def work_folder(output: Path) -> Iterator[Path]:
    """Yield an empty folder for the files of an unfinished run; files left by a killed run are removed first."""
    work = output.with_name(f".{output.name}.run")
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    try:
        with named_as(output, work):
            yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _swap(fresh: Path, published: Path, work: Path) -> None:
    """Replace a published folder by a fresh one with two renames; the path does not exist only between the two."""
    published.parent.mkdir(parents=True, exist_ok=True)
    if published.exists():
        published.replace(work / "old")
    fresh.replace(published)


def dependencies(output: Path, read: Iterable[str]) -> str:
    """Return a make rule, like a compiler's ``.d`` file: `output` depends on the files that a notebook read.

    Each file also gets an empty rule, so that make does not stop when a file has been removed.
    """
    names = sorted(set(read) - {""})
    for name in names:
        if not paths.is_plain(name):
            raise LoadcurveError(f"{name!r} was read, but make cannot hold its name: use letters, digits and _ . + -")
    return f"{paths.shown(output)}: " + " \\\n  ".join(names) + "\n\n" + "".join(f"{name}:\n" for name in names)


def quiet() -> None:
    """Keep the unused debugger of each kernel from printing a warning."""
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)
