"""The layers, bottom up: a module imports its own layer or a lower one, and ingest and lab never meet."""

import ast
import re
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from pathlib import Path

from loadcurve.site.interface import floors, rooms
from loadcurve.study import ONLY_VARIANT
from loadcurve.tables import curves

PACKAGE = Path(__file__).resolve().parents[1] / "loadcurve"
LAYERS = [
    {"blocks", "errors", "packages", "units"},
    {"files"},
    {"runtime", "study", "tables"},
    {"ingest", "lab", "notebooks"},
    {"stats"},
    {"models", "reading"},
    {"acceptance", "audit"},
    {"analysis"},
    {"launching", "plots"},
    {"publish", "report"},
    {"batch", "site"},
    {"cli", "__main__"},
]  # fmt: skip
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
# Folders of the laboratory, bottom up: each imports only from those before it.
LAB = ["hosts", "tools", "schedule", "study_file", "run"]
# The laboratory is the only place that starts tools; git is asked for the commit, papermill starts kernels, Chromium
# prints a report as PDF, and workers are this package in further processes.
MAY_START_PROCESSES = {"lab", "publish", "report", "runtime"}
MODULES = sorted(p for p in PACKAGE.rglob("*.py") if p != PACKAGE / "__init__.py")


def unit_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


@cache
def imported(path: Path, *, at_start: bool = False) -> list[str]:
    """Every module and name that a file imports, in whole names; `at_start`: outside of functions and classes."""
    found = []
    for node in parsed(path).body if at_start else ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return found


def units_imported(path: Path) -> set[str]:
    return {name.split(".")[1] for name in imported(path) if name.startswith("loadcurve.")} & set(RANK)


# Importing these takes as long as pandas.  Used as `scipy.special` in a function, or imported there, they are loaded
# there, so that a file is audited in less than a second.
SLOW = {"integrate", "interpolate", "linalg", "ndimage", "optimize", "signal", "special", "stats"}


def test_slow_parts_of_scipy_are_loaded_where_they_are_used():
    slow = {f"scipy.{name}" for name in SLOW}
    for path in MODULES:
        assert not slow.intersection(imported(path, at_start=True)), path.relative_to(PACKAGE)


def test_every_layer_exists():
    assert {unit_of(p) for p in MODULES} == set(RANK)


def test_the_picture_of_the_rooms_shows_each_above_those_that_it_imports():
    level = {room: at for at, floor in enumerate(floors()) for room in floor}
    assert level.keys() == RANK.keys() - {"__main__"} == rooms().keys()
    assert all(level[room] > level[used] for room, imported in rooms().items() for used in imported)


def test_imports_go_down():
    upward = [
        f"{path.relative_to(PACKAGE)} imports {unit}, which is not below it"
        for path in MODULES
        for unit in sorted(units_imported(path))
        if RANK[unit] > RANK[unit_of(path)] or {unit, unit_of(path)} == {"ingest", "lab"}
    ]
    assert not upward, "\n".join(upward)


def test_folders_of_the_laboratory_import_down():
    upward = [
        f"{path.relative_to(PACKAGE)} imports lab.{folder}, which is not above it in lab/__init__.py"
        for path in MODULES
        if path.parts[len(PACKAGE.parts)] == "lab" and path.parent != PACKAGE / "lab"
        for folder in {name.split(".")[2] for name in imported(path) if name.startswith("loadcurve.lab.")}
        if folder in LAB and LAB.index(folder) > LAB.index(path.relative_to(PACKAGE / "lab").parts[0])
    ]
    assert not upward, "\n".join(sorted(upward))


def test_folders_of_the_laboratory_are_those_that_it_lists():
    listed = re.findall(
        r"^    (\w+)  +\S", ast.get_docstring(ast.parse((PACKAGE / "lab" / "__init__.py").read_text("utf-8"))), re.M
    )
    assert listed == LAB == [name for name in LAB if (PACKAGE / "lab" / name / "__init__.py").is_file()]


def test_no_file_imports_itself_through_others():
    """The `__init__.py` of a package is its interface, not a file: its modules may be imported one by one."""
    names = {".".join(("loadcurve", *path.relative_to(PACKAGE).with_suffix("").parts)): path for path in MODULES}
    files = {name: path for name, path in names.items() if not name.endswith(".__init__")}
    graph = {name: {one for one in imported(path) if one in files and one != name} for name, path in files.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        raise AssertionError(" → ".join(error.args[1])) from None


def test_only_the_laboratory_starts_processes():
    starting = [path for path in MODULES if unit_of(path) not in MAY_START_PROCESSES and "subprocess" in imported(path)]
    assert not starting


def test_the_way_from_a_line_to_a_sentence_is_made_of_functions(root):
    guide = (root / "handbook/guides/contributing.md").read_text("utf-8")
    steps = re.findall(r"^\| \d+ \| `(.+)\.(\w+)` \|", guide, re.M)
    assert len(steps) == 12
    assert all(callable(getattr(import_module(module), name)) for module, name in steps)


def test_the_name_of_the_only_variant_is_one():
    assert curves._ONLY_VARIANT == ONLY_VARIANT


def test_models_and_stats_know_no_tool_and_no_file():
    for path in MODULES:
        if unit_of(path) in {"models", "stats"}:
            assert not units_imported(path) & {"ingest", "lab", "study", "records", "paths"}, path
            assert "pathlib" not in imported(path), path


def test_the_package_does_not_import_the_studies_that_check_it():
    importing = [path for path in MODULES if any(name.partition(".")[0] == "validation" for name in imported(path))]
    assert not importing
