"""Texts from data are shown as they are and run nothing, by every way into a page, in a real browser."""

import csv
import io
import json
import re

import mkdocs.config
import nbformat
import pandas as pd
import pytest
from bs4 import BeautifulSoup
from chromium import needs_chromium, open_browser  # noqa: F401
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st
from markdown import Markdown
from mkdocs.commands.build import build
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from loadcurve import paths, plots, publish
from loadcurve.errors import LoadcurveError
from loadcurve.files import spreadsheet
from loadcurve.ingest import reads
from loadcurve.site import safety
from loadcurve.site.literal import formula, leads_elsewhere, literal
from loadcurve.stats import Estimate

NOTEBOOK = "99_hostile"
ROUTES = (
    "variant", "heading", "cell", "fact", "caption", "alt", "value", "unit", "reason", "claim", "section", "evidence",
    "settles", "verdict", "study", "question", "frame", "stream", "markdown", "html", "styler", "raw",
)  # fmt: skip


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
        patch.setattr(reads, "studies_read", {hostile("study")})
        patch.setattr(publish.outputs, "_notebook", "")
        patch.setattr(paths, "designs", lambda: root / "designs")
        for folder in ("data/studies", "designs/mine", "handbook/notebooks", "notebooks", "build/notebooks"):
            (root / folder).mkdir(parents=True)
        write_data(root)
        write_pages(root)
        build(mkdocs.config.load_config(str(root / "mkdocs.yml")))
    return root / "build" / "site"


def write_data(root):
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
    claim = {name: [hostile(name)] for name in ("verdict", "claim", "section", "evidence", "settles")}
    publish.table("claims", pd.DataFrame(claim), caption="Claims.")
    heads = ("experiment", "title", "published", "rerun", "evidence", "study", "figure", "machine")
    publish.table("experiments", pd.DataFrame({name: [hostile(name)] for name in heads}), caption="Experiments.")


def write_pages(root):
    said = new_markdown_cell(f"# A notebook\n\nat $x \\text{{<script>ran('formula')</script>}}$ and {literal('$5')}")
    made = new_notebook(cells=[said, new_code_cell("1", outputs=outputs(), execution_count=1)])
    for folder in ("notebooks", "build/notebooks"):
        nbformat.write(made, root / folder / f"{NOTEBOOK}.ipynb")
    page = (
        '# Words\n\n## Here {{ value(nb, "text") }}\n\nso `{{ value(nb, "text") }}` and *{{ value(nb, "text") }}*\n\n'
    )
    page += '| a | b |\n|---|---|\n| {{ value(nb, "text") }} | {{ interval(nb, "reason") }} |\n\n'
    page += '- {{ value(nb, "ends") }} {{ interval(nb, "ends") }} {{ verdicts(nb) }} $a \\text{<b>ran</b>}$\n\n'
    page += (
        '<div markdown="0">{{ value(nb, "text") }}</div>\n\n{{ figure(nb, "curve") }}\n\n{{ table(nb, "facts") }}\n\n'
    )
    page += '{{ claims(nb, "claims") }}\n\n{{ experiments(nb) }}\n\n{{ experiments_index() }}\n\n{{ designs() }}\n'
    (root / "handbook/index.md").write_text(f'{{% set nb = "{NOTEBOOK}" %}}\n{page}', "utf-8")
    (root / "handbook/assets").symlink_to(ROOT / "handbook/assets")
    text = (ROOT / "mkdocs.yml").read_text("utf-8")
    text = re.sub(r"\nnav:\n.*?\n\n", f"\nnav:\n  - A: index.md\n  - N: notebooks/{NOTEBOOK}.md\n\n", text, flags=re.S)
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
    written = spreadsheet.csv_text(frame)
    header, *rows = csv.reader(io.StringIO(written, newline=""))
    assert header == ["'=name", "value"]
    for text in (cell for cell, _ in rows):
        assert not re.match(r"[=@\t\r\n＝＋－＠]|[+-](?![\d.])", text)
    again = spreadsheet.without_formulas(frame).map(spreadsheet.as_read).rename(columns=spreadsheet.as_read)
    pd.testing.assert_frame_equal(again, frame)


@pytest.mark.slow
def test_numbers_and_their_texts_are_no_formulas():
    frame = pd.DataFrame({"a": [-1.5], "b": ["-1.5"], "c": ["+2e-3"], "d": pd.Categorical(["@x"])})
    assert spreadsheet.without_formulas(frame).iloc[0].tolist() == [-1.5, "-1.5", "+2e-3", "'@x"]
