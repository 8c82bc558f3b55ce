"""Texts from data are shown as they are and run nothing, by every way into a page, in a real browser."""

import csv
import io
import json
import os
import re
import shutil
import threading
from urllib.parse import quote, unquote

import mkdocs.config
import nbformat
import pandas as pd
import pytest
import urllib3
from bs4 import BeautifulSoup
from chromium import needs_chromium, open_browser  # noqa: F401
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st
from markdown import Markdown
from mkdocs.commands.build import build
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from playwright.sync_api import Error

from loadcurve import plots, publish
from loadcurve.cli import app
from loadcurve.errors import LoadcurveError
from loadcurve.files import paths, reads
from loadcurve.site import safety
from loadcurve.site.safety import formula, leads_elsewhere, literal
from loadcurve.site.serve import SiteServer
from loadcurve.stats import Estimate
from loadcurve.tables import stored

NOTEBOOK = "99_hostile"
ROUTES = (
    "variant", "heading", "cell", "fact", "caption", "alt", "value", "unit", "reason", "claim", "section", "evidence",
    "differs", "instead", "audit", "settles", "verdict", "study", "question", "frame", "stream", "markdown", "html",
    "styler", "raw",
)  # fmt: skip

RAW_FILES = [
    "evil.HTML", "e.xht", "e.shtml", "e.xhtml", "e.mht", "e.svg", "a.svgz", "e.XML", "e.js", "e.markdown", "e.MD",
    "x.html", "x.html.txt", "x.txt.html", "x.html.", "x.HTML ", "x.ｈｔｍｌ", "x.html.lua", "x.html.csv", "x.html.json",
    "x.html.xz", "x.html.gz", "x.html.GZ", "x.svg.bz2", "x.gz", "none", "in.html/index.html", "in.html.txt",
    "both.htm", "both.htm.txt/x.xhtml", "a\nb.html", "#?&%2e<script>ran()<.html", os.fsdecode(b"\xff.html"),
    "\\udcff.html", "_headers", "l" * 251, "l" * 250 + ".html",
]  # fmt: skip
UNPUBLISHED = {"l" * 250 + ".html", "link.txt"}  # the name has no room for a suffix; it links to a file elsewhere


def hostile(route):
    """Text that runs in a page by each way there is, and says by which route it came; and what of it must be read."""
    ran = f"ran('{route}')"
    return (
        f"={route} [x](javascript:{ran}) **b** {{{{ 6*7 }}}} $\\text{{<script>{ran}</script>}}$ `c` "
        f'"><img src=x onerror="{ran}"><script>{ran}</script></figure></td><svg onload={ran}> &lt;i&gt; <{ran}> \u0001'
    )


def readable(route):
    return f"={route} [x](javascript:ran('{route}')) **b** {{{{ 6*7 }}}} $\\text{{<script>ran('{route}')</script>}}$"


