"""Run notebooks in batch: check parameters, publish figures, and record the files that each notebook read."""

import contextlib
import io
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from jupyter_client.manager import AsyncKernelManager
from traitlets.config import Config

from loadcurve import paths
from loadcurve.captions import fill_captions
from loadcurve.errors import LoadcurveError, ParseError
from loadcurve.extras import without_module
from loadcurve.files.atomic import alone, write_sums, write_text
from loadcurve.jupyter import NOTEBOOK_VARIABLE

with without_module("rfc3987_syntax"):  # optional for jsonschema, which compiles its 38 grammars for a second
    import nbformat
    import papermill as pm
    from papermill.exceptions import PapermillExecutionError

# Types that a parameter's annotation allows; a notebook with another annotation, or none, fails its test.
_TYPES: dict[str, type | tuple[type, ...]] = {"str": str, "int": int, "float": (int, float), "bool": bool, "list": list}


def run_notebook(
    notebook: Path,
    output: Path,
    parameters: dict[str, object] | None = None,
    *,
    publish: bool = False,
    report: Callable[[str], object] = lambda line: None,
) -> Path:
    """Execute `notebook` and write the result to `output`; a lock serialises processes with the same output.

    A published run writes its figures to `build/figures`, and next to `output` the list of files that the notebook read
    (suffix ``.d``) and the SHA-256 of all files that it wrote (suffix ``.sha256``).  Any other run writes its figures
    to a folder next to `output`, with suffix ``.figures``.

    Parameters
    ----------
    notebook, output : pathlib.Path
        The notebook, and the executed copy to write.
    parameters : dict, optional
        Values for the notebook's ``parameters`` cell.
    publish : bool
        Whether to replace the figures in the handbook; they are replaced only if every cell succeeds.
    report : callable
        Called with one line if another process is writing the same output.

    Raises
    ------
    LoadcurveError
        Before the kernel starts, for an unknown parameter or one of the wrong type; or, with the last line of the
        traceback, when a cell raises an error.
    """
    given = check_parameters(notebook, parameters or {})
    if publish and not paths.NOTEBOOK_NAME.fullmatch(notebook.stem):
        raise LoadcurveError(f"notebook must be named with lower case letters, digits and _, got {notebook.name!r}")
    output = output.absolute()
    output.parent.mkdir(parents=True, exist_ok=True)
    with alone(f"notebook {paths.shown(output)}", report), _work_folder(output) as work:
        ledger, figures, draft = work / "reads", work / "figures", work / output.name
        ledger.touch()
        figures.mkdir()
        variables = {"LOADCURVE_READS": str(ledger), "LOADCURVE_PUBLISH": str(figures)}
        _execute(notebook, draft, given, variables | {NOTEBOOK_VARIABLE: str(notebook.absolute())})
        if publish:
            _publish(notebook.stem, output, work)
        else:
            if any(figures.iterdir()):
                _swap(figures, output.with_suffix(".figures"), work)
            draft.replace(output)
    return output


def _publish(name: str, output: Path, work: Path) -> None:
    """Move the files of a run to their final place; the list of sums comes last, so that a killed run is repeated."""
    published, rule = paths.build() / "figures" / name, output.with_suffix(".d")
    depends = dependencies(output, (work / "reads").read_text("utf-8", "surrogateescape").split("\0"))
    _swap(work / "figures", published, work)
    write_text(rule, depends)
    (work / output.name).replace(output)
    write_sums(output.with_suffix(".sha256"), [output, rule, *sorted(published.iterdir())])


@contextlib.contextmanager
def _work_folder(output: Path) -> Iterator[Path]:
    """Yield an empty folder for the files of an unfinished run; files left by a killed run are removed first."""
    work = output.with_name(f".{output.name}.run")
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _execute(notebook: Path, draft: Path, given: dict[str, object], variables: dict[str, str]) -> None:
    """Execute a notebook in a kernel with further environment variables.

    Only the kernel gets them and the notebook's folder as its working folder, so that threads of one process can run
    notebooks side by side: papermill's `cwd` changes the working folder of this process.
    """

    class Kernel(AsyncKernelManager):
        # jupyter_client declares the method of the synchronous parent class.
        async def start_kernel(self, **options: Any) -> None:  # type: ignore[override]
            await super().start_kernel(env=os.environ | variables, cwd=str(notebook.parent), **options)

    # Each kernel uses Unix sockets in a separate folder: no port is opened, and concurrent kernels do not interfere.
    with tempfile.TemporaryDirectory(prefix="loadcurve-") as sockets:
        config = Config({"KernelManager": {"transport": "ipc", "ip": f"{sockets}/kernel"}})
        try:
            pm.execute_notebook(
                notebook, draft, given, progress_bar=False, config=config, kernel_manager_class=Kernel, log_output=False
            )
        except PapermillExecutionError as error:
            raise LoadcurveError(f"{notebook}: cell {error.exec_count}: {error.ename}: {error.evalue}") from None
    fill_captions(draft, draft.parent / "figures")


def _swap(fresh: Path, published: Path, work: Path) -> None:
    """Replace a published folder by a fresh one with two renames; the path does not exist only between the two."""
    published.parent.mkdir(parents=True, exist_ok=True)
    if published.exists():
        published.replace(work / "old")
    fresh.replace(published)


def check_parameters(notebook: Path, given: dict[str, object]) -> dict[str, object]:
    """Return `given` if the notebook's ``parameters`` cell declares each parameter with the type of its value."""
    if not notebook.is_file():
        raise LoadcurveError(f"{notebook}: expected a notebook, got no file")
    try:
        nbformat.read(notebook, as_version=4)
    except (ValueError, TypeError, KeyError, AttributeError, nbformat.ValidationError) as error:
        raise ParseError(0, "a notebook", type(error).__name__, str(notebook)) from None
    declared = pm.inspect_notebook(notebook)
    for name, value in given.items():
        if name not in declared:
            raise LoadcurveError(f"{notebook}: parameter must be one of {', '.join(declared)}, got {name!r}")
        kind = declared[name]["inferred_type_name"]
        if not isinstance(value, _TYPES[kind]) or (isinstance(value, bool) and kind != "bool"):
            raise LoadcurveError(f"{notebook}: {name} must be {kind}, got {value!r}")
    return given


def dependencies(output: Path, read: Iterable[str]) -> str:
    """Return a make rule, like a compiler's ``.d`` file: `output` depends on the files that a notebook read.

    Each file also gets an empty rule, so that make does not stop when a file has been removed.

    Raises
    ------
    LoadcurveError
        When a file name contains a character that is special to make.
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
