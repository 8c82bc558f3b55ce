"""The cursor that walks line-oriented reports: numbers, refusals, cut lines, foreign lines, embedded documents."""

import re

import pytest

from loadcurve.errors import ParseError
from loadcurve.ingest.cursor import Cursor
from loadcurve.ingest.load import ab, fortio, h2load, hey, httperf, k6, siege, vegeta, weighttp, wrk


def test_lines_are_counted_with_the_blank_ones():
    cursor = Cursor("\n  first \n\n\tlast\n", "demo")
    assert [(cursor.number, line, cursor.raw, cursor.at_end) for line in cursor] == [
        (2, "first", "  first ", False),
        (4, "last", "\tlast", False),
    ]


def test_a_refusal_names_the_line_and_what_was_expected():
    cursor = Cursor("Total: 5\nTotal: x", "demo")
    for _ in cursor:
        if cursor.number == 1:
            assert cursor.expect(re.compile("Total: ([0-9])"), "'Total: N'")[1] == "5"
    with pytest.raises(ParseError) as raised:
        cursor.expect(r"Total: [0-9]", "'Total: N'")
    assert str(raised.value.at("run.txt")) == "run.txt:2: expected 'Total: N', got 'Total: x'"


@pytest.mark.parametrize(("end", "cut"), [("", True), ("\n", False)])
def test_only_a_last_line_without_newline_can_be_cut(end, cut):
    cursor = Cursor("a 1\nb 2" + end, "demo")
    assert [line for line in cursor if cursor.warn_if_cut(False)] == (["b 2"] if cut else [])
    assert [warning[:6] for warning in cursor.warnings] == (["line 2"] if cut else [])
    assert not any(cursor.warn_if_cut(True) for _ in cursor)


def test_foreign_lines_in_a_row_are_one_warning_and_a_prompt_is_none():
    cursor = Cursor("one\ntwo\nthree\n\n\n\n[root@lb1 ~]# ls\nfour\n", "demo")
    for _ in cursor:
        cursor.skip_unknown()
    assert [warning.partition(":")[0] for warning in cursor.warnings] == ["line 1", "line 8"]


def test_a_text_without_report_is_a_failed_run_or_refused():
    cursor = Cursor("\nhello\ndemo: not found\ndemo: no", "demo")
    with pytest.raises(ParseError, match=":2: expected a report, got 'hello'"):
        cursor.failed_run("a report")
    for _ in cursor:
        cursor.take_failure(re.compile("demo: .*"))
    assert cursor.failed_run("a report").tables.rows("runs") == [
        {"generator": 0, "tool": "demo", "status": "failed", "reason": "demo: not found"}
    ]


def test_a_document_between_the_lines_is_read_at_once():
    cursor = Cursor('before\n{"a":\n1}\nafter', "demo")
    seen = []
    for line in cursor:
        seen.append(line)
        if line.startswith("{"):
            assert cursor.rest() == '{"a":\n1}\nafter'
            cursor.skip(2)
    assert seen == ["before", '{"a":', "after"]


@pytest.mark.parametrize("module", [ab, fortio, h2load, hey, httperf, k6, siege, vegeta, weighttp, wrk])
def test_every_line_oriented_report_is_walked_by_the_cursor(module):
    assert module.Cursor is Cursor
