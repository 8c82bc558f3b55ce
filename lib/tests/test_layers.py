"""The layers, bottom up: a module imports its own layer or a lower one, and ingest and lab never meet."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "loadcurve"
LAYERS = [
    {"errors", "units"},
    {
        "schemas", "tables", "study", "yaml_file", "checked", "records", "paths", "spreadsheet", "atomic", "factors",
        "whole_runs", "manifest", "record_rules",
    },
    {"ingest", "lab"},
    {"reading", "export"},
    {"stats"},
    {"models"},
    {"audit"},
    {"plots", "style"},
    {"publish"},
    {"batch", "site", "launching", "launch_summary"},
    {"cli", "__main__"},
]  # fmt: skip
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
# The laboratory is the only place that starts processes; git is asked for the commit, papermill starts kernels.
MAY_START_PROCESSES = {"lab", "publish"}
MODULES = sorted(p for p in PACKAGE.rglob("*.py") if p != PACKAGE / "__init__.py")


def unit_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported(path: Path) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found += [node.module] if node.module != "loadcurve" else [f"loadcurve.{a.name}" for a in node.names]
    return found


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_go_down(path):
    here = unit_of(path)
    assert here in RANK, f"{here} has no layer"
    for name in imported(path):
        if name.startswith("loadcurve."):
            there = name.split(".")[1]
            assert RANK[there] <= RANK[here], f"{here} imports {there}, which lies above it"
            assert {here, there} != {"ingest", "lab"}, "ingest and lab meet only in the run folder"


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_only_the_laboratory_starts_processes(path):
    if unit_of(path) not in MAY_START_PROCESSES:
        assert "subprocess" not in imported(path)


@pytest.mark.parametrize("unit", ["models", "stats"])
def test_models_and_stats_know_no_tool_and_no_file(unit):
    for path in (PACKAGE / unit).rglob("*.py"):
        units = {name.split(".")[1] for name in imported(path) if name.startswith("loadcurve.")}
        assert not units & {"ingest", "lab", "study", "records", "paths"}
        assert "pathlib" not in imported(path)


def test_every_layer_exists():
    assert {unit_of(p) for p in MODULES} == set(RANK)
