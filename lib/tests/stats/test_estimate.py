import math

import pytest

from loadcurve.errors import ValueRuleError
from loadcurve.stats import Estimate


def test_a_value_lies_in_its_interval():
    with pytest.raises(ValueRuleError, match=r"value must be in its interval \[2.0, 3.0\], got 1.0"):
        Estimate(1, 2, 3, 0.95, "given")


def test_an_interval_has_its_ends_in_order():
    with pytest.raises(ValueRuleError):
        Estimate(math.nan, 3, 2, 0.95, "given")


@pytest.mark.parametrize("level", [0, 1, 95, math.nan])
def test_a_level_lies_between_0_and_1(level):
    with pytest.raises(ValueRuleError, match="level must be 0 < level < 1"):
        Estimate(1, 0, 2, level, "given")


def test_ends_may_be_unknown_or_infinite():
    assert math.isnan(Estimate(1, math.nan, math.nan, 0.9, "given").lo)
    assert Estimate(math.inf, 3, math.inf, 0.9, "given").hi == math.inf


def test_all_numbers_are_floats():
    estimate = Estimate(1, 0, 2, 0.5, "given")
    assert [type(number) for number in (estimate.value, estimate.lo, estimate.hi)] == [float] * 3
