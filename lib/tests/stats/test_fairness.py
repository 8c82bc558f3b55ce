import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadcurve.errors import ValueRuleError
from loadcurve.stats import summarise_fairness

# Document 004, `ipvsadm -ln`: active and inactive connections of two servers under round robin.
ACTIVE, INACTIVE = [3332, 3198], [14797, 14931]


def test_document_004():
    # By hand: (134/2)²/3265 · 2 = 134²/6530 and 134²/29728.
    active, inactive = (summarise_fairness(counts).loc[0] for counts in (ACTIVE, INACTIVE))
    assert active["chi_square"] == pytest.approx(134**2 / 6530)
    assert inactive["chi_square"] == pytest.approx(134**2 / 29728)
    assert (active["p_value"], inactive["p_value"]) == pytest.approx((0.0973, 0.4370), abs=1e-4)
    assert active["largest_deviation_ratio"] == pytest.approx(67 / 3265)
    # 134 off is no turn of round robin, though chance could do it: a state was counted, not what was dealt.
    assert active["verdict"] == inactive["verdict"] == "no more uneven than chance, but not round robin alone"


def test_document_004_as_dealt():
    # What the balancer dealt is active and inactive together: 18129 and 18129.
    dealt = summarise_fairness(np.add(ACTIVE, INACTIVE)).loc[0]
    assert dealt["total"] == 2 * 18129
    assert dealt["chi_square"] == 0
    assert dealt["p_value"] == 1
    assert dealt["verdict"] == "as even as round robin"


def test_mendel():
    # G. Mendel's peas, 9 : 3 : 3 : 1, the textbook example of the test: χ² = 0.470 on 3, p = 0.925.
    found = summarise_fairness([315, 108, 101, 32], [9, 3, 3, 1]).loc[0]
    assert found["chi_square"] == pytest.approx(0.470, abs=5e-4)
    assert found["p_value"] == pytest.approx(0.925, abs=5e-4)
    assert found["degrees_of_freedom"] == 3


@given(st.integers(1, 10**6), st.integers(2, 9))
def test_round_robin_is_seen_as_such(requests, servers):
    counts = [(requests + place) // servers for place in range(servers)]
    found = summarise_fairness(counts).loc[0]
    assert found["verdict"] == "as even as round robin"
    assert found["chi_square"] <= servers**2 / (4 * requests) + 1e-9  # far below its mean under chance, servers − 1


def test_chance_is_called_uneven_in_5_percent():
    rng = np.random.default_rng(2)
    verdicts = [summarise_fairness(rng.multinomial(9000, [1 / 3] * 3)).loc[0, "verdict"] for _ in range(300)]
    assert np.mean([v == "uneven beyond chance" for v in verdicts]) == pytest.approx(0.05, abs=0.04)


def test_many_requests_make_a_small_unevenness_significant():
    found = summarise_fairness([1_003_000, 997_000]).loc[0]
    assert found["verdict"] == "uneven beyond chance"
    assert found["p_value"] < 1e-4
    assert found["effect"] == pytest.approx(0.003)  # and of no importance: w below 0.1


def test_weights():
    assert summarise_fairness([30, 10, 10], [3, 1, 1]).loc[0, "verdict"] == "as even as round robin"
    assert summarise_fairness([33, 10, 10], [3, 1, 1]).loc[0, "verdict"] == "as even as round robin"  # a turn begun
    assert summarise_fairness([30, 12, 8], [3, 1, 1]).loc[0, "largest_deviation_ratio"] == pytest.approx(0.2)
    assert "rough" in summarise_fairness([4, 3]).loc[0, "warnings"]


@pytest.mark.parametrize("wrong", [[1], [1, -1], [1, 1.5], [0, 0], [1, np.nan], [[1, 2]]])
def test_wrong_counts_are_refused(wrong):
    with pytest.raises(ValueRuleError, match="counts"):
        summarise_fairness(wrong)


@pytest.mark.parametrize("wrong", [[1], [1, 0], [1, np.nan]])
def test_wrong_weights_are_refused(wrong):
    with pytest.raises(ValueRuleError, match="weights"):
        summarise_fairness([1, 2], wrong)


def test_wrong_level_is_refused():
    with pytest.raises(ValueRuleError, match="level"):
        summarise_fairness([1, 2], level=95)
