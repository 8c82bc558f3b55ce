"""A text that was cut keeps no wrong value and loses none in silence; seeded samples of what `make fuzz` tries in full.

Where a cut falls between two lines, nothing in a list of rows tells of it: `handbook/reference/limits.md` names the
forms.  Inside a line, and before the last section of a report, something always does.
"""

import pytest
from cuts import DATA, Tally, places, real_files, try_cut, values_of, without_newline

from loadcurve.ingest.registry import FORMS

TOOLS = sorted({form.tool for form in FORMS})
CUTS = 6  # of each file
# What a whole file without its last newline loses: its last number, in forms whose last line may always go on.
KNOWN_WHOLE = ("wrk", "wrk2", "haproxy", "mpstat", "nft", "weighttp", "fortio", "siege", "httperf")


@pytest.fixture(scope="module")
def tallies() -> dict[str, Tally]:
    found = {tool: Tally() for tool in TOOLS}
    for path, tool, whole, raw in real_files([DATA]):
        name, values, tally = f"{path.parent.name}/{path.name}", values_of(whole), found[tool]
        tally.files += 1
        for at in places(raw, CUTS, name):
            try_cut(tally, name, raw, at, whole, values)
        without_newline(tally, name, raw, whole, values)
    return found


@pytest.mark.parametrize("tool", TOOLS)
def test_nothing_is_lost_in_silence_and_nothing_invented(tallies, tool):
    tally = tallies[tool]
    assert tally.files, "no fixture"
    assert (tally.silent, tally.wrong, tally.crashed) == (0, 0, 0), tally.examples
    assert not tally.examples


@pytest.mark.parametrize("tool", KNOWN_WHOLE)
def test_a_whole_report_needs_no_newline_at_its_end(tallies, tool):
    assert tallies[tool].short == 0
