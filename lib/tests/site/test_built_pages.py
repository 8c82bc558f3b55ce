"""The HTML of every built page: nothing escaped, unrendered, doubled or empty is left in it."""

import csv
import html
import json
import re
from collections import Counter
from pathlib import Path

import material
import pytest
from bs4 import BeautifulSoup
from conftest import ROOT

from loadcurve import read_load
from loadcurve.files.yaml_document import parse_yaml
from loadcurve.site.hooks import changed_since

SITE = ROOT / "build" / "site"
PAGES = sorted(p.relative_to(SITE).as_posix() for p in SITE.rglob("*.html"))
# Code is shown as it is typed; drawings and formulas are looked at on their own.
CODE = "pre, code, .lc-output, script, style, svg, math"
UNRENDERED = {
    "escaped markup": r"</?(?:span|div|figure|table|td|tr|p|a|strong|em|sub|sup|br|math|svg)\b[^<>]{0,200}>",
    "a formula": r"\\[a-zA-Z]{2,}|\\[()\[\]]|(?<![\w$])\$[^$\s][^$\n]{0,60}\$(?!\w)",
    "Jinja": r"\{\{.{0,200}?\}\}|\{%.{0,200}?%\}",
    "Markdown": r"\*\*\w|\]\((?:https?:|\.\.?/|[\w/]+\.md)",
}
pytestmark = pytest.mark.site


def test_there_are_pages():
    assert len(PAGES) > 80, "the handbook is not built: run make first (make test does)"


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_rendered_whole(name):
    text = (SITE / name).read_text("utf-8")
    ids = Counter(re.findall(r"<[^>]*?\sid=\"([^\"]*)\"", text))
    assert [one for one, times in ids.items() if times > 1] == []
    assert 'http-equiv="Content-Security-Policy"' in text
    assert str(ROOT) not in text, "a page names a folder of the machine that built it"
    assert not re.search(r"mathdefault|\\math", text), "a formula in a drawing"
    for formula in re.findall(r"<math\b.*?</math>", text, re.DOTALL):
        shown = re.sub("<[^>]*>", "", formula)
        assert "\\" not in shown and shown.strip()
    assert set(re.findall(r"<a\s[^>]*?\bhref=[\"']?\s*(\w+):", text.lower())) <= {"http", "https", "mailto"}
    # What is around the article is the same on all pages, and larger.
    (article,) = re.findall(r"<article\b.*</article>", text, re.DOTALL)
    soup = BeautifulSoup(article, "html.parser")
    for figure in soup.select("figure.lc-figure"):
        assert figure.select("svg path, svg use") or figure.select("tbody tr") or figure.select(".lc-claim")
    for drawing in soup.select("svg text"):
        assert not re.search(r"<|\\|\$.+\$", drawing.get_text())
    inside = [code.get_text() for code in soup.select(":not(pre) > code")]
    for code in soup.select(CODE):
        code.decompose()
    prose = soup.get_text(" ")
    left = {what: found for what, form in UNRENDERED.items() if (found := re.findall(form, prose))}
    assert left == {}
    # What a macro returned inside backticks would be shown as markup.
    assert [code for code in inside if re.search(r"class=\"lc-|</span>", code)] == []


@pytest.mark.parametrize(
    ("notebook", "slug", "curve"),
    [
        ("40_usl_fit", "fit", "spec_sdm91"),
        ("40_usl_fit", "residuals", "spec_sdm91"),
        ("45_published_curves", "forecast", "nginx_http_100kb"),
    ],
)
def test_the_load_of_a_published_curve_has_its_own_name(notebook, slug, curve):
    drawn = (ROOT / "build" / "figures" / notebook / f"{slug}.svg").read_text("utf-8")
    labels = [html.unescape(text) for text in re.findall(r"<text[^>]*>([^<]+)</text>", drawn)]
    assert read_load("scaling_curves", curve) in labels
    assert "Connections" not in labels


def test_an_axis_of_connections_has_connections_in_its_data():
    for drawn in (ROOT / "build" / "figures").glob("*/*.svg"):
        if ">Connections</text>" in drawn.read_text("utf-8"):
            data = drawn.with_name(f"{drawn.stem.removesuffix('.narrow')}.csv")
            with data.open(encoding="utf-8", newline="") as lines:
                header, *rows = csv.reader(lines)
                named = {cell.lower() for row in rows for cell in row} if "axis" in header else set()
                assert {"connections", "expected"} & {*header, *named}, drawn


def test_a_caption_names_the_level_of_its_notebook():
    """A caption that types the level is wrong as soon as the notebook is run with another."""
    for notebook in (ROOT / "notebooks").glob("*.ipynb"):
        text = notebook.read_text("utf-8")
        if '"level: float' in text:
            assert not re.search(r"\*\*(?:Figure|Table)[^\n]*\d ?% (?:interval|band)", text), notebook


@pytest.mark.parametrize("source", sorted((ROOT / "handbook" / "zh").glob("*.md")), ids=lambda path: path.stem)
def test_a_translation_names_the_pages_that_changed_since(source):
    meta = parse_yaml(source.read_text("utf-8").split("---\n")[1], source).values
    text = (SITE / "zh" / f"{source.stem}.html").read_text("utf-8")
    changed = changed_since(meta, ROOT / "handbook")
    assert '<html lang="zh"' in text and ("译文可能过时" in text) == bool(changed)
    assert all(html.escape(name) in text for name in changed)
    (other,) = changed_since({"translates": {"checklist.md": "00000000"}}, ROOT / "handbook")
    assert other.startswith("checklist.md (")


def test_the_page_of_licences_names_all_that_the_site_ships():
    page = (ROOT / "handbook/reference/licences.md").read_text("utf-8")
    assets = SITE / "assets"
    listed = {found for glob in re.findall(r"`assets/(\S+)`", page) for found in assets.glob(glob)}
    shipped = {path for path in assets.rglob("*") if path.is_file()} - {assets / "apache-2.0.txt"}
    assert shipped == listed
    assert not [path for path in SITE.rglob("*") if path.suffix in (".woff", ".woff2", ".ttf", ".otf", ".wasm", ".mjs")]
    sources = [name for path in assets.rglob("*.map") for name in json.loads(path.read_text("utf-8"))["sources"]]
    packages = {name.split("node_modules/")[-1].split("/")[0] for name in sources if "node_modules/" in name}
    icons = Path(material.__file__).parent / "templates/.icons"
    pages = "".join(path.read_text("utf-8") for path in [*assets.rglob("*.css"), SITE / "index.html", SITE / PAGES[-1]])
    drawn = {text.strip() for text in re.findall(r"(?:<|%3C)path[^>]*? d=[\"']([^\"']+)", pages)}
    sets = {
        path.relative_to(icons).parts[0]
        for path in icons.rglob("*.svg")
        if set(re.findall(r' d="([^"]{20,})"', path.read_text("utf-8"))) & drawn
    }
    assert {"rxjs", "lunr"} <= packages and {"material", "octicons"} <= sets
    unnamed = {name for name in packages if f"[{name}]" not in page} | {
        name for name in sets if f"`{name}`" not in page
    }
    assert unnamed == set()
