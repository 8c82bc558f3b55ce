"""From tables to an answer: the results are those of the models, and what is missing narrows the answer by a reason."""

import re
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from loadcurve import analyse, models, plots
from loadcurve.analysis import bottlenecks, parse_objective
from loadcurve.analysis.levels import add_quantiles
from loadcurve.analysis.sentences import throughput_key
from loadcurve.errors import LoadcurveError
from loadcurve.report import text_report
from loadcurve.report.figures import Figures
from loadcurve.tables.schemas import failures

CONNECTIONS = np.array([1, 2, 4, 8, 16, 32, 64])


def sweep(throughput, **more):
    rows = {
        "run_id": [f"c{n}" for n in CONNECTIONS],
        "tool": "wrk",
        "status": "finished",
        "connections": CONNECTIONS,
        "throughput_rps": throughput,
        "latency_mean_s": CONNECTIONS / throughput,
    }
    return pd.DataFrame(rows | more)


@pytest.fixture(scope="module")
def scaling():
    """A server that follows the Universal Scalability Law exactly, with a p99 of twice the mean response time."""
    runs = sweep(models.usl(CONNECTIONS, 1000.0, 0.05, 0.0005))
    latency = pd.DataFrame({"run_id": runs["run_id"], "quantile": 0.99, "latency_s": 2 * runs["latency_mean_s"]})
    return {"runs": runs, "latency": latency}


def test_the_law_that_made_the_data_is_found(scaling):
    curve = analyse(scaling).curves[0]
    assert curve["usl.unit_throughput_rps"].value == pytest.approx(1000, rel=1e-6)
    assert curve["usl.contention"].value == pytest.approx(0.05, rel=1e-4)
    assert curve["usl.peak"].value == pytest.approx(np.sqrt(0.95 / 0.0005), rel=1e-4)  # Gunther 2007, eq. (4.33)
    assert curve["latency_min"].value == pytest.approx(1e-3)
    assert curve["saturation"].value == pytest.approx(1e-3 * curve["peak"].value)


def test_capacity_is_the_last_level_that_keeps_the_objective(scaling):
    p99 = 2 * scaling["runs"]["latency_mean_s"].to_numpy()
    between = (p99[3] + p99[4]) / 2
    curve = analyse(scaling, objectives=[f"p99={between * 1e3:.6f}ms"]).curves[0]
    assert (curve["capacity"].lo, curve["capacity"].hi) == (8, 16)
    assert curve["capacity_throughput"].value == pytest.approx(scaling["runs"]["throughput_rps"][3])


def test_runs_alone_give_the_rest_and_say_what_is_missing(scaling):
    curve = analyse({"runs": scaling["runs"]}, objectives="p99=3ms").curves[0]
    assert "saturation" in curve and "usl.peak" in curve and "capacity" not in curve
    assert "run wrk with --latency" in " ".join(curve.missing.values())
    assert "no sample of a monitor belongs to these runs" in curve.missing["Bottleneck"]


def test_unknown_connections_are_named_with_what_to_note():
    """hey prints no number of connections."""
    found = analyse({"runs": sweep(models.usl(CONNECTIONS, 1000.0, 0.05, 0.0005)).assign(connections=None)})
    assert found.not_used == (f"{len(CONNECTIONS)} runs of wrk: fill the column connections",)
    assert Figures()(found.curves[0]) == []  # no figure, and no second reason


def test_the_main_curve_has_the_most_loads(scaling):
    """A single report of ab beside a sweep of wrk comes first by its name."""
    one = sweep(models.usl(CONNECTIONS, 1000.0, 0.05, 0.0005)).head(1).assign(run_id="x", tool="ab", connections=32)
    found = analyse({"runs": pd.concat([scaling["runs"], one])})
    assert len(found.curves) == 2 and found.main_curve is not found.curves[0]
    assert found.main_curve.levels["connections"].tolist() == CONNECTIONS.tolist()


