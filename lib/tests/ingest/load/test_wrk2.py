"""wrk2: told from wrk; its spectrum; DeathStarBench's fork; reports of many shapes."""

import math
from pathlib import Path

import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

from loadcurve.ingest.load.wrk import parse_wrk, parse_wrk2
from loadcurve.ingest.sniff import parse

DATA = Path(__file__).parents[2] / "data"
SPECTRUM = (DATA / "wrk2/uncorrected.txt").read_text()
TAIL = (DATA / "wrk2/tail-instead-of-max.txt").read_text()
PLAIN = (DATA / "wrk/plain.txt").read_text()

SHORT = (DATA / "wrk/late-clock.txt").read_text()


def test_wrk2_is_told_by_what_only_it_prints():
    assert parse(SPECTRUM).tool == parse(TAIL).tool == "wrk2"
    assert parse(SHORT).tool == "wrk"  # nothing tells it
    assert parse(SHORT, "wrk2").tool == "wrk2"
    assert parse("$ wrk -t250 -c1000 -d5 -R 10000000 URL\n" + SHORT).tool == "wrk2"
    both = parse(PLAIN + SPECTRUM + PLAIN)
    assert both.tables["runs"]["tool"].tolist() == ["wrk", "wrk2", "wrk"]


def test_a_clock_that_started_late_is_said():
    """wrk2 issue 138: 250 threads took nearly all of the run to be created."""
    warnings = parse_wrk2(SHORT).warnings
    assert any("measured 0.00125 s of the 5 s asked for" in warning for warning in warnings)


def test_the_rate_of_the_command_is_kept_unless_it_cannot_be():
    assert parse(SPECTRUM).tables["runs"]["target_rate_rps"].tolist() == [400]
    wrong = parse(SPECTRUM.replace("-R400", "--rate 200"))
    assert "target_rate_rps" not in wrong.tables["runs"]
    assert any("another run" in warning for warning in wrong.warnings)
    assert "target_rate_rps" not in parse("$ wrk2 -R100 U\n" + SPECTRUM).tables["runs"]  # two commands, one report


def test_one_report_for_each_url_and_one_over_all():
    heading = "Running 30s test @ http://{}/\n  2 threads and 10 connections\n\n"
    ruler = "\n" + "-" * 71 + "\n"
    block = "\n".join(TAIL.split("\n")[6:9] + TAIL.split("\n")[-4:])
    overall = block.replace("588160", "Overall 588160")
    text = (
        heading.format("a") + heading.format("b") + "reconnect_socket\n" * 3
        + f"{ruler}Test Results @ http://b/ \nSent 588200 requests\n\n{block}"
        + f"{ruler}Test Results @ http://a/ \n{block}"
        + f"{ruler}---------------------------Overall Statistics--------------------------{ruler}{overall}"
    )  # fmt: skip
    parsed = parse(text)
    runs = parsed.tables["runs"]
    assert runs["url"].fillna("").tolist() == ["http://b/", "http://a/", ""]
    assert runs["threads"].tolist() == [2] * 3
    assert runs["requests"].tolist() == [588160] * 3
    assert runs["requests_started"].dropna().tolist() == [588200]
    assert "latency_max_s" not in runs
    assert parsed.tables["latency"]["latency_s"].tolist() == [1.51] * 3  # the third column is the 99th percentile
    assert len(parsed.warnings) == 1
    assert "sums those of all URLs" in parsed.warnings[0]


def test_a_footer_fills_what_the_fork_does_not_print():
    footer = "#[Mean    =  313.400, StdDeviation   =  513.500]\n#[Max     = 1750.000, Total count    =       10]\n"
    parsed = parse(TAIL.replace("\n\n---", f"\n\n  Detailed Percentile spectrum:\n{footer}---"))
    assert parsed.tables["runs"]["latency_max_s"].tolist() == [1.75]
    assert not parsed.warnings


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ("#[Mean    =        6.178", "#[Mean    =        7.178", "line 20: Mean 7.178 ms"),
        ("#[Max     =       11.312", "#[Max     =       21.312", "line 21: Max 21.312 ms"),
        (
            "Total count    =         7940]\n#[Buckets",
            "Total count    =         7941]\n#[Buckets",
            "line 21: the spectrum",
        ),
    ],
)
def test_a_footer_that_contradicts_is_said(right, wrong, said):
    assert any(warning.startswith(said) for warning in parse(SPECTRUM.replace(right, wrong, 1)).warnings)


def test_a_heading_with_a_letter_too_many_is_still_one():
    text = SPECTRUM.replace("Uncorrected Latency (measured", "Uncorrected Latency) (measured", 1)
    assert parse(text).tables["latency"]["corrected"].sum() == 5


def test_a_spectrum_of_many_responses_prints_some_percentiles_twice():
    rows = "      11.319     0.999999         7940    838860.80\n      11.319     0.999999         7940    932067.56\n"
    text = SPECTRUM.replace("      11.319     1.000000", rows + "      11.319     1.000000", 1)
    quantiles = parse(text).tables["latency"].query("corrected")["quantile"]
    assert quantiles.is_unique
    assert 1 - 1 / 932067.56 in quantiles.tolist()


def test_markdown_that_ate_the_signs_and_the_report():
    eaten = SPECTRUM.replace("#[", "[").replace("\n", "\n\n")
    assert parse(eaten).tables["latency"].equals(parse(SPECTRUM).tables["latency"])
    snippet = "\n".join(SPECTRUM.split("\n")[7:11])
    parsed = parse(f"Results:\n```\n{snippet}\n```\nas expected\n")
    assert parsed.tables["latency"]["latency_s"].tolist() == pytest.approx([0.00621, 0.01031, 0.01132])
    assert "status" not in parsed.tables["runs"]
    assert parsed.warnings


def test_a_rate_is_asked_for():
    text = "Throughput MUST be specified with the --rate or -R option\nUsage: wrk <options> <url>\n"
    run = parse(text).tables["runs"].iloc[0]
    assert (run.tool, run.status) == ("wrk2", "failed")
    assert run.reason == "Throughput MUST be specified with the --rate or -R option"


@examples(60)
@given(
    times=st.lists(st.integers(1, 10**9), min_size=3, max_size=40).map(sorted),
    counts=st.lists(st.integers(1, 10**6), min_size=40, max_size=40).map(sorted),
)
def test_a_spectrum_comes_back(times, counts):
    """What hdr_percentiles_print writes: %12.3f %12f %12d %12.2f, milliseconds of whole microseconds."""
    ranks = [1 - 0.5**i for i in range(len(times) - 1)] + [1.0]
    rows = [
        f"{us / 1000:12.3f} {rank:12f} {count:12d} " + (f"{1 / (1 - rank):12.2f}" if rank < 1 else f"{'inf':>12}")
        for us, rank, count in zip(times, ranks, counts[: len(times)], strict=True)
    ]
    head = SPECTRUM[: SPECTRUM.index("  Latency Distribution")]
    text = (
        f"{head}  Latency Distribution (HdrHistogram - Recorded Latency)\n\n  Detailed Percentile spectrum:\n"
        "       Value   Percentile   TotalCount 1/(1-Percentile)\n\n" + "\n".join(rows) + "\n"
    )
    latency = parse_wrk(text).tables["latency"]
    assert latency["latency_s"].tolist() == pytest.approx([us * 1e-6 for us in times], abs=1e-12)
    assert latency["quantile"].tolist() == pytest.approx(ranks, abs=6e-7)
    assert latency["responses"].tolist() == counts[: len(times)]
    assert math.isclose(latency["quantile"].iloc[-1], 1)
