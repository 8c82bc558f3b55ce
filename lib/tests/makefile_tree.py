"""A small checkout with the real Makefile, for tests of the graph: its notebooks are Python and need no kernel."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from conftest import copy_runs

STUDY = "connections_on_loopback"

_LOADCURVE = """\
#!{python}
import os, sys
from loadcurve import cli
from loadcurve.batch import execution, grid

def execute(notebook, work, name, given, folder, kernels):
    (work / "reads").touch()
    (work / "figures").mkdir()
    os.environ |= {{"LOADCURVE_READS": str(work / "reads"), "LOADCURVE_PUBLISH": str(work / "figures")}}
    exec(notebook.read_text(), {{}})
    (work / name).write_text("executed")

grid.check_parameters = lambda notebook, given: given
execution.execute = execute
cli.main()
"""
_SITE = """\
#!/bin/sh
[ "$*" = "-m loadcurve.site" ] || exit 9
mkdir -p build/site
cat build/figures/*/values.json > build/site/index.html
"""
_NOTEBOOK = """\
import os, pathlib
from loadcurve import read_table
rows = len(read_table("{table}", "{study}"))
pathlib.Path(os.environ["LOADCURVE_PUBLISH"], "values.json").write_text(f"{{rows}} rows")
"""


def make_tree(root: Path, tree: Path, runs: tuple[str, ...] = ("cpu-c0008-r1", "delay-c0008-r1")) -> None:
    """Write the checkout: two notebooks, of which one reads the table `runs` and the other `sockets`."""
    copy_runs(tree / "data" / "studies" / STUDY, *runs)
    for folder in (
        "lib/loadcurve/site",
        "lib/loadcurve/lab",
        "handbook",
        "notebooks",
        ".venv/bin",
        "lib/loadcurve/designs",
    ):
        (tree / folder).mkdir(parents=True)
    system = (root / "lib/loadcurve/lab/system.sh", root / "lib/loadcurve/lab/packages.py")
    for file in (root / "Makefile", *system, *root.glob("lib/*.sh"), *root.glob("lib/*.lock")):
        shutil.copy(file, tree / file.relative_to(root))
    empty = ("lib/pyproject.toml", "mkdocs.yml", "lib/loadcurve/x.py", "lib/loadcurve/site/x.py", "handbook/index.md")
    for file in empty:
        (tree / file).touch()
    write_programs(tree / ".venv/bin", {"loadcurve": _LOADCURVE.format(python=sys.executable), "python": _SITE})
    for name, table in (("1_runs", "runs"), ("2_sockets", "sockets")):
        (tree / "notebooks" / f"{name}.ipynb").write_text(_NOTEBOOK.format(name=name, table=table, study=STUDY))
    (tree / ".venv/ready").touch()


def write_programs(folder: Path, programs: dict[str, str]) -> None:
    """Write programs, each with its text, of which the first line names the interpreter."""
    for name, text in programs.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)


def environment(tree: Path) -> dict[str, str]:
    """What make gets: its own root, and nothing of a make that runs the tests."""
    kept = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "LOADCURVE_CHECKED")}
    return {**kept, "LOADCURVE_ROOT": str(tree), "SYSTEM": "no"}


def run_make(tree: Path, *goals: str) -> subprocess.CompletedProcess:
    """Run make in the tree."""
    return run(["make", *goals], cwd=tree, env=environment(tree))


def run(argv: list[str], answer: str | None = None, **options) -> subprocess.CompletedProcess:
    """Run a command; with an answer, at a terminal where a person types it, which has stderr in stdout."""
    if answer is not None:
        spawn = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))"
        argv = [sys.executable, "-c", spawn, *argv]
    return subprocess.run(argv, input=answer or "", capture_output=True, text=True, timeout=300, check=False, **options)


def executed(done: subprocess.CompletedProcess) -> set[str]:
    """Notebooks that make executed, by their stems."""
    return {line.split("/")[-1].split(".")[0] for line in done.stdout.splitlines() if "loadcurve run" in line}