def test_a_limit_that_an_unwatched_load_exceeded_is_no_limit(scaling):
    """Only the three lowest loads were watched; the processor's line ends below the throughput of the highest."""
    watched = scaling["runs"].head(3)
    cpu = pd.DataFrame({"run_id": watched["run_id"], "cpu": "all", "cpu_idle_ratio": [0.7, 0.5, 0.2]})
    curve = analyse(scaling | {"cpu": cpu}).curves[0]
    assert "were measured at connections = 32, where no monitor watched" in curve.missing["Bottleneck"]
    assert not curve.bottleneck and curve.bottlenecks.empty
    every = pd.DataFrame({"run_id": scaling["runs"]["run_id"], "cpu": "all", "cpu_idle_ratio": 0.5})
    assert "Bottleneck" not in analyse(scaling | {"cpu": every}).curves[0].missing


def test_few_levels_give_what_they_can(scaling):
    for levels, known in ((1, {"peak"}), (3, {"peak", "latency_min", "demand"})):
        curve = analyse({"runs": scaling["runs"].head(levels)}).curves[0]
        assert {result.name for result in curve.results} == known
        assert curve.missing


def test_different_settings_are_never_one_curve(scaling):
    both = pd.concat([scaling["runs"].assign(threads=1), scaling["runs"].assign(threads=2, run_id="x")])
    found = analyse({"runs": both})
    assert [curve.variant for curve in found.curves] == ["threads=1", "threads=2"]
    assert set(found.levels["variant"]) == {"threads=1", "threads=2"}


def test_servers_that_change_with_the_load_give_their_efficiency_and_no_law():
    """Of three runs each: 100 requests/s of one server and 190 of two are 95 % of twice as much, and 90 more."""
    rates = {1: [99.0, 100.0, 101.0], 2: [189.0, 190.0, 191.0], 4: [359.0, 360.0, 361.0]}
    rows = [(f"p{n}-r{i}", str(n), 8 * n, rate) for n, found in rates.items() for i, rate in enumerate(found)]
    runs = pd.DataFrame(rows, columns=["run_id", "level", "connections", "throughput_rps"]).assign(
        study="s", tool="wrk"
    )
    factors = runs[["study", "run_id", "level"]].assign(factor="topology.servers")
    for last, efficiency, marginal in ((2, 0.95, 90.0), (4, 0.9, 85.0)):
        kept = runs[runs["connections"] <= 8 * last].drop(columns="level")
        (curve,) = analyse({"runs": kept, "factors": factors[factors["run_id"].isin(kept["run_id"])]}).curves
        assert curve["scale_out.efficiency"].value == pytest.approx(efficiency)
        assert curve["scale_out.marginal"].value == pytest.approx(marginal)
        assert not {"saturation", "demand", "usl.contention"} & {result.name for result in curve.results}
    said = str(analyse({"runs": runs.drop(columns="level"), "factors": factors}))
    assert "Efficiency of 4 servers against 1 server" in said and "at servers = 4, 32 connections" in said
    assert "no law over the load holds" in said and "levels of connections" not in said
    alone = analyse({"runs": runs.drop(columns="level")}).curves[0]
    assert "demand" in alone, "without the factor it is a sweep of connections"


def test_a_full_generator_makes_a_rate_a_lower_bound(scaling):
    """Every table of loads has its use beside the rate; 90 % is what the rules call saturated."""
    runs = scaling["runs"]
    busy = pd.DataFrame({"run_id": runs["run_id"], "cpu": "0", "host": "C1", "cpu_idle_ratio": 0.03})
    hosts = runs.assign(host="C1", generator_cpu="0")
    for idle, words in ((0.03, "at least "), (0.5, "")):
        said = analyse({"runs": hosts, "cpu": busy.assign(cpu_idle_ratio=idle)})
        text = " ".join(str(said).split())
        assert f"Highest throughput: {words}" in text and "generator busy" in text
        assert ("at least" in said.answer) == bool(words)
        (curve,) = said.curves
        assert ("triangles: the load generator is full" in throughput_key(curve)) == bool(words)
        (_, full) = plots.plot_curve_throughput(curve).lines[-2:]
        assert len(full.get_xdata()) == (len(curve.levels) if words else 0)


@pytest.mark.parametrize(
    ("rates", "said"),
    [
        ((50, 99, 100, 100), "from children=4 on, the intervals overlap"),
        ((50, 70, 90, 100), ""),
        ((50, 100, 99, 50), ""),
    ],
)
def test_an_optimum_of_a_number_says_from_where_on_the_rates_are_alike(rates, said):
    """Intervals of three runs that scatter by 1 requests/s are some 5 wide; a rate that falls again has no start."""
    rows = [
        {"run_id": f"n{n}-r{k}", "variant": f"children={n}", "connections": 80, "throughput_rps": rate + k}
        for n, rate in zip((2, 4, 8, 16), rates, strict=True)
        for k in range(3)
    ]
    answer = analyse({"runs": pd.DataFrame(rows)}).answer
    assert (said in answer) if said else ("overlap" not in answer), answer


