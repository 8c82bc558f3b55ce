"""A text says itself whose it is; parts of several tools are read each by its own parser."""

import re
import time
from pathlib import Path

import pandas as pd
import pytest
from one_test import LONG, in_one_test
from refused import refused_line

import loadcurve
from loadcurve.errors import LoadcurveError, ParseError
from loadcurve.ingest.registry import FORMS, form_of, forms_of
from loadcurve.ingest.signatures import form_starts
from loadcurve.ingest.sniff import parse

DATA = Path(__file__).parents[1] / "data"
WRK = (DATA / "wrk" / "latency.txt").read_text("utf-8")
SUMMARY = (DATA / "ss" / "summary.txt").read_text("utf-8")


@pytest.mark.slow
def test_every_fixture_is_recognised_from_its_text():
    found = {case: loadcurve.parse(case.read_text("utf-8")).tool for case in sorted(DATA.glob("*/*.txt"))}
    assert {case: tool for case, tool in found.items() if tool != case.parent.name} == {}


@pytest.mark.parametrize("mark", ["> ", "# ", "* "])
@pytest.mark.parametrize(
    "rows",
    [
        "03:08:32 AM     IFACE   rxpck/s   txpck/s\n03:08:33 AM      eth1      0.00 3461296.00\n",
        "11:19:24     CPU    intr/s\n11:19:25     all   2097.91\n",
        "06:14:47  UID    PID   cswch/s nvcswch/s  Command\n06:14:48 1010  31036    554.00    348.00  app\n",
    ],
    ids=["sar", "mpstat", "pidstat"],
)
def test_quoted_rows_of_sysstat_need_no_heading(mark, rows):
    quoted = loadcurve.parse("".join(f"{mark}{line}\n" for line in rows.splitlines()))
    for name, frame in loadcurve.parse(rows).tables.items():
        pd.testing.assert_frame_equal(quoted.tables[name], frame)


def test_a_session_of_several_tools_is_read_whole():
    text = f"$ wrk -c64 URL\n{WRK}$ ss -s\n{SUMMARY}$ wrk -c64 URL\n{WRK}"
    parsed = loadcurve.parse(text)
    assert parsed.tool == "wrk"
    assert parsed.tables["runs"]["generator"].tolist() == [0, 1]
    assert sorted(set(parsed.tables["latency"]["generator"])) == [0, 1]
    assert len(parsed.tables["sockets"]) == 1
    lines = text.split("\n")
    begins = [lines.index("$ ss -s") + 2, len(lines) - lines[::-1].index("$ wrk -c64 URL") + 1]
    assert [w for w in parsed.warnings if "begins here" in w] == [
        f"line {begins[0]}: output of ss:summary begins here",
        f"line {begins[1]}: output of wrk begins here",
    ]


def test_an_error_in_a_later_part_has_the_line_of_the_whole_text():
    text = f"{SUMMARY}$ wrk -c64 URL\n{WRK.replace('Requests/sec: ', 'Requests/sec: x')}"
    line = next(i for i, s in enumerate(text.split("\n"), 1) if s.startswith("Requests/sec"))
    assert refused_line(loadcurve.parse, text) == line


def test_a_named_tool_reads_its_part_only():
    assert set(loadcurve.parse(WRK + SUMMARY, tool="ss").tables) == {"sockets"}
    with pytest.raises(ParseError):
        loadcurve.parse(WRK, tool="ss:summary")


def test_an_unknown_tool_and_an_unknown_text():
    with pytest.raises(LoadcurveError, match=r"tool must be one of .*ss, .*wrk.*, got 'wkr'"):
        loadcurve.parse(WRK, tool="wkr")
    with pytest.raises(ParseError, match=r"<text>:3: expected output of a tool that loadcurve reads, got 'Hello'"):
        loadcurve.parse("\n\n  Hello\n")
    with pytest.raises(ParseError, match=": expected output of a tool"):
        loadcurve.parse("")


def test_the_percentiles_of_bombardier_are_not_those_of_wrk():
    """Both begin with one heading (bombardier's template/text.go, wrk's src/wrk.c); only bombardier prints 95 %."""
    rows = ["50%     1.97ms", "75%     2.16ms", "90%     2.36ms", "95%     2.54ms", "99%     3.20ms"]
    bombardier = ["Statistics  Avg", "  Latency Distribution", *(f"     {row}" for row in rows), "  HTTP codes:", ""]
    with pytest.raises(ParseError, match="expected output of a tool that loadcurve reads, got 'Statistics"):
        loadcurve.parse("\n".join(bombardier))
    wrk = [line for line in bombardier if "95%" not in line]
    assert len(loadcurve.parse("\n".join(wrk)).tables["latency"]) == 4


@in_one_test("form", FORMS, ids=lambda form: form.name, by=lambda form: form.tool)
def test_every_form_is_whole(form):
    """Its function is there, its name finds it, its signature compiles and captures nothing."""
    assert callable(form.parser)
    assert form in forms_of(form.name) and form in forms_of(form.tool)
    assert form_of(form.tool, form.variant) is form
    assert all(re.compile(pattern).groups == 0 for pattern in form.signature)
    assert len({pattern.startswith(r"\A") for pattern in form.signature}) == 1  # of documents or of lines


def test_literals_only_make_it_faster():
    """The same beginnings as by every signature on every line."""
    named = [f"(?P<f{i}>{'|'.join(form.signature)})" for i, form in enumerate(FORMS)]
    documents = [pattern for pattern, form in zip(named, FORMS, strict=True) if form.signature[0].startswith(r"\A")]
    lines = [pattern for pattern in named if pattern not in documents]
    naive = re.compile("|".join([*documents, rf"^[ \t]*+(?:{'|'.join(lines)})"]), re.MULTILINE)
    texts = [case.read_text("utf-8") for case in sorted(DATA.glob("*/*.txt"))]
    expected = [[(FORMS[int(m.lastgroup[1:])], m.start()) for m in naive.finditer(text)] for text in texts]
    assert [list(form_starts(text)) for text in texts] == expected


@pytest.mark.slow
@in_one_test("unit", [" ", "a", "a ", "0 ", "Linux ", "{", "[", "Total: ", "\0", ",", "é", '{"a":', "#"])
def test_a_line_of_megabytes_is_refused_at_once(unit):
    begun = time.process_time()
    with pytest.raises(ParseError) as caught:
        loadcurve.parse(unit * (LONG // len(unit)))
    assert len(str(caught.value)) < 300
    assert time.process_time() - begun < 60  # a hang, not a speed


def test_a_list_of_markdown_is_read():
    text = "- Transactions:\t\t 10319 hits\n- Elapsed time:\t\t 59.53 secs\n- Transaction rate:\t 173.34 trans/sec\n"
    runs = parse(text).tables["runs"]
    assert runs[["requests", "duration_s", "throughput_rps"]].to_numpy().tolist() == [[10319.0, 59.53, 173.34]]
