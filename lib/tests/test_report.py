"""Reports of an analysis: one content in each form, self-contained, escaped, and small."""

import html.parser
import json
import re
import shutil
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import loadcurve
from loadcurve import analyse, blocks, models, report
from loadcurve.analysis import compare, sentences
from loadcurve.cli import app
from loadcurve.errors import LoadcurveError
from loadcurve.report import figures, write
from loadcurve.stats import Estimate
from loadcurve.study import Study

pytestmark = pytest.mark.slow  # each test analyses whole folders

HOSTILE = '<script>alert("1")</script> & | `c` @name'
LEVELS = np.array([1, 2, 4, 8, 16, 32, 64])
SECTIONS = ["Verdict:", "Levels (", "Results", "Bottleneck", "Not computed", "Measure next", "Findings", "Warnings",
            "Provenance"]  # fmt: skip
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}  # of HTML


class Page(html.parser.HTMLParser):
    """Elements of a page with their attributes, and elements that are not closed in order."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.open, self.faults, self.ids = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self.ids += [value for name, value in attrs if name == "id"]

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}> at line {self.getpos()[0]}")


def sweep(**more):
    throughput = models.usl(LEVELS, 1000.0, 0.05, 0.0005)
    rows = {"run_id": [f"c{n}" for n in LEVELS], "tool": "wrk", "tool_version": "4.1.0", "status": "finished",
            "connections": LEVELS, "throughput_rps": throughput, "latency_mean_s": LEVELS / throughput}  # fmt: skip
    return pd.DataFrame(rows | more)


@pytest.fixture(scope="module")
def hostile():
    """Two curves with monitors, whose names, sources and addresses hold markup; one run contradicts Little's law."""
    parts = [sweep(), sweep(run_id=[f"d{n}{HOSTILE}" for n in LEVELS])]
    runs = pd.concat([parts[0].assign(variant="plain"), parts[1].assign(variant=HOSTILE)], ignore_index=True)
    runs["url"] = 'http://host/?a="b"&<c>'
    runs.loc[3, "latency_mean_s"] *= 3
    latency = pd.DataFrame({"run_id": runs["run_id"], "quantile": 0.99, "latency_s": 2 * runs["latency_mean_s"]})
    busy = runs["throughput_rps"] / runs["throughput_rps"].max() * 0.97
    cpu = pd.DataFrame({"run_id": runs["run_id"], "cpu": "all", "cpu_idle_ratio": 1 - busy})
    found = analyse({"runs": runs, "latency": latency, "cpu": cpu}, objectives="p99=30ms,max=1s", source=HOSTILE)
    return type(found)(**(vars(found) | {"warnings": (HOSTILE,)}))


@pytest.fixture(scope="module")
def folder(tmp_path_factory, hostile):
    path = tmp_path_factory.mktemp("report") / "data"
    path.mkdir()
    (path / "<b>.txt").write_text("abc")
    return path


@pytest.fixture(scope="module")
def provenance(hostile, folder):
    return report.provenance_of(hostile, folder, f"loadcurve analyse '{HOSTILE}'")


@pytest.fixture(scope="module")
def page(hostile, provenance):
    return report.html_report(hostile, provenance)


def test_the_page_needs_nothing_else(page):
    parsed = Page(page)
    assert not parsed.faults and not parsed.open
    assert len(page.encode()) <= 500_000
    assert not {tag for tag, _ in parsed.elements} & {"script", "link", "iframe", "object", "img"}
    addresses = [value for _, attrs in parsed.elements for name, value in attrs.items()
                 if name in ("src", "href", "xlink:href", "action", "srcset")]  # fmt: skip
    assert addresses and all(value.startswith("#") for value in addresses)
    assert not re.search(r"url\((?!#)|@import|<!--", page)
    assert not [name for _, attrs in parsed.elements for name in attrs if name.startswith("on")]


def test_what_was_watched_of_a_run_is_shown_on_one_clock():
    start = pd.Timestamp("2026-01-01T00:00:00Z")
    runs = sweep(started_at=start, duration_s=4.0).head(1)
    times = [start + pd.Timedelta(seconds=second) for second in (1, 2, 3)]
    cpu = pd.DataFrame({"run_id": "c1", "host": "S1", "time": times, "cpu": "0", "cpu_user_ratio": [0.1, 0.9, 0.9]})
    cpu["cpu_idle_ratio"] = 1 - cpu["cpu_user_ratio"]
    watched = {"runs": runs, "cpu": cpu}
    [section] = figures.Figures().timeline(analyse(watched).tables)
    [drawing, _] = section.blocks
    assert drawing.caption.startswith("Throughput, CPU 0 of run c1 on one clock.") and "<svg" in drawing.svg
    assert not figures.Figures().timeline(analyse({**watched, "cpu": cpu.assign(time=pd.NaT)}).tables)


