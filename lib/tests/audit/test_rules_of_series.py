"""Rules about the course of one run: warm-up, changes of level, oscillation, modes of the response times."""

import numpy as np
import pandas as pd
import pytest
from conftest import ROOT

from loadcurve import read
from loadcurve.audit import all_rules
from loadcurve.audit.samples import throughput_series
from loadcurve.tables import check

RUN = {"study": "s", "status": "finished", "duration_s": 1000.0}
RULES = ("warm-up-in-mean", "change-of-level", "oscillating-throughput")


def noise(count, size, rho=0.5, deviation=0.03, seed=1):
    """AR(1) series around 1: successive seconds of a run resemble each other."""
    rng = np.random.default_rng(seed)
    shocks = rng.normal(0, deviation * np.sqrt(1 - rho**2), (count, size + 50))
    series = np.zeros_like(shocks)
    for i in range(1, series.shape[1]):
        series[:, i] = rho * series[:, i - 1] + shocks[:, i]
    return 1 + series[:, 50:]


def audited(rule, *series, connections=None):
    """Findings about runs whose host received segments at these rates, one sample a second."""
    runs = pd.DataFrame([RUN | {"run_id": f"r{i}", "connections": connections} for i in range(len(series))])
    rows = [
        pd.DataFrame({"run_id": f"r{i}", "elapsed_s": np.arange(each.size) + 1.0, "segments_received_pps": 1000 * each})
        for i, each in enumerate(series)
    ]
    tcp = pd.concat(rows).assign(study="s", host="S1") if rows else None
    tables = {} if tcp is None else {"tcp": check("tcp", tcp)}
    return all_rules()[rule].audit({"runs": check("runs", runs), **tables})


def series_with(change, size=60, seed=1):
    return noise(1, size, seed=seed)[0] * change(np.arange(size))


WARM_UP = {"ramp": lambda t: np.minimum(0.3 + 0.07 * t, 1.0), "cold": lambda t: np.where(t < 6, 0.2, 1.0)}
CHANGES = {"jump": lambda t: np.where(t < 37, 1.0, 0.6), "drift": lambda t: 1.3 - 0.01 * t}
SWINGS = {"wave": lambda t: 1 + 0.3 * np.sin(2 * np.pi * t / 10)}


@pytest.mark.parametrize(
    ("rule", "shape", "words"),
    [
        ("warm-up-in-mean", WARM_UP["ramp"], "the mean of all 60 intervals is off by -"),
        ("warm-up-in-mean", WARM_UP["cold"], "Until 6 s, 2"),
        ("change-of-level", CHANGES["jump"], "At 38 s, throughput went from "),
        ("change-of-level", CHANGES["drift"], "From 1 s to 60 s, throughput drifted by -"),
        ("oscillating-throughput", SWINGS["wave"], "with a period of 9.8"),
    ],
)
def test_a_rule_about_the_course_of_a_run_fires(rule, shape, words):
    found = audited(rule, series_with(shape)).iloc[0]
    assert found["severity"] == "warning" and found["advice"]
    assert words in found["evidence"]


def test_a_warm_up_is_no_change_of_level():
    """It has a rule of its own, so the other rules examine what comes after it."""
    for rule in ("change-of-level", "oscillating-throughput"):
        assert audited(rule, series_with(WARM_UP["cold"])).iloc[0]["severity"] == "ok"


# A first tenth that is 40 % lower moves the mean by 4 %, one that is 60 % lower by 6 %.
@pytest.mark.parametrize(("lower", "severity"), [(0.4, "ok"), (0.6, "warning")])
def test_both_sides_of_the_warm_up(lower, severity):
    series = np.where(np.arange(60) < 6, 1 - lower, 1.0) * (1 + 0.001 * (-1.0) ** np.arange(60))
    found = audited("warm-up-in-mean", series).iloc[0]
    assert found["severity"] == severity and found["observed"] == pytest.approx(lower / 10, abs=1e-3)


@pytest.mark.parametrize(("cold", "severity"), [(1, "ok"), (3, "ok"), (4, "warning"), (5, "warning")])
def test_a_warm_up_is_that_of_a_level(cold, severity):
    """A cold start moves the mean of a run by 8 %: that of five by 4.8 % if three begin so, by 6.4 % if four do."""
    shapes = [WARM_UP["cold"] if i < cold else np.ones_like for i in range(5)]
    series = [series_with(lambda t, shape=shape: shape(t * 1.0), seed=i) for i, shape in enumerate(shapes)]
    found = audited("warm-up-in-mean", *series, connections=64)
    assert found["severity"].tolist() == [severity] * cold + ["ok"] * (5 - cold)
    assert found["evidence"].str.contains("That of the 5 runs of this level is off by").sum() == cold
    assert audited("warm-up-in-mean", series[0]).iloc[0]["severity"] == "warning", "a single run has no scatter"