def test_a_busy_processor_is_named(scaling):
    runs = scaling["runs"]
    busy = runs["throughput_rps"] / runs["throughput_rps"].max() * 0.97
    cpu = pd.DataFrame({"run_id": runs["run_id"], "cpu": "all", "cpu_idle_ratio": 1 - busy})
    found = analyse(scaling | {"cpu": cpu}).curves[0]
    assert found.bottleneck.startswith("saturated: all CPUs is 97 % busy at connections = ")


def test_error_pages_are_no_throughput_and_a_rise_has_no_saturation():
    runs = sweep(np.array([100.0, 200, 400, 800, 1600, 3200, 90_000]), requests=1000, errors_status=[0] * 6 + [900])
    (curve,) = analyse({"runs": runs}).curves
    assert curve["peak"].value == 3200 and "still rises" in curve.missing["Saturation N*"]


def test_one_load_that_saturates_nothing_names_no_bottleneck():
    rates = [100.0, 102.0, 98.0, 101.0]
    runs = pd.DataFrame({"run_id": list("abcd"), "connections": 8, "throughput_rps": rates})
    for idle, named in ((0.5, False), (0.02, True)):
        cpu = pd.DataFrame({"run_id": list("abcd"), "cpu": "all", "cpu_idle_ratio": [idle, idle, idle, idle + 0.01]})
        curve = analyse({"runs": runs, "cpu": cpu}).curves[0]
        assert ("one load that saturates nothing" in curve.missing.get("Bottleneck", "")) != named


def test_an_open_loop_is_read_over_its_rate():
    runs = sweep(CONNECTIONS * 10.0, connections=8, target_rate_rps=CONNECTIONS * 10.0)
    curve = analyse({"runs": runs}, objectives="mean=1s").curves[0]
    assert curve.load == "target_rate_rps"
    assert list(curve.levels["target_rate_rps"]) == list(CONNECTIONS * 10.0)
    assert "usl.peak" not in curve and "capacity" in curve


def test_closed_and_open_loops_in_one_folder_are_curves_of_their_own():
    closed = sweep(CONNECTIONS * 90.0)
    rates = sweep(CONNECTIONS * 10.0, connections=None, target_rate_rps=CONNECTIONS * 10.0)
    found = analyse({"runs": pd.concat([closed, rates.assign(run_id="rate" + rates["run_id"])])})
    assert [(curve.variant, curve.load) for curve in found.curves] == [
        ("closed loop", "connections"), ("open loop", "target_rate_rps"),
    ]  # fmt: skip
    assert [len(curve.levels) for curve in found.curves] == [len(CONNECTIONS)] * 2


def test_a_rule_without_its_numbers_is_no_finding():
    rates = sweep(CONNECTIONS * 10.0, connections=None, target_rate_rps=CONNECTIONS * 10.0)
    found = analyse({"runs": rates})
    assert set(found.findings.query("rule == 'effective-concurrency'")["severity"]) == {"unchecked"}
    assert "effective-concurrency" not in text_report(found).split("Not checked:")[0]


@pytest.mark.parametrize(
    "wrong",
    ["p99", "p99=", "p99=200", "p0=1s", "p100=1s", "errors=2", "errors=1ms", "x=1s", "p99>3ms", "p99=3,5ms", ""],
)
def test_a_wrong_objective_is_one_line(scaling, wrong):
    with pytest.raises(LoadcurveError, match=f"objective must .*, got {wrong!r}"):
        analyse(scaling, objectives=wrong)
    with pytest.raises(LoadcurveError, match="objective must"):  # before minutes of reading
        analyse("no such folder", objectives=wrong)