def outputs():
    frame = pd.DataFrame({"name": [hostile("frame")]})
    with pd.option_context("display.max_colwidth", None):
        shown = frame.to_html()
    return [
        new_output("display_data", {"text/html": shown, "text/plain": ""}),
        new_output("stream", text=hostile("stream"), name="stdout"),
        new_output("display_data", {"text/markdown": hostile("markdown")}),
        new_output("display_data", {"text/html": f"<table><td>{hostile('html')}</td></table>"}),
        new_output("display_data", {"text/html": pd.DataFrame({hostile("styler"): [1.0]}).style.to_html()}),
        new_output("display_data", {"text/html": f'</div></div><a href="java\nscript:ran(1)">{hostile("raw")}</a>'
                   '<iframe srcdoc="<script>parent.ran(2)</script>"></iframe><form action="javascript:ran(3)">'}),
    ]  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A small handbook whose every datum is hostile, published and built as the real one is."""
    root = tmp_path_factory.mktemp("checkout")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOADCURVE_ROOT", str(root))
        patch.setenv("LOADCURVE_PUBLISH", str(root / "build" / "figures" / NOTEBOOK))
        patch.setattr(reads, "studies_read", {hostile("study"), "published/raw"})
        patch.setattr(publish.outputs, "_notebook", "")
        patch.setattr(paths, "designs", lambda: root / "designs")
        made = ("data/studies", "designs/mine", "handbook/notebooks", "handbook/reference/data", "notebooks")
        for folder in (*made, "build/notebooks", "lib/loadcurve"):
            (root / folder).mkdir(parents=True)
        write_data(root)
        write_pages(root)
        build(mkdocs.config.load_config(str(root / "mkdocs.yml")))
    return root / "build" / "site"


def raw_text(name):
    """A script that a browser runs as HTML and as XML, and the site builder would as Markdown with a macro."""
    called = quote(name, errors="surrogateescape")
    return f'<html xmlns="http://www.w3.org/1999/xhtml"><script>ran("{called}")</script>{{{{ 6*7 }}}}</html>'


def write_data(root):
    raw = root / "data/published/raw"
    for name in RAW_FILES:
        (raw / name).parent.mkdir(parents=True, exist_ok=True)
        (raw / name).write_text(raw_text(name), "utf-8")
    (root / "elsewhere.txt").write_text("secret")
    (raw / "link.txt").symlink_to(root / "elsewhere.txt")
    (raw / "within.txt").symlink_to("x.html")
    design = {
        "study": "mine",
        "question": hostile("question")[:-2],
        "factors": {"connections": [1]},
        "repeats": 1,
        "seed": 1,
    }
    (root / "designs/mine/study.yml").write_text(json.dumps(design), "utf-8")
    publish.begin(NOTEBOOK)
    runs = pd.DataFrame({"variant": [hostile("variant")[:-2]] * 2, "connections": [1, 2], "throughput_rps": [1.0, 2]})
    ax = plots.plot_throughput_by_connections(runs)
    publish.figure("curve", ax, runs, caption=hostile("caption"), alt=hostile("alt"))
    facts = pd.DataFrame({hostile("heading"): [hostile("cell")], "value": [hostile("fact")]})
    publish.table("facts", facts, caption="Facts.")
    publish.values(text=hostile("value"))
    publish.values(reason=Estimate(1.0, float("nan"), float("nan"), 0.95, "t", (hostile("reason"),)))
    publish.values(ends=Estimate(1.0, 0.5, 2.0, 0.95, "t"), unit=hostile("unit"))
    claim = {
        name: [hostile(name)] for name in ("verdict", "claim", "section", "evidence", "differs", "instead", "settles")
    }
    publish.table("claims", pd.DataFrame(claim), caption="Claims.")
    heads = "experiment title published rerun evidence differs instead audit study figure settles"
    experiment = {name: [hostile(name)] for name in heads.split()}
    publish.table("experiments", pd.DataFrame(experiment), caption="Experiments.")


def write_pages(root):
    said = new_markdown_cell(f"# A notebook\n\nat $x \\text{{<script>ran('formula')</script>}}$ and {literal('$5')}")
    made = new_notebook(cells=[said, new_code_cell("1", outputs=outputs(), execution_count=1)])
    for folder in ("notebooks", "build/notebooks"):
        nbformat.write(made, root / folder / f"{NOTEBOOK}.ipynb")
    page = (
        '# Words\n\n## Here {{ value(nb, "text") }}\n\nso `{{ value(nb, "text") }}` and *{{ value(nb, "text") }}*\n\n'
    )
    page += '| a | b |\n|---|---|\n| {{ value(nb, "text") }} | {{ value(nb, "reason") }} |\n\n{{ weak_points() }}\n\n'
    page += '- {{ value(nb, "ends") }} {{ verdicts(nb) }} $a \\text{<b>ran</b>}$\n\n'
    page += (
        '<div markdown="0">{{ value(nb, "text") }}</div>\n\n{{ figure(nb, "curve") }}\n\n{{ table(nb, "facts") }}\n\n'
    )
    page += '{{ claims(nb, "claims") }}\n\n{{ experiments(nb) }}\n\n{{ experiments_index() }}\n\n{{ designs() }}\n'
    (root / "handbook/index.md").write_text(f'{{% set nb = "{NOTEBOOK}" %}}\n{page}', "utf-8")
    (root / "handbook/reference/data/index.md").write_text("# Raw files\n\n{{ raw_files_table() }}\n")
    (root / "handbook/assets").symlink_to(ROOT / "handbook/assets")
    text = (ROOT / "mkdocs.yml").read_text("utf-8")
    nav = f"\nnav:\n  - A: index.md\n  - N: notebooks/{NOTEBOOK}.md\n  - R: reference/data/index.md\n\n"
    text = re.sub(r"\nnav:\n.*?\n\n", nav, text, flags=re.S)
    text = text.replace("lib/loadcurve/site/hooks.py", str(ROOT / "lib/loadcurve/site/hooks.py"))
    (root / "mkdocs.yml").write_text(text, "utf-8")


def visit(browser, address, *, second_wall=True):
    """The page with what ran in it; without its policy where the first wall has to hold alone."""
    page = browser.new_context(bypass_csp=not second_wall).new_page()
    page.ran, page.refused = [], []
    page.expose_function("ran", lambda route: page.ran.append(route))
    page.on("dialog", lambda dialog: page.ran.append(dialog.message))
    page.on("console", lambda said: page.refused.append(said.text) if "Content Security" in said.text else None)
    page.goto(address)
    page.wait_for_load_state("load")
    return page


@pytest.mark.slow
@pytest.mark.site
@needs_chromium
@pytest.mark.parametrize("second_wall", [True, False], ids=["with its policy", "without its policy"])
def test_nothing_from_data_runs_and_all_of_it_is_read(browser, site, second_wall):
    shown = ""
    for name in ("index.html", f"notebooks/{NOTEBOOK}.html"):
        page = visit(browser, (site / name).as_uri(), second_wall=second_wall)
        for tip in page.query_selector_all("article .lc-value[title]"):
            if tip.is_visible():
                tip.hover(force=True)  # the theme draws tooltips from titles
        page.click(".md-search__input")
        page.keyboard.type("words")
        page.wait_for_selector(".md-search-result__item a")
        links = (
            "e => [...e.querySelectorAll('[href]')].map(x => String(x.href)).filter(x => x.startsWith('javascript'))"
        )
        assert page.eval_on_selector("body", links) == []
        assert page.query_selector_all("article script, article iframe, article [onerror], article [onload]") == []
        shown += page.inner_text("body") + "\n".join(
            drawing.get_attribute("aria-label") for drawing in page.query_selector_all("svg[aria-label]")
        )
        assert page.ran == []
        assert page.refused == []
        page.context.close()
    shown = " ".join(shown.split())
    # A tooltip; capitals by the style sheet; Markdown that is one; markup that breaks out of its output.
    unseen = {"unit", "verdict", "markdown", "raw"}
    missing = [route for route in ROUTES if route not in unseen and readable(route) not in shown]
    assert missing == []


@pytest.fixture(scope="module")
def raw_files(site):
    """Path on the site of each raw file that the page of its folder links to."""
    page = BeautifulSoup((site / "reference/data/published/raw.html").read_text("utf-8"), "html.parser")
    return [f"reference/data/published/{unquote(link['href'])}" for link in page.select("article a:not(.headerlink)")]


@pytest.fixture(scope="module")
def address(site):
    server = SiteServer(site.parents[1], lambda: None, port=0)
    server.server_bind()
    server.server_activate()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.mark.slow
@pytest.mark.site
def test_each_raw_file_is_published_unchanged_under_a_passive_name(site, raw_files):
    below = site / "reference/data/published/raw"
    there = {file.relative_to(site).as_posix() for file in below.rglob("*") if file.is_file()}
    assert there == set(raw_files) and len(there) == len(raw_files)
    wanted = [*(raw_text(name) for name in RAW_FILES if name not in UNPUBLISHED), raw_text("x.html")]
    assert sorted((site / name).read_text("utf-8") for name in raw_files) == sorted(wanted)
    assert (below / "x.html.txt").read_text("utf-8") == raw_text("x.html.txt")  # a file keeps its name if it can
    assert {re.search(r"[^.]*?(\.(?:gz|xz|bz2))?$", name, re.I)[0].lower() for name in raw_files} == {
        "txt", "csv", "json", "txt.gz", "txt.xz", "txt.bz2",
    }  # fmt: skip
    said = BeautifulSoup((site / "reference/data/published/raw.html").read_text("utf-8"), "html.parser").get_text()
    assert ["link.txt" in said, *(name in said for name in UNPUBLISHED - {"link.txt"})] == [False, True]


@pytest.mark.slow
@pytest.mark.site
@needs_chromium
@pytest.mark.parametrize("second_wall", [True, False], ids=["with its policy", "without its policy"])
@pytest.mark.parametrize("served", [True, False], ids=["served", "opened from disk"])
def test_no_raw_file_runs_in_a_browser(browser, site, address, raw_files, served, second_wall):
    page = visit(browser, "about:blank", second_wall=second_wall)
    for name in raw_files:
        try:
            page.goto(f"{address}/{quote(name)}" if served else (site / name).as_uri())
        except Error as error:
            assert "Download is starting" in error.message
    assert page.ran == []
    page.context.close()


@pytest.mark.slow
@pytest.mark.site
def test_each_response_has_a_policy_and_its_type_is_not_guessed(site, address, raw_files):
    pages = [file.relative_to(site).as_posix() for file in site.rglob("*.html") if file.is_file()]
    others = ["", "none", "none/", "assets/accessible.js", "search/search_index.json", "livereload/0/0", "x" * 70_000]
    for name in (*pages, *raw_files, *others):
        answer = urllib3.request("GET", f"{address}/{quote(name)}", redirect=False)
        policy, kind = answer.headers["Content-Security-Policy"], answer.headers["Content-Type"]
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert policy.startswith("default-src 'none'; script-src ") and "unsafe-inline" not in policy.split("; ")[1]
        assert ("sha256-" in policy) == (name in pages or name == ""), name
        assert name not in raw_files or re.match("text/(plain|csv)|application/(json|gzip)", kind)
    assert len(pages) >= 5 and all(
        'http-equiv="Content-Security-Policy"' in (site / name).read_text() for name in pages
    )


@pytest.mark.slow
@pytest.mark.site
@pytest.mark.parametrize(
    ("host", "status"),
    [("localhost:9", 200), ("127.0.0.1", 200), ("[::1]:80", 200), ("localhost.evil.example", 421), ("[::1", 421)],
)
def test_a_name_that_was_bound_to_this_machine_afterwards_reads_nothing(address, host, status):
    answer = urllib3.request("GET", f"{address}/index.html", headers={"Host": host})
    assert answer.status == status and (b"<html" in answer.data) == (status == 200)


@pytest.mark.slow
@pytest.mark.site
@needs_chromium
def test_a_served_page_waits_for_the_next_build(browser, address):
    page = visit(browser, "about:blank")
    with page.expect_request("**/livereload/*/*"):
        page.goto(f"{address}/index.html")
    assert page.refused == []
    page.context.close()


@pytest.mark.slow
@pytest.mark.site
@needs_chromium
@pytest.mark.parametrize("command", ["analyse", "audit"])
def test_no_name_or_line_of_an_analysed_folder_runs_in_its_report(browser, tmp_path, command):
    folder = tmp_path / hostile("folder").replace("/", "∕")
    (folder / "<img src=x onerror=ran(1)>").mkdir(parents=True)
    (folder / "<script>ran(1)<!--.txt").write_text(hostile("line")[:-2])
    for number, report in enumerate((ROOT / "lib/tests/data/folders/wrk_only").glob("*.txt")):
        shutil.copy(report, folder / "<img src=x onerror=ran(1)>" / f"'\"><svg onload=ran({number})>.txt")
    app([command, str(folder), "-o", str(tmp_path / "report.html"), *["--fail-on=never"] * (command == "audit")],
        standalone_mode=False)  # fmt: skip
    for second_wall in (True, False):
        page = visit(browser, (tmp_path / "report.html").as_uri(), second_wall=second_wall)
        assert page.ran == [] and page.refused == [] and "<script>ran(1)<!--.txt:1: expected" in page.inner_text("body")
        page.context.close()
    page = visit(browser, (tmp_path / "report.html").as_uri())
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=ran(2)>')")
    page.wait_for_timeout(0)
    assert page.ran == [] and page.refused
    page.context.close()


@pytest.mark.site
@needs_chromium
def test_what_gets_past_the_first_wall_is_stopped_by_the_second(browser, site, tmp_path):
    text = (site / "index.html").read_text("utf-8")
    holes = '<script>ran(1)</script><img src=x onerror=ran(2)><a id=hole href="javascript:ran(3)">x</a>'
    changed = site / "changed.html"
    changed.write_text(text.replace("</article>", f"{holes}</article>"), "utf-8")
    page = visit(browser, changed.as_uri())
    page.click("#hole")
    page.click("label[for^=__palette]:not([hidden])")  # the theme's own scripts run
    assert page.ran == [] and len(page.refused) >= 3
    page.context.close()


def test_a_script_inside_the_content_is_never_allowed():
    frame = "<html><head></head><script>theme()</script>{}</html>"
    with_both = safety.with_policy(
        frame.format("</article><script>data()</script>"), "</article><script>data()</script>"
    )
    alone = safety.with_policy(frame.format(""), "")
    policy = re.compile(r'content="([^"]+)"')
    assert policy.search(with_both)[1] == policy.search(alone)[1]
    with pytest.raises(LoadcurveError, match="must hold its content unchanged"):
        safety.with_policy(frame.format("other"), "content")


@pytest.mark.slow
@given(st.text())
def test_any_text_is_read_as_it_is_wherever_markdown_meets_it(text):
    extensions = ["attr_list", "footnotes", "md_in_html", "tables", "pymdownx.arithmatex", "pymdownx.superfences"]
    table = f"| a |\n|---|\n| <b>{literal(text)}</b> |"
    said = Markdown(extensions=extensions).convert(f"so <span>{literal(text)}</span>\n\n{table}")
    expected = re.sub(
        r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]+", " ", text
    )
    for tag in ("span", "b"):
        [one] = BeautifulSoup(said, "html.parser").find_all(tag)
        assert one.get_text().split() == expected.split() and one.find() is None


@pytest.mark.parametrize(
    "link", ["javascript:1", " JaVa\tScript:1", "data:text/html,x", "vbscript:x", "&#106;avascript:1"]
)
def test_a_link_of_another_scheme_stops_the_build(link):
    assert leads_elsewhere(link)
    with pytest.raises(LoadcurveError, match="handbook/a.md: link must be http, https or relative"):
        safety.check_links("a.md", f'<p><a class="b" href="{link}">x</a></p>')


@pytest.mark.parametrize("link", ["a.html#b", "#b", "https://a.b/c:d", "../a?b=javascript:1", "mailto:a@b.c", "//a/b"])
def test_other_links_are_left(link):
    assert not leads_elsewhere(link)


def test_a_formula_of_an_unknown_command_stops_the_build():
    with pytest.raises(LoadcurveError, match=r"known commands, got \\arg in"):
        formula(r"\arg x", display=False)
    assert "<mtext>&lt;b&gt;</mtext>" in formula(r"\text{<b>}", display=False)
    assert "javascript" not in formula(r"\href{javascript:1}{x}", display=False)


TEXTS = st.text(st.sampled_from("=+-@\t\r\n'＝＋－＠a1;,\" "), max_size=6)


@given(st.lists(TEXTS, min_size=1, max_size=4), st.floats(allow_nan=False))
def test_no_cell_of_a_csv_is_a_formula_and_none_is_lost(texts, number):
    frame = pd.DataFrame({"=name": texts, "value": number})
    written = stored.csv_text(frame)
    header, *rows = csv.reader(io.StringIO(written, newline=""))
    assert header == ["'=name", "value"]
    for text in (cell for cell, _ in rows):
        assert not re.match(r"[=@\t\r\n＝＋－＠]|[+-](?![\d.])", text)
    again = stored.without_formulas(frame).map(stored.as_read).rename(columns=stored.as_read)
    pd.testing.assert_frame_equal(again, frame)


@pytest.mark.slow
def test_numbers_and_their_texts_are_no_formulas():
    frame = pd.DataFrame({"a": [-1.5], "b": ["-1.5"], "c": ["+2e-3"], "d": pd.Categorical(["@x"])})
    assert stored.without_formulas(frame).iloc[0].tolist() == [-1.5, "-1.5", "+2e-3", "'@x"]
