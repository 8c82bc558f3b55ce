"""The built handbook: every page, figure, rule and table is there, and nothing points out of it."""

import csv
import json
import re
from xml.etree import ElementTree

import pytest
from bs4 import BeautifulSoup
from conftest import ROOT

from loadcurve import tables
from loadcurve.audit import all_rules
from loadcurve.files import paths
from loadcurve.files.yaml_document import read_yaml
from loadcurve.site import raw_files, versions
from loadcurve.site.book import write_book

SITE = ROOT / "build" / "site"
pytestmark = pytest.mark.site


@pytest.fixture(scope="module", autouse=True)
def built():
    if not (SITE / "index.html").exists():
        pytest.fail("the handbook is not built: run make first (make test does)")


def pages():
    return sorted(p for p in SITE.rglob("*.html") if p.name != "404.html")


def test_every_page_of_the_handbook_is_on_the_site():
    for source in (ROOT / "handbook").rglob("*.md"):
        assert (SITE / source.relative_to(ROOT / "handbook")).with_suffix(".html").exists(), source


def test_every_notebook_is_readable_on_the_site():
    """Its published figures are drawings in the colours of the page, and the page is small."""
    for notebook in (ROOT / "notebooks").glob("*.ipynb"):
        page = SITE / "notebooks" / f"{notebook.stem}.html"
        article = BeautifulSoup(page.read_text("utf-8"), "html.parser").select_one("article")
        assert article.select("h1") and article.select("h2") and article.select("pre code"), notebook
        drawings = article.select(".lc-drawing svg[aria-label]")
        if notebook.stem != "21_planted_faults":  # the pages of the rules show its figures
            figures = (ROOT / "build" / "figures" / notebook.stem).glob("*.svg")
            published = [path for path in figures if not path.stem.endswith(".narrow")]
            assert len(drawings) == len(published), notebook
            assert published or notebook.stem == "32_how_long_and_how_many", notebook  # its answers are tables
        assert not article.select('img[src^="data:"]'), notebook
        assert page.stat().st_size <= 320_000, notebook
        assert (SITE / "notebooks" / notebook.name).exists()


def test_nothing_is_fetched_from_elsewhere():
    fetched = re.compile(
        r"<(?:script|img|iframe|source)\b[^>]*\bsrc=[\"']?(https?:)?//|<link\b[^>]*\bhref=[\"']?https?://"
    )
    for page in pages():
        text = page.read_text("utf-8")
        assert not [m[0] for m in fetched.finditer(text) if "canonical" not in m[0]], page
        assert "cdn" not in re.sub(r"<a [^>]*>", "", text).lower() or "cdnjs" not in text, page


def test_every_figure_on_a_page_has_its_source():
    seen = set()
    for page in pages():
        for figure in re.findall(r'<figure class="lc-figure.*?</figure>', page.read_text("utf-8"), re.DOTALL):
            assert re.search(r'Notebook <a href="[^"]*notebooks/(\d\d_\w+)\.html">', figure)
            data = re.search(r'<a href="([^"]+\.csv)"', figure)[1]
            assert (page.parent / data).resolve().exists(), (page, data)
            assert re.search(r"study \w+", figure) and re.search(r"commit \S+</span>", figure)
            raw = re.findall(r'<a href="([^"]+)">raw files</a>', figure)
            assert raw or "study none" in figure, (page, data)
            assert all((page.parent / listed).resolve().is_file() for listed in raw), (page, data)
            if "<svg" in figure:
                assert re.search(r'<svg[^>]* role="img" aria-label="[^"]+"', figure)
            seen.add(data.split("figures/")[1])
    assert len(seen) >= 10


def test_every_experiment_of_the_five_reports_has_a_full_row():
    index = SITE / "studies" / "index.html"
    rows = BeautifulSoup(index.read_text("utf-8"), "html.parser").select(".lc-stacked tr:has(td)")
    stated = [file.read_text("utf-8") for file in ROOT.glob("data/published/*/experiments.csv")]
    assert len(rows) == sum(len(list(csv.DictReader(text.splitlines()))) for text in stated)
    for row in rows:
        assert all(cell.get_text(strip=True) for cell in row("td")), row
        for link in row.select('a[href*="#figure-"]'):
            page, _, anchor = link["href"].partition("#")
            assert f'id="{anchor}"' in (index.parent / page).read_text("utf-8"), row


def test_the_acceptance_test_is_a_page_and_a_junit_file():
    """Each verdict of the table on the page is a test case of the file that the page links to."""
    page = SITE / "studies" / "54_lvs_acceptance.html"
    html = BeautifulSoup(page.read_text("utf-8"), "html.parser")
    rows = [[cell.get_text() for cell in row("td")] for row in html.select("#table-acceptance tbody tr")]
    link = html.select_one('article a[href$="acceptance.xml.txt"]')["href"]
    cases = ElementTree.parse(page.parent / link).getroot().findall("testsuite/testcase")
    marks = {"failure": "fail", "skipped": "not checked"}
    said = [next((marks[part.tag] for part in case if part.tag in marks), "pass") for case in cases]
    found = {(case.get("classname"), case.get("name"), verdict) for case, verdict in zip(cases, said, strict=True)}
    assert found == {(balancer, check, verdict) for check, balancer, verdict, *_ in rows}
    assert {verdict for *_, verdict in found} == {"pass", "fail", "not checked"}