def test_objectives_in_every_unit():
    for text, most in (("p99=200ms", 0.2), ("p99.9<=1s", 1.0), ("max=50us", 5e-5), ("errors=0.1%", 1e-3)):
        assert parse_objective(text).maximum == pytest.approx(most)
    for text in ("p99=3ms", "p99<3ms", "P99 ≤ 3 MS", "p99=3000us", "p99=3000\u00b5s", "p99=3000\u03bcs"):  # micro, mu
        assert str(parse_objective(text)) == "latency_p99_s <= 0.003"
    assert str(parse_objective("median=1s")) == "latency_p50_s <= 1" == str(parse_objective("p50=1s"))
    assert str(parse_objective("avg=1s")) == "latency_mean_s <= 1" and str(parse_objective("error=1%"))[:5] == "error"


def test_the_worst_generator_gives_the_quantile_of_a_run():
    latency = pd.DataFrame({"run_id": "a", "generator": [0, 1], "quantile": 0.99, "latency_s": [0.1, 0.3]})
    assert add_quantiles(pd.DataFrame({"run_id": ["a"]}), latency)["latency_p99_s"].tolist() == [0.3]


def test_nothing_to_analyse_is_one_line(scaling):
    with pytest.raises(LoadcurveError, match="the report of a load generator .*, got only cpu: add"):
        analyse({"cpu": pd.DataFrame({"cpu": ["all"]})})
    with pytest.raises(LoadcurveError, match="a finished run, got 7 runs that failed"):
        analyse({"runs": scaling["runs"].assign(status="failed")})


def test_the_text_shows_every_part_and_fits_the_terminal(scaling):
    text = text_report(analyse(scaling, objectives="p99=3ms", source="results"), width=80)
    for part in ("results: 7 runs", "Verdict: usable", "connections", "Saturation N*",
                 "Capacity in connections under p99 ≤ 3.00 ms", "Not computed:", "Measure next:"):  # fmt: skip
        assert part in text
    assert max(map(len, text.splitlines())) <= 100
    assert text_report(analyse(scaling), unicode=False).count("#") > 20


FOLDERS = Path(__file__).parent / "data/folders"


@pytest.fixture
def two_folders(tmp_path):
    """The same three reports in two folders, one of them with a monitor's file."""
    for name in ("main", "change"):
        (tmp_path / name).mkdir()
        for level in (1, 2, 4):
            shutil.copy(FOLDERS / f"wrk_only/c{level}.txt", tmp_path / name)
    return tmp_path


def test_several_folders_are_variants_and_never_repeats(two_folders):
    found = analyse([two_folders / "main", two_folders / "change"])
    assert [curve.variant for curve in found.curves] == ["change", "main"]
    assert (found.levels["runs"] == 1).all()
    assert found.tables["runs"]["run_id"].is_unique
    assert "variant of every run: the folder that was named" in found.origins


def test_folders_of_one_name_are_named_by_their_parents(two_folders):
    for name in ("main", "change"):
        (two_folders / name / "wrk").mkdir()
        for file in (two_folders / name).glob("*.txt"):
            file.rename(two_folders / name / "wrk" / file.name)
    found = analyse([two_folders / "main/wrk", two_folders / "change/wrk"])
    assert [curve.variant for curve in found.curves] == ["change/wrk", "main/wrk"]


def test_folders_with_variants_of_their_own_keep_them(two_folders):
    for name in ("main", "change"):
        rows = "".join(f"c{level}.txt,build {name}\n" for level in (1, 2, 4))
        (two_folders / name / "factors.csv").write_text(f"file,variant\n{rows}")
    found = analyse([two_folders / "main", two_folders / "change"])
    assert [curve.variant for curve in found.curves] == ["build change", "build main"]


def test_one_folder_named_twice_is_read_once(two_folders):
    assert len(analyse([two_folders / "main"] * 2).tables["runs"]) == 3


def test_files_are_read_as_the_folder_that_holds_them():
    files = sorted((FOLDERS / "ab_sar").glob("*.txt"))
    found = analyse(files)
    assert len(found.curves) == 1
    pd.testing.assert_frame_equal(found.levels, analyse(FOLDERS / "ab_sar").levels)
    assert set(found.tables["cpu"]["run_id"]) == set(found.tables["runs"]["run_id"])


def test_factors_are_found_in_names_of_files(tmp_path):
    for source, name in (("1", "a-c1"), ("2", "a-c2"), ("1", "b-c1"), ("2", "b-c2")):
        shutil.copy(FOLDERS / f"wrk_only/c{source}.txt", tmp_path / f"{name}.txt")
    found = analyse(tmp_path, factors={"variant": "^([ab])-"})
    assert [curve.variant for curve in found.curves] == ["a", "b"]


