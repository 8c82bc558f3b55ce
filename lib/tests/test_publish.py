"""What publish writes is what pages read; by hand it writes drafts."""

import json
import math
import os
from html import unescape

import matplotlib.pyplot as plt
import nbformat
import pandas as pd
import pytest

from loadcurve import publish
from loadcurve.errors import LoadcurveError
from loadcurve.plots import style
from loadcurve.publish import outputs
from loadcurve.site import published, published_html
from loadcurve.stats import Estimate, find_mean
from loadcurve.study import Study

DATA = pd.DataFrame({"connections": [1, 2], "throughput_rps": [10.0, 20.0]})


@pytest.fixture
def begun(checkout, monkeypatch):
    monkeypatch.setenv("LOADCURVE_PUBLISH", str(checkout / "build" / "figures" / "99_test"))
    style.use()
    publish.begin("99_test")
    yield checkout / "build" / "figures" / "99_test"
    outputs._notebook = ""


def draw():
    _, ax = plt.subplots()
    ax.plot(DATA["connections"], DATA["throughput_rps"], label="a")
    ax.set_xlabel("Connections")
    return ax


def test_a_figure_is_drawing_data_and_facts(begun):
    made = publish.figure("curve", draw(), DATA, caption="What it says.", alt="A line.")
    assert made == begun / "curve.svg"
    assert pd.read_csv(begun / "curve.csv").equals(DATA)
    facts = json.loads((begun / "curve.json").read_text())
    assert facts["caption"] == "What it says."
    assert facts["units"] == {"throughput_rps": "requests/s"}
    assert set(facts) == {"caption", "alt", "units", "notebook", "studies", "commit"}


def test_a_figure_has_a_narrow_drawing_where_its_labels_leave_room(begun):
    ax = draw()
    size = ax.figure.get_size_inches().tolist()
    publish.figure("curve", ax, DATA, caption="c", alt="a")
    assert 'viewBox="0 0 248.4 ' in (begun / "curve.narrow.svg").read_text("utf-8")
    assert ax.figure.get_size_inches().tolist() == size
    ax.set_yticks([100], ["a name that is longer than a phone is wide, but not than a page"])
    publish.figure("curve", ax, DATA, caption="c", alt="a")
    assert (begun / "curve.svg").exists() and not (begun / "curve.narrow.svg").exists()


def test_a_drawing_is_the_same_every_time_and_follows_the_page(begun):
    first = publish.figure("curve", draw(), DATA, caption="c", alt="a").read_bytes()
    second = publish.figure("curve", draw(), DATA, caption="c", alt="a").read_bytes()
    assert first == second
    assert b"currentColor" in first
    assert style.INK.encode() not in first
    assert b"<text" in first, "text stays text"


def test_a_file_for_programs_is_written_as_it_is(begun):
    assert publish.file("acceptance.xml", "<testsuites/>\n") == begun / "acceptance.xml"
    assert (begun / "acceptance.xml").read_text("utf-8") == "<testsuites/>\n"
    for name in ("page.html", "../acceptance.xml"):
        with pytest.raises(LoadcurveError, match="name must"):
            publish.file(name, "")


def test_a_notebook_executed_again_forgets_the_values_of_the_first_time(begun):
    publish.values(old=1.0)
    publish.begin("99_test")
    publish.values(new=2.0)
    assert list(json.loads((begun / "values.json").read_text("utf-8"))) == ["new"]


def test_by_hand_nothing_is_published(checkout, monkeypatch):
    monkeypatch.delenv("LOADCURVE_PUBLISH", raising=False)
    publish.begin("99_test")
    publish.values(x=1.0)
    assert (checkout / "build" / "draft" / "99_test" / str(os.getpid()) / "values.json").exists()
    assert not (checkout / "build" / "figures").exists()
    outputs._notebook = ""


def test_a_value_brings_its_interval_along(begun):
    publish.values(peak=Estimate(96.5, 71.5, 121.5, 0.95, "delta method"), share_ratio=0.0213, why="none")
    shown, alone = (
        unescape(published_html.value_html("99_test", "peak", interval=is_there)) for is_there in (True, False)
    )
    assert ">96.5 [71.5 to 122]</span>" in shown
    assert ">96.5</span>" in alone and "95% interval: 96.5 [71.5 to 122]" in alone
    assert ">2.13\u00a0%<" in published_html.value_html("99_test", "share_ratio")
    publish.values(open=Estimate(96.5, 71.5, math.inf, 0.95, "profile"), none_s=find_mean([0.2]))
    assert ">96.5 [71.5 or more]<" in unescape(published_html.value_html("99_test", "open"))
    assert published.read_value("99_test", "none_s")["repeats"] == 1