@pytest.mark.parametrize(
    "name", ["connections_on_loopback", "published/nginx_10gbe", "lib/tests/data/folders/wrk_monitors"]
)
def test_every_raw_file_is_reached_from_the_page_of_its_folder(name):
    page, folder = SITE / "reference" / "data" / f"{name}.html", paths.named_data(name)
    below = f"{page.stem}/"
    linked = re.findall(rf'<a href="({re.escape(below)}[^"]+)">', page.read_text("utf-8"))
    raw = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    published = {below + raw_files.name_on_site(name): path for name, path in raw.items()}
    assert set(linked) == set(published)
    for link, path in published.items():
        assert (page.parent / link).read_bytes() == path.read_bytes()


def test_the_home_page_leads_to_commands_for_the_readers_files():
    """One picture, and four roads: each page begins with a command, before any figure, formula or table."""
    home = BeautifulSoup((SITE / "index.html").read_text("utf-8"), "html.parser")
    assert home.select_one("nav.md-tabs a").get_text(strip=True) == "Get started"
    assert len(home.select("article figure:has(svg)")) == 1
    roads = home.select(".lc-roads a")
    assert len(roads) == 4
    for road in roads:
        page = BeautifulSoup((SITE / road["href"]).read_text("utf-8"), "html.parser")
        first = page.select_one("article pre, article figure, article math, article table")
        assert first.name == "pre" and first.get_text().startswith("$ "), road["href"]
        assert "$ loadcurve " in "".join(block.get_text() for block in page.select("article pre")[:2]), road["href"]


def test_every_published_figure_is_shown_somewhere():
    text = "".join(page.read_text("utf-8") for page in pages() if page.parent.name != "notebooks")
    for source in (ROOT / "notebooks").glob("[1-9]*.ipynb"):  # the template's figure is an example
        notebook = ROOT / "build" / "figures" / source.stem
        assert notebook.name in text
        for drawing in notebook.glob("*.svg"):
            assert f"{notebook.name}/{drawing.stem.removesuffix('.narrow')}.csv" in text, drawing


def test_no_value_is_missing_on_a_page():
    for page in pages():
        for shown in re.findall(r'<span class="lc-value"[^>]*>(.*?)</span>', page.read_text("utf-8")):
            assert shown.strip()
            if "this_machine" not in str(page) and "10_run_study" not in str(page):
                assert "not known" not in shown, page


def test_every_rule_has_a_page_in_the_navigation():
    index = (SITE / "rules" / "index.html").read_text("utf-8")
    for rule in all_rules().values():
        assert f'href="{rule.name}.html"' in index
        assert rule.question in (SITE / "rules" / f"{rule.name}.html").read_text("utf-8")


def test_every_column_is_on_the_columns_page():
    html = (SITE / "reference" / "columns.html").read_text("utf-8")
    for name in tables.SCHEMAS:
        assert f'id="{name}"' in html
        for column in tables.columns(name)["column"]:
            assert f"<code>{column}</code>" in html


def test_no_measured_number_is_typed():
    """Prose of the study pages and the index holds no number with a unit that a notebook did not inject.

    Settings of the study (levels, seconds, body size) are not measured; they stand in study.yml and in the tables that
    describe the setup.
    """
    measured = re.compile(r"\d[\d.,]*\s?(?:%|µs|ms|k/s|/s|rps|requests/s|MiB|packets)(?![\w-])")
    no_prose = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|<textarea.*?/textarea>|^\|[^\n]*$|`[^`]*`", re.M | re.S)
    for source in [ROOT / "handbook" / "index.md", *(ROOT / "handbook" / "studies").glob("*.md")]:
        prose = no_prose.sub("", source.read_text("utf-8"))
        assert not measured.findall(prose), (source, measured.findall(prose))


def test_the_search_index_says_what_coordinated_omission_is():
    """The first sentence of the rule's page is the excerpt that search shows first; it once denied the fault."""
    index = json.loads((SITE / "search" / "search_index.json").read_text("utf-8"))
    text = next(d["text"] for d in index["docs"] if d["location"] == "rules/coordinated-omission.html")
    assert "Coordinated omission: the percentiles leave out requests" in text


def test_the_navigation_names_existing_pages():
    def leaves(entry):
        if isinstance(entry, str):
            yield entry
        else:
            for value in entry.values() if isinstance(entry, dict) else entry:
                yield from leaves(value)

    for name in leaves(read_yaml(ROOT / "mkdocs.yml").values["nav"]):
        if name != "notebooks/00_template.md":  # generated
            assert (ROOT / "handbook" / name).exists(), name


def test_the_book_holds_each_page_once_and_its_links_lead_into_it():
    book = BeautifulSoup(write_book(ROOT).read_text("utf-8"), "html.parser")
    named = [tag["id"] for tag in book.select("[id]") if not tag.find_parent("svg") and tag.name != "svg"]
    assert len(named) == len(set(named))
    targets = {link["href"][1:] for link in book.select("main a[href^='#']") if not link.find_parent("svg")}
    assert targets - {str(tag["id"]) for tag in book.select("[id]")} == set()
    assert "method-threads" in named and not [name for name in named if name.startswith("reference-columns")]


def test_versions_are_published_side_by_side(tmp_path):
    out = tmp_path / "out"
    (out / "v0").mkdir(parents=True)
    (out / versions.LIST).write_text("v0\n")
    version = versions.publish(str(out), "https://example.org/docs/").parent.name
    first, page = (out / "index.html").read_text(), (out / version / "method" / "threads.html").read_text()
    assert f"url={version}/index.html" in first and "docs/v0/index.html" in first
    assert f"Version {version}, commit" in page and "Content-Security-Policy" in page
    assert f"docs/{version}/method/threads.html" in (out / version / "sitemap.xml").read_text()
    assert "Content-Security-Policy" in (out / "404.html").read_text()
