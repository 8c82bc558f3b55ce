import numpy as np
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from one_test import in_one_test
from published_series import FACULTY
from scipy.optimize import linprog

from loadcurve.errors import ValueRuleError
from loadcurve.stats.modes import dip, summarise_modes


def test_hartigans_faculty():
    # Hartigan and Hartigan 1985: .059, "a tail probability about 10 %"; R diptest: D = 0.05952381, p = 0.08672.
    assert dip(FACULTY) == pytest.approx(0.05952381, abs=1e-8)
    shuffled = np.random.default_rng(3).permutation(FACULTY)
    row = summarise_modes(shuffled).iloc[0]
    assert row["statistic"] == pytest.approx(0.05952381, abs=1e-8)
    assert row["p_value"] == pytest.approx(0.08672, abs=0.04)
    assert row["verdict"].startswith("one mode is enough")


def dip_by_definition(values):
    """Least sup distance to a distribution convex before and concave after a mode, by linear programs."""
    places = np.unique(values)
    below = np.array([np.mean(values < place) for place in places])
    upto = np.array([np.mean(values <= place) for place in places])
    size, best = places.size, 1.0
    for mode in range(size):
        # Unknowns: the left limits up to the mode, the values from it on, and the distance.
        at = [*range(mode + 1), *range(mode, size)]
        rows, limits = [], []

        def add(pairs, limit, at=at, rows=rows, limits=limits):
            row = np.zeros(len(at) + 1)
            for column, factor in pairs:
                row[column] += factor
            rows.append(row)
            limits.append(limit)

        for column, place in enumerate(at):
            least = below[place] if column == mode else upto[place]
            most = upto[place] if column == mode + 1 else below[place]
            add([(column, 1), (-1, -1)], most)
            add([(column, -1), (-1, -1)], -least)
        for column in range(len(at) - 1):
            add([(column, 1), (column + 1, -1)], 0)
        for part, sign in ((range(mode - 1), 1), (range(mode + 1, len(at) - 2), -1)):
            for column in part:
                first, second = np.diff(places[at[column] : at[column] + 3])
                add(
                    [(column, -sign / first), (column + 1, sign / first + sign / second), (column + 2, -sign / second)],
                    0,
                )
        found = linprog([*[0] * len(at), 1], A_ub=np.array(rows), b_ub=limits, bounds=(0, 1))
        best = min(best, found.fun) if found.success else best
    return max(best, 1 / (2 * len(values)))


@pytest.mark.slow
@in_one_test("seed", range(40))
def test_the_dip_is_what_its_definition_says(seed):
    rng = np.random.default_rng(seed)
    values = rng.random(rng.integers(4, 13)) * 10
    values = np.round(values) if seed % 2 else values  # with ties, and without
    assert dip(values) == pytest.approx(dip_by_definition(values), abs=1e-7)


@examples(60)
@given(st.lists(st.integers(-1000, 1000), min_size=2, max_size=40))
def test_range_and_symmetry(values):
    found = dip(values)
    assert 1 / (2 * len(values)) <= found <= 0.25 + 1e-12
    assert dip([-value for value in values]) == pytest.approx(found)
    assert dip([3 * value + 7 for value in values]) == pytest.approx(found)


def test_two_modes_are_found_and_one_is_not():
    rng = np.random.default_rng(5)
    two = rng.permutation(np.r_[rng.normal(10, 1, 30), rng.normal(16, 1, 30)])
    assert summarise_modes(two)["p_value"].item() < 0.01
    assert summarise_modes(rng.normal(10, 1, 60))["p_value"].item() > 0.05


@pytest.mark.slow
@pytest.mark.parametrize("size", [20, 300])
def test_uniform_values_seldom_show_two_modes(size):
    rng = np.random.default_rng(6)
    found = [summarise_modes(rng.random(size))["p_value"].item() < 0.05 for _ in range(200)]
    assert np.mean(found) <= 0.09


def test_the_seed_decides():
    values = np.random.default_rng(7).random(30)
    assert summarise_modes(values, seed=1).equals(summarise_modes(values, seed=1))


def test_neighbours_that_resemble_each_other_are_thinned():
    two_states = np.repeat(np.tile([10.0, 20.0], 12), 5) + np.random.default_rng(8).normal(0, 1, 120)
    warnings = summarise_modes(two_states)["warnings"].item()
    assert "of 120 values taken, because neighbours resemble each other" in warnings
    assert summarise_modes(np.arange(100.0))["verdict"].item() == "not tested"


def test_rounding_is_warned_of():
    values = np.round(np.random.default_rng(9).normal(3, 1, 60))
    assert "rounding creates modes" in summarise_modes(values)["warnings"].item()


def test_a_short_series_is_refused():
    with pytest.raises(ValueRuleError, match="values must be at least 8 samples"):
        summarise_modes([1.0] * 7)
