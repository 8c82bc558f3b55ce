"""What people, shells and collectors write around a whole report neither refuses it nor changes a value of it."""

import html
import re
from pathlib import Path

import pandas as pd
import pytest

from loadcurve.errors import ParseError
from loadcurve.ingest.sniff import parse

DATA = Path(__file__).parents[1] / "data"
TOOLS = ("wrk", "wrk2", "ab", "hey", "h2load", "k6", "vegeta", "oha", "fortio", "siege", "jmeter")
ROWS = ("jmeter/csv", "jmeter/no-header", "jmeter/semicolons")  # a row per request, which no collector prefixes
LOG = "2026-11-24 12:00:00 [error] 12#12: *7 upstream timed out"


def whole_reports():
    """Yield the name, the text and the tables of each fixture that is text and has a throughput."""
    for path in (path for tool in TOOLS for path in sorted((DATA / tool).glob("*.txt"))):
        text = path.read_text("utf-8")
        if text.lstrip()[:1] not in "[{<" and len(text) < 40_000:
            tables = parse(text).tables
            if "runs" in tables and tables["runs"].get("throughput_rps", pd.Series(dtype=float)).gt(0).any():
                yield f"{path.parent.name}/{path.stem}", text, tables


REPORTS = list(whole_reports())


def each_line(before, after="", change=lambda line: line):
    return lambda text: "".join(f"{before}{change(line)}{after}\n" for line in text.rstrip("\n").split("\n"))


def numbered(text):
    return "".join(f"{at:6}\t{line}\n" for at, line in enumerate(text.rstrip("\n").split("\n"), 1))


