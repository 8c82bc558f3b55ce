"""Progress of reading: on a terminal only, with rates and the time left, and never inside other lines."""

import io
import re
import sys
import threading

import pytest

from loadcurve.ingest.files import Hints
from loadcurve.reading import read_each
from loadcurve.runtime import many_files
from loadcurve.runtime.many_files import Progress, hidden


class Terminal(io.StringIO):
    """Standard error that says it is a terminal, and tells when something was shown."""

    def __init__(self):
        super().__init__()
        self.shown, self.counted = threading.Event(), threading.Event()

    def isatty(self):
        return True

    def write(self, text):
        if "files" in text or "0%" in text:
            self.shown.set()
        if "1/4 files" in text:
            self.counted.set()
        return super().write(text)


@pytest.fixture
def started(monkeypatch):
    """Progress on a terminal; the test calls it, because pytest sets standard error again before each test."""

    def start(total_bytes, total_files):
        monkeypatch.setattr(sys, "stderr", Terminal())
        return Progress(total_bytes, total_files, delay_s=0.0), sys.stderr

    return start


def test_rates_and_the_time_left_are_shown(started):
    bar, terminal = started(8_000_000, 4)
    bar.advance(2_000_000)
    assert terminal.counted.wait(60)
    bar.end()
    line = next(part for part in reversed(terminal.getvalue().split("\r")) if "1/4 files" in part)
    assert re.search(r"reading: +25% .*2\.00M/8\.00M \[\d\d:\d\d<\d\d:\d\d, .*B/s, 1/4 files, [\d,.]+ files/s\]", line)
    assert terminal.getvalue().endswith("\r"), "the line is removed at the end"


def test_a_large_file_shows_that_time_passes(started):
    bar, terminal = started(8_000_000, 1)
    assert terminal.shown.wait(60)  # without a file being done
    bar.end()


def test_other_lines_are_not_written_into_it(started, monkeypatch):
    bar, terminal = started(2, 2)
    monkeypatch.setattr(sys, "stdout", terminal)
    assert terminal.shown.wait(60)
    with hidden():
        terminal.write("a warning\n")
    bar.end()
    assert re.search(r"(^|\r)a warning\n", terminal.getvalue())


@pytest.mark.parametrize("kind", [Terminal, io.StringIO])
def test_short_work_shows_nothing(root, monkeypatch, kind):
    monkeypatch.setattr(sys, "stderr", said := kind())
    monkeypatch.setattr(many_files, "DELAY_S", 3600.0)
    assert list(read_each(root / "lib/tests/data/wrk/fdlimit.txt", Hints()))
    assert said.getvalue() == ""


def test_a_file_as_standard_error_has_no_progress(monkeypatch):
    monkeypatch.setattr(sys, "stderr", said := io.StringIO())
    bar = Progress(1, 1, delay_s=0.0)
    bar.advance(1)
    bar.end()
    assert said.getvalue() == ""
