"""95 % intervals of a fitted curve hold the true value in 93 to 97 % of simulations, where a method claims it.

Of a few hundred studies the whole interval of the coverage may not lie outside of that.  `make bench CASES=coverage`
makes the whole table with a thousand studies in each cell.
"""

import numpy as np
import pandas as pd
import pytest

from loadcurve.models import find_limit, find_peak, fit_usl
from loadcurve.models.scaling import LAWS, summarise_bootstrap
from validation.coverage import (
    SHIPPED,
    WHERE,
    holds,
    summarise_bootstrap_coverage,
    summarise_usl_coverage,
    summarise_weight_coverage,
)
from validation.coverage.curves import hits_of_fit, levels_of, simulate_runs, truth_of

pytestmark = pytest.mark.slow

SCATTER = [0.05]
BOTH = list(WHERE)


def at(table, method):
    return table[table["method"] == method].set_index("quantity")["coverage"]


@pytest.fixture
def published(root):
    """What the notebook simulated with this library and published, in percent; a row for each kind of study."""
    table = pd.read_csv(root / "build/figures/48_interval_coverage/curves.table.csv")
    return table.rename(columns={"runs": "study"}).set_index(["method", "study"]).sort_index()


@pytest.mark.site
def test_default_intervals(published):
    """5 to 20 levels of one run or three, with the peak among the levels or beyond them, and one calm server."""
    default = published.loc[SHIPPED]
    assert len(default) == 4 * 2 * 2 + 2
    assert default["verdict"].eq("not contradicted").all(), default
    assert default.notna().all(axis=None)


@pytest.mark.site
def test_the_expanded_bootstrap_covers_more_than_the_plain_one(published):
    expanded, plain = published.loc["bootstrap, expanded"], published.loc["bootstrap, percentiles"]
    assert expanded.index.str[:3].tolist() == ["12×", "12×", "5×1", "5×3"]
    assert expanded["verdict"]["5×1, 5 %"] == "no interval"
    expanded, plain = (table.drop(index="5×1, 5 %") for table in (expanded, plain))
    assert expanded["verdict"].eq("not contradicted").all(), expanded
    covered = expanded.columns.difference(["verdict", "X(30)"])  # without a band
    assert (expanded[covered] >= plain[covered]).all(axis=None)


def test_a_wide_scatter_does_not_pull_the_curve_down():
    """Weights of the measured 1 / X² favour points that scatter downwards: with 20 %, γ was covered in 81 %."""
    table = summarise_usl_coverage([20], [1], [0.2], [""], runs=150)
    assert not table["verdict"].isin(["too low", "too high"]).any(), table


@pytest.mark.parametrize("where", BOTH)
def test_hits_are_those_of_the_intervals(where):
    """The count asks profile intervals without their ends; here the ends are found, too."""
    number, rng, truth = levels_of(6), np.random.default_rng(5), truth_of(WHERE[where])
    at_bound = 0
    for _ in range(25):
        means = simulate_runs(rng, 6, 1, 0.08, WHERE[where])[0]
        fit = fit_usl(number, means)
        found = {**fit.parameters, "peak": find_peak(fit), "limit_rps": find_limit(fit)}
        hits = hits_of_fit(number, means, fit.weights, WHERE[where])
        assert {name: holds(estimate, truth[name]) for name, estimate in found.items()} == {
            name: hits[name] for name in truth
        }
        at_bound += any("at its bound" in estimate.method for estimate in fit.parameters.values())
    assert at_bound or not where


def test_where_it_would_cover_too_little_it_refuses():
    """Residuals of five levels leave two degrees of freedom: expanded percentiles covered 83 to 88 % at level 95 %."""
    table = summarise_bootstrap_coverage([5], [1], SCATTER, [""], runs=5, draws=400)
    assert (table.loc[table["method"] == "bootstrap, expanded", "refused"] == 1).all()
    number = levels_of(5)
    found = summarise_bootstrap(LAWS["usl"], number, simulate_runs(np.random.default_rng(2), 5, 1, 0.05)[0], draws=100)
    assert found[["lo", "hi"]].isna().all(axis=None) and found["value"].notna().all()
    assert found["warnings"].str.contains("residuals of 5 levels for 3 parameters: too few for an interval").all()


def test_what_looks_as_natural_covers_too_little():
    five, twelve = (summarise_weight_coverage([levels], [3], SCATTER, [""], runs=150) for levels in (5, 12))
    assert at(five, "equal weights")["peak"] < 0.88  # the high levels pass for more precise than they are
    assert (at(twelve, "own weights") < 0.92).all()  # three repeats are too few to estimate their scatter
    beyond = summarise_weight_coverage([20], [1], SCATTER, ["peak beyond"], runs=250)
    assert at(beyond, "delta method")["peak"] < 0.93  # linear, of a quotient
