"""The wheel, built from the sdist, in an environment of its core dependencies alone, outside the checkout."""

import ast
import importlib.metadata
import os
import re
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from loadcurve import paths
from loadcurve.extras import EXTRA_OF

pytestmark = pytest.mark.slow

PACKAGE = Path(paths.__file__).parent


def of_extra(lines: list[str], extra: str = "") -> list[Requirement]:
    """Return the requirements that apply here, without an extra or with one."""
    found = map(Requirement, lines)
    return [r for r in found if r.marker is None or r.marker.evaluate({"extra": extra})]


def needed(*asked: Requirement) -> set[str]:
    """Return the distributions that requirements bring along."""
    found: set[tuple[str, str]] = set()
    waiting = [(r.name, extra) for r in asked for extra in ("", *r.extras)]
    while waiting:
        name, extra = waiting.pop()
        if (name, extra) not in found:
            found.add((name, extra))
            own = of_extra(importlib.metadata.distribution(name).requires or [], extra)
            waiting += [(r.name, e) for r in own for e in ("", *r.extras)]
    return {name for name, _ in found}


def required(wheel: Path, extra: str = "") -> list[Requirement]:
    """Return the requirements of the wheel."""
    with zipfile.ZipFile(wheel) as content:
        (metadata,) = (content.read(name).decode() for name in content.namelist() if name.endswith("/METADATA"))
    return of_extra(re.findall(r"^Requires-Dist: (.+)$", metadata, re.MULTILINE), extra)


@pytest.fixture(scope="module")
def built(root, tmp_path_factory) -> tuple[Path, Path]:
    """The sdist, and the wheel that was built from it."""
    folder = tmp_path_factory.mktemp("dist")
    argv = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(root / "lib")]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return next(folder.glob("*.tar.gz")), next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def run(built, tmp_path_factory):
    """Runs a program of the fresh environment in an empty folder; it sees nothing of the checkout."""
    folder = tmp_path_factory.mktemp("elsewhere")
    venv.create(folder / "venv", with_pip=False, symlinks=True)
    python = folder / "venv/bin/python"
    argv = [sys.executable, "-m", "pip", "--python", str(python), "install", "-q", "--no-deps", "--no-index", built[1]]
    subprocess.run(argv, check=True)
    (site,) = (folder / "venv/lib").glob("python*/site-packages")
    for name in needed(*required(built[1])):
        for file in importlib.metadata.distribution(name).files or []:
            top = file.parts[0]
            if not top.startswith("..") and not (site / top).exists():
                (site / top).symlink_to(Path(str(file.locate())).parents[len(file.parts) - 1] / top)
    (folder / "work").mkdir()
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("LOADCURVE", "PYTHON"))}

    def call(program: str, *args: str, code: int = 0) -> subprocess.CompletedProcess:
        argv = [folder / "venv/bin" / program, *args]
        done = subprocess.run(argv, cwd=folder / "work", env=kept, capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stderr
        return done

    return call


def test_sdist_and_wheel_hold_every_file_of_the_package(root, built):
    argv = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "lib/loadcurve"]
    tracked = subprocess.run(argv, cwd=root, capture_output=True, text=True, check=True).stdout.splitlines()
    ours = {name.removeprefix("lib/") for name in tracked if (root / name).is_file()}
    assert {"loadcurve/py.typed", "loadcurve/designs/scale_out/study.yml"} <= ours
    with zipfile.ZipFile(built[1]) as wheel:
        assert {name for name in wheel.namelist() if ".dist-info/" not in name} == ours
    with tarfile.open(built[0]) as sdist:
        assert {name.partition("/")[2] for name in sdist.getnames()} >= ours


def test_the_core_reads_audits_and_models_without_an_extra(run, root):
    report = root / "lib/tests/data/wrk/fdlimit.txt"
    program = f"""
import importlib.util, pathlib
assert not any(map(importlib.util.find_spec, {sorted(EXTRA_OF)})), "an extra is installed"
import loadcurve
from loadcurve import lab, models, stats, study, tables
from loadcurve.audit import audit
assert not pathlib.Path(loadcurve.__file__).is_relative_to({str(root)!r})
print(len(audit(loadcurve.read({str(report)!r}).tables)), models.usl(8, 1000.0, 0.0, 0.0))
"""
    assert run("python", "-c", program).stdout.endswith(" 8000.0\n")
    written = run("loadcurve", "ingest", str(report), "--format", "parquet", "-o", "tables").stdout
    assert written.startswith("tables: runs 1")


@pytest.mark.parametrize("words", [["--help"], ["doctor"], ["lab", "schema"], ["launch", "scale_out", "--plan"]])
def test_a_command_that_needs_no_extra_runs(run, words):
    assert run("loadcurve", *words).stdout


def test_a_command_names_the_extra_that_it_needs(run, tmp_path):
    said = run("loadcurve", "run", "a.ipynb", code=1).stderr
    assert said == "loadcurve run needs the extra [notebooks]: pip install 'loadcurve[notebooks]'\n"
    said = run("python", "-c", "from loadcurve import plots", code=1).stderr
    assert said.endswith("loadcurve.plots needs the extra [notebooks]: pip install 'loadcurve[notebooks]'\n")
    (tmp_path / "only").mkdir()
    (tmp_path / "only/study.yml").write_text("study: only\nquestion: Does it start?\n")
    said = run("loadcurve", "launch", str(tmp_path / "only"), code=1).stderr
    assert "a launch needs the extra [lab]: pip install 'loadcurve[lab]'" in said and said.count("\n") == 1


def test_outside_a_checkout_one_line_says_how_to_make_the_folder(run):
    said = run("loadcurve", "tidy", code=1).stderr
    assert (
        said.endswith("expected data/studies here or above, got none: mkdir -p data/studies\n")
        and said.count("\n") == 1
    )


def test_every_import_belongs_to_the_core_or_to_an_extra(built):
    def normal(name: str) -> str:
        return re.sub("[-_.]+", "-", name).lower()

    owners = importlib.metadata.packages_distributions()
    allowed = {extra: set(map(normal, needed(*required(built[1], extra)))) for extra in {"", *EXTRA_OF.values()}}
    wrong = [
        f"{path.relative_to(PACKAGE)}: {module}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for module in modules_imported(path) - {"", "loadcurve", *sys.stdlib_module_names}
        if not set(map(normal, owners.get(module, []))) & allowed[EXTRA_OF.get(module, "")]
    ]
    assert not wrong, wrong


def modules_imported(path: Path) -> set[str]:
    nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    return {name.partition(".")[0] for name in names}
