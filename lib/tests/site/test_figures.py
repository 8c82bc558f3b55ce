"""Every published figure in a real Chromium: no text is cut off, under another text or on a line, or too small."""

import io

import matplotlib.pyplot as plt
import numpy as np
import pytest
from chromium import needs_chromium, open_browser  # noqa: F401
from conftest import ROOT

from loadcurve.site.published import drawing_html

pytestmark = [pytest.mark.site, needs_chromium]

# A text's box is lower than its line: letters with neither ascender nor descender leave a fifth free at both ends.
FAULTS = """svg => {
  const faults = new Set(), box = e => e.getBoundingClientRect(), whole = box(svg);
  const words = [...svg.querySelectorAll('text')].filter(e => e.textContent.trim()).map(e => {
    const own = box(e), angle = +((e.getAttribute('transform') || '').match(/rotate\\((-?[\\d.]+)/) || [0, 0])[1];
    return {e, turned: angle !== 0, slanted: angle % 90 !== 0 && angle, left: own.left + 0.5, right: own.right - 0.5,
            top: own.top + 0.2 * own.height, bottom: own.bottom - 0.2 * own.height, text: e.textContent.trim()};
  });
  const meets = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 0.5
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 0.5;
  // The box of b in the coordinates of a, for slanted words of one angle.
  const along = (a, b) => {
    const to = a.e.getScreenCTM().inverse().multiply(b.e.getScreenCTM()), {x, y, width, height} = b.e.getBBox();
    const [one, other] = [[x, y], [x + width, y + height]].map(([x, y]) => new DOMPoint(x, y).matrixTransform(to));
    return {left: one.x, right: other.x, top: one.y + 0.2 * height, bottom: other.y - 0.2 * height};
  };
  words.forEach((a, place) => {
    if (a.left < whole.left || a.right > whole.right || a.top < whole.top || a.bottom > whole.bottom)
      faults.add(`cut off: ${a.text}`);
    if (parseFloat(getComputedStyle(a.e).fontSize) < 8.3) faults.add(`below 12 px on a phone: ${a.text}`);
    for (const b of words.slice(place + 1)) {
      const parallel = a.slanted && a.slanted === b.slanted;
      if (parallel ? meets(along(a, a), along(a, b)) : meets(a, b)) faults.add(`on each other: ${a.text}, ${b.text}`);
    }
  });
  const upright = words.filter(a => !a.turned);
  for (const path of svg.querySelectorAll('path')) {
    const style = getComputedStyle(path), length = path.getTotalLength();
    if (path.closest('defs') || style.stroke === 'none' || style.strokeOpacity < 0.3 || !length) continue;
    const place = path.getScreenCTM();
    for (let along = 0; along <= length; along += 1.5) {
      const {x, y} = path.getPointAtLength(along).matrixTransform(place);
      for (const a of upright) if (x > a.left && x < a.right && y > a.top && y < a.bottom)
        faults.add(`on a line: ${a.text}`);
    }
  }
  return [...faults];
}"""


@pytest.fixture(scope="module")
def page(browser):
    page = browser.new_page(viewport={"width": 640, "height": 900})
    yield page
    page.close()


def faults_of(page, drawings):
    """Return the faults of each drawing, by its name; all are 640 px wide, as on a page."""
    page.set_content("<style>svg { width: 640px; height: auto }</style>" + "".join(drawings.values()))
    found = [each.evaluate(FAULTS) for each in page.query_selector_all("svg")]
    return {name: faults for name, faults in zip(drawings, found, strict=True) if faults}


def test_text_of_figures_can_be_read(page):
    files = sorted((ROOT / "build" / "figures").glob("*/*.svg"))
    assert len(files) > 100
    drawings = {f"{file.parent.name}/{file.stem}": file.read_text("utf-8").partition("<svg")[2] for file in files}
    assert faults_of(page, {name: f"<svg{rest}" for name, rest in drawings.items()}) == {}


def test_each_fault_is_found(page):
    text = '<text x="{}" y="50" style="font-size: {}px">{}</text>'
    body = text.format(5, 10, "first") + text.format(20, 10, "second") + text.format(380, 10, "third")
    body += text.format(200, 6, "small") + '<path d="M 0 46 L 30 46" stroke="#111111"/>'
    drawing = f'<svg viewBox="0 0 389 100" height="100">{body}</svg>'
    assert {fault.partition(":")[0] for fault in faults_of(page, {"all": drawing})["all"]} == {
        "cut off", "on each other", "on a line", "below 12 px on a phone"
    }  # fmt: skip
    slanted = '<text transform="translate({} 60) rotate(-30)" style="font-size: 10px">slanted {}</text>'
    apart, near = (slanted.format(50, 1) + slanted.format(x, 2) for x in (80, 55))
    both = {"apart": apart, "near": near}
    drawings = {name: f'<svg viewBox="0 0 389 100" height="100">{words}</svg>' for name, words in both.items()}
    assert faults_of(page, drawings) == {"near": ["on each other: slanted 1, slanted 2"]}


@pytest.mark.parametrize("name", ["50_nginx_10gbe/rerun_search", "52_bottleneck_listeners/rerun_timeline"])
def test_a_drawing_on_a_page_looks_as_it_was_published(page, name):
    published = (ROOT / "build" / "figures" / f"{name}.svg").read_text("utf-8")
    style = (ROOT / "handbook" / "assets" / "handbook.css").read_text("utf-8")
    shots = []
    for drawing in (published, drawing_html(*name.split("/"))):
        page.set_content(f'<style>{style}</style><div class="lc-drawing">{drawing[drawing.index("<svg") :]}</div>')
        shots.append(plt.imread(io.BytesIO(page.locator("svg").screenshot())))
    assert shots[0].std() > 0.05  # something is drawn
    assert (np.abs(shots[0] - shots[1]) > 0.4).mean() < 1e-3
