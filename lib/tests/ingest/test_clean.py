"""What stands around a tool's output is taken off, and every line keeps its number."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from one_test import LONG, in_one_test

from loadcurve.ingest.clean import clean, decode, pattern_of, rejoined, strip_prefix, without_markup


@given(st.text(st.sampled_from("ab \t\r\n\x1b[m;0K\x08\ufeff\u00a0"), max_size=200))
def test_lines_keep_their_number(text):
    if "\r" not in text.replace("\r\n", "\n"):
        assert clean(text).count("\n") == text.count("\n")


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("\x1b[1;34m  Latency\x1b[0m 1ms\n", "  Latency 1ms\n"),
        ("\x1b[38;2;171;117;146m0.10\x1b[0m", "0.10"),
        ("\x1b]0;root@lb1: ~\x07Total: 5", "Total: 5"),
        ("\x1b]2;title\x1b\\Total: 5", "Total: 5"),
        ("10%\r20%\r100%\nTotal: 5\r\n", "100%\nTotal: 5\n"),
        ("Total: 5\rTCP: 3\r", "Total: 5\nTCP: 3\n"),
        ("Totl\x08al: 5", "Total: 5"),
        ("Moyenne\u202f: 1", "Moyenne : 1"),
    ],
)
def test_terminals_leave_nothing(text, plain):
    assert clean(text) == plain


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_unicode_is_read_by_its_mark(encoding):
    assert decode("平均时间: 1\n".encode(encoding))[0] == "平均时间: 1\n"


def test_other_encodings_are_guessed_and_named():
    text = "Linux 2.6.18 (srv)\n\n10:00:01  CPU %user\nMédia: all 1,00\n" * 20
    found, encoding = decode(text.encode("latin-1"))
    assert found == text
    assert encoding


def test_bytes_that_are_no_text_still_have_lines():
    found, _ = decode(bytes(range(256)) * 10)
    assert found.count("\n") == 10


@pytest.mark.parametrize(
    "line",
    [
        "bench_1        | Total: 5",
        "# Total: 5",
        "// Total: 5",
        "> Total: 5",
        "[2022/9/23 15:43:47] Total: 5",
        "Nov 21 10:00:01 lb1 bench[12]: Total: 5",
        "[pod/bench-7d9f/wrk] 2026-11-24T14:28:44.123456789Z Total: 5",
    ],
)
def test_prefixes(line):
    assert strip_prefix(f"{line}\nTCP: 3", pattern_of(line.removesuffix("Total: 5"))) == "Total: 5\nTCP: 3"


@pytest.mark.slow
@in_one_test("unit", [" ", "\t", "# ", "> ", "\r", "\x1b[", "\x1b]", "\x08", "[", "a-", "0 ", "\0", "|"])
def test_a_line_of_megabytes_takes_no_time(unit):
    text = unit * (LONG // len(unit))
    begun = time.process_time()
    plain = without_markup(clean(text))
    strip_prefix(plain, pattern_of(plain[:120]))
    list(rejoined(plain))
    assert time.process_time() - begun < 60  # a hang, not a speed