def page_of(*parts, cell=False):
    """A page with published numbers, and with blocks of their weak points for None."""
    cells = [published_html.value_html("99_test", one) if one else published.weak_points_html() for one in parts]
    text = "".join(f"<table><tr><td>{one}</td></tr></table>" if cell else f"<p>{one}</p>" for one in cells)
    return published.with_weak_points("p.md", text)


def test_a_warning_is_a_footnote_that_cannot_be_left_out(begun):
    warned = Estimate(96.5, 71.5, 121.5, 0.95, "t", ("run 3 is < the others",), repeats=5)
    publish.values(peak=warned, again=warned, sound=Estimate(96.5, 71.5, 121.5, 0.95, "t", repeats=5))
    shown = page_of("peak", "sound", "again", None)
    assert shown.count('<sup class="lc-note"><a href="#weak-1">1</a></sup>') == 2
    assert '<li id="weak-1" value="1">run 3 is &lt; the others</li>' in shown and "data-weak" not in shown
    with pytest.raises(
        LoadcurveError, match="handbook/p.md: expected the warnings of peak of 99_test on the page, got"
    ):
        page_of("sound", "peak", "sound")
    with pytest.raises(LoadcurveError, match="expected a number with a warning before weak_points"):
        page_of("sound", None, "peak", None)


def test_a_sentence_quotes_no_number_from_fewer_than_three_repeats(begun):
    """A page quoted −3.18 % and +140 % of one pair of runs, below “every setting ran five times or more”."""
    publish.values(pair_ratio=Estimate(1.4, 1.2, 1.6, 0.95, "t", repeats=2))
    assert "[120 to 160] %</span> (n = 2)</td>" in unescape(page_of("pair_ratio", cell=True))
    expected = "handbook/p.md: expected at least 3 repeats of a number in a sentence, got 2 of pair_ratio of 99_test"
    with pytest.raises(LoadcurveError, match=expected):
        page_of("pair_ratio")


def test_a_number_nobody_published_stops_the_page(begun):
    publish.values(peak=1.0)
    with pytest.raises(LoadcurveError, match="value 'knee' must be one that 99_test publishes"):
        published_html.value_html("99_test", "knee")
    with pytest.raises(LoadcurveError, match="curve.json: expected what a notebook publishes, got no file"):
        published_html.figure_html("99_test", "curve", str)


@pytest.mark.slow
def test_a_page_shows_drawing_caption_and_source(begun):
    publish.figure("curve", draw(), DATA, caption="Less < more", alt='It "rises"')
    shown = published_html.figure_html("99_test", "curve", lambda target: f"../{target}")
    assert 'role="img" aria-label="It &#34;rises&#34;"' in shown
    assert "Less &#60; more" in shown
    assert 'href="../notebooks/99_test.html"' in shown
    assert 'href="../figures/99_test/curve.csv"' in shown
    assert "<metadata>" not in shown and "\n\n" not in shown
    head = shown[shown.index("<svg") : shown.index(">", shown.index("<svg"))]
    assert "viewBox" in head and "width=" not in head


@pytest.mark.parametrize("left", ["nothing", "a limit", "numbers that are missing"])
def test_an_empty_figure_is_no_result(begun, left):
    """The template on runs without a variant published empty axes, and said it had finished."""
    ax = plt.subplots()[1]
    if left == "a limit":
        ax.axhline(1)
        ax.axhspan(0.9, 1.1)
    if left == "numbers that are missing":
        ax.plot([1, 2], [math.nan, math.nan])
        ax.scatter([], [])
    with pytest.raises(LoadcurveError, match="figure 'curve' must show a number, got none"):
        publish.figure("curve", ax, DATA, caption="c", alt="a")
    assert not (begun / "curve.svg").exists()


