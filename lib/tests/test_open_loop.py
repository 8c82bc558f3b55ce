"""Open loops: what overload predicts, and an open loop beside a closed loop of the same server."""

import numpy as np
import pandas as pd
import pytest

from loadcurve.analysis import find_closed_capacity, split_loops, summarise_overload, summarise_rates
from loadcurve.errors import NotMeasuredError, ValueRuleError
from loadcurve.models.capacity import overload_latency_s
from loadcurve.stats import Estimate


@pytest.mark.parametrize(("rate", "capacity", "duration"), [(120, 100, 4), (450, 377, 4), (1000, 50, 2)])
@pytest.mark.parametrize("quantile", [0.1, 0.5, 0.99])
def test_overload_is_that_of_a_simulated_queue(rate, capacity, duration, quantile):
    """One server with a fixed service time, requests at a fixed rate; the run ends, and what waits has no time."""
    due = np.arange(0, duration, 1 / rate)
    done = np.maximum.accumulate(due - np.arange(due.size) / capacity) + (np.arange(due.size) + 1) / capacity
    waited = (done - due)[done <= duration]
    predicted = float(overload_latency_s(rate, capacity, duration, quantile, 1 / capacity))
    assert predicted == pytest.approx(np.quantile(waited, quantile), abs=2 / capacity)


def test_below_the_capacity_nothing_waits():
    assert overload_latency_s([1, 50, 100], 100, 4, 0.99, 0.02).tolist() == [0.02] * 3


@pytest.mark.parametrize("wrong", [{"capacity_rps": 0}, {"duration_s": -1}, {"quantile": 99}, {"unloaded_s": -1}])
def test_what_is_no_overload_is_refused(wrong):
    given = {"offered_rps": 10, "capacity_rps": 5, "duration_s": 1, "quantile": 0.5, "unloaded_s": 0.0}
    with pytest.raises(ValueRuleError):
        overload_latency_s(**given | wrong)


def runs_of(rows):
    columns = "connections target_rate_rps latency_corrected throughput_rps latency_p50_s latency_p99_s"
    runs = pd.DataFrame(rows, columns=columns.split())
    return runs.assign(duration_s=4.0).astype({"latency_corrected": "boolean"})


def test_loops_are_divided_by_rate_and_by_origin_of_the_times():
    runs = runs_of([
        (1, None, False, 50, 0.02, 0.02), (32, None, False, 100, 0.3, 0.4), (32, None, False, 102, 0.3, 0.4),
        (32, 50, True, 50, 0.02, 0.02), (32, 200, True, 100, 1.0, 2.0), (32, 200, False, 100, 0.3, 0.4),
    ])  # fmt: skip
    closed, due, sent = split_loops(runs)
    assert (len(closed), due["target_rate_rps"].tolist(), sent["target_rate_rps"].tolist()) == (3, [50, 200], [200])
    capacity = find_closed_capacity(closed)
    assert (capacity.value, capacity.lo < 100, capacity.hi > 102) == (101, True, True)
    assert summarise_rates(closed, "connections")["latency_p99_s"].tolist() == [0.02, 0.4]
    table = summarise_overload(due, Estimate(100, 95, 105, 0.95, "given"), 0.02)
    assert table["predicted_s"].tolist() == pytest.approx([0.02 + 0.5 * 4 * 0.5, 0.02 + 0.99 * 4 * 0.5])
    assert (table["predicted_from_s"] < table["predicted_s"]).all()
    assert (table["predicted_to_s"] > table["predicted_s"]).all()


def test_what_was_not_measured_is_named():
    closed, due, _ = split_loops(runs_of([(8, 50, True, 50, 0.02, None)]))
    for wanted in (lambda: find_closed_capacity(closed), lambda: summarise_rates(due),
                   lambda: summarise_overload(due, Estimate(100, 95, 105, 0.95, "given"), 0.0)):  # fmt: skip
        with pytest.raises(NotMeasuredError):
            wanted()
