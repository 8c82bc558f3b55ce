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


def requirements(name: str, extra: str = "") -> list[Requirement]:
    """What a distribution requires here, without its extras or with one of them."""
    found = map(Requirement, importlib.metadata.distribution(name).requires or [])
    return [r for r in found if r.marker is None or r.marker.evaluate({"extra": extra})]


def needed(*asked: Requirement) -> set[str]:
    """Distributions that requirements bring along."""
    found, waiting = set(), [(r.name, extra) for r in asked for extra in ("", *r.extras)]
    while waiting:
        name, extra = waiting.pop()
        if (name, extra) not in found:
            found.add((name, extra))
            waiting += [(r.name, e) for r in requirements(name, extra) for e in ("", *r.extras)]
    return {name for name, _ in found}


def core_requirements(wheel: zipfile.ZipFile) -> list[Requirement]:
    (metadata,) = (wheel.read(name).decode() for name in wheel.namelist() if name.endswith("/METADATA"))
    found = map(Requirement, re.findall(r"^Requires-Dist: (.+)$", metadata, re.MULTILINE))
    return [r for r in found if r.marker is None or r.marker.evaluate({"extra": ""})]


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
    with zipfile.ZipFile(built[1]) as wheel:
        for name in needed(*core_requirements(wheel)):
            for file in importlib.metadata.distribution(name).files or []:
                if not file.parts[0].startswith("..") and not (site / file.parts[0]).exists():
                    (site / file.parts[0]).symlink_to(
                        Path(str(file.locate())).parents[len(file.parts) - 1] / file.parts[0]
                    )
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
    with zipfile.ZipFile(built[1]) as wheel:
        asked = core_requirements(wheel)
    owners = importlib.metadata.packages_distributions()
    allowed = {extra: needed(*asked, *requirements("loadcurve", extra)) for extra in {"", *EXTRA_OF.values()}}
    normal = {extra: {re.sub("[-_.]+", "-", name).lower() for name in names} for extra, names in allowed.items()}
    wrong = []
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = (
                [a.name for a in node.names] if isinstance(node, ast.Import) else [getattr(node, "module", None) or ""]
            )
            for module in {name.partition(".")[0] for name in names} - {"", "loadcurve", *sys.stdlib_module_names}:
                given = {re.sub("[-_.]+", "-", name).lower() for name in owners.get(module, [])}
                if not given & normal[EXTRA_OF.get(module, "")]:
                    wrong.append(f"{path.relative_to(PACKAGE)}: {module}")
    assert not wrong, wrong
