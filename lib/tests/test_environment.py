"""environment.yml, the lock files and pyproject.toml name the same packages in the same versions."""

import re
import tomllib

import pytest

from loadcurve.files.yaml_document import read_yaml

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


@pytest.fixture(scope="module")
def locks(root) -> dict[str, dict[str, str]]:
    """Lock file → package → its version, marker and hashes."""
    blocks = {path.name: re.split(r"\n(?=[a-z])", path.read_text("utf-8"))[1:] for path in root.glob("lib/*.lock")}
    return {name: dict(one.split("==", 1) for one in listed) for name, listed in blocks.items()}


@pytest.fixture(scope="module")
def direct(root) -> dict[str, set[str]]:
    """Lock file → packages that pyproject.toml names for it."""
    file = tomllib.loads((root / "lib" / "pyproject.toml").read_text("utf-8"))
    extras = file["project"]["optional-dependencies"]
    assert set().union(*EXTRAS.values()) == extras.keys() and file["project"]["requires-python"] == ">=3.11"
    asked = {lock: [one for extra in taken for one in extras[extra]] for lock, taken in EXTRAS.items()}
    asked[READER] += [*file["project"]["dependencies"], *file["dependency-groups"]["make"]]
    return {lock: {normal(re.match(r"[\w.-]+", one)[0]) for one in listed} for lock, listed in asked.items()}


def test_every_locked_package_has_hashes_and_no_address(root, locks):
    assert all("--hash=sha256:" in block for listed in locks.values() for block in listed.values())
    texts = "".join(path.read_text("utf-8") for path in root.glob("lib/*.lock"))
    assert not re.search(r"https?:|--index|--find-links|@ file", texts)


def test_readers_install_no_tool_of_developers_and_all_locks_agree(locks, direct):
    reader = locks[READER]
    assert locks.keys() == direct.keys() and direct[READER] <= reader.keys()
    for lock in locks.keys() - {READER}:
        assert not locks[lock].items() & reader.items(), "what make installs is not listed again"
        assert direct[lock] <= locks[lock].keys() | reader.keys()
        # flit-core builds the wheel in a test, and installs this package for make.
        assert direct[lock] & reader.keys() <= {"flit-core"}
    versions = {(name, re.match(r"\S+", block)[0]) for listed in locks.values() for name, block in listed.items()}
    assert len(versions) == len(dict(versions)) > 100, "a package has one version in all locks"


def test_conda_names_what_make_installs_in_the_locked_versions(root, locks, direct):
    python, *specs, pip, own = read_yaml(root / "environment.yml").values["dependencies"]
    assert (python, pip, own) == ("python>=3.11,<3.14", "pip", {"pip": ["--editable ./lib"]})
    wanted = dict(spec.split("=") for spec in specs)
    assert {normal(name) for name in wanted} == direct[READER] | {"mkdocstrings-python"}
    for name, version in wanted.items():
        assert f"{locks[READER][normal(name)].split()[0]}.".startswith(f"{version}."), name
