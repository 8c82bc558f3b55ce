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
# The second scheme changes colours, and the narrow screen what scrolls; all else is checked on the first.
OPTIONS = {"light": {}, "dark": {"runOnly": ["color-contrast", "scrollable-region-focusable"]}}
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
    return [f"{one['id']}: {node['html'][:90]}" for one in found for node in one["nodes"]]


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
    (tmp_path / "page.html").write_text('<p style="color: #999; background: #fff">grey</p>')
    assert [one.partition(":")[0] for one in violations(page, (tmp_path / "page.html").as_uri())][-1:] != []
