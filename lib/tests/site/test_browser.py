"""The handbook in a real Chromium: pages load with no request leaving the machine, figures show, search finds."""

import functools
import http.server
import threading

import pytest
from chromium import needs_chromium, open_browser  # noqa: F401
from conftest import ROOT

SITE = ROOT / "build" / "site"
PAGES = [
    "index.html",
    "method/throughput_and_connections.html",
    "studies/30_throughput_by_connections.html",
    "studies/20_data_quality.html",
    "studies/10_run_study.html",
    "rules/effective-concurrency.html",
    "reference/columns.html",
    "notebooks/30_throughput_by_connections.html",
]
DESKTOP, PHONE = (1280, 900), (390, 844)  # pixels
pytestmark = [pytest.mark.site, needs_chromium]


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture(scope="module")
def address():
    assert (SITE / "index.html").exists(), "the handbook is not built: run make first (make test does)"
    handler = functools.partial(Quiet, directory=str(SITE))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.fixture(params=["light", "dark"])
def page(request, browser):
    context = browser.new_context(color_scheme=request.param, viewport={"width": DESKTOP[0], "height": DESKTOP[1]})
    page = context.new_page()
    page.scheme = request.param
    page.asked, page.errors = [], []
    page.on("request", lambda r: page.asked.append(r.url))
    page.on("pageerror", lambda e: page.errors.append(str(e)))
    page.on("response", lambda r: page.errors.append(f"{r.status} {r.url}") if r.status >= 400 else None)
    yield page
    context.close()


def colour_of(page, selector, what="color"):
    text = page.eval_on_selector(selector, f"e => getComputedStyle(e).{what}")
    return [float(v) for v in text[text.index("(") + 1 : -1].split(",")][:3]


@pytest.mark.parametrize("name", PAGES)
def test_a_page_loads_whole_from_this_machine_alone(page, address, name):
    page.goto(f"{address}/{name}", wait_until="networkidle")
    assert page.errors == []
    assert [url for url in page.asked if not url.startswith((address, "data:", "blob:"))] == []
    assert page.title()
    for width, height in DESKTOP, PHONE:
        page.set_viewport_size({"width": width, "height": height})
        wider = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wider <= 0, f"the page does not scroll sideways in {width} pixels"


@pytest.mark.parametrize(
    "name", ["method/throughput_and_connections.html", "studies/30_throughput_by_connections.html"]
)
def test_figures_are_visible_in_both_schemes(page, address, name):
    page.goto(f"{address}/{name}", wait_until="networkidle")
    figures = page.query_selector_all("figure.lc-figure:has(svg)")
    for size, place in ((DESKTOP, 0), (PHONE, 1)):  # first the wide drawing, then the narrow one
        page.set_viewport_size({"width": size[0], "height": size[1]})
        shown = [[svg for svg in figure.query_selector_all("svg") if svg.is_visible()] for figure in figures]
        wanted = [figure.query_selector_all("svg")[place] for figure in figures]
        assert [[svg.get_attribute("viewBox") for svg in one] for one in shown] == [
            [svg.get_attribute("viewBox")] for svg in wanted
        ]
        assert all(svg.bounding_box()["width"] > 300 and svg.bounding_box()["height"] > 150 for [svg] in shown)
    # The ink of the axes follows the page: dark on light, light on dark.
    ink = colour_of(page, "figure.lc-figure svg text", "fill")
    ground = colour_of(page, "body", "backgroundColor")
    assert abs(sum(ink) - sum(ground)) > 250
    assert (sum(ground) < 250) == (page.scheme == "dark")


def test_the_scheme_can_be_chosen(page, address):
    page.goto(f"{address}/index.html", wait_until="networkidle")
    before = colour_of(page, "body", "backgroundColor")
    page.click("label[for^=__palette]:not([hidden])")
    colours = "getComputedStyle(document.body).backgroundColor.match(/[0-9.]+/g).slice(0, 3)"
    page.wait_for_function(
        f"before => Math.abs({colours}.reduce((sum, colour) => sum + Number(colour), 0) - before) > 250",
        arg=sum(before), timeout=60_000,
    )  # fmt: skip


def test_code_can_be_copied(browser, address):
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(f"{address}/guides/run_a_study.html", wait_until="networkidle")
    page.click("button[data-md-type=copy] >> nth=0")
    assert "loadcurve launch" in page.evaluate("navigator.clipboard.readText()")
    context.close()


