"""The calculators give the numbers of the library, and “Is this benchmark possible?” the verdicts of its audit."""

import html
from itertools import product

import pytest
from chromium import needs_chromium, open_browser  # noqa: F401
from conftest import ROOT

from loadcurve import models, reading
from loadcurve.audit.registry import audit
from loadcurve.errors import LoadcurveError
from loadcurve.models import wire
from loadcurve.stats import repeats_for_difference

pytestmark = [pytest.mark.site, needs_chromium]
SITE, LINK_BPS = ROOT / "build" / "site", 1e9
SECONDS, PORTS = (0.0, 0.001, 0.2, 3.0), (28232, 64511)
GRID = {
    "threadsToFill": (models.threads_to_fill, product((0.001, 0.02), (0.0, 0.042, 1.5), (1, 4))),
    "threadsNeeded": (models.threads_needed, product((0.001, 0.02), (0.0, 0.042, 0.5), (1, 3, 16), (0.5, 0.9, 0.99))),
    "portLimit": (wire.port_limit_rps, product((1, 10, 1000), SECONDS, (1, 7), PORTS, (1, 60))),
    "destinationsNeeded": (wire.destinations_needed, product((100, 28232, 1e6), (1, 50), SECONDS, PORTS, (1, 60))),
    "perConnectionNeeded": (wire.requests_per_connection_needed, product((100, 28232, 1e6), SECONDS, (1, 7), PORTS)),
    "linkLimit": (wire.link_limit_rps, product((1e9, 1e10), (90, 1306.5, 1e6))),
    "usl": (models.usl, product((1, 2, 8, 300), (90, 1e4), (0.0, 0.03, 1.0), (0.0, 1e-5, 0.1))),
    "uslPeak": (models.usl_peak_connections, product((0.0, 0.03, 1.0), (1e-5, 0.1))),
    "repeatsForDifference": (
        lambda *row: repeats_for_difference(*row[:2], level=row[2], power=row[3]),
        product((0.005, 0.03, 0.2), (0.02, 0.1, 1.0), (0.9, 0.95, 0.99), (0.8, 0.95)),
    ),
}
TOOLS = ("wrk", "wrk2", "ab", "hey")
DATA = ROOT / "lib" / "tests" / "data"
TEXTS = [
    path
    for folder in (DATA / "samples", *(DATA / tool for tool in TOOLS), ROOT / "data" / "published")
    for path in sorted(folder.rglob("*"))
    if path.suffix in (".txt", ".out") and path.stat().st_size < 100_000
]
RULES = [
    "effective-concurrency", "failed-requests", "timeouts", "contradicting-numbers", "empty-replies",
    "throughput-above-link", "few-responses", "short-load", "connections-opened", "target-rate", "early-end",
]  # fmt: skip
CHECK = "text => Object.fromEntries(benchmark.check(benchmark.read(text), 1e9).map(one => [one.rule, one.verdict]))"


@pytest.fixture(scope="module")
def page(browser):
    page = browser.new_page()
    page.problems = []
    page.on("pageerror", lambda error: page.problems.append(str(error)))
    yield page
    assert not page.problems


@pytest.mark.parametrize("name", GRID)
def test_each_formula_is_the_library_s(page, name):
    function, rows = GRID[name][0], list(GRID[name][1])
    page.goto((SITE / "calculators.html").as_uri())
    found = page.evaluate("([name, rows]) => rows.map(row => formulas[name](...row))", [name, rows])
    assert found == pytest.approx([float(function(*row)) for row in rows], rel=1e-9)


def test_the_bytes_of_a_response_are_the_library_s(page):
    page.goto((SITE / "calculators.html").as_uri())
    keys = ("body", "header", "tls", "mtu", "ip", "perConnection")
    for row in product((0, 616, 16200, 1e6), (100, 1232), (0, 22), (1500, 9000), (20, 40), (1, 100)):
        found = page.evaluate("each => formulas.mediumBytes(each)", dict(zip(keys, row, strict=True)))
        of_wire = wire.Wire(mtu_bytes=row[3], ip_header_bytes=row[4])
        frames = wire.summarise_exchange(100, wire.message_bytes(*row[:3]), of_wire, requests_per_connection=row[5])
        assert found == pytest.approx(frames.query("direction == 'to_client'")["medium_bytes"].sum())


def test_a_result_is_shared_by_its_address_and_bad_input_is_named(page):
    page.goto((SITE / "calculators.html").as_uri() + "#little:connections=100&throughput=&latency=20&think=0")
    form = page.locator("form[data-calculator=little]")
    assert form.locator("output").inner_text() == "X = 5,000 requests/s"
    form.get_by_label("Response time R, ms").fill("50")
    assert form.locator("output").inner_text() == "X = 2,000 requests/s" and "latency=50" in page.url
    form.get_by_label("Response time R, ms").fill("fast")
    assert form.get_by_role("alert").inner_text() == "Response time R, ms: expected a number above 0, got “fast”."


def test_it_agrees_with_the_audit(page):
    page.goto((SITE / "index.html").as_uri())
    agreed = 0
    for path in TEXTS:
        try:
            parsed = reading.read(path)
            reading.require_report(parsed, str(path))
        except LoadcurveError:
            continue
        runs = parsed.tables["runs"]
        if len(runs) != 1 or runs["tool"].iloc[0] not in TOOLS or runs["requests"].isna().any():
            continue
        try:
            found = page.evaluate(CHECK, html.unescape(path.read_text("utf-8", "replace")))
        except Exception as error:  # it refuses what it cannot read, and says so
            assert "This is no report" in str(error) or "was it cut off?" in str(error), path
            continue
        table = (
            audit({**parsed.tables, "runs": runs.assign(link_bps=LINK_BPS)})
            .query("severity != 'unchecked'")
            .set_index("rule")["severity"]
        )
        both = [rule for rule in RULES if rule in table.index and found.get(rule, "unchecked") != "unchecked"]
        assert {rule: found[rule] for rule in both} == {rule: table[rule] for rule in both}, path
        agreed += len(both) > 0
    assert agreed >= 60


def test_the_example_of_the_home_page_is_condemned_and_another_text_refused(page):
    page.goto((SITE / "index.html").as_uri())
    form = page.locator("form[data-calculator=possible]")
    assert form.locator("output").inner_text() == "wrk: Do not use it as it is:"
    assert form.locator(".lc-check-error a").first.get_attribute("href") == "rules/connections-opened.html"
    form.locator("textarea").fill("Linux 6.1 (client) 11/28/26")
    assert "no report of wrk, wrk2, ab or hey" in form.get_by_role("alert").inner_text()
