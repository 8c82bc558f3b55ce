"""conntrack: entries and statistics of several versions, errors, what is refused."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from loadcurve import parse
from loadcurve.ingest.balancers.conntrack import parse_conntrack

DATA = Path(__file__).parents[2] / "data"
LIST = (DATA / "conntrack/list.txt").read_text()


def test_the_old_statistics_and_a_count_that_does_not_fit():
    table = parse("entries  \t\t\t41\nsearched \t\t\t812\ninsert_failed\t\t3\n").tables["counters"]
    assert table[["counter", "value"]].to_numpy().tolist() == [["entries", 41], ["searched", 812], ["insert_failed", 3]]
    odd = parse(LIST + "conntrack v1.4.6 (conntrack-tools): 9 flow entries have been shown.\n")
    assert odd.version == "1.4.6" and odd.warnings == ("line 9: 9 entries announced, 8 listed above",)


def test_no_entries_are_a_table_without_rows():
    assert len(parse("conntrack v1.4.6 (conntrack-tools): 0 flow entries have been shown.\n").tables["flows"]) == 0


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
