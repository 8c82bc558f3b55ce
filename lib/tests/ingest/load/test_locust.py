"""Locust: headers of every generation, what each number includes, and rows that cannot be."""

from pathlib import Path

import pytest

from loadcurve.ingest.files import parse_bytes

DATA = Path(__file__).parents[2] / "data/locust"
NEW = "Type,Name,Request Count,Failure Count,Median Response Time,Average Response Time,Min Response Time,"
NEW += "Max Response Time,Average Content Size,Requests/s,Failures/s,50%,66%,75%,80%,90%,95%,98%,99%"
ROW = ",Aggregated,39,5,81,109,66,402,1916,1.03,0.13,81,86,87,89,300,330,400,400"


def of(text):
    return parse_bytes(text.encode(), "x.csv")


@pytest.mark.parametrize(
    ("header", "row", "requests", "rps", "good"),
    [
        (NEW + ",99.9%,99.99%,100%", ROW + ",400,400,402", 39, 1.03, 0.90),  # 1.0 on
        (NEW + ",99.9%,99.99%,99.999%,100%", ROW.replace(",Agg", "None,Agg") + ",400,400,400,402", 39, 1.03, 0.90),
        ("Type,Name,# requests,# failures,Requests/s,Requests Failed/s", ",Aggregated,39,5,1.03,0.13", 39, 1.03, 0.9),
        ("Method,Name,# requests,# failures,Requests/s", "None,Total,34,5,0.68", 39, 0.78, 0.68),
    ],
)  # fmt: skip
def test_headers_of_every_generation(header, row, requests, rps, good):
    """Before 0.13 ``# requests`` leaves out failures, so the rate is of successful requests."""
    for text in (
        f"{header}\n{row}\n",
        "".join(f'"{name.strip(chr(34))}",' for name in header.split(","))[:-1] + f"\n{row}\n",
    ):
        run = of(text).tables["runs"].iloc[0]
        assert (run.requests, run.requests_failed) == (requests, 5)
        assert (run.throughput_rps, run.goodput_rps) == (pytest.approx(rps), pytest.approx(good))
        assert run.duration_s == pytest.approx(requests / rps)


def test_the_last_table_of_the_console_counts():
    text = (DATA / "console.txt").read_text()
    running = of(text.split("[2026-11-22 22:17:26,530]")[0])
    assert running.tables["runs"]["requests"].tolist() == [250]
    assert any("the table of percentiles does not follow" in warning for warning in running.warnings)


def test_quantiles_rounded_over_the_maximum_are_no_contradiction():
    text = (DATA / "stats.txt").read_text().replace(",32,32,32\n", ",33,33,33\n")
    assert of(text).warnings == ()
    assert "over the maximum" in of(text.replace(",33,33,33\n", ",55,55,55\n")).warnings[0]