@pytest.mark.filterwarnings("error")
def test_a_server_that_ends_is_no_warm_up():
    """Nothing comes any more, or nothing came at all."""
    for series in (np.where(np.arange(60) < 10, 1.0, 0.0), np.zeros(60)):
        for connections in (None, 64):
            assert audited("warm-up-in-mean", series, series, connections=connections)["severity"].ne("warning").all()


@pytest.mark.parametrize(("share", "severity"), [(0.09, "ok"), (0.12, "warning")])
@pytest.mark.parametrize(
    ("rule", "shape"),
    [
        ("change-of-level", lambda share: np.where(np.arange(60) < 30, 1 - share / 2, 1 + share / 2)),
        ("oscillating-throughput", lambda share: 1 + share * np.sin(2 * np.pi * np.arange(60) / 10)),
    ],
)
def test_both_sides_of_a_change(rule, shape, share, severity):
    exact = shape(share) * noise(1, 60, rho=0.0, deviation=0.002)[0]
    found = audited(rule, exact).iloc[0]
    assert (found["severity"], round(found["observed"], 2)) == (severity, share) or severity == "ok"


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_steady_runs_raise_no_alarm(rule):
    """200 steady runs of 30 and of 60 s: neighbours are alike, and a processor-bound server scatters by 6 %."""
    found = audited(rule, *noise(100, 30, deviation=0.06, seed=3), *noise(100, 60, deviation=0.06, seed=4))
    assert found["severity"].eq("ok").sum() >= 198


@pytest.mark.parametrize(("rule", "fewest"), [("warm-up-in-mean", 10), ("change-of-level", 20)])
def test_a_short_series_is_not_checked(rule, fewest):
    found = audited(rule, np.ones(fewest - 1), np.ones(fewest))
    assert set(zip(found["run_id"], found["severity"], strict=True)) == {("r0", "unchecked"), ("r1", "ok")}
    assert "sar -n DEV,TCP 1" in found[found["severity"] == "unchecked"]["advice"].iloc[0]


def test_samples_at_uneven_distances_show_no_period():
    tcp = pd.DataFrame({"study": "s", "run_id": "r0", "elapsed_s": [*range(1, 25), 40, 41, 42], "host": "S1"})
    runs = check("runs", pd.DataFrame([RUN | {"run_id": "r0"}]))
    tables = {"runs": runs, "tcp": check("tcp", tcp.assign(segments_received_pps=1.0))}
    assert all_rules()["oscillating-throughput"].audit(tables)["severity"].tolist() == ["unchecked"]


def test_samples_outside_the_load_count_for_nothing():
    runs = check("runs", pd.DataFrame([RUN | {"run_id": "r0", "duration_s": 5.0}]))
    rows = pd.DataFrame({"study": "s", "run_id": "r0", "elapsed_s": np.arange(-3.0, 9.0), "segments_received_pps": 1.0})
    series = throughput_series({"runs": runs, "tcp": check("tcp", rows)})
    assert series["s/r0"].elapsed_s.tolist() == [1.0, 2.0, 3.0, 4.0]


def test_responses_are_counted_by_whole_seconds():
    """The responses of the first and of the last second are left out; a second without one counts 0."""
    begun = pd.Timestamp("2026-01-01", tz="UTC") + pd.to_timedelta([0.0, 0.5, 1.0, 1.2, 1.4, 3.1, 4.8], unit="s")
    rows = pd.DataFrame({"study": "s", "run_id": "r0", "tool": "vegeta", "time": begun, "latency_s": 0.1})
    rows = pd.concat([rows, rows.assign(tool="nginx")], ignore_index=True)  # an access log counts the same again
    series = throughput_series({"runs": check("runs", pd.DataFrame([RUN])), "requests": check("requests", rows)})
    assert series["s/r0"].rates.tolist() == [3, 0, 1] and series["s/r0"].elapsed_s.tolist() == [2, 3, 4]
    rows.loc[0, "time"] = pd.Timestamp("1970-01-01", tz="UTC")  # a torn line; a series of 56 years needs 200 GB
    assert throughput_series({"runs": check("runs", pd.DataFrame([RUN])), "requests": check("requests", rows)}) == {}


