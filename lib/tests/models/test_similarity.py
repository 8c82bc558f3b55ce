"""Two records of one study: one shape is one ratio at every level, within the scatter of the recorded repeats."""

import pandas as pd
import pytest

from loadcurve.models import similarity_verdict, summarise_similarity

LEVELS = [1, 8, 64]


def curve(*throughput, repeats=1, scatter=0.0):
    rows = [
        ("cpu", level, rate * (1 + scatter * repeat))
        for level, rate in zip(LEVELS, throughput, strict=True)
        for repeat in range(repeats)
    ]
    return pd.DataFrame(rows, columns=["variant", "connections", "throughput_rps"])


RECORDED = curve(1000, 8000, 16000, repeats=2, scatter=0.3)  # repeats of one level: 1.3 times


@pytest.mark.parametrize(
    ("ours", "spread", "same"),
    [
        (curve(500, 4000, 8000), 1.0, True),  # half as fast everywhere
        (curve(1150 * 0.8, 9200 * 1.0, 18400 * 0.9), 1.25, True),
        (curve(1150 / 38, 9200, 18400), 38.0, False),  # the build whose curve began 38 times below the record
        (curve(0, 9200, 18400), float("inf"), False),
    ],
)
def test_the_shape_is_judged_by_the_scatter_of_the_record(ours, spread, same):
    [row] = summarise_similarity(ours, RECORDED).itertuples()
    assert (row.levels, row.same_shape) == (3, same)
    assert row.spread == pytest.approx(spread)
    assert row.limit == pytest.approx(1.3)
    assert ("cpu has the same shape" if same else "cpu has another shape") in similarity_verdict(
        summarise_similarity(ours, RECORDED)
    )


def test_one_common_level_is_no_shape():
    found = summarise_similarity(curve(1, 2, 3).head(1), RECORDED)
    assert found.empty and similarity_verdict(found).startswith("nothing was compared")
