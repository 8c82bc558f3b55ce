"""Run notebooks without a person: checked parameters, published figures, and a record of what each one read."""

import os
import shutil
import sys
import tempfile
from pathlib import Path

import papermill as pm
from papermill.exceptions import PapermillExecutionError
from traitlets.config import Config

from loadcurve import paths
from loadcurve.errors import LoadcurveError

# What a parameter's annotation allows; a notebook whose parameter has another one, or none, fails its test.
_TYPES = {"str": str, "int": int, "float": (int, float), "bool": bool, "list": list}


def run_notebook(
    notebook: Path, output: Path, parameters: dict[str, object] | None = None, *, publish: bool = False
) -> Path:
    """Execute `notebook` into `output`, and write what it read to `output` with suffix ``.d``.

    Parameters
    ----------
    notebook, output : pathlib.Path
        The tracked notebook, and the executed copy to write.
    parameters : dict, optional
        Values for its ``parameters`` cell.
    publish : bool
        Whether its figures take the place of those the handbook shows.  They do so only when every cell ran.

    Raises
    ------
    LoadcurveError
        Before the kernel starts, for a parameter the notebook does not have or of the wrong type; or with the
        notebook's own last line where a cell raised.
    """
    given = check_parameters(notebook, parameters or {})
    output.parent.mkdir(parents=True, exist_ok=True)
    published = paths.build() / "figures" / notebook.stem
    fresh = published.with_name(f".{notebook.stem}")
    shutil.rmtree(fresh, ignore_errors=True)
    ledger = output.with_suffix(".reads")
    ledger.write_text("", "utf-8")
    os.environ |= {"LOADCURVE_READS": str(ledger.resolve()), "LOADCURVE_PUBLISH": str(fresh) if publish else ""}
    draft = output.with_name(f".{output.name}")
    # Kernels talk over sockets in a folder of their own: no port is opened, and kernels side by side do not meet.
    with tempfile.TemporaryDirectory(prefix="loadcurve-") as sockets:
        kernel = Config({"KernelManager": {"transport": "ipc", "ip": f"{sockets}/kernel"}})
        try:
            pm.execute_notebook(
                notebook, draft, given, progress_bar=False, cwd=str(notebook.parent), config=kernel, log_output=False
            )
        except PapermillExecutionError as error:
            raise LoadcurveError(f"{notebook}: cell {error.exec_count}: {error.ename}: {error.evalue}") from None
    write_dependencies(output, ledger)
    if publish:
        shutil.rmtree(published, ignore_errors=True)
        fresh.mkdir(parents=True, exist_ok=True)
        fresh.replace(published)
    draft.replace(output)
    return output


def check_parameters(notebook: Path, given: dict[str, object]) -> dict[str, object]:
    """Return `given` if the notebook's ``parameters`` cell declares each of them, with the type of its default."""
    if not notebook.is_file():
        raise LoadcurveError(f"{notebook}:0: expected a notebook, got no file")
    declared = pm.inspect_notebook(notebook)
    for name, value in given.items():
        if name not in declared:
            raise LoadcurveError(f"{notebook}: parameter must be one of {', '.join(declared)}, got {name!r}")
        kind = declared[name]["inferred_type_name"]
        if not isinstance(value, _TYPES[kind]) or (isinstance(value, bool) and kind != "bool"):
            raise LoadcurveError(f"{notebook}: {name} must be {kind}, got {value!r}")
    return given


def write_dependencies(output: Path, ledger: Path) -> Path:
    """Turn the list of files a notebook read into a makefile fragment, as a compiler writes its ``.d`` files.

    Each file also gets an empty rule, so that make does not stop when one of them is gone.
    """
    read = sorted(set(ledger.read_text("utf-8").split("\n")) - {""})
    ledger.unlink()
    escaped = [path.replace(" ", "\\ ").replace("$", "$$") for path in read]
    rule = f"{paths.shown(output)}: " + " \\\n  ".join(escaped) + "\n\n" + "".join(f"{path}:\n" for path in escaped)
    fragment = output.with_suffix(".d")
    fragment.write_text(rule, "utf-8")
    return fragment


def quiet() -> None:
    """Keep kernels from waiting for a debugger that nobody attaches, which prints a warning for each one."""
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    sys.stdout.reconfigure(line_buffering=True)
