"""95 % intervals of a fitted curve hold the true value in 93 to 97 % of simulations, where a method claims it.

As for means, 600 studies leave 1.5 points around the claim; of fewer, the whole interval of the coverage may not lie
outside of it.  The functions make the whole table.
"""

import pytest

from loadcurve.models.coverage import (
    summarise_bootstrap_coverage,
    summarise_profile_coverage,
    summarise_usl_coverage,
    summarise_weight_coverage,
)

CLAIMED = (0.93 - 0.015, 0.97 + 0.015)
SCATTER = [0.05]


def at(table, method=""):
    return table[table["method"].str.contains(method, regex=False)].set_index("quantity")["coverage"]


@pytest.mark.parametrize("levels", [6, 8, 10, 15])
def test_t_intervals_with_shared_weights(levels):
    table = summarise_usl_coverage([levels], [5], SCATTER, runs=600)
    assert table["coverage"].between(*CLAIMED).all(), table
    assert (table["refused"] == 0).all()


def test_a_small_scatter_is_covered_alike():
    table = summarise_usl_coverage([8], [3], [0.01], runs=600)
    assert table["coverage"].between(*CLAIMED).all(), table


@pytest.mark.parametrize("levels", [6, 8, 10, 15])
def test_profiles_with_shared_weights(levels):
    table = summarise_profile_coverage([levels], [5], SCATTER, runs=300)
    assert not table["verdict"].isin(["too low", "too high"]).any(), table


@pytest.mark.parametrize(("levels", "repeats"), [(6, 3), (8, 5), (15, 3)])
def test_the_expanded_bootstrap_covers_where_the_plain_one_does_not(levels, repeats):
    table = summarise_bootstrap_coverage([levels], [repeats], SCATTER, runs=150, draws=500)
    expanded, plain = at(table, "expanded"), at(table, "percentiles")
    rows = table[table["method"].str.contains("expanded")]
    assert not rows["verdict"].isin(["too low", "too high"]).any(), rows
    assert (expanded >= plain).all()
    if (levels, repeats) == (6, 3):
        assert plain["peak"] < 0.9


def test_weights_that_look_as_natural_cover_too_little():
    six, fifteen = (summarise_weight_coverage([levels], [3], SCATTER, runs=200) for levels in (6, 15))
    assert at(six, "equal")["peak"] < 0.85  # the high levels pass for more precise than they are
    assert (at(fifteen, "own") < 0.9).all()  # three repeats do not know their scatter
