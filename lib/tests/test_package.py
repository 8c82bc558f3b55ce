"""The wheel, built from the sdist, in environments of its own dependencies alone, outside the checkout."""

import ast
import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from loadcurve.errors import EXTRA_OF
from loadcurve.files import paths

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
    """Runs a program of an environment without extras."""
    return environment(built[1], tmp_path_factory.mktemp("elsewhere"))


@pytest.fixture(scope="module")
def run_with_notebooks(built, tmp_path_factory):
    """Runs a program of an environment with the extra [notebooks]."""
    return environment(built[1], tmp_path_factory.mktemp("elsewhere"), "notebooks")


def environment(wheel: Path, folder: Path, extra: str = ""):
    """Return what runs a program of a fresh environment in an empty folder; it sees nothing of the checkout."""
    venv.create(folder / "venv", with_pip=False, symlinks=True)
    python = folder / "venv/bin/python"
    options = ["--python", str(python), "install", "-q", "--no-deps", "--no-index", "--no-compile"]
    argv = [sys.executable, "-m", "pip", *options, wheel]
    subprocess.run(argv, check=True)
    (site,) = (folder / "venv/lib").glob("python*/site-packages")
    for name in needed(*required(wheel, extra)):
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

    call.folder = folder / "work"
    return call


def test_sdist_and_wheel_hold_every_file_of_the_package(root, built):
    argv = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "lib/loadcurve"]
    tracked = subprocess.run(argv, cwd=root, capture_output=True, text=True, check=True).stdout.splitlines()
    ours = {name.removeprefix("lib/") for name in tracked if (root / name).is_file()}
    assert {
        "loadcurve/py.typed",
        "loadcurve/designs/scale_out/study.yml",
        "loadcurve/lab/system.sh",
        "loadcurve/notebooks/01_your_own_files.ipynb",
    } <= ours
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


def test_a_folder_of_reports_is_analysed_without_an_extra(run, root):
    shutil.copytree(root / "lib/tests/data/folders/wrk_only", run.folder / "my results")
    said = run("loadcurve", "analyse", "my results", "--objective", "p99=3ms").stdout
    asked = ["Verdict:", "Levels", "N* = R_min/D", "USL peak", "Capacity in connections under p99 ≤ 3.00 ms", "Measure"]
    assert all(words in said for words in asked), said
    # wrk printed 1.85 ms and 3.43 ms as the 99th percentiles of 1 and 2 connections.
    assert re.search(r"p99 ≤ 3\.00 ms +1 +\[1 to 2\]", said)
    run("loadcurve", "analyse", "my results", "-o", "answer.html")
    assert "<svg" in (run.folder / "answer.html").read_text("utf-8")


def test_the_notebook_for_own_files_comes_with_the_package(run_with_notebooks, root):
    run, here = run_with_notebooks, run_with_notebooks.folder
    shutil.copytree(root / "lib/tests/data/folders/wrk_only", here / "my results")
    said = run("loadcurve", "notebook", "my results", "--objective", "p99=3ms").stdout
    assert "jupyter lab 01_your_own_files.ipynb" in said
    assert "got one: name another with --output" in run("loadcurve", "notebook", "my results", code=1).stderr
    run("loadcurve", "run", "01_your_own_files.ipynb", "-o", "answer.ipynb")
    values = json.loads((here / "answer.figures/values.json").read_text("utf-8"))
    assert values["runs"] == {"text": "12", "value": 12, "unit": ""}
    assert (here / "answer.figures/throughput.svg").is_file()
    (here / "answer.figures").rename(here / "by_run")
    # As in JupyterLab, which knows nothing of `loadcurve run`.
    run("python", "-m", "papermill", "01_your_own_files.ipynb", "by_papermill.ipynb", "--cwd", ".")
    assert len(list(here.glob("build/draft/01_your_own_files/*/throughput.svg"))) == 1


@pytest.mark.parametrize("words", [["--help"], ["doctor"], ["lab", "schema"], ["launch", "scale_out", "--plan"]])
def test_a_command_that_needs_no_extra_runs(run, words):
    assert run("loadcurve", *words).stdout


def test_a_command_names_the_extra_that_it_needs(run, tmp_path):
    said = run("loadcurve", "run", "a.ipynb", code=1).stderr
    assert said == "loadcurve run needs the extra [notebooks]: pip install 'loadcurve[notebooks]'\n"
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
