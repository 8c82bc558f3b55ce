"""Commands that send load: launch a study, list the tools, clean up."""

import contextlib
import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from loadcurve.cli.answers import print_analysis
from loadcurve.cli.auditing import print_acceptance
from loadcurve.cli.options import number, warn_of_secrets
from loadcurve.cli.studies import pack
from loadcurve.errors import LoadcurveError
from loadcurve.files import paths
from loadcurve.runtime.output import echo
from loadcurve.runtime.signals import signal_of

if TYPE_CHECKING:
    from loadcurve.study import Study

Seconds = Annotated[
    float | None, number("--seconds", 0, 86_400, help="Seconds of load at each point, instead of the study's value.")
]
Repeats = Annotated[
    int | None, number("--repeats", 1, 10_000, whole=True, help="Repeats of each point, instead of the study's value.")
]

Public = Annotated[bool, typer.Option("--public", help="Allow load on public addresses that the study names.")]
Busy = Annotated[
    bool,
    typer.Option("--busy", help="Launch beside other processes; else wait for them, and repeat runs they disturb."),
]

lab = typer.Typer(no_args_is_help=True, help="Print the schema of study.yml; remove what a killed launch left.")


def launch(
    study: Annotated[str, typer.Argument(help="Name of a study or a design, or a folder with a study.yml.")],
    seconds: Seconds = None,
    repeats: Repeats = None,
    name: Annotated[str | None, typer.Option(help="Record a copy of the study as data/studies/NAME.")] = None,
    plan: Annotated[
        bool, typer.Option("--plan", help="Print the commands of each run and the total duration; start nothing.")
    ] = False,
    public: Public = False,
    busy: Busy = False,
    again: Annotated[
        bool, typer.Option("--again", help="Measure finished runs again that other processes disturbed.")
    ] = False,
    trusted: Annotated[
        bool, typer.Option("--trust", help="Run the programs of a study of somebody else, and load its hosts.")
    ] = False,
    install: Annotated[
        bool, typer.Option("--install", help="Install the packages of Debian that the study needs; starts no service.")
    ] = False,
) -> None:
    """Launch a study, or resume an interrupted one; the runs of a design go to data/studies.

    The runs of a finished study are packed, as `loadcurve pack` does; `loadcurve unpack` gives the folders back.
    Prints a line for each run that ends, and at the end what `loadcurve analyse` prints of the study.  Of an acceptance
    test of balancers it prints what `loadcurve accept` prints, and ends with exit code 1 if a check fails.

    Example: loadcurve launch shop --seconds 5 --repeats 3
    """
    from loadcurve.acceptance import is_acceptance
    from loadcurve.lab import read_checked
    from loadcurve.launching import interruption, objectives_of
    from loadcurve.launching import launch as launch_study

    folder = paths.study_folder(study)
    found = read_checked(folder)
    warn_of_secrets(folder / "study.yml")
    changes: dict[str, Any] = {k: v for k, v in {"repeats": repeats, "study": name}.items() if v is not None}
    if seconds is not None:
        changes["load"] = {**found.load, "duration_s": seconds}
    if plan:
        _print_plan(replace(found, **changes), public)
        return
    _ask(found, trusted)
    if install:
        _install(replace(found, **changes))
    target = paths.studies() / name if name else paths.record_folder(folder)
    passed = True

    def results(folder: Path) -> None:
        nonlocal passed
        echo()
        if is_acceptance(read_checked(folder)):
            passed = print_acceptance(folder)
            return
        print_analysis([str(folder)], objectives_of(found), paths.shown(folder))

    try:
        launch_study(replace(found, **changes), target, public=public, quiet=not busy, again=again, results=results)
    except KeyboardInterrupt as interrupt:
        with contextlib.suppress(OSError):  # the terminal may be what was closed
            echo(interruption(interrupt, target), err=True)
        raise typer.Exit(128 + signal_of(interrupt)) from None
    try:
        pack([str(target)])
    except (LoadcurveError, OSError) as error:  # the runs stay as they are, also on a full disk
        echo(f"not packed: {error}", err=True)
    if not passed:
        raise typer.Exit(1)


