"""Every experiment of the five reports: complete rows, claims, studies and figures that exist, and two verdicts."""

import csv
import shutil

import pandas as pd
import pytest
from conftest import ROOT
from one_test import in_one_test

from loadcurve import read_published
from loadcurve.audit import NO_CLAIM, VERDICTS, judge_experiments
from loadcurve.errors import LoadcurveError, ParseError
from loadcurve.files import paths
from loadcurve.ingest.published import read_experiments
from loadcurve.notebooks.source import read_captions
from loadcurve.stats import Estimate

NOTEBOOKS = {path.stem[3:]: path for path in (ROOT / "notebooks").glob("5[0-4]_*.ipynb")}
each_report = in_one_test("report", sorted(NOTEBOOKS))


def test_each_of_the_five_reports_has_its_experiments():
    assert {file.parent.name for file in ROOT.glob("data/published/*/experiments.csv")} == set(NOTEBOOKS)
    assert len(NOTEBOOKS) == 5


@each_report
def test_every_claim_belongs_to_an_experiment(report):
    assert set(read_published(report, "claims")["name"]) == set(" ".join(read_experiments(report)["claims"]).split())


@each_report
def test_every_study_is_recorded_or_ready_to_launch(report):
    for row in read_experiments(report).itertuples():
        for study in row.study.split():
            recorded, design = ((place / study / "study.yml").is_file() for place in (paths.studies(), paths.designs()))
            assert design or recorded, f"{row.experiment}: {study}"
            assert recorded or not row.measured, f"{row.experiment}: {study} is measured and not recorded"


@each_report
def test_every_figure_is_published_and_on_the_page(report):
    path = NOTEBOOKS[report]
    page = (ROOT / "handbook" / "studies" / f"{path.stem}.md").read_text("utf-8")
    published = {slug for kind, slug in read_captions(path) if kind == "Figure"}
    for row in read_experiments(report).query("figure != ''").itertuples():
        assert row.figure in published, row.experiment
        assert f'figure(nb, "{row.figure}")' in page, row.experiment


@in_one_test(
    ("report", "name"),
    [
        ("rt_qps_threads", "full"),  # a model contradicts it, and no processor was watched
        ("rt_qps_threads", "carried"),  # X R counts requests, not connections
        ("rt_qps_threads", "processor"),  # only the reason that is given for it is refuted
        ("rt_qps_threads", "size"),  # no quoted output is of the directory that holds the image
        ("bottleneck_listeners", "binding"),  # places, of rates that are lost
        ("scale_out_lvs", "gain"),  # its divisor is a lower bound
        ("scale_out_lvs", "one"),  # each socket beside the other, tuned and behind a director
        ("scale_out_lvs", "even"),  # two example paths
        ("lvs_acceptance", "interrupts"),  # a peak and a mean can round to the same number
        ("lvs_acceptance", "near"),  # the limit of the card is not printed
        ("lvs_acceptance", "sticky"),  # it says the same LVS, of which there is one
        ("nginx_10gbe", "Test 7"),  # Resin, of which there is no package
        ("scale_out_lvs", "3, means"),  # the report's repeats, by ours
        ("scale_out_lvs", "2.3.2, steps 1 to 5"),  # affinity, by what the balancer adds
        ("lvs_acceptance", "2, most connections"),  # softirq on processors that all hosts share
        ("lvs_acceptance", "4, many rules"),  # LVS, by a map of nft
    ],
)
def test_what_was_measured_of_something_else_tests_nothing(report, name):
    claims, experiments = read_published(report, "claims"), read_experiments(report)
    [row] = [*claims[claims["name"] == name].itertuples(), *experiments[experiments["experiment"] == name].itertuples()]
    assert (row.instead or not row.measured) and row.settles


@each_report
def test_an_absolute_quantity_of_another_system_is_named_as_such(report):
    """Each rerun of a claim was on another system: the row says how it differs, or what was measured instead."""
    rows = read_experiments(report).query("claims != '' and measured != ''")
    assert all(rows["differs"].ne("") | rows["instead"].ne(""))


BLANK = "measured at_least at_most neutral scope differs instead despite evidence because figure settles"
ROW = dict.fromkeys(BLANK.split(), "")
ROW |= {"experiment": "Test 1", "title": "A test", "claims": "a b", "study": "plain"}
RATE = {"measured": "rate_rps", "at_least": "97", "evidence": "{rate_rps}."}
SHOWN = "100 [98.0 to 102] requests/s."
ELSEWHERE = {"differs": "two processors", "settles": "the report's server"}


@pytest.fixture(scope="module")
def reruns(tmp_path_factory) -> str:
    """Where each rerun is: a folder for each report of wrk."""
    folder = tmp_path_factory.mktemp("reruns")
    for name in ("plain", "fdlimit"):
        (folder / name).mkdir()
        shutil.copy(ROOT / f"lib/tests/data/wrk/{name}.txt", folder / name)
    return f"{folder}/{{study}}"


