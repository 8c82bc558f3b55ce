"""Threads at a processor against the machine repair model of the books, and against the formula without queue."""

import math

import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

from loadcurve.errors import ValueRuleError
from loadcurve.models import summarise_threads, threads_needed, threads_to_fill


@pytest.mark.parametrize(("threads", "compute", "wait"), [(1, 2.0, 42.0), (5, 2.0, 42.0), (22, 2.0, 42.0), (11, 4, 40)])
def test_one_core_is_the_machine_repair_model(threads, compute, wait):
    # Machine repair: P(idle) = 1 / Σ N!/(N−k)! (C/W)^k  (L. Kleinrock, "Queueing Systems" I, 1975, section 3.8).
    terms = [math.perm(threads, k) * (compute / wait) ** k for k in range(threads + 1)]
    found = summarise_threads(compute / 1000, wait / 1000, max_threads=threads).iloc[-1]
    assert found["utilisation_ratio"] == pytest.approx(1 - 1 / sum(terms), rel=1e-9)
    assert found["throughput_rps"] * found["latency_s"] == pytest.approx(threads)  # Little


@examples(40)
@given(st.floats(1e-4, 0.1), st.floats(0, 0.5), st.integers(1, 8), st.floats(0.1, 0.99))
def test_the_queue_only_ever_asks_for_more_threads(compute, wait, cores, target):
    wait = min(wait, 20 * compute)
    table = summarise_threads(compute, wait, cores, max_threads=64)
    assert (table["utilisation_ratio"] <= table["bound_ratio"] + 1e-9).all()
    assert (table["least_ratio"] <= table["utilisation_ratio"] + 1e-9).all()
    assert (table["utilisation_ratio"].diff().dropna() >= -1e-9).all()
    needed = threads_needed(compute, wait, cores, target)
    assert needed >= threads_to_fill(compute, wait, cores, target) - 1e-6
    # One thread that computes as long as it waits fills 0.49999999999999994 of a core: it reaches half of it.
    assert summarise_threads(compute, wait, cores, needed)["utilisation_ratio"].iloc[-1] >= target * (1 - 1e-12)
    assert threads_needed(compute, compute, utilisation_ratio=0.5) == 1


@pytest.mark.parametrize("ratio", [0, 1, 1.2])
def test_no_number_of_threads_fills_a_processor_for_good(ratio):
    with pytest.raises(ValueRuleError, match="utilisation_ratio must be 0 < ratio < 1"):
        threads_needed(0.002, 0.042, utilisation_ratio=ratio)


@pytest.mark.parametrize("times", [(math.nan, 0.04), (0.002, math.inf)])
def test_times_that_are_not_known_have_no_number_of_threads(times):
    with pytest.raises(ValueRuleError, match="known and finite"):
        threads_needed(*times)