def test_a_path_that_cannot_be_read_has_one_line_and_the_rest_an_answer(two_folders):
    (two_folders / "notes.txt").write_text("nothing of a load test\n")
    paths = [str(two_folders / name) for name in ("main", "no such folder", "notes.txt", "change")]
    found = analyse(paths)
    assert len(found.not_read) == 2 and "no such folder" in found.not_read[0] and "notes.txt" in found.not_read[1]
    assert "Not read:\n1. " in str(found)
    with pytest.raises(LoadcurveError, match="no such folder.*\n.*notes.txt"):
        analyse(paths[1:3])
    with pytest.raises(LoadcurveError, match="must not be empty"):
        analyse("")


def test_a_factor_that_changes_along_the_load_is_named(scaling):
    runs = scaling["runs"].assign(tool_version=["4.1"] * 4 + ["4.2"] * 3)
    weak = analyse({"runs": runs}).curves[0]["peak"].warnings
    assert any(warning.startswith("tool_version differs between connections (4.1, 4.2)") for warning in weak)
    runs = scaling["runs"].assign(tool=["wrk"] * 4 + ["ab"] * 3)
    assert len(analyse({"runs": runs}).curves) == 2  # tools differ too much for one curve
    # wrk refuses more threads than connections, so these threads follow the load by necessity.
    runs = scaling["runs"].assign(threads=np.minimum(CONNECTIONS, 8))
    assert not any("threads" in warning for warning in analyse({"runs": runs}).curves[0]["peak"].warnings)


def test_a_processor_that_other_work_keeps_busy_is_no_bottleneck(scaling):
    runs = scaling["runs"]
    cpu = pd.DataFrame({"run_id": runs["run_id"], "cpu": "all", "cpu_idle_ratio": 0.01})
    found = analyse(scaling | {"cpu": cpu}).curves[0].bottleneck
    assert found.startswith("not known: all CPUs is at least 90 % busy from connections = 1 on, yet throughput rises")


@pytest.mark.parametrize(
    ("throughput", "rises"),
    [
        ([10, 20, 40, 80, 160, 300, 600], True),
        ([10, 20, 40, 80, 160, 300, 301], False),
        ([10, 20, 40, 300, 160, 200, 220], False),  # an earlier level was faster
        ([10, 20, 40, 80, 160, [200, 300, 400], [210, 330, 450]], False),  # within the scatter of the repeats
        ([10, 20, 40, 80, 160, [299, 300, 301], [349, 350, 351]], True),
    ],
)
def test_higher_loads_are_advised_while_throughput_rises(throughput, rises):
    runs = [(n, each) for n, of in zip(CONNECTIONS, throughput, strict=True) for each in np.atleast_1d(of)]
    table = pd.DataFrame(runs, columns=["connections", "throughput_rps"]).astype(float)
    table = table.assign(run_id=[f"r{i}" for i in table.index], status="finished", latency_mean_s=0.01)
    assert any("still rises" in step for step in analyse({"runs": table}).next_steps) == rises


def test_the_advice_names_no_load_below_one_connection(scaling):
    found = analyse(scaling, objectives="p99=1us")
    assert found.curves[0]["capacity"].value == 0
    assert any(step.startswith("Not even 1 connection keeps") for step in found.next_steps)
    assert not any("below 1" in step for step in found.next_steps)


def test_failed_requests_are_in_the_verdict_and_the_first_step(scaling):
    runs = scaling["runs"].assign(requests=100, errors_status=[0, 0, 0, 0, 0, 2, 100])
    found = analyse({"runs": runs})
    capacity = "usable with care: up to 32 connections, as above it failed-requests in 1 of 7 runs"
    assert str(found.verdict).startswith(capacity) and len(found.findings.query("severity == 'error'")) == 1
    first = analyse({"runs": runs.assign(errors_status=[100, 0, 0, 0, 0, 0, 100])})
    assert str(first.verdict) == "do not use: failed-requests in 2 of 7 runs"
    assert found.curves[0]["peak"].warnings[0].startswith("up to 100 % of the requests failed")
    assert found.next_steps[0].startswith("Read the server's error log")
    assert "failed-requests" not in str(analyse({"runs": runs.assign(errors_status=1)}).verdict)


