"""conntrack, haproxy, iptables and nft: series, errors and numbers as they print them."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from loadcurve import parse
from loadcurve.ingest.balancers.conntrack import parse_conntrack
from loadcurve.ingest.balancers.iptables import parse_iptables

# ------------------------------------------------------------------ conntrack
DATA = Path(__file__).parents[2] / "data"
LIST = (DATA / "conntrack/list.txt").read_text()


def test_the_old_statistics_and_a_count_that_does_not_fit():
    table = parse("entries  \t\t\t41\nsearched \t\t\t812\ninsert_failed\t\t3\n").tables["counters"]
    assert table[["counter", "value"]].to_numpy().tolist() == [["entries", 41], ["searched", 812], ["insert_failed", 3]]
    odd = parse(LIST + "conntrack v1.4.6 (conntrack-tools): 9 flow entries have been shown.\n")
    assert odd.version == "1.4.6" and odd.warnings == ("line 9: 9 entries announced, 8 listed above",)


@given(st.lists(st.tuples(st.integers(0, 65535), st.integers(0, 432000)), min_size=1, max_size=9))
def test_entries_come_back(entries):
    line = (
        "tcp      6 {1} ESTABLISHED src=192.0.2.1 dst=192.0.2.9 sport={0} dport=80 src=10.0.0.3 dst=192.0.2.1 sport=80"
    )
    text = "".join(f"{line} dport={{0}} [ASSURED] mark=0 use=1\n".format(*entry) for entry in entries)
    table = parse_conntrack(text).tables["flows"]
    assert [
        (int(port), int(left)) for port, left in zip(table["client_port"], table["expires_s"], strict=True)
    ] == entries
    assert table["reply_address"].isna().all()


# ------------------------------------------------------------------ haproxy
STATS = (DATA / "haproxy/stats.txt").read_text()


def test_a_series_after_show_info():
    parsed = parse(f"Name: HAProxy\nVersion: 2.6.12\n\n1795214674\n{STATS}\n1795214675\n{STATS}")
    assert parsed.tables["balancer"]["time"].nunique() == 2


# ------------------------------------------------------------------ iptables
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


# ------------------------------------------------------------------ nft
TEXT = (DATA / "nft/ruleset.txt").read_text()
JSON = (DATA / "nft/json.txt").read_text()


def test_text_and_json_say_the_same():
    text, document = parse(TEXT).tables, parse(JSON).tables
    assert text["counters"]["value"].tolist() == document["counters"]["value"].tolist()
    columns = ["kind", "service", "virtual_address", "virtual_port", "protocol", "connections"]
    assert text["balancer"][columns].equals(document["balancer"][columns])


def test_a_series_has_times():
    table = parse(f"## 2026-11-20T23:40:00Z\n{TEXT}## 2026-11-20T23:40:05Z\n{TEXT}").tables["counters"]
    assert len(table) == 12 and table["time"].dt.second.unique().tolist() == [0, 5]
