"""A text that was cut keeps no wrong value and loses none in silence; seeded samples of what `make fuzz` tries in full.

Where a cut falls between two lines, nothing in a list of rows tells of it: `handbook/reference/limits.md` names the
forms.  Inside a line, and before the last section of a report, something always does.
"""

import pytest
from cuts import DATA, Tally, places, real_files, try_cut, values_of, without_newline

from loadcurve.ingest.files import parse_bytes
from loadcurve.ingest.registry import FORMS

TOOLS = sorted({form.tool for form in FORMS})
CUTS = 4  # of each file
# What a whole file without its last newline loses: its last number, in forms whose last line may always go on.
KNOWN_WHOLE = ("wrk", "wrk2", "haproxy", "mpstat", "nft", "weighttp", "fortio", "siege", "httperf")


@pytest.mark.slow
@pytest.mark.usefixtures("no_tool_is_started")
@pytest.mark.parametrize("folder", sorted({*TOOLS, *(path.name for path in DATA.iterdir() if path.is_dir())}))
def test_nothing_is_lost_in_silence_and_nothing_invented(folder):
    tally = Tally()
    for path, _, whole, raw in real_files([DATA / folder]):
        name, values = f"{path.parent.name}/{path.name}", values_of(whole)
        tally.files += 1
        for at in places(raw, CUTS, name):
            try_cut(tally, name, raw, at, whole, values)
        without_newline(tally, name, raw, whole, values)
    assert tally.files or folder not in TOOLS, "no fixture"
    assert (tally.silent, tally.wrong, tally.crashed) == (0, 0, 0), tally.examples
    assert not tally.examples
    assert tally.short == 0 or folder not in KNOWN_WHOLE, "a whole report needs no newline at its end"


@pytest.mark.parametrize(
    "case",
    ["ab/percentiles", "fortio/text", "hey/requests", "sadf/epoch", "sadf/lines", "sadf/sections", "sadf/wide",
     "vegeta/hdrplot", "vegeta/old-and-histogram"],
)  # fmt: skip
def test_a_last_line_with_all_its_decimals_needs_no_newline(case):
    """A terminal or a collector that strips the last newline takes nothing from numbers of fixed decimals."""
    name, raw = f"{case}.txt", (DATA / f"{case}.txt").read_bytes()
    whole, stripped = parse_bytes(raw, name), parse_bytes(raw.rstrip(), name)
    assert values_of(stripped) == values_of(whole)
    assert stripped.warnings == whole.warnings
    shorter = parse_bytes(raw.rstrip(b"\n# %")[:-1], name)
    assert shorter.warnings != whole.warnings


def test_a_report_that_never_came_is_warned_of_once():
    """What ab prints where it finds no host: its error is on the other stream, and nothing is cut."""
    text = "This is ApacheBench, Version 2.3 <$Revision: 1934978 $>\n\nBenchmarking nosuchhost (be patient)..."
    assert len(parse_bytes(text.encode(), "ab.txt").warnings) == 1
