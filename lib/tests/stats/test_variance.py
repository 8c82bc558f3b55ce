import numpy as np
import pytest
from published_series import KALIBERA
from refused import refuses

from loadcurve.stats.mean import find_mean
from loadcurve.stats.variance import find_mean_of_levels


def test_the_worked_example():
    assert find_mean_of_levels(KALIBERA).value == 6.5


def test_one_level_is_a_plain_mean():
    values = [9.0, 10.0, 12.0]
    found, plain = find_mean_of_levels(values), find_mean(values)
    assert (found.lo, found.value, found.hi) == pytest.approx((plain.lo, plain.value, plain.hi))


test_rules = refuses(
    (lambda: find_mean_of_levels([[1, 2], [3]]), "values must be numbers, as many in each group of a level"),
    (lambda: find_mean_of_levels([[1], [2]]), r"values must be of at least 2 repetitions .* got 'shape \(2, 1\)'"),
    (lambda: find_mean_of_levels([1, np.nan]), "values must be complete, got nan"),
)
