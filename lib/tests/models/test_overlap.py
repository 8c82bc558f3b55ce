"""Rates that were added: both bounds are met by the systems that they are named after, and hold between them."""

import numpy as np
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

from loadcurve.errors import ValueRuleError
from loadcurve.models.capacity import summarise_overlap

counts = st.floats(1, 1e6)
rates = st.floats(1, 1e5)


def printed_by_two(requests, alone, together, delay):
    """Rates that two generators print when each makes `alone` without the other and `together` beside it."""
    first, second = requests
    done = min(first, alone[0] * delay)  # of the first, before the second starts
    if done == first:
        return np.array(alone)
    left = np.array([first - done, second])
    both = (left / together).min()  # time until one of them is ready
    left = left - both * np.array(together)
    after = left / alone
    start = done / alone[0]
    return np.array([first / (start + both + after[0]), second / (both + after[1])])


@examples(200)
@given(counts, counts, rates, st.floats(0.01, 0.99), st.floats(0, 100))
def test_the_lower_end_is_one_shared_limit(first, second, limit, share, delay):
    printed = printed_by_two([first, second], [limit, limit], [limit * share, limit * (1 - share)], delay)
    row = summarise_overlap([first, second], printed, delay).iloc[0]
    assert row["lo_rps"] == pytest.approx(limit, rel=1e-6)
    assert row["hi_rps"] >= limit * (1 - 1e-9)


@examples(200)
@given(counts, counts, rates, rates, st.floats(0, 100))
def test_the_upper_end_is_nothing_shared(first, second, one, other, delay):
    printed = printed_by_two([first, second], [one, other], [one, other], delay)
    row = summarise_overlap([first, second], printed, delay).iloc[0]
    assert row["hi_rps"] == pytest.approx(one + other)
    assert row["lo_rps"] <= row["hi_rps"] * (1 + 1e-9)


@examples(200)
@given(counts, counts, rates, rates, st.floats(0.01, 1), st.floats(0.01, 1), st.floats(0, 100))
def test_what_was_made_together_lies_between(first, second, one, other, slowed, slowed_other, delay):
    together = np.array([one * slowed, other * slowed_other])
    if together.sum() < max(one, other):  # then the second does harm, which the lower end rules out
        return
    row = summarise_overlap([first, second], printed_by_two([first, second], [one, other], together, delay), delay)
    assert row["lo_rps"].item() <= together.sum() * (1 + 1e-6)
    assert row["hi_rps"].item() >= together.sum() * (1 - 1e-6)


def test_times_of_three_generators_by_hand():
    # 10, 5 and 10 s long, 4 s apart: 0–10, 4–9, 8–18.  Then 20 s apart: no two at once.
    table = summarise_overlap([100, 100, 100], [10, 20, 10], [4, 20])
    assert table["any_s"].tolist() == [18, 25]
    assert table["all_s"].tolist() == [1, 0]
    assert table["lo_rps"].tolist() == pytest.approx([300 / 18, 12])
    assert table["overstated_ratio"].tolist() == pytest.approx([40 * 18 / 300 - 1, 40 / 12 - 1])


@pytest.mark.parametrize(
    ("requests", "throughput", "delay", "named"),
    [
        ([1], [1], 0, "throughput_rps must be of the shape of requests"),
        ([1, 2], [1, 2, 3], 0, "throughput_rps must be of the shape of requests"),
        ([0, 1], [1, 1], 0, "requests must be > 0"),
        ([1, 1], [1, -1], 0, "throughput_rps must be > 0"),
        ([1, 1], [1, 1], -1, "delay_s must be >= 0"),
        ([1, np.nan], [1, 1], 0, "requests must be known and finite"),
        ([1, 1], [1, np.inf], 0, "throughput_rps must be known and finite"),
    ],
)
def test_wrong_arguments(requests, throughput, delay, named):
    with pytest.raises(ValueRuleError, match=named):
        summarise_overlap(requests, throughput, delay)
