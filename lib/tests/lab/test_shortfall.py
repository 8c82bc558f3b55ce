"""A load that ends before its time is told in the run's record."""

from dataclasses import replace

import pytest
from launched_runs import launched
from private_services import need

from loadcurve.lab.run.run_point import ended_early
from loadcurve.lab.tools.generators import GENERATORS
from loadcurve.lab.tools.generators import programs as ab
from loadcurve.study import Command


def command(tool, seconds, exit_code=0, host="local"):
    times = {
        "started_at": "2026-11-21T00:00:00.500000Z",
        "ended_at": f"2026-11-21T00:{seconds // 60:02}:{seconds % 60:02}.5Z",
    }
    return Command("generator", tool, (tool,), "x", "y", 700.0, exit_code=exit_code, host=host, **times)


def test_only_what_ended_well_and_long_before_its_time():
    assert ended_early([command("ab", 167), command("hey", 598)], 600.0) == [
        "ab ended after 167.0 s of a load of 600 s: it sends at most 5,000,000 requests"
    ]
    assert ended_early([command("h2load", 2, host="C1")], 5.0) == ["h2load on C1 ended after 2.0 s of a load of 5 s"]
    assert ended_early([command("ab", 167)], 0.0) == [], "requests end it"
    assert ended_early([command("wrk", 1, exit_code=1)], 5.0) == [], "the run has failed, and says why"


@pytest.mark.real
@pytest.mark.parametrize(("most", "warned"), [(100, True), (5_000_000, False)])
def test_ab_at_its_most_requests(tmp_path, monkeypatch, most, warned):
    need("nginx", "ab")
    monkeypatch.setattr(ab, "MAX_REQUESTS", most)
    monkeypatch.setitem(GENERATORS, "ab", replace(ab.AB, max_requests=most))
    made = launched(tmp_path / "s", load={"tool": "ab", "duration_s": 1.0})
    told = [warning for warning in made.run.warnings if warning.startswith("ab ended after 0.")]
    assert len(told) == warned
    assert all(warning.endswith(" s of a load of 1 s: it sends at most 100 requests") for warning in told)
