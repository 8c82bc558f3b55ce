"""In a real Chromium, light and wide, and dark on a phone, axe-core (github.com/dequelabs/axe-core) finds nothing."""

from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from chromium import needs_chromium, open_browser  # noqa: F401
from conftest import ROOT

import loadcurve
from loadcurve.report import provenance_of, write_report

SITE = ROOT / "build" / "site"
SCREENS = {"light": (1280, 900), "dark": (400, 850)}  # scheme -> pixels
# The second scheme changes colours, and the narrow screen what scrolls (see OWN); all else is checked on the first.
OPTIONS = {"light": {}, "dark": {"runOnly": ["color-contrast"]}}
# What axe-core leaves to the browser, or allows: not every browser lets the arrow keys scroll a box, and a link that
# only has another colour does not show to all readers.
OWN = """() => [...document.querySelectorAll('main *')].filter(e => e.checkVisibility()).flatMap(e => [
  e.scrollWidth > e.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(e).overflowX) && e.tabIndex < 0
    && !e.querySelector('a[href], button, [tabindex="0"]') && 'no focus',
  e.matches('article :is(p, li, td) a, figcaption a')
    && !e.matches('.md-button, .headerlink, .lc-roads a, .lc-shapes li > a')
    && !getComputedStyle(e).textDecorationLine.includes('underline') && 'not underlined',
].filter(Boolean).map(fault => fault + ': ' + e.outerHTML.slice(0, 90)))"""
pytestmark = [pytest.mark.site, needs_chromium]


@pytest.fixture(params=SCREENS)
def page(request, browser):
    width, height = SCREENS[request.param]
    context = browser.new_context(color_scheme=request.param, viewport={"width": width, "height": height})
    page = context.new_page()
    page.options = OPTIONS[request.param] | {"resultTypes": ["violations"]}
    yield page
    context.close()


def violations(page, address):
    page.goto(address, wait_until="load")
    found = Axe().run(page, options=page.options).response["violations"]
    return [f"{one['id']}: {node['html'][:90]}" for one in found for node in one["nodes"]] + page.evaluate(OWN)


def test_each_page_is_accessible(page):
    """Each page of `handbook/`, and the longest of each folder of generated ones: all 250 pages would take minutes."""
    handbook = ROOT / "handbook"
    written = [path.relative_to(handbook).with_suffix(".html") for path in handbook.rglob("*.md")]
    made: dict[Path, list[Path]] = {}
    for path in SITE.rglob("*/*.html"):
        made.setdefault(path.parent, []).append(path)
    longest = [max(paths, key=lambda path: path.stat().st_size) for paths in made.values()]
    pages = sorted({*(SITE / path for path in written), *longest})
    assert {path.name: found for path in pages if (found := violations(page, path.as_uri()))} == {}


def test_a_report_is_accessible(page, root, tmp_path):
    folder = root / "lib" / "tests" / "data" / "folders" / "wrk_monitors"
    target = tmp_path / "report.html"
    answer = loadcurve.analyse(folder, objectives="p99=3ms")
    write_report(answer, target, provenance_of(answer, folder))
    assert violations(page, target.as_uri()) == []


def test_violations_are_found(page, tmp_path):
    """A page that breaks each rule once."""
    (tmp_path / "page.html").write_text(
        "<style>a { text-decoration: none; color: #222 }</style><button></button><nav></nav><nav></nav><main><article>"
        '<p style="color: #000">see <a href="#x">this</a></p><p style="color: #999; background: #fff">grey</p>'
        "<table><tr><th></th><th>a</th></tr><tr><td>1</td><td>2</td></tr></table>"
        '<div style="width: 50px; overflow: auto"><div style="width: 900px">wide</div></div></article></main>'
    )
    found = {one.partition(":")[0] for one in violations(page, (tmp_path / "page.html").as_uri())}
    assert found >= {"color-contrast", "no focus", "not underlined"}
    names = {"button-name", "empty-table-header", "landmark-unique"}
    assert found >= names or "runOnly" in page.options
