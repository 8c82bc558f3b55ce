"""The mean of all responses, where the generator's mean leaves out the late ones."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from loadcurve.audit import least_mean_latency_s
from loadcurve.errors import ValueRuleError


@example([3.602445019202894] * 3, 3.602445019202894)  # their mean is a unit in the last place above them
@given(st.lists(st.floats(0, 10), min_size=2, max_size=50), st.floats(0.1, 5))
def test_it_is_never_above_the_mean_of_all(times, timeout):
    times = np.array(times)
    kept = times[times <= timeout]
    if kept.size:
        least = least_mean_latency_s(kept.mean(), times.size, times.size - kept.size, timeout)
        assert kept.mean() <= least + 1e-12
        assert least <= times.mean() + 1e-9


def test_none_late_changes_nothing_and_all_late_is_the_timeout():
    assert least_mean_latency_s([0.1, 0.1], 10, [0, 10], 2) == pytest.approx([0.1, 2])


@pytest.mark.parametrize(
    ("arguments", "name"), [((0.1, 10, 11, 2), "late"), ((3, 10, 1, 2), "timeout_s"), ((0.1, 0, 0, 2), "requests")]
)
def test_wrong_arguments(arguments, name):
    with pytest.raises(ValueRuleError, match=f"^{name} must be"):
        least_mean_latency_s(*arguments)