def test_a_load_that_clients_could_not_reach_or_were_refused_at_is_no_capacity(scaling):
    """`wrk -c64` under `ulimit -n 32` exits with 0 and a healthy rate; hey counts refused connections as failed."""
    failing = [0] * 6 + [40]
    for tool, share in (("wrk", 40 / 64), ("hey", 40 / 1040)):
        runs = scaling["runs"].assign(tool=tool, requests=1000, errors_connect=failing, latency_p99_s=0.01)
        found = analyse({"runs": runs}, objectives="p99=20ms").curves[0]
        assert (found["capacity"].lo, found["capacity"].hi) == (32, 64), tool
        assert found.levels["error_ratio"].iloc[-1] == pytest.approx(share)


def test_no_interval_of_a_throughput_reaches_below_0():
    """Two runs that differ by a factor of three have a t interval (12.7 standard errors) from far below 0."""
    runs = pd.DataFrame({"run_id": list("abcd"), "connections": [1, 1, 2, 2], "throughput_rps": [100.0, 300, 150, 50]})
    curve = analyse({"runs": runs.assign(latency_mean_s=0.01)}).curves[0]
    assert curve["peak"].lo == 0 and curve.levels["throughput_lo"].tolist() == [0, 0]


@pytest.mark.slow
def test_many_percentiles_cost_no_warning(scaling, recwarn):
    latency = [scaling["latency"].assign(quantile=percent / 1000) for percent in range(500, 700)]
    analyse(scaling | {"latency": pd.concat(latency)})
    assert not [one for one in recwarn if issubclass(one.category, pd.errors.PerformanceWarning)]


def test_the_next_steps_name_one_number_of_repeats_and_ask_for_nothing_that_is_there():
    """Repeats that scatter by a fifth; an open loop beside, whose last rate was held; one level of each server."""
    factors = np.array([0.8, 1.0, 1.2])
    closed = pd.DataFrame([{"connections": n, "throughput_rps": 90.0 * n * f} for n in (1, 2) for f in factors])
    steps = " ".join(analyse(closed).next_steps)
    # t = 2.110 at 17 degrees: 2.110 * 0.2 / 18**0.5 < 0.1
    assert set(re.findall(r"at least (\d+) times", steps)) == {"18"}
    open_loop = pd.DataFrame({"target_rate_rps": [10.0, 20, 40], "throughput_rps": [10.0, 20, 40], "tool": "wrk2"})
    found = analyse(open_loop)
    assert found.next_steps[0] == "The highest rate offered was held: offer 80 and 160 requests/s too."
    assert not any("open loop" in step for step in found.next_steps) and "No limit was reached" in found.answer
    servers = pd.DataFrame({"server": list("abc"), "connections": 8, "throughput_rps": [1.0, 2, 3]})
    text = str(analyse(servers))
    assert text.count("Not computed") == 1 and "does not establish the order of the curves" in text


def test_of_many_curves_the_main_ones_are_shown_and_what_is_common_is_computed_once(monkeypatch):
    """The work of a folder with thousands of URLs grows with its runs, not with its runs times its curves."""
    calls = Counter()

    def counted(module, name):
        function = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *given: calls.update([name]) or function(*given))

    counted(failures, "count_failures")
    counted(bottlenecks, "use_of_resources")
    work = []
    for number in (100, 250):
        each = pd.DataFrame(
            {"url": [f"http://a/{i}" for i in range(number)], "throughput_rps": np.arange(number) + 9.0}
        )
        longer = each.head(3).assign(connections=16)  # the slowest have most levels
        runs = pd.concat([each.assign(connections=8), longer], ignore_index=True)
        runs = runs.assign(run_id=[f"r{i}" for i in runs.index], tool="wrk", requests=900, latency_mean_s=0.01)
        calls.clear()
        found = analyse(runs)
        work.append(dict(calls))
    assert work[0] == work[1]
    text = str(found)
    shown = [curve.variant for curve in found.curves if re.search(rf"{curve.variant} ", text)]
    assert len(found.curves) == 250
    assert shown == sorted([f"url=http://a/{i}" for i in (0, 1, 2, *range(213, 250))])
    assert "250 curves, of which the report shows 40: those with most levels, then highest throughput." in text
    assert len(set(found.levels["variant"])) == len(set(found.results["variant"])) == 250
