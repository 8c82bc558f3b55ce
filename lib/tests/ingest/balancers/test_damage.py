"""What damage and long lines do to texts of conntrack, haproxy, iptables and nft: read or refused, and no hang."""

import contextlib
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadcurve import parse
from loadcurve.errors import ParseError
from loadcurve.ingest.balancers.conntrack import parse_conntrack
from loadcurve.ingest.balancers.haproxy import parse_haproxy
from loadcurve.ingest.balancers.iptables import parse_iptables
from loadcurve.ingest.balancers.nft import parse_nft

DATA = Path(__file__).parents[2] / "data"
TEXTS = {
    parse_conntrack: ("conntrack/list.txt", "conntrack/statistics.txt"),
    parse_haproxy: ("haproxy/stats.txt",),
    parse_iptables: ("iptables/nat.txt", "iptables/save.txt"),
    parse_nft: ("nft/ruleset.txt", "nft/json.txt"),
}


@pytest.mark.parametrize("names", TEXTS.values(), ids=lambda names: names[0])
@given(data=st.data())
def test_anything_else_is_read_or_refused(names, data):
    text = (DATA / data.draw(st.sampled_from(names))).read_text()
    for _ in range(data.draw(st.integers(1, 4))):
        at, to = sorted(data.draw(st.integers(0, len(text))) for _ in range(2))
        text = text[:at] + data.draw(st.sampled_from(["", "\0", "x", "9", "\n", " ", text[at:to] * 2])) + text[to:]
    with contextlib.suppress(ParseError):
        assert parse(text).tables is not None


@pytest.mark.parametrize("unit", [" ", "9", "a ", "src=1 ", "[", "counter packets ", "dnat to ::", "to:1.", ",", '"'])
@pytest.mark.parametrize("parser", TEXTS)
def test_a_long_line_takes_no_time(parser, unit):
    started = time.process_time()
    for text in [(DATA / name).read_text() for name in TEXTS[parser]]:
        for ending in ("", "\n"):
            with contextlib.suppress(ParseError):
                parser(text + text.split("\n")[-2] + unit * (1_000_000 // len(unit)) + ending)
    assert time.process_time() - started < 60  # a hang, not a speed: quadratic time would be hours
