"""environment.yml, the lock files and pyproject.toml name the same packages in the same versions."""

import re
import tomllib

import pytest
import yaml
from rattler import MatchSpec, Version

# conda-forge's name for a PyPI distribution, where it differs.
PYPI_NAME = {"pandera-pandas": "pandera"}
# What `make` installs; what tests, `make bench` and `make fuzz` take besides.
READER = "requirements.lock"
EXTRAS = {
    READER: {"lab", "notebooks", "handbook"},
    "requirements-test.lock": {"cluster", "s3", "dev"},
    "requirements-bench.lock": {"bench"},
    "requirements-fuzz.lock": {"fuzz"},
}


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def names(dependencies) -> set[str]:
    return {normal(re.match(r"[A-Za-z0-9_.-]+", one)[0]) for one in dependencies}


@pytest.fixture(scope="module")
def locks(root) -> dict[str, dict[str, str]]:
    """Lock file → package → its version, marker and hashes."""
    blocks = {path.name: re.split(r"\n(?=[a-z])", path.read_text("utf-8"))[1:] for path in root.glob("lib/*.lock")}
    return {name: dict(one.split("==", 1) for one in listed) for name, listed in blocks.items()}


@pytest.fixture(scope="module")
def project(root) -> dict:
    return tomllib.loads((root / "lib" / "pyproject.toml").read_text("utf-8"))


@pytest.fixture(scope="module")
def conda(root) -> list:
    return yaml.safe_load((root / "environment.yml").read_text("utf-8"))["dependencies"]


def test_every_locked_package_has_hashes_and_no_address(root, locks):
    assert all("--hash=sha256:" in block for listed in locks.values() for block in listed.values())
    assert not any(
        re.search(r"https?:|--index|--find-links|@ file", path.read_text()) for path in root.glob("lib/*.lock")
    )


def test_every_extra_is_locked_once(locks, project):
    extras = project["project"]["optional-dependencies"]
    assert locks.keys() == EXTRAS.keys() and set().union(*EXTRAS.values()) == extras.keys()
    reader = locks[READER]
    assert names([*project["project"]["dependencies"], *project["dependency-groups"]["make"]]) <= reader.keys()
    for lock, listed in locks.items():
        assert names(one for extra in EXTRAS[lock] for one in extras[extra]) <= listed.keys() | reader.keys(), lock
        assert lock == READER or not listed.items() & reader.items(), "what make installs is not listed again"
    versions = {(name, re.match(r"\S+", block)[0]) for listed in locks.values() for name, block in listed.items()}
    assert len(versions) == len(dict(versions)) > 100, "a package has one version in all locks"


def test_readers_install_nothing_that_only_developers_need(locks, project):
    extras = project["project"]["optional-dependencies"]
    shared = {"flit-core"}  # builds the wheel in a test, and installs this package for `make`
    others = names(one for lock in locks.keys() - {READER} for extra in EXTRAS[lock] for one in extras[extra])
    assert others & locks[READER].keys() == shared


def test_conda_names_what_make_installs_in_the_locked_versions(conda, locks, project):
    specs = {
        spec.name.normalized: spec for one in conda if isinstance(one, str) for spec in [MatchSpec(one, strict=False)]
    }
    extras = project["project"]["optional-dependencies"]
    asked = [*project["project"]["dependencies"], *project["dependency-groups"]["make"]]
    asked += [one for extra in EXTRAS[READER] for one in extras[extra]]
    # conda has no extras: mkdocstrings[python] is two packages.
    direct = names(asked) | {"mkdocstrings-python"}
    assert {normal(PYPI_NAME.get(name, name)) for name in specs} == direct | {"python", "pip"}
    for name, spec in specs.items():
        if name not in ("python", "pip"):
            pinned = re.match(r"\S+", locks[READER][normal(PYPI_NAME.get(name, name))])[0]
            wanted = str(spec.version).removesuffix(".*").lstrip("=")
            assert Version(pinned).starts_with(Version(wanted)), (name, wanted, pinned)


def test_python_versions_agree(conda, project):
    assert project["project"]["requires-python"] == ">=3.11"
    assert "python>=3.11,<3.14" in conda
