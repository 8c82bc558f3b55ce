from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from loadcurve.lab.schedule.order import max_points
from loadcurve.lab.schedule.points import plan
from loadcurve.lab.study_file import settings_of
from loadcurve.study import Study


@given(
    levels=st.lists(st.integers(1, 9999), min_size=1, max_size=6, unique=True),
    repeats=st.integers(1, 4),
    seed=st.integers(0, 2**32),
)
def test_a_plan_is_blocks_of_every_point(levels, repeats, seed):
    study = Study(
        "s", "?", variants={"a": {}, "b": {}}, factors={"connections": tuple(levels)}, repeats=repeats, seed=seed
    )
    points = plan(study)
    assert points == plan(study), "the order is the seed's"
    assert len({p.run_id for p in points}) == len(points) == 2 * len(levels) * repeats
    size = 2 * len(levels)
    for start in range(0, len(points), size):
        block = points[start : start + size]
        assert {(p.variant, p.levels["connections"]) for p in block} == {(v, n) for v in "ab" for n in levels}
        assert len({p.repeat for p in block}) == 1


def test_another_seed_is_another_order():
    study = Study("s", "?", factors={"connections": tuple(range(1, 30))}, seed=1)
    assert [p.run_id for p in plan(study)] != [p.run_id for p in plan(replace(study, seed=2))]


def test_a_functional_test_is_repeated_less_often_than_loads():
    variants = {"load": {}, "once": {"functions": {"balancer": "nft", "repeats": 1}}}
    study = Study("s", "?", variants=variants, repeats=3)
    assert sorted(point.run_id for point in plan(study)) == ["load-r1", "load-r2", "load-r3", "once-r1"]
    assert max_points(study, settings_of(study)) == 4
