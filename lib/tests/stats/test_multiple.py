import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from loadcurve.errors import ValueRuleError
from loadcurve.stats import find_ratio, holm, summarise_comparisons


def table(**groups):
    return pd.DataFrame([(name, value) for name, values in groups.items() for value in values], columns=["by", "rps"])


def test_holm_by_hand():
    # S. Holm (1979): the smallest of m is compared with α/m, the next with α/(m − 1), and so on.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.9]) == pytest.approx([1, 1])
    assert holm([]).size == 0


@given(st.lists(st.floats(0, 1), min_size=1, max_size=9))
def test_holm_lies_between_none_and_bonferroni(p_values):
    corrected, given_values = holm(p_values), np.array(p_values)
    assert (corrected >= given_values).all()
    assert (corrected <= np.minimum(len(p_values) * given_values, 1)).all()
    assert (np.diff(corrected[np.argsort(given_values, kind="stable")]) >= 0).all()


def test_a_test_that_was_not_made_does_not_count():
    assert holm([0.02, np.nan, 0.5]) == pytest.approx([0.04, np.nan, 0.5], nan_ok=True)


def test_family_of_two():
    runs = table(a=[100, 101, 99, 100.5], b=[110, 112, 108, 111], c=[100, 102, 99, 98])
    found = summarise_comparisons(runs, by="by", column="rps", baseline="a").set_index("by")
    alone = find_ratio([110, 112, 108, 111], [100, 101, 99, 100.5], 0.975)
    assert (found.loc["b", "lo"], found.loc["b", "hi"]) == pytest.approx((alone.lo, alone.hi))
    p = stats.ttest_ind([110, 112, 108, 111], [100, 101, 99, 100.5], equal_var=False).pvalue
    assert found.loc["b", "p_holm"] == pytest.approx(2 * p)
    assert found["verdict"].to_list() == ["different", "undecided"]
    assert "same" not in " ".join(found["verdict"])


@pytest.mark.slow
def test_family_keeps_its_error():
    # Five servers that do not differ from the baseline: at most 5 % of the studies may name one that does.
    rng = np.random.default_rng(1)
    named = 0
    for _ in range(200):
        runs = pd.DataFrame({"by": np.repeat(list("abcdef"), 5), "rps": rng.normal(100, 5, 30)})
        named += (summarise_comparisons(runs, by="by", column="rps", baseline="a")["verdict"] == "different").any()
    assert named / 200 <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 200)


def test_percentiles_go_by_ranks():
    runs = pd.DataFrame({"by": list("aaaabbbb"), "latency_p99_s": [1, 2, 3, 4, 11, 12, 13, 14.0]})
    with pytest.raises(ValueRuleError, match="by ranks"):
        summarise_comparisons(runs, by="by", column="latency_p99_s", baseline="a")
    found = summarise_comparisons(runs, by="by", column="latency_p99_s", baseline="a", ranks=True)
    assert found.loc[0, "p_value"] == pytest.approx(2 / 70)
    assert found.loc[0, "lo"] == pytest.approx(11 / 4)


def test_one_run_is_not_tested():
    found = summarise_comparisons(table(a=[100, 101], b=[110], c=[100, 102]), by="by", column="rps", baseline="a")
    assert np.isnan(found.loc[0, ["p_value", "p_holm", "lo"]].to_numpy(float)).all()
    assert found.loc[0, "verdict"] == "undecided"
    assert "1 run of A" in found.loc[0, "warnings"]


def test_a_server_without_a_value_keeps_its_row():
    runs = table(a=[100, 101, 99], b=[np.nan, np.nan], c=[110, np.nan, 112])
    found = summarise_comparisons(runs, by="by", column="rps", baseline="a").set_index("by")
    assert found.loc["b", ["runs", "verdict", "warnings"]].to_list() == [0, "undecided", "0 runs have a value"]
    assert found.loc["c", "runs"] == 2
    assert found.loc["c", "p_holm"] == found.loc["c", "p_value"]  # the other test was not made


def test_runs_all_alike():
    found = summarise_comparisons(table(a=[1, 1], b=[2, 2], c=[1, 1]), by="by", column="rps", baseline="a")
    assert found["p_value"].to_list() == [0, 1]


@pytest.mark.parametrize(
    "change", [{"by": "server"}, {"column": "bps"}, {"baseline": "z"}, {"baseline": None}, {"level": 95}]
)
def test_wrong_arguments_are_refused(change):
    with pytest.raises(ValueRuleError):
        summarise_comparisons(table(a=[1, 2], b=[2, 3]), **({"by": "by", "column": "rps", "baseline": "a"} | change))


@pytest.mark.parametrize("wrong", [[1.1], [-0.1], [[0.1]]])
def test_wrong_p_values_are_refused(wrong):
    with pytest.raises(ValueRuleError, match="p_values"):
        holm(wrong)