def in_the_middle(line):
    def change(text):
        lines = text.split("\n")
        return "\n".join([*lines[: len(lines) // 2], line, *lines[len(lines) // 2 :]])

    return change


def after(line):
    return lambda text: f"{text.rstrip()}\n{line}\n"


AROUND = {
    "percentage": after("99% of the requests were fast enough."),
    "per cent": after("50 % of the processor was idle."),
    "end of pre": after("</pre>"),
    "end of a comment": after(" -->"),
    "progress bar": after("[##########] 100%"),
    "status": after("[200] is what we expected"),
    "number": after("5 requests per second more than yesterday"),
    "log": after(LOG),
    "kernel": after("[12345.678] TCP: possible SYN flooding on port 80"),
    "p99": after("p99 = 12 ms"),
    "list": after("1. next step"),
    "exit code": after("exit code: 0"),
    "Chinese": after("测试完成"),
    "pod deleted": after('pod "bench" deleted'),
    "page": lambda text: f"<html><body><pre>\n{html.escape(text)}</pre></body></html>\n",
    "glued page": lambda text: f"<pre>{html.escape(text.rstrip())}</pre>\n",
    "fence": lambda text: f"Result:\n```\n{text.rstrip()}\n```\n99% of all were OK\n",
    "log inside": in_the_middle(LOG),
    "sentence inside": in_the_middle("99% of the requests were fast enough."),
}
EACH_LINE = {
    "comment": each_line("# "),
    "mail": each_line("> "),
    "indented": each_line("    "),
    "time in brackets": each_line("[2026/11/24 15:43:47] "),
    "colours": each_line("\x1b[32m", "\x1b[0m\r"),
    "host in brackets": each_line("[host1] "),
    "host": each_line("host1: "),
    "address": each_line("10.0.0.1: "),
    "pod": each_line("pod/x "),
    "pod and container": each_line("[pod/bench-7d9f/wrk] "),
    "compose": each_line("bench-1  | "),
    "compose with times": each_line("bench-1  | 2026-11-24T12:00:00.123456789Z "),
    "times": each_line("2026-11-24 12:00:01,123 "),
    "clock": each_line("12:00:01 "),
    "container runtime": each_line("2026-11-24T12:00:00.123456789Z stdout F "),
    "journal": each_line("Nov 24 12:00:00 lb1 bench[12]: "),
    "level": each_line("[INFO] "),
    "logger": each_line("INFO:root:"),
    "job": each_line("bench\tRun wrk\t2026-11-24T12:00:00.1234567Z "),
    "grep": each_line("result.txt:"),
    "numbers": numbered,
    "diff": each_line("+"),
    "table": each_line("| ", " |"),
    "quotes": each_line('"', '"'),
    "br": each_line("", "<br>"),
    "entities": each_line("", "<br/>", lambda line: html.escape(line).replace("+", "&#43;").replace(" ", "&nbsp;")),
}


def same(name, found, tables):
    for table in tables:
        plain = [frame.drop(columns="label", errors="ignore") for frame in (found.tables[table], tables[table])]
        if not plain[1].empty:
            pd.testing.assert_frame_equal(*plain, obj=f"{table} of {name}")


def test_the_fixtures_are_there():
    assert len(REPORTS) >= 40
    assert {name.partition("/")[0] for name, _, _ in REPORTS} == set(TOOLS)


@pytest.mark.parametrize("around", AROUND)
def test_a_foreign_line_changes_nothing(around):
    for name, text, tables in REPORTS:
        if (around, name) != ("fence", "jmeter/no-header"):  # its first line is its signature
            same(name, parse(AROUND[around](text)), tables)


@pytest.mark.parametrize("before", EACH_LINE)
def test_what_stands_before_or_after_each_line_changes_nothing(before):
    for name, text, tables in REPORTS:
        if name not in ROWS:
            same(name, parse(EACH_LINE[before](text)), tables)


def test_the_lines_of_two_hosts_are_two_reports():
    """A parallel shell writes the lines of all hosts as they come."""
    reports = [(text.rstrip().split("\n"), tables) for name, text, tables in REPORTS if name.startswith("wrk/")][:2]
    longest = max(len(lines) for lines, _ in reports)
    mixed = [
        f"[host{i}] {lines[at]}" for at in range(longest) for i, (lines, _) in enumerate(reports) if at < len(lines)
    ]
    found = parse("\n".join([*mixed, ""])).tables["runs"]
    assert found["throughput_rps"].tolist() == [tables["runs"]["throughput_rps"].item() for _, tables in reports]
    assert found["generator"].tolist() == [0, 1]


@pytest.mark.parametrize("width", [72, 80])
def test_lines_that_a_terminal_wrapped_are_joined_or_refused(width):
    """What a parser cannot place without the rest of its line is read as it was, or nothing is."""
    read = 0
    for name, text, tables in REPORTS:
        wrapped = "\n".join(
            part for line in text.split("\n") for part in re.findall(f".{{1,{width}}}|^$", line) or [""]
        )
        if wrapped == text or name in ROWS:
            continue
        try:
            found = parse(wrapped)
        except ParseError:
            continue
        read += 1
        runs, plain = found.tables["runs"], tables["runs"]
        for column in set(runs) & set(plain):
            lost = runs[column].isna()
            assert runs[column][~lost].tolist() == plain[column][~lost].tolist(), (name, column)
            assert not lost.any() or found.warnings
    assert read >= 10


def test_a_report_of_wrk2_may_begin_at_its_spectrum():
    text, tables = next((text, tables) for name, text, tables in REPORTS if name == "wrk2/rate2000")
    found = parse(text[text.index("  Detailed Percentile spectrum") :])
    names = ["requests", "throughput_rps", "duration_s"]
    assert found.tables["runs"][names].equals(tables["runs"][names])
    assert any("a spectrum begins here" in warning for warning in found.warnings)


def test_a_garbled_number_is_no_foreign_line():
    text = next(text for name, text, _ in REPORTS if name == "ab/tls")
    for garbled in (re.sub(r"(Time taken for tests: +)", r"\1x", text), re.sub(r"(?m)^( +[0-9]+% +)", r"\1x", text)):
        with pytest.raises(ParseError):
            parse(garbled)