def test_values_share_prefix_unit_and_digits(begun):
    """One call replaces one line for each value: numbers, a row of a table, and what was published before it."""
    row = pd.DataFrame({"few": [10.0], "most": [512.0]}).iloc[0]
    publish.values(row, prefix="gain.", unit="rps", digits=2)
    publish.values(pd.DataFrame({"peak": [96.0]}, index=["usl"]))
    shown = publish.values(prefix="gain.", latency_s=0.0123, enough="yes")
    assert shown["value"].to_dict() == {
        "gain.few": "10 requests/s", "gain.most": "510 requests/s", "gain.latency_s": "12.3 ms", "gain.enough": "yes",
    }  # fmt: skip
    assert sorted(json.loads((begun / "values.json").read_text())) == [*sorted(shown.index), "usl.peak"]
    shown = publish.values(prefix="fit.", error=(0.0213, "ratio 2"), rate=(Estimate(8.0, 7.0, 9.0, 0.95, "t"), "4"))
    assert shown["value"].to_dict() == {"fit.error": "2.1 %", "fit.rate": "8"}
    assert publish.values(prefix="is.", whole=True, empty=pd.Series([1]).gt(1).all())["value"].tolist() == ["yes", "no"]
    says = "format must be a unit and a number of digits, such as 'ratio 2', got 'percent'"
    with pytest.raises(LoadcurveError, match=says):
        publish.values(error=(0.0213, "percent"))
    own_unit = publish.values(prefix="usl.", unit="", latency_s=0.5)
    assert own_unit["value"]["usl.latency_s"] == "0.500", "a unit that is given wins"


def test_a_figure_needs_words(begun):
    with pytest.raises(LoadcurveError, match="must have a caption and an alt text"):
        publish.figure("curve", draw(), DATA, caption="c", alt="")


CAPTIONS = """\
**Figure `curve`.** {gain:ratio 2} more above {rate_rps}.
<!-- alt: A line. -->

**Table `curve`.** Rows.
"""


@pytest.fixture
def written(begun, tmp_path, monkeypatch):
    """A notebook whose Markdown cell has the captions."""
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(CAPTIONS)])
    nbformat.write(book, tmp_path / "my.ipynb")
    monkeypatch.setenv("LOADCURVE_NOTEBOOK", str(tmp_path / "my.ipynb"))
    return begun


def test_captions_are_in_markdown_cells(written):
    publish.figure("curve", draw(), DATA, gain=0.0213, rate_rps=41418)
    publish.table("curve", DATA)
    facts = json.loads((written / "curve.json").read_text())
    assert (facts["caption"], facts["alt"]) == ("2.1 % more above 41,400 requests/s.", "A line.")
    assert json.loads((written / "curve.table.json").read_text())["caption"] == "Rows."


def test_a_caption_that_is_missing_says_how_to_write_it(written):
    with pytest.raises(LoadcurveError, match="gain.* must be given"):
        publish.figure("curve", draw(), DATA)
    with pytest.raises(
        LoadcurveError, match=r"write '\*\*Figure `other`.\*\* CAPTION' and, in the next line, '<!-- alt"
    ):
        publish.figure("other", draw(), DATA)
    with pytest.raises(LoadcurveError, match=r"write '\*\*Table `other`"):
        publish.table("other", DATA)


def test_captions_of_an_unsaved_notebook(begun, checkout, monkeypatch):
    monkeypatch.delenv("LOADCURVE_NOTEBOOK", raising=False)
    with pytest.raises(LoadcurveError, match="captions must be in the notebook's file, got no file 99_test.ipynb or"):
        publish.table("curve", DATA)


@pytest.mark.parametrize("name", ["", "peak\n"])
def test_names_of_values_are_printable(begun, name):
    with pytest.raises(LoadcurveError, match="name must be printable text"):
        publish.values({name: 1.0})


@pytest.mark.parametrize("curve", ["cpu keep_alive=on", "url=/a?b=<c>", 'server={"nginx": 1}', "é"])
def test_a_value_may_carry_the_name_of_any_curve(begun, curve):
    """A curve is named by a variant and by levels, which are what a study says."""
    publish.values({curve: 1.0}, prefix="scatter.")
    assert published.read_value("99_test", f"scatter.{curve}")["text"] == "1"
    assert "<c>" not in published_html.value_html("99_test", f"scatter.{curve}")


@pytest.mark.parametrize("name", ["", "a b", "../x", "a..b", "peak\n"])
def test_names_of_files_are_plain(begun, name):
    with pytest.raises(LoadcurveError, match="name must be lower case letters"):
        publish.figure(name, draw(), DATA, caption="c", alt="a")


@pytest.mark.parametrize("variant", ["A", "php-fpm", "keep_alive", "E2"])
def test_a_value_can_be_of_any_variant(begun, variant):
    Study("s", "?", variants={variant: {}})
    publish.values({f"checked.{variant}": 1.0})


def test_nothing_is_published_without_a_notebook(checkout):
    outputs._notebook = ""
    with pytest.raises(LoadcurveError, match="publish.begin"):
        publish.values(x=1.0)