def test_the_page_has_landmarks_names_and_unique_ids(page):
    parsed = Page(page)
    tags = [tag for tag, _ in parsed.elements]
    assert [tags.count(tag) for tag in ("h1", "main", "header", "footer", "title")] == [1] * 5
    assert len(parsed.ids) == len(set(parsed.ids))
    figures = [attrs for tag, attrs in parsed.elements if tag == "svg"]
    assert len(figures) == 8  # throughput, response time, utilisation and bottlenecks of two curves
    assert all(attrs["role"] == "img" and len(attrs["aria-label"]) > 40 for attrs in figures)
    boxes = [attrs for _, attrs in parsed.elements if attrs.get("class") == "scroll"]
    assert len(boxes) == tags.count("table") and all(box["tabindex"] == "0" and box["aria-label"] for box in boxes)
    assert "currentColor" in page and "prefers-color-scheme: dark" in page and "@media print" in page


def test_every_form_has_every_part_in_one_order(hostile, provenance, page):
    forms = {
        "text": report.text_report(hostile, provenance=provenance),
        "markdown": report.markdown_report(hostile, provenance),
        "html": page.partition("<main>")[2],
    }
    for form, text in forms.items():
        places = [text.find(part.rstrip("(") if form == "markdown" else part) for part in SECTIONS]
        assert -1 not in places and places == sorted(places), (form, dict(zip(SECTIONS, places, strict=True)))
        assert "do not use: effective-concurrency in " in text


def test_names_from_files_are_escaped_everywhere(hostile, provenance, page):
    assert "<script>" not in page and "&lt;script&gt;" in page and "<b>" not in page and "&lt;b&gt;.txt" in page
    markdown = report.markdown_report(hostile, provenance)
    assert not re.search(r"(?<!\\)<(script|b)>", markdown) and "@name" not in markdown
    tables = [line for line in markdown.splitlines() if line.startswith("| ")]
    widths = {len(re.split(r"(?<!\\)\|", line)) for line in tables if "script" in line and "plain" not in line}
    assert widths and max(widths) <= 10
    for shown in (hostile, hostile.curves[0], hostile.curves[1], hostile.verdict):
        assert "<script>" not in shown._repr_html_()


def test_the_severity_of_the_verdict_is_a_word_and_a_colour(page):
    assert re.search(r'<p class="severity error"><strong>Verdict:</strong> do not use', page)


def keys(value, at=""):
    if isinstance(value, dict):
        return {name for key, inner in value.items() for name in keys(inner, f"{at}.{key}")} | {at}
    if isinstance(value, list):
        return {name for inner in value for name in keys(inner, f"{at}[]")}
    return {at}


def test_the_keys_of_the_json_object_are_those_that_are_documented(hostile, provenance):
    found = json.loads(report.json_report(hostile, provenance), parse_constant=lambda name: pytest.fail(name))
    assert list(found) == ["schema", "loadcurve", "source", "summary", "verdict", "answer", "grouping", "not_used",
                           "objectives", "curves", "next_steps", "settings", "findings", "warnings", "origins",
                           "provenance"]  # fmt: skip
    documented = set(re.findall(r"\w+", " ".join(re.findall(r"``(.*?)``", report.analysis_object.__doc__, re.S))))
    tables = (".curves[].levels[]", ".curves[].bottlenecks[]", ".findings[]", ".missing.", ".infinite.")
    named = {name.rpartition(".")[2].strip("[]") for name in keys(found) if not any(table in name for table in tables)}
    assert named - {""} <= documented, named - documented
    assert found["provenance"]["files"] == [
        {"path": "<b>.txt", "bytes": 3, "sha256": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}
    ]  # FIPS 180-2, appendix B.1: SHA-256 of abc


def test_numbers_that_json_has_not_are_null(provenance):
    found = analyse({"runs": sweep()}, objectives="mean=1s")
    curve = json.loads(report.json_report(found, provenance))["curves"][0]
    capacity = next(one for one in curve["results"] if one["name"] == "capacity")
    assert (capacity["value"], capacity["hi"], capacity["infinite"]) == (64, None, {"hi": "inf"})
    assert "∞" in capacity["interval"]
    assert curve["levels"][0]["gain_ratio"] is None and curve["levels"][0]["error_ratio"] is None


