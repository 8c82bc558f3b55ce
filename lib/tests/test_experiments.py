"""Every experiment of the five reports: complete rows, claims, studies and figures that exist, and two verdicts."""

import csv
import shutil

import pandas as pd
import pytest
from conftest import ROOT
from one_test import in_one_test

from loadcurve import paths, read_published
from loadcurve.audit import NOT_RERUN, VERDICTS, judge_experiments
from loadcurve.captions import read_captions
from loadcurve.errors import LoadcurveError, ParseError
from loadcurve.ingest.experiments import read_experiments
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
            assert recorded or not row.check, f"{row.experiment}: {study} has a check and is not recorded"


@each_report
def test_every_figure_is_published_and_on_the_page(report):
    path = NOTEBOOKS[report]
    page = (ROOT / "handbook" / "studies" / f"{path.stem}.md").read_text("utf-8")
    published = {slug for kind, slug in read_captions(path) if kind == "Figure"}
    for row in read_experiments(report).query("figure != ''").itertuples():
        assert row.figure in published, row.experiment
        assert f'figure(nb, "{row.figure}")' in page, row.experiment


@in_one_test(
    ("report", "claim"),
    [
        ("rt_qps_threads", "full"),  # a model contradicts it, and no processor was watched
        ("rt_qps_threads", "carried"),  # X R counts requests, not connections
        ("rt_qps_threads", "processor"),  # only the reason that is given for it is refuted
        ("rt_qps_threads", "size"),  # no quoted output is of the directory that holds the image
        ("scale_out_lvs", "gain"),  # its divisor is a lower bound
        ("lvs_acceptance", "interrupts"),  # a peak and a mean can round to the same number
        ("lvs_acceptance", "near"),  # the limit of the card is not printed
        ("lvs_acceptance", "sticky"),  # it says the same LVS, of which there is one
    ],
)
def test_a_claim_about_what_was_not_measured_has_no_check(report, claim):
    assert read_published(report, "claims").set_index("name")["check"][claim] == ""


ROW = {"experiment": "Test 1", "title": "A test", "claims": "a b", "study": "delays", "check": "", "evidence": ""}
ROW |= {"because": "", "figure": "", "machine": ""}
CHECK = {"check": "abs(rate_rps / model_rps - 1) < 0.03", "evidence": "{rate_rps}, {lo_rate_rps} to {hi_rate_rps}."}


@pytest.mark.parametrize(
    ("row", "verdict", "evidence"),
    [
        (CHECK, "confirmed", "100 requests/s, 98.0 requests/s to 102 requests/s."),
        (CHECK | {"evidence": "{rate_rps}.", "because": "1/R: {model_rps}."}, "explained",
         "100 requests/s. 1/R: 99.0 requests/s."),
        (CHECK | {"check": "rate_rps > hi_rate_rps", "evidence": "{rate_rps}."}, "contradicted", "100 requests/s."),
        ({"machine": "a physical card"}, "not checkable", ""),
        ({"evidence": "{rate_rps}, but no packet was counted."}, "not checkable",
         "100 requests/s, but no packet was counted."),
        ({}, NOT_RERUN, ""),
    ],
)  # fmt: skip
def test_the_rerun_is_judged_by_its_check(row, verdict, evidence):
    quantities = {"rate_rps": Estimate(100.0, 98.0, 102.0, 0.95, "t"), "model_rps": 99.0}
    [found] = judge_experiments(
        pd.DataFrame([ROW | row]), {"a": "confirmed", "b": "explained"}, quantities
    ).itertuples()
    assert (found.rerun, found.evidence) == (verdict, evidence)
    assert verdict in {*VERDICTS, NOT_RERUN}


@pytest.mark.parametrize(
    ("verdict", "claims"),
    [
        ("explained", "explained"),
        ("confirmed", "confirmed confirmed explained"),
        ("not checkable", "explained not_checkable confirmed"),
        ("contradicted", "not_checkable contradicted explained"),
        ("not checkable", ""),
    ],
)  # fmt: skip
def test_what_was_published_is_as_good_as_its_weakest_claim(verdict, claims):
    of_claims = {f"c{i}": one.replace("_", " ") for i, one in enumerate(claims.split())}
    found = judge_experiments(pd.DataFrame([ROW | {"claims": " ".join(of_claims)}]), of_claims, {})
    assert found["published"].tolist() == [verdict]


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"check": "x < y", "evidence": "1"}, "experiment 'Test 1': check must be a comparison of quantities"),
        ({"check": "1 < 2", "evidence": "so it is"}, "experiment 'Test 1': evidence must be the numbers of the check"),
        ({"evidence": "{x}"}, "experiment 'Test 1': quantity 'x' must be given"),
    ],
)
def test_an_experiment_that_cannot_be_judged_is_named(row, says):
    with pytest.raises(LoadcurveError, match=says):
        judge_experiments(pd.DataFrame([ROW | {"claims": ""} | row]), {}, {})


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"title": ""}, "experiments.csv:3: expected a text as title, got ''"),
        ({"experiment": " "}, "experiments.csv:3: expected a text as experiment, got ''"),
        ({"study": ""}, "experiments.csv:3: expected a text as study, got ''"),
        ({"claims": "fills fulls"}, "experiments.csv:3: expected a name of claims.csv, got 'fulls'"),
        ({"experiment": "Test 1"}, "experiments.csv:3: expected an experiment once, got 'Test 1'"),
        ({"check": "1 < 2", "evidence": "", "figure": "a"}, "experiments.csv:3: expected evidence beside the check"),
        ({"check": "1 < 2", "evidence": "1", "figure": ""}, "experiments.csv:3: expected figure beside the check"),
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
