import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadcurve.lab.schedule.search.bracket import error_bound, tally, trials_to_decide


def chance_of(decision, keeps, needed):
    """Probability that trials which each keep with probability `keeps` end in `decision`, over all their sequences."""
    total, waiting = 0.0, {(0, 0): 1.0}
    while waiting:
        following = {}
        for (kept, broken), chance in waiting.items():
            for now, part in (((kept + 1, broken), keeps), ((kept, broken + 1), 1 - keeps)):
                found = tally(1.0, [(True, True)] * now[0] + [(True, False)] * now[1], needed).decision
                if found == "open":
                    following[now] = following.get(now, 0.0) + chance * part
                elif found == decision:
                    total += chance * part
        waiting = following
    return total


@pytest.mark.parametrize("needed", [2, 3, 4, 5, 8])
def test_the_error_is_what_all_sequences_of_a_coin_give(needed):
    assert chance_of("kept", 0.5, needed) == pytest.approx(error_bound(needed), rel=1e-12)
    assert chance_of("broken", 0.5, needed) == pytest.approx(error_bound(needed), rel=1e-12)


@given(st.floats(0, 0.5), st.integers(2, 6))
def test_a_load_that_breaks_more_often_than_not_is_called_kept_no_more_often_than_the_bound(keeps, needed):
    assert chance_of("kept", keeps, needed) <= error_bound(needed) * (1 + 1e-9)


@given(st.floats(0.5, 0.999))
def test_the_level_is_held(level):
    trials = trials_to_decide(level)
    assert error_bound(trials) <= 1 - level
    assert trials == 2 or error_bound(trials - 1) > 1 - level


def test_a_rare_disturbance_is_forgiven():
    assert chance_of("kept", 0.98, 5) > 0.98
    assert chance_of("broken", 0.98, 5) < 1e-6


@pytest.mark.parametrize(
    ("verdicts", "leaning", "decision"),
    [
        ([(False, True)], "kept", "open"),
        ([(False, True), (False, False)], "broken", "open"),  # the last short one
        ([(False, True), (True, False)], "broken", "open"),  # a full one counts for all short ones
        ([(True, True), (True, False)], "tied", "open"),
        ([(True, True)] * 2 + [(True, False)] * 2, "flaky", "flaky"),
        ([(True, True)] * 3, "kept", "kept"),
        ([(True, True)] * 5 + [(True, False)], "kept", "open"),
        ([(True, True)] * 6 + [(True, False)], "kept", "kept"),
        ([(True, False)] * 3, "broken", "broken"),
        ([(False, True)] * 9, "kept", "open"),  # short trials decide nothing
    ],
)
def test_tallies(verdicts, leaning, decision):
    found = tally(8.0, verdicts, 3)
    assert (found.leaning, found.decision) == (leaning, decision)
