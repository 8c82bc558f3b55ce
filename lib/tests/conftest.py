"""Shared by all tests: where the checkout is, and a study short enough to run for real."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from loadcurve.study import Study

ROOT = Path(__file__).resolve().parents[2]

# A busy machine is no fault of what is tested: timings are measured by `make bench` alone.
settings.register_profile("loadcurve", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("loadcurve")


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture
def checkout(tmp_path, monkeypatch) -> Path:
    """An empty checkout: its own data and build, nothing of the real one is written."""
    (tmp_path / "data" / "studies").mkdir(parents=True)
    monkeypatch.setenv("LOADCURVE_ROOT", str(tmp_path))
    return tmp_path


@pytest.fixture
def small_study() -> Study:
    return Study(
        study="small",
        question="Does the laboratory work?",
        variants={"cpu": "cpu", "delay": "delay 10ms"},
        connections=(1, 4),
        repeats=1,
        seconds=1,
        seed=7,
    )
