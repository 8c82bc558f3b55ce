"""Shares of servers against what a scheduler promises."""

import pandas as pd
import pytest

from loadcurve.stats import summarise_balance


def sampled(first, last, expected, services=1):
    """The table of a run with two samples, as `services` services print it one by one."""
    rows = [
        {"kind": "server", "time": time, "server_address": f"10.0.0.{n}", "server_port": "80",
         "connections": count, "expected_share_ratio": share}
        for time, counts in enumerate((first, last)) for _ in range(services)
        for n, (count, share) in enumerate(zip(counts, expected, strict=True))
    ]  # fmt: skip
    return pd.DataFrame([*rows, {"kind": "service", "time": 0, "connections": 999}])


@pytest.mark.parametrize(
    ("first", "last", "ok"),
    [
        ([0, 0], [64, 64], True),
        ([0, 0], [128, 0], False),
        ([500, 500], [564, 564], True),  # what a warm-up had before is no part of the run
        ([0, 0], [59, 41], True),  # within a tenth
        ([0, 0], [3, 1], True),  # of four lots, one in 2 is as uneven or more
        ([0, 0], [650, 350], False),
    ],
)
def test_uneven_shares_are_not_ok(first, last, ok):
    found = summarise_balance(sampled(first, last, [0.5, 0.5]))
    assert found["ok"].all() == ok
    grown = [b - a for a, b in zip(first, last, strict=True)]
    assert found["share_ratio"].tolist() == pytest.approx([n / sum(grown) for n in grown])


def test_services_are_summed_and_expected_shares_may_differ():
    found = summarise_balance(sampled([0, 0], [10, 30], [0.25, 0.75], services=3))
    assert found["connections"].tolist() == [30, 90] and found["ok"].all()


def test_a_sample_without_a_count_is_left_out():
    rows = sampled([500, 500], [564, 564], [0.5, 0.5])
    missing = rows[rows["time"].eq(1)].iloc[:1].assign(time=0.5, connections=None)
    found = summarise_balance(pd.concat([rows, missing]))
    assert found["connections"].tolist() == [64, 64]


def test_nothing_counted_or_nothing_expected_is_nothing_said():
    assert summarise_balance(sampled([5, 5], [5, 5], [0.5, 0.5])).empty
    assert summarise_balance(sampled([0, 0], [9, 0], [float("nan")] * 2)).empty
