"""Load-test HTTP servers: launch studies, analyse anybody's files, compare measurements, execute notebooks."""

import contextlib
import io
import os
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer
from typer.main import get_command

from loadcurve.cli import answers, auditing, ingestion, launching, notebooks, studies
from loadcurve.cli.options import with_code_2
from loadcurve.errors import LoadcurveError, in_one_line, missing_extra
from loadcurve.files.atomic import remove_left
from loadcurve.packages import __version__
from loadcurve.runtime.output import echo, echo_messages, visible

_UsageError: Any = typer.BadParameter.__base__  # Typer exports no name for it
app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, help=__doc__)


def _print_version(wanted: bool) -> None:
    if wanted:
        echo(f"loadcurve {__version__}")
        raise typer.Exit


@app.callback(help=__doc__)
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Take the options that hold for every command."""


COMMANDS: dict[str, Callable[..., None]] = {
    "analyse": answers.analyse,
    "history": answers.history,
    "audit": with_code_2(auditing.audit),
    "explain": with_code_2(auditing.explain),
    "compare": with_code_2(answers.compare),
    "accept": with_code_2(auditing.accept),
    "pack": studies.pack,
    "unpack": studies.unpack,
    "new": studies.new,
    "list": studies.list_,
    "show": studies.show,
    "test": launching.test,
    "launch": launching.launch,
    "doctor": launching.doctor,
    "ingest": ingestion.ingest,
    "tidy": ingestion.tidy,
    "notebook": notebooks.notebook,
    "run": notebooks.run,
    "batch": notebooks.batch,
}
for _name, _command in COMMANDS.items():
    app.command(_name)(_command)
app.add_typer(launching.lab, name="lab")


def main() -> None:
    """Run the command line.  A failure with a known reason prints one line on stderr; the exit code is 1."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed by the caller: the next file that is opened would take its number
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # names of files need not be valid text
    echo_messages()
    remove_left()
    try:
        try:
            sys.exit(get_command(app)(standalone_mode=False) or 0)
        finally:
            sys.stdout.flush()
    except _UsageError as error:
        from typer.rich_utils import rich_format_error

        error.message = visible(error.message)  # which names arguments
        rich_format_error(error)
        raise SystemExit(error.exit_code) from None
    except typer.Abort:
        _end("aborted")
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
    finally:
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except OSError:  # what it did not accept would fail once more while Python ends, with exit code 120
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _end(message: str) -> None:
    """Print a message on stderr, as far as it accepts one, and exit with code 1."""
    with contextlib.suppress(OSError):
        echo(message, err=True, nl=bool(message))
    raise SystemExit(1) from None
