"""iptables: lists with and without counters, rounding, saved rules, errors."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from loadcurve import parse
from loadcurve.ingest.balancers.iptables import parse_iptables

DATA = Path(__file__).parents[2] / "data"


def print_num(n):
    """What xtables_print_num does in iptables 1.8."""
    for unit in ("", "K", "M", "G", "T"):
        if n <= (99999 if not unit else 9999) or unit == "T":
            return f"{n}{unit}"
        n = (n + 500) // 1000
    raise AssertionError


@given(st.integers(0, 10**17))
def test_rounded_numbers_come_back_within_their_rounding(n):
    token = print_num(n)
    text = f"Chain X (policy ACCEPT {token} packets, 0 bytes)\n"
    value = parse_iptables(text).tables["counters"]["value"].tolist()[0]
    step = {"K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}.get(token[-1], 0)
    assert abs(value - n) <= step * 0.5005005005


def test_without_counters_there_is_a_warning():
    parsed = parse("Chain INPUT (policy ACCEPT)\ntarget     prot opt source               destination\n")
    assert parsed.warnings == ("there are no counters: iptables -L needs -v, iptables-save needs -c",)
    assert len(parsed.tables["counters"]) == 0
