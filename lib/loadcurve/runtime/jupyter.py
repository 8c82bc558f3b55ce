"""loadcurve in a Jupyter kernel or an IPython terminal: errors in one line, and where progress is shown."""

import os
import sys
from types import TracebackType
from typing import IO, Any

from loadcurve.errors import LoadcurveError
from loadcurve.runtime.output import visible

NOTEBOOK_VARIABLE = "LOADCURVE_NOTEBOOK"
"""Environment variable that holds the path of the notebook which a batch run executes."""


def show_errors_in_one_line() -> None:
    """Make IPython, if this process runs it, show an error of this package as one line without a traceback.

    A user's own handler of errors is kept.
    """
    shell = _shell()
    if shell is not None and not shell.custom_exceptions:
        shell.set_custom_exc((LoadcurveError,), _show_line)


def progress_stream() -> IO[str] | None:
    """Return where a person sees progress: a terminal, or the output of a cell; None where nobody watches.

    JupyterLab draws standard error in red, so progress in a cell is standard output.
    """
    if sys.stderr is not None and sys.stderr.isatty():
        return sys.stderr
    return sys.stdout if in_kernel() and not is_batch() else None


def in_kernel() -> bool:
    """Return whether this process is the kernel of a notebook."""
    return hasattr(_shell(), "kernel")


def show(text: str, html: str) -> None:
    """Show text below the cell of a notebook, as HTML where the reader's program can; elsewhere nothing is shown."""
    if in_kernel():
        _shell().display_pub.publish({"text/plain": text, "text/html": html})


def cells_and_variables() -> tuple[list[str], dict[str, object]]:
    """Return the source of each cell that this kernel has executed, and its variables; nothing outside of IPython."""
    variables = getattr(_shell(), "user_ns", {})
    return list(variables.get("In", ())), variables


def is_batch() -> bool:
    """Return whether a batch run executes the notebook."""
    return NOTEBOOK_VARIABLE in os.environ


def _shell() -> Any:
    """Return the shell of IPython; None where IPython has not been imported, or runs no shell."""
    module = sys.modules.get("IPython")
    return module.get_ipython() if module is not None else None


def _show_line(
    shell: Any, kind: type[BaseException], error: BaseException, trace: TracebackType, tb_offset: int | None = None
) -> list[str]:
    # %tb and %debug read these.
    sys.last_type, sys.last_value, sys.last_traceback = kind, error, trace
    lines = [f"{visible(str(error))} (%tb shows the traceback)"]
    shell._showtraceback(kind, error, lines)
    return lines