@pytest.mark.parametrize(
    ("row", "verdict", "evidence"),
    [
        (RATE, "agrees", SHOWN),
        (RATE | {"because": "1/R: {model_rps}."}, "explained by a model", f"{SHOWN} 1/R: 99.0 requests/s."),
        (RATE | {"at_least": "300000"}, "contradicted", SHOWN),
        (RATE | {"at_least": "300000"} | ELSEWHERE, "not tested here", SHOWN),
        (RATE | {"at_least": "300000", "neutral": "0"} | ELSEWHERE, "same direction, other size", SHOWN),
        ({"settles": "a physical card"}, "not tested here", ""),
        ({"claims": ""}, NO_CLAIM, ""),
        (RATE | {"claims": ""}, NO_CLAIM, SHOWN),
    ],
)  # fmt: skip
def test_the_rerun_is_judged_like_a_claim(row, verdict, evidence, reruns):
    quantities = {"rate_rps": Estimate(100.0, 98.0, 102.0, 0.95, "t"), "model_rps": 99.0}
    claims = {"a": "agrees", "b": "explained by a model"}
    [found] = judge_experiments(pd.DataFrame([ROW | row]), claims, quantities, reruns).itertuples()
    assert (found.rerun, found.evidence) == (verdict, evidence)
    assert verdict in {*VERDICTS, NO_CLAIM}


@pytest.mark.parametrize(
    ("row", "rerun", "why"),
    [
        ({"settles": "an idle machine"}, "not tested here", "connections-opened; effective-concurrency"),
        ({"despite": "only files count"}, "agrees", "connections-opened; effective-concurrency, but only files count"),
    ],
)
def test_runs_with_errors_of_the_audit_test_nothing_without_a_reason(row, rerun, why, reruns):
    """wrk reported 6,980 connections that failed to open."""
    quantities, claims = {"rate_rps": Estimate(100.0, 98.0, 102.0, 0.95, "t")}, {"a": "agrees", "b": "agrees"}
    broken = ROW | RATE | {"study": "fdlimit"}
    [found] = judge_experiments(pd.DataFrame([broken | row]), claims, quantities, reruns).itertuples()
    assert (found.rerun, found.audit) == (rerun, f"fdlimit: do not use: {why}")
    with pytest.raises(LoadcurveError, match="settles must be an experiment"):
        judge_experiments(pd.DataFrame([broken]), claims, quantities, reruns)


AGREES, EXPLAINED, DIRECTION, CONTRADICTED, NOT_TESTED = VERDICTS


@pytest.mark.parametrize(
    ("verdict", "claims"),
    [
        (EXPLAINED, [EXPLAINED]),
        (AGREES, [AGREES, AGREES, EXPLAINED]),
        (NOT_TESTED, [EXPLAINED, NOT_TESTED, AGREES]),
        (CONTRADICTED, [NOT_TESTED, CONTRADICTED, EXPLAINED]),
        (NO_CLAIM, []),
    ],
)
def test_what_was_published_is_as_good_as_its_weakest_claim(verdict, claims, reruns):
    of_claims = {f"c{i}": one for i, one in enumerate(claims)}
    row = ROW | {"claims": " ".join(of_claims), "settles": "more"}
    assert judge_experiments(pd.DataFrame([row]), of_claims, {}, reruns)["published"].tolist() == [verdict]


def test_an_experiment_that_cannot_be_judged_is_named(reruns):
    with pytest.raises(LoadcurveError, match="experiment 'Test 1': quantity 'x' must be given"):
        judge_experiments(pd.DataFrame([ROW | {"claims": "", "evidence": "{x}"}]), {}, {}, reruns)


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"title": ""}, "experiments.csv:3: expected a text as title, got ''"),
        ({"experiment": " "}, "experiments.csv:3: expected a text as experiment, got ''"),
        ({"study": ""}, "experiments.csv:3: expected a text as study, got ''"),
        ({"claims": "fills fulls"}, "experiments.csv:3: expected a name of claims.csv, got 'fulls'"),
        ({"experiment": "Test 1"}, "experiments.csv:3: expected an experiment once, got 'Test 1'"),
        ({"measured": "x", "evidence": "", "figure": "a"}, "csv:3: expected evidence beside what was measured"),
        ({"measured": "x", "evidence": "1", "figure": ""}, "csv:3: expected figure beside what was measured"),
    ],
)
def test_a_wrong_row_is_named_with_its_line(changed, expected, tmp_path, monkeypatch):
    folder = tmp_path / "data" / "published" / "nginx_10gbe"
    shutil.copytree(ROOT / "data" / "published" / "nginx_10gbe", folder)
    monkeypatch.setenv("LOADCURVE_ROOT", str(tmp_path))
    path = folder / "experiments.csv"
    with path.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    rows[1] |= changed
    with path.open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    with pytest.raises(ParseError, match=expected):
        read_experiments("nginx_10gbe")