def test(
    url: Annotated[str, typer.Argument(help="URL of the server to load; it runs already.")],
    objective: Annotated[str | None, typer.Option(help="What a load has to keep, such as p99=50ms.")] = None,
    seconds: Annotated[int, number("--seconds", 1, 3600, whole=True, help="Duration of each run.")] = 10,
    budget: Annotated[int, number("--budget", 10, 86_400, whole=True, help="Seconds of load of a search.")] = 300,
    name: Annotated[str | None, typer.Option(help="Name of the study; by default from the URL.")] = None,
    public: Public = False,
    busy: Busy = False,
) -> None:
    """Load a server that runs, and answer: its curve over connections, or its capacity under an objective.

    Writes a study.yml as `loadcurve new` does and launches it.  With an objective, the load is an open loop if oha, k6
    or wrk2 is installed: the highest rate that keeps the objective is searched.

    Example: loadcurve test http://127.0.0.1:8080/ --objective p99=50ms
    """
    import re

    from loadcurve.analysis.objective import parse_objective
    from loadcurve.cli.studies import folder_of_new, write_new
    from loadcurve.lab.hosts.tools import which
    from loadcurve.launching.studies import text_for_url

    goal = parse_objective(objective) if objective else None
    place = re.sub(r"^[a-z]*://([^/?#]*@)?|[?#].*", "", url.lower())  # a password or a token is in no name
    stem, number = "test_" + re.sub(r"[^a-z0-9]+", "_", place).strip("_")[:40], 1
    while not name and folder_of_new(f"{stem}_{number}").exists():
        number += 1
    name = name or f"{stem}_{number}"
    text = text_for_url(name, url, goal, lambda tool: which(tool) is not None, seconds, budget)
    write_new(folder_of_new(name), text)
    if "allow_targets" in text:
        echo("Only this machine is watched: study.yml says how to watch the server's host by ssh.")
    if goal and "rate_rps" not in text:
        echo(
            "A closed loop, as no oha, k6 or wrk2 is installed: its percentiles leave out the wait of requests that no "
            "connection was free to send."
        )
    try:
        launch(name, public=public, busy=busy)
    except LoadcurveError:
        folder = folder_of_new(name)
        if [file.name for file in folder.iterdir()] == ["study.yml"]:  # nothing ran: the next test needs no other name
            shutil.rmtree(folder)
        raise


def _ask(study: "Study", trusted: bool) -> None:
    """Show the programs of somebody else's study and the hosts that it loads, and ask whether to trust them."""
    from loadcurve.lab.run.own_programs import check_trusted, describe_own, is_trusted, trust

    if is_trusted(study):
        return
    for line in describe_own(study):
        echo(line)
    if not trusted:
        if not (sys.stdin and sys.stdin.isatty() and sys.stdout.isatty()):
            check_trusted(study)
        typer.confirm("This study is not made here. Run these programs and load these hosts?", abort=True)
    trust(study)


def _install(study: "Study") -> None:
    """Install what a study needs; no service is started."""
    from loadcurve.lab import install, list_obstacles, packages_of

    packages = packages_of(list_obstacles(study))
    if packages and (code := install(packages)):
        raise typer.Exit(code)


def _print_plan(study: "Study", public: bool) -> None:
    """Print the commands of each run, and on standard error what would stop the launch."""
    from loadcurve.audit.registry import all_rules
    from loadcurve.audit.settings import study_settings
    from loadcurve.lab import describe, describe_obstacles

    study_settings(study, all_rules())  # raises for rules and limits that do not exist
    for line in describe(study):
        echo(line)
    for line in describe_obstacles(study, public=public):
        echo(line, err=True)


def doctor() -> None:
    """List the installed tools with their versions, and how to install the missing ones."""
    from loadcurve.ingest.registry import FORMS
    from loadcurve.lab.known_tools import TOOLS

    for tool in TOOLS.values():
        echo(str(tool))
    for name in sorted({form.tool for form in FORMS} - TOOLS.keys()):
        echo(f"{name:<10} {'output is read':<20} the laboratory does not run it")


@lab.command()
def schema() -> None:
    """Print the JSON schema of study.yml, with which editors complete and check it."""
    from loadcurve.lab.study_file import schema as schema_of_studies

    echo(json.dumps(schema_of_studies(), indent=2, ensure_ascii=False))


@lab.command()
def clean() -> None:
    """Remove the network namespaces, rules and cgroups left by killed launches, and nothing else."""
    from loadcurve.lab.hosts.network import clean as clean_networks

    echo("\n".join(clean_networks()) or "nothing to remove")