FIRST = {
    "install": "get_started",
    "JupyterLab": "get_started",
    "believable": "rules/index",
    "how many connections": "method/throughput_and_connections",
    "p99": "method/knee_and_capacity",
    "TIME_WAIT": "method/keep_alive_and_ports",
    "Little's law": "method/throughput_and_connections",
    "latency SLO": "method/knee_and_capacity",
    "knee": "method/knee_and_capacity",
    "objective": "method/knee_and_capacity",
    "bottleneck": "method/bottlenecks",
    "saturated": "method/bottlenecks",
    "percentile": "method/metrics",
    "think time": "method/metrics",
    "threads": "method/threads",
    "compare two servers": "method/comparing_two_runs",
    "USL": "method/fitting_the_usl",
    "gate": "guides/gate_a_build",
    "GitHub Actions": "guides/gate_a_build",
    "retransmissions": "rules/retransmissions",
    "coordinated omission": "rules/coordinated-omission",
    "wrk": "reference/formats/wrk.html",
    "ab": "reference/formats/ab.html",
    "JMeter": "reference/formats/jmeter.html",
    "raw files": "reference/data/index",
}
"""What a user types -> the page that search must list first."""
AMONG_THREE = {
    "how long must a run be": "method/how_long",
    "how many repeats": "method/how_many_repeats",
    "how many threads": "method/threads",
    "flat throughput idle CPU": "questions",
    "p99 from three runs": "questions",
    "B against A": "questions",
    "max RPS at 10 Gbit/s": "questions",
    "30000 TIME_WAIT": "questions",
    "LVS 8 servers": "questions",
    "trust a wrk number": "questions",
    "is my benchmark possible": "index",
    "socket errors": "questions",
    "somaxconn": "questions",
    "ip_local_port_range": "method/hidden_limits",
    "nf_conntrack_count": "method/hidden_limits",
    "too slow": "questions",
    "goodput": "method/glossary",
    "calculator": "calculators",
    "checklist": "checklist",
    "吞吐量": "zh/glossary",
    "线程数": "zh/method",
    "协调遗漏": "zh/glossary",
    "长尾延迟": "zh/glossary",
}
"""What a user types -> a page that must be among the first three."""


def found_by(page, words):
    page.fill(".md-search__input", "")
    page.keyboard.press("End")  # the theme reads the field when a key is released
    page.wait_for_selector(".md-search-result__item a", state="detached")
    page.fill(".md-search__input", words)  # at once: no result of fewer letters can be taken for that of all
    page.keyboard.press("End")
    page.wait_for_selector(".md-search-result__item a", timeout=60_000)
    links = [a.get_attribute("href") for a in page.query_selector_all(".md-search-result__item > a")]
    return list(dict.fromkeys(link.partition("?")[0].partition("#")[0] for link in links))


def test_search_finds_the_right_page_first(page, address):
    page.goto(f"{address}/index.html", wait_until="networkidle")
    page.click(".md-search__input")
    hits = [(words, expected, found_by(page, words)[:1]) for words, expected in FIRST.items()]
    hits += [(words, expected, found_by(page, words)[:3]) for words, expected in AMONG_THREE.items()]
    assert [hit for hit in hits if not any(hit[1] in link for link in hit[2])] == []
    assert page.errors == []


def test_the_site_works_from_the_file_system(page):
    page.goto((SITE / "index.html").as_uri())
    page.click("text=How many connections or threads?")
    page.wait_for_url("**/method/throughput_and_connections.html*")
    page.click(".md-search__input")
    page.keyboard.type("knee", delay=50)
    page.wait_for_selector(".md-search-result__item a", timeout=60_000)
    assert [url for url in page.asked if not url.startswith(("file:", "data:", "blob:"))] == []


def test_formulas_are_drawn(page, address):
    page.goto(f"{address}/method/throughput_and_connections.html", wait_until="networkidle")
    boxes = [m.bounding_box() for m in page.query_selector_all("math")]
    assert len(boxes) > 10
    assert all(box["width"] > 3 and box["height"] > 5 for box in boxes)
    fraction = page.query_selector("math[display=block] mfrac").bounding_box()
    assert fraction["height"] > 25, "numerator over denominator"