def test_captions_follow_from_the_numbers():
    def caption(*throughput):
        runs = sweep().head(len(throughput)).assign(throughput_rps=np.array(throughput, float))
        return sentences.throughput_caption(analyse({"runs": runs}).curves[0])

    assert caption(100, 190, 95) == (
        "Throughput is highest at 2 connections (190 requests/s) and falls by 50 % up to 4 connections."
    )
    assert "stays within 5 % of that up to 4 connections" in caption(100, 190, 188)
    assert caption(100, 190, 380).startswith("Throughput still rises at the highest load, 4 connections (380 ")
    assert "is level at the highest load" in caption(100, 190, 191)
    assert caption(100) == "Throughput was measured at one load, 1 connection: 100 requests/s."


def test_the_key_names_only_what_is_drawn():
    one = analyse({"runs": sweep()}).curves[0]
    runs = pd.concat(
        [sweep(), sweep(run_id=[f"r{n}" for n in LEVELS], throughput_rps=sweep()["throughput_rps"] * 1.01)]
    )
    repeated = analyse({"runs": runs}).curves[0]
    for curve in (one, repeated):
        known = np.isfinite([curve["demand"].lo, curve["demand"].hi]).all()
        assert ("1/D shaded" in sentences.throughput_key(curve)) == known
    assert "1/D shaded" not in sentences.throughput_key(one) and "1/D shaded" in sentences.throughput_key(repeated)
    assert "USL" not in sentences.throughput_key(analyse({"runs": sweep().head(3)}).curves[0])
    promised = analyse({"runs": sweep()}, objectives="mean=1s").curves[0]
    assert "capacity" not in sentences.throughput_key(one)
    assert f"capacity under mean ≤ 1.00 s, {LEVELS[-1]} connections" in sentences.throughput_key(promised)


def test_an_open_loop_has_its_own_axis(provenance):
    found = analyse({"runs": sweep(connections=8, target_rate_rps=LEVELS * 1000.0)}, objectives="mean=1s")
    page = report.html_report(found, provenance)
    assert "Offered rate [requests/s]" in page and "offered requests/s" in page


def test_data_without_a_load_have_no_figure_but_a_reason(provenance):
    found = analyse({"runs": sweep(connections=None)})
    page = report.html_report(found, provenance)
    assert "<svg" not in page and page.count("no run has both") == 1


def test_figures_beyond_the_size_of_a_page_are_left_out(hostile, provenance, monkeypatch):
    monkeypatch.setattr("loadcurve.report.figures._MOST_CHARACTERS", 30_000)
    page = report.html_report(hostile, provenance)
    assert 1 <= page.count("<svg") < 6 and "the page would exceed 500 kB" in page


@pytest.fixture(scope="module")
def twelve(tmp_path_factory, root):
    """A folder of one real report."""
    path = tmp_path_factory.mktemp("own")
    shutil.copy(root / "data/published/rt_qps_threads/raw/c8000.wrk.txt", path)
    return path


def test_the_command_writes_each_form(twelve, tmp_path, capsys):
    for suffix in (".html", ".json", ".md", ".txt"):
        app(["analyse", str(twelve), "-o", str(tmp_path / f"report{suffix}")], standalone_mode=False)
        assert f"report{suffix}: " in capsys.readouterr().out
        assert loadcurve.__version__ in (tmp_path / f"report{suffix}").read_text("utf-8")
    app(["analyse", str(twelve), "-o", "-"], standalone_mode=False)
    assert "Verdict: " in capsys.readouterr().out
    with pytest.raises(LoadcurveError, match=r"must end in \.html, \.json, \.md, \.pdf, \.txt or be -, got '.*\.doc'"):
        app(["analyse", "no such folder", "-o", "report.doc"], standalone_mode=False)


def test_no_report_names_the_folders_above_the_data(twelve, tmp_path, capsys):
    """Paths are given as absolute paths: below the home directory, below the working directory, and elsewhere."""
    files = [shutil.copytree(twelve, tmp_path / name) for name in ("anna/results", "anna/work/monday", "more/results")]
    broken = [(folder / "broken.txt", (folder / "broken.txt").write_text("none\n"))[0] for folder in files]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(tmp_path / "anna"))
        patch.chdir(tmp_path / "anna/work")
        for suffix in (".html", ".json", ".md", ".txt"):
            for given, shown in ((files[:1], ["results"]), (files, ["anna/results", "monday", "more/results"])):
                for command in ("analyse", "audit"):
                    output = tmp_path / f"elsewhere{suffix}"
                    argv = [command, *map(str, given), f"-o{output}"]
                    if (command, suffix) == ("audit", ".md"):
                        argv += ["--format", "html"]
                    patch.setattr(sys, "argv", ["loadcurve", *argv])
                    app(argv, standalone_mode=False)
                    text = output.read_text("utf-8").replace("\\", "").replace("<wbr>", "")
                    assert str(tmp_path) not in text and "~" not in text
                    assert all(f"{name}/broken.txt" in text for name in shown), (argv, text)
                    assert command == "audit" or f"loadcurve analyse {' '.join(shown)} -oelsewhere{suffix}" in text
    assert str(broken[0]) in capsys.readouterr().err  # the terminal names the path as it was typed


