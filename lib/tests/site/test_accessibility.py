"""Pages in a real Chromium, wide and on a phone: names, contrast, links, landmarks and scrolling by keyboard.

The checks are rules of axe-core (github.com/dequelabs/axe-core, doc/rule-descriptions.md), mostly those that the theme
or our pages broke before: aria-dialog-name, link-in-text-block, color-contrast (WCAG 2.2, 1.4.3),
scrollable-region-focusable, landmark-unique, empty-table-header, button-name, link-name.
"""

import pytest
from chromium import needs_chromium, open_browser  # noqa: F401
from conftest import ROOT

import loadcurve
from loadcurve.report import provenance_of, write_report

SITE = ROOT / "build" / "site"
PAGES = [
    "index.html",
    "get_started.html",
    "rules/index.html",
    "method/throughput_and_connections.html",
    "method/knee_and_capacity.html",
    "method/bottlenecks.html",
    "guides/gate_a_build.html",
    "guides/reports.html",
    "studies/30_throughput_by_connections.html",
    "reference/data/connections_on_loopback.html",
    "notebooks/01_your_own_files.html",
]
SCREENS = {"light": (1280, 900), "dark": (400, 850)}  # scheme -> pixels
FAULTS = """() => {
  const faults = [], shown = e => e.checkVisibility({opacityProperty: true, visibilityProperty: true});
  const words = e => e.outerHTML.slice(0, 90);
  const name = e => (e.getAttribute('aria-label') || e.title || e.innerText || '').trim();
  for (const e of document.querySelectorAll('[role=dialog], [role=img], button, a[href]'))
    if (shown(e) && !name(e) && !e.querySelector('img[alt], svg[aria-label]')) faults.push('no name: ' + words(e));
  for (const e of document.querySelectorAll('th'))
    if (!e.textContent.trim() || e.querySelector('math') === e.firstChild) faults.push('no text: ' + words(e));
  const labels = [...document.querySelectorAll('nav:not([role=none])')].filter(shown)
    .map(e => e.ariaLabel || document.getElementById(e.getAttribute('aria-labelledby'))?.textContent.trim() || '');
  if (new Set(labels).size < labels.length) faults.push('navigation landmarks share a name: ' + labels);
  for (const e of document.querySelectorAll('article p a, article li a, article td a, figcaption a'))
    if (shown(e) && !e.matches('.md-button, .headerlink, .lc-roads a, .lc-shapes a')
        && !getComputedStyle(e).textDecorationLine.includes('underline')) faults.push('not underlined: ' + words(e));
  for (const e of document.querySelectorAll('article *, main *'))
    if (e.scrollWidth > e.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(e).overflowX) && shown(e)
        && e.tabIndex < 0 && !e.querySelector('a[href], button, [tabindex="0"]')) faults.push('no focus: ' + words(e));

  const parts = text => text.match(/[0-9.]+/g).map(Number);
  const over = (c, under) => [0, 1, 2].map(i => (c[3] ?? 1) * c[i] + (1 - (c[3] ?? 1)) * under[i]);
  const light = c => c.slice(0, 3).map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = e => {
    const own = e ? parts(getComputedStyle(e).backgroundColor) : [255, 255, 255];
    return e && (own[3] ?? 1) < 1 ? over(own, ground(e.parentElement)) : own;
  };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text; text = texts.nextNode();) {
    const e = text.parentElement, style = getComputedStyle(e);
    if (!text.data.trim() || e.closest('svg, math, script, style, .headerlink, .md-search') || !shown(e)) continue;
    let opacity = 1;
    for (let at = e; at; at = at.parentElement) opacity *= getComputedStyle(at).opacity;
    const under = ground(e), ink = parts(style.color);
    const seen = over([...ink.slice(0, 3), (ink[3] ?? 1) * opacity], under);
    const [low, high] = [light(seen), light(under)].sort((a, b) => a - b);
    const big = parseFloat(style.fontSize) >= 24, ratio = (high + 0.05) / (low + 0.05);
    if (ratio < (big ? 3 : 4.5)) faults.push(`contrast ${ratio.toFixed(2)}: ` + text.data.trim().slice(0, 40));
  }
  return faults;
}"""
pytestmark = [pytest.mark.site, needs_chromium]


@pytest.fixture(params=SCREENS)
def page(request, browser):
    width, height = SCREENS[request.param]
    context = browser.new_context(color_scheme=request.param, viewport={"width": width, "height": height})
    yield context.new_page()
    context.close()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_accessible(page, name):
    page.goto((SITE / name).as_uri(), wait_until="load")
    page.wait_for_selector(".md-search[aria-label]", state="attached")
    assert page.evaluate(FAULTS) == []


def test_a_report_is_accessible(page, root, tmp_path):
    folder = root / "lib" / "tests" / "data" / "folders" / "wrk_monitors"
    target = tmp_path / "report.html"
    answer = loadcurve.analyse(folder, objectives="p99=3ms")
    write_report(answer, target, provenance_of(answer, folder))
    page.goto(target.as_uri(), wait_until="load")
    assert page.evaluate(FAULTS) == []


def test_faults_are_found(browser):
    """A page that breaks each rule once."""
    page = browser.new_page()
    page.set_content(
        '<button></button><nav></nav><nav></nav><article><p>see <a href="#x" style="text-decoration: none">this</a></p>'
        '<p style="color: #999; background: #fff">grey</p><table><tr><th></th></tr></table>'
        '<div style="width: 50px; overflow: auto"><div style="width: 900px">wide</div></div></article>'
    )
    faults = page.evaluate(FAULTS)
    assert [fault.partition(":")[0] for fault in faults] == [
        "no name", "no text", "navigation landmarks share a name", "not underlined", "no focus", "contrast 2.85"
    ]  # fmt: skip
    page.close()