def test_the_busiest_host_and_interface_are_taken():
    rows = [{"study": "s", "run_id": "r0", "elapsed_s": 5.0 + i, "interface": name, "received_pps": rate}
            for i in range(3) for name, rate in (("lo", 1.0), ("eth0", 500.0 + i))]  # fmt: skip
    runs = check("runs", pd.DataFrame([RUN | {"run_id": "r0"}]))
    series = throughput_series({"runs": runs, "network": check("network", pd.DataFrame(rows))})
    assert series["s/r0"].rates.tolist() == [500, 501, 502] and series["s/r0"].counter == "packets/s"


def test_the_servers_own_count_is_a_rate():
    rows = pd.DataFrame({"study": "s", "run_id": "r0", "elapsed_s": [2.0, 3.0, 5.0], "requests": [100, 160, 300]})
    tables = {"runs": check("runs", pd.DataFrame([RUN | {"run_id": "r0"}])), "server": check("server", rows)}
    assert throughput_series(tables)["s/r0"].rates.tolist() == [60, 70]


def modes_of(times, form):
    """Finding about response times, as a histogram of 50 classes, as percentiles, or one by one."""
    rows = {"study": "s", "run_id": "r0", "generator": 0}
    runs = check("runs", pd.DataFrame([RUN | {"run_id": "r0", "requests": len(times)}]))
    if form == "histogram":
        counts, edges = np.histogram(times, 50)
        frame = pd.DataFrame(rows | {"lower_s": edges[:-1], "upper_s": edges[1:], "responses": counts})
    elif form == "latency":
        quantiles = np.arange(0.01, 1.0, 0.01)
        frame = pd.DataFrame(rows | {"quantile": quantiles, "latency_s": np.quantile(times, quantiles)})
    else:
        frame = pd.DataFrame(rows | {"tool": "hey", "latency_s": times})
    return all_rules()["several-modes"].audit({"runs": runs, form: check(form, frame)}).iloc[0]


FORMS = ("histogram", "latency", "requests")
DRAW = np.random.default_rng(5)


@pytest.mark.parametrize("form", FORMS)
def test_two_modes_are_seen(form):
    """A delayed acknowledgement: 15 % of the responses take 40 ms longer."""
    times = np.r_[DRAW.normal(0.002, 0.0002, 850), DRAW.normal(0.042, 0.002, 150)]
    found = modes_of(times, form)
    assert found["severity"] == "warning" and "are modes" in found["evidence"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "times",
    [
        DRAW.exponential(0.01, 1000), DRAW.normal(0.01, 0.001, 1000), DRAW.uniform(0.01, 0.02, 1000),
        DRAW.pareto(1.5, 1000) * 0.001 + 0.001, np.r_[DRAW.normal(0.002, 0.0002, 960), DRAW.normal(0.2, 0.01, 40)],
        np.ceil(DRAW.lognormal(3, 0.5, 1000)) / 1000,
    ],
    ids=["exponential", "normal", "uniform", "heavy tail", "4 % retransmitted", "whole milliseconds"],
)  # fmt: skip
def test_one_mode_raises_no_alarm(times, form):
    assert modes_of(times, form)["severity"] == "ok"


@pytest.mark.parametrize(("slow", "severity"), [(0.019, "ok"), (0.025, "warning")])
def test_both_sides_of_the_distance(slow, severity):
    """Modes of 10 ms and of about twice that: the edges of both modes are compared."""
    times = np.r_[DRAW.normal(0.010, 0.0002, 1000), DRAW.normal(slow, 0.0002, 1000)]
    assert modes_of(times, "latency")["severity"] == severity


def test_a_summary_of_percentiles_shows_no_modes():
    runs = check("runs", pd.DataFrame([RUN | {"run_id": "r0", "requests": 1000}]))
    rows = pd.DataFrame({"study": "s", "run_id": "r0", "quantile": [0.5, 0.9, 0.99], "latency_s": [0.1, 5.0, 6.0]})
    found = all_rules()["several-modes"].audit({"runs": runs, "latency": check("latency", rows)}).iloc[0]
    assert found["severity"] == "unchecked" and "hey" in found["advice"]


@pytest.mark.parametrize("file", ["hey/plain.txt", "oha/json.txt", "fortio/json.txt", "wrk2/rate2000.txt"])
def test_recorded_response_times_raise_no_alarm(file):
    tables = read(ROOT / "lib" / "tests" / "data" / file).tables
    checked = {name: check(name, frame, extra=True) for name, frame in tables.items()}
    assert not all_rules()["several-modes"].audit(checked)["severity"].isin(["warning", "error"]).any()