def test_without_chromium_a_pdf_is_one_clear_line(page, monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(LoadcurveError, match=r"PDF needs one of chromium.*, got none: install Chromium"):
        write.pdf_of(page)


def test_a_pdf_that_was_cut_short_is_refused(page, tmp_path, monkeypatch):
    """Chromium ends with exit code 0 where its disk is full."""
    browser = tmp_path / "browser"
    browser.write_text(
        '#!/bin/sh\nfor word; do case $word in --print-to-pdf=*) printf %%PDF-1.4 > "${word#*=}";; esac; done\n'
    )
    browser.chmod(0o755)
    monkeypatch.setattr(write, "BROWSERS", (str(browser),))
    with pytest.raises(LoadcurveError, match="must print the page as PDF"):
        write.pdf_of(page)
    monkeypatch.setattr(write, "_LITTLE", 2**63)
    with pytest.raises(OSError, match="No space left on device: '.*/loadcurve-"):
        write.pdf_of(page)


@pytest.mark.slow
@pytest.mark.skipif(not any(map(shutil.which, write.BROWSERS)), reason="no Chromium: apt-get install chromium")
def test_chromium_prints_the_page(page):
    assert write.pdf_of(page).startswith(b"%PDF-")


def test_objects_show_themselves_in_a_notebook(root):
    estimate = Estimate(96.52, 71.5, 121.5, 0.95, "delta <method>", ("few & weak",))
    fit = models.fit_usl(LEVELS, models.usl(LEVELS, 1000.0, 0.05, 0.0005))
    parsed = loadcurve.read(root / "data/published/rt_qps_threads/raw/c8000.wrk.txt")
    study = Study("threads", "How many <threads>?", factors={"load.connections": (1, 64)})
    assert "How many &lt;threads&gt;?" in study._repr_html_() and "1, 64" in study._repr_html_()
    assert "96.52 [71.5, 121.5] (95 % interval, delta &lt;method&gt;)" in estimate._repr_html_()
    assert "few &amp; weak" in estimate._repr_html_()
    assert "∞" in Estimate(np.inf, 1, np.inf, 0.95, "profile")._repr_html_()
    assert "<td>1,000 requests/s</td>" in fit._repr_html_()
    assert "contention" in fit._repr_html_() and "95 % interval" in fit._repr_html_()
    assert '<td class="left">runs</td><td>1</td>' in parsed._repr_html_() and "runs" in str(parsed)


def test_a_comparison_shows_its_ratios_in_a_notebook():
    """Twice the throughput at every level gives the ratio 2, whatever the names are."""
    first, other = (analyse({"runs": sweep(throughput_rps=LEVELS * rate)}, source=HOSTILE) for rate in (100.0, 200.0))
    shown = compare(first, other)
    assert shown._repr_html_().count("<td>2.000</td>") == len(LEVELS) and "<script>" not in shown._repr_html_()
    assert "All levels: B / A = 2.000" in str(shown)


def test_text_of_blocks_fits_a_narrow_terminal():
    grid = blocks.Grid(["connections", "requests/s"], [["1", "9"]], "Levels", bars=[9.0], bars_title="throughput")
    assert blocks.to_text([grid], 40).splitlines()[3:] == ["", "connections  throughput", f"          1  {'█' * 24}"]


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="no sha256sum")
def test_the_digest_is_that_of_sha256sum(hostile, folder):
    (folder / "a").mkdir()
    for name in ("a/1", "a-1", "B"):
        (folder / name).write_text(name)
    listed = "find . -type f -not -path '*/.*' -printf '%P\\n' | LC_ALL=C sort | xargs -d '\\n' sha256sum | sha256sum"
    printed = subprocess.run(listed, shell=True, cwd=folder, capture_output=True, text=True, check=True).stdout
    assert report.provenance_of(hostile, folder).digest == printed.split()[0]
