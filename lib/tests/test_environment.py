"""environment.yml, the lock file and pyproject.toml name the same packages in the same versions."""

import re
import tomllib

import pytest
import yaml
from rattler import MatchSpec, Version

# conda-forge's name for a PyPI distribution, where it differs.
PYPI_NAME = {"pandera-pandas": "pandera", "python-build": "build", "python-duckdb": "duckdb"}
# Extras that only `make bench` and `make fuzz` need: environment.yml leaves them out.
NOT_IN_CONDA = {"bench", "fuzz"}


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.fixture(scope="module")
def lock(root) -> dict[str, str]:
    text = (root / "lib" / "requirements.lock").read_text("utf-8")
    return {normal(m[1]): m[2] for m in re.finditer(r"^([A-Za-z0-9_.-]+)==([^ ;\\]+)", text, re.MULTILINE)}


@pytest.fixture(scope="module")
def conda(root) -> list:
    return yaml.safe_load((root / "environment.yml").read_text("utf-8"))["dependencies"]


def test_every_locked_package_has_hashes_and_no_address(root):
    text = (root / "lib" / "requirements.lock").read_text("utf-8")
    blocks = re.split(r"\n(?=[A-Za-z])", "\n" + text)[1:]
    assert len(blocks) > 100
    assert all("--hash=sha256:" in block for block in blocks)
    assert not re.search(r"https?:|--index|--find-links|@ file", text)


def test_conda_versions_agree_with_the_lock(conda, lock):
    specs = [MatchSpec(d, strict=False) for d in conda if isinstance(d, str)]
    checked = 0
    for spec in specs:
        name = spec.name.normalized if hasattr(spec.name, "normalized") else str(spec.name)
        if name in ("python", "pip"):
            continue
        pinned = lock[normal(PYPI_NAME.get(name, name))]
        wanted = str(spec.version)
        assert Version(pinned).starts_with(Version(wanted.removesuffix(".*").lstrip("="))), (name, wanted, pinned)
        checked += 1
    assert checked > 15


def test_conda_names_every_direct_dependency(conda, lock, root):
    project = tomllib.loads((root / "lib" / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    assert extras.keys() >= NOT_IN_CONDA | {"lab", "notebooks", "handbook", "cluster", "dev"}
    asked = [*project["dependencies"], *(d for e in extras.keys() - NOT_IN_CONDA for d in extras[e])]
    direct = {normal(re.match(r"[A-Za-z0-9_.-]+", d)[0]) for d in asked}
    named = {str(MatchSpec(d, strict=False).name.normalized) for d in conda if isinstance(d, str)}
    by_pip = next(d["pip"] for d in conda if isinstance(d, dict))
    named |= {re.match(r"[a-z]+", d)[0] for d in by_pip if not d.startswith("-")}
    assert direct <= {normal(PYPI_NAME.get(n, n)) for n in named}
    assert direct <= set(lock), "the lock holds every direct dependency"


def test_python_versions_agree(conda, root):
    project = tomllib.loads((root / "lib" / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["requires-python"] == ">=3.11"
    assert "python>=3.11,<3.14" in conda
