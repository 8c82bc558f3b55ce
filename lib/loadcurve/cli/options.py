"""What several commands share: options with facts about the runs of a folder, and exit code 2 for wrong usage."""

import shutil
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from loadcurve.errors import LoadcurveError, ValueRuleError, in_one_line
from loadcurve.runtime.output import echo
from loadcurve.units import parse_number

if TYPE_CHECKING:
    from loadcurve.ingest.fact_columns import GivenFactors

Patterns = Annotated[
    list[str] | None,
    typer.Option(
        "--factor",
        metavar="NAME=REGEX",
        help="A fact in the names of the files, such as 'connections=c([0-9]+)'; may be given several times.",
    ),
]
RepeatPattern = Annotated[
    list[str] | None,
    typer.Option(
        "--repeats",
        metavar="REGEX",
        help="Part of the names of the files in which runs differ that are repeats, such as 'run[0-9]+'.",
    ),
]
FactorsFile = Annotated[
    Path | None,
    typer.Option(
        "--factors", metavar="FILE", help="Facts about the runs, as in factors.csv: file,variant,connections…"
    ),
]
Follow = Annotated[bool, typer.Option("--follow", help="Also read links that lead out of a folder.")]
Timezone = Annotated[str, typer.Option(help="Time zone of local times in the texts, such as Europe/Berlin.")]


def number(name: str, least: float, most: float, *, whole: bool = False, help: str) -> Any:
    """Return an option that is a number in a range; any other ends the command with one line and exit code 2."""

    def parse(value: object) -> float:
        try:
            return parse_number(name, str(value), least, most, whole=whole)
        except ValueRuleError as error:
            echo(str(error), err=True)
            raise typer.Exit(2) from None

    short = ("-j",) if name == "--jobs" else ()
    return typer.Option(name, *short, parser=parse, metavar="NUMBER", help=f"{help}  [{least:,} to {most:,}]")


Jobs = Annotated[
    int, number("--jobs", 0, 4096, whole=True, help="Maximum number of processes; 0 for one per processor.")
]


def given_factors(patterns: list[str] | None, file: Path | None, repeats: list[str] | None = None) -> "GivenFactors":
    """Return what the options say about the runs."""
    from loadcurve.ingest.fact_columns import GivenFactors
    from loadcurve.ingest.run_facts import parse_factor

    named = dict(parse_factor(text) for text in patterns or ())
    several = "|".join(f"(?:{pattern})" for pattern in repeats or ())
    return GivenFactors(named | dict([parse_factor(f"repeat={several}")] if several else []), file)


def note(line: str) -> None:
    """Print a line on standard error."""
    echo(line, err=True)


def warn_of_secrets(*places: Path) -> None:
    """Print a line on standard error for each kind of secret in files and folders that others may get."""
    from loadcurve.files.secrets import warnings_of
    from loadcurve.study.archive import opened

    for line in warnings_of(map(opened, places)):
        note(f"warning: {line}")


def terminal_width() -> int:
    """Return the width of a report: that of the terminal, at most 120 columns."""
    return min(shutil.get_terminal_size((100, 24)).columns, 120)


def prints_blocks() -> bool:
    """Return whether standard output takes the signs of a drawing in text."""
    return (sys.stdout.encoding or "").lower().startswith("utf")


def with_code_2(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with exit code 2 for wrong usage: code 1 means that the measurements failed."""

    @wraps(command)
    def checked(*args: Any, **options: Any) -> None:
        try:
            command(*args, **options)
        except BrokenPipeError:
            raise
        except (LoadcurveError, OSError) as error:
            echo(str(error) if isinstance(error, LoadcurveError) else in_one_line(error), err=True)
            raise typer.Exit(2) from None

    return checked
