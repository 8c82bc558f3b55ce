"""The layers, bottom up: a module imports its own layer or a lower one, and ingest and lab never meet."""

import ast
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "loadcurve"
LAYERS = [
    {"arrays", "discovery", "errors", "extras", "units"},
    {
        "schemas", "tables", "study", "yaml_file", "checked", "records", "paths", "spreadsheet", "atomic", "factors",
        "whole_runs", "manifest", "record_rules", "section", "wording", "captions",
    },
    {"ingest", "lab"},
    {"reading", "export"},
    {"stats"},
    {"models"},
    {"audit"},
    {"plots"},
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
    """Every module and name that a file imports, in whole names."""
    found = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return found


IMPORTED = {path: imported(path) for path in MODULES}


def units_imported(path: Path) -> set[str]:
    return {name.split(".")[1] for name in IMPORTED[path] if name.startswith("loadcurve.")} & set(RANK)


def test_every_layer_exists():
    assert {unit_of(p) for p in MODULES} == set(RANK)


def test_imports_go_down():
    upward = [
        f"{path.relative_to(PACKAGE)} imports {unit}, which is not below it"
        for path in MODULES
        for unit in sorted(units_imported(path))
        if RANK[unit] > RANK[unit_of(path)] or {unit, unit_of(path)} == {"ingest", "lab"}
    ]
    assert not upward, "\n".join(upward)


def test_only_the_laboratory_starts_processes():
    starting = [path for path in MODULES if unit_of(path) not in MAY_START_PROCESSES and "subprocess" in IMPORTED[path]]
    assert not starting


def test_models_and_stats_know_no_tool_and_no_file():
    for path in MODULES:
        if unit_of(path) in {"models", "stats"}:
            assert not units_imported(path) & {"ingest", "lab", "study", "records", "paths"}, path
            assert "pathlib" not in IMPORTED[path], path


def test_the_package_does_not_import_the_studies_that_check_it():
    importing = [path for path in MODULES if any(name.partition(".")[0] == "validation" for name in IMPORTED[path])]
    assert not importing
