"""ss -s: old and new forms, times, cut snapshots, series with lists; what is refused."""

from pathlib import Path

import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from refused import refused_line

from loadcurve import parse
from loadcurve.errors import ParseError
from loadcurve.ingest.snapshots import instant
from loadcurve.ingest.sockets.ss import parse_ss, parse_ss_summary

DATA = Path(__file__).parents[2] / "data/ss"
SUMMARY = (DATA / "summary-each.txt").read_text()
OLD = (DATA / "summary-synrecv.txt").read_text()
LIST = "State  Recv-Q Send-Q Local Address:Port Peer Address:Port\nLISTEN 0      128    *:22               *:*\n"


def sockets(text):
    return parse_ss_summary(text).tables["sockets"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("## 2026-11-20T23:40:00.123456789Z", "2026-11-20T23:40:00.123456+00:00"),
        ("## 2026-11-20T23:40:00Z", "2026-11-20T23:40:00+00:00"),
        ("2026-11-20T23:40:00,123456789+01:00", "2026-11-20T22:40:00.123456+00:00"),
        ("=== 2026-11-20 23:40:00 ===", "2026-11-20T23:40:00+00:00"),
        ("1795214067.320213382", "2026-11-20T22:34:27.320213+00:00"),
        ("1795214067.32", "2026-11-20T22:34:27.320000+00:00"),
        ("1795214067", "2026-11-20T22:34:27+00:00"),
        ("1795214067320", "2026-11-20T22:34:27.320000+00:00"),
        ("Sat Nov 21 02:44:46 UTC 2026", "2026-11-21T02:44:46+00:00"),
        ("Sat Nov 21 02:44:46 PM UTC 2026", "2026-11-21T14:44:46+00:00"),
        ("Sat 21 Nov 2026 12:44:46 AM UTC", "2026-11-21T00:44:46+00:00"),
        ("Every 2.0s: ss -s          lb1: Sat Nov 21 02:44:46 2026", "2026-11-21T02:44:46+00:00"),
    ],
)
def test_times(line, expected):
    assert sockets(f"{line}\n{SUMMARY}")["time"][0].isoformat() == expected
    lists = parse_ss(f"{line}\n{LIST}").tables["connections"]
    assert lists["time"][0].isoformat() == expected


def test_local_times_need_their_zone():
    line = "Sat Nov 21 02:44:46 CET 2026"
    assert str(instant(line, 1, "Europe/Berlin")) == "2026-11-21T01:44:46.000000"
    assert str(instant("2026-07-01 12:00:00", 1, "Europe/Berlin")) == "2026-07-01T10:00:00.000000"
    parsed = parse_ss_summary(f"{line}\n{SUMMARY}")
    assert parsed.tables["sockets"]["time"].isna().all()
    assert parsed.warnings == ("line 1: time zone 'CET' is not that of UTC, so the time is missing",)


@pytest.mark.parametrize(
    "line", ["## 2026-11-20 23:4", "## 2026-13-20T23:40:00Z", "17952140.x", "12", "Sat Nov 31 02:44:46 UTC 2026"]
)
def test_refused_times(line):
    for text in (SUMMARY, LIST):
        assert refused_line(parse_ss, f"{text}{line}\n{text}") == text.count("\n") + 1


def test_a_collector_s_comment_is_no_time():
    for text in (SUMMARY, LIST):
        parsed = parse_ss(f"## EndTime: 5\n{text}")
        assert parsed.warnings == ("line 1: not read: '## EndTime: 5'",)


def test_summaries_without_times_and_without_frag():
    table = sockets(SUMMARY + OLD + SUMMARY[: SUMMARY.index("FRAG")])
    assert table["total"].tolist() == [192, 295, 192]
    assert table["time"].isna().all()
    assert table["fragments"].isna().tolist() == [False, False, True]


@pytest.mark.slow
@pytest.mark.parametrize("text", [SUMMARY, OLD])
def test_of_a_cut_summary_there_is_what_is_whole(text):
    whole = sockets(text).iloc[0]
    for end in range(len(text)):
        try:
            parsed = parse_ss_summary(f"1795214067.3\n{SUMMARY}1795214068.3\n{text[:end]}")
        except ParseError:
            pytest.fail(f"refused: {text[:end]!r}")
        last = parsed.tables["sockets"].iloc[-1]
        if len(parsed.tables["sockets"]) == 2:
            known = last.drop("time").dropna()
            assert (known == whole[known.index]).all(), text[:end]
        assert parsed.warnings or end > text.index("INET"), text[:end]


def test_lines_of_a_summary_that_are_not_there():
    parsed = parse_ss_summary(SUMMARY[: SUMMARY.index("\n\n") + 1])
    assert parsed.tables["sockets"]["time_wait"].tolist() == [1]
    assert "no line 'Transport', 'RAW', 'UDP', 'TCP', 'INET'" in parsed.warnings[0]
    only_tcp = parse(SUMMARY[SUMMARY.index("TCP:") : SUMMARY.index("\n\n") + 1])
    assert only_tcp.tables["sockets"]["established"].tolist() == [1]


def test_closed_below_0_is_missing():
    parsed = parse_ss_summary(SUMMARY.replace("closed 1", "closed -3"))
    assert parsed.tables["sockets"]["closed"].isna().tolist() == [True]
    assert "closed -3" in parsed.warnings[0]


@pytest.mark.parametrize(
    ("right", "wrong", "line"),
    [
        ("6         5         1", "7         5         1", 6),  # 5 + 1 = 6
        ("13        11        2", "14        12        2", 8),  # 0 + 5 + 6 = 11
        ("estab 1", "estab", 2),
        ("UDP", "UDPLITE", 6),
        ("UDP", "RAW", 6),
        ("Total: 192", "Total: " + "9" * 19, 1),
    ],
)
def test_refused_summaries(right, wrong, line):
    assert refused_line(parse_ss_summary, SUMMARY.replace(right, wrong)) == line


@pytest.mark.parametrize("text", ["", "\n", "Tot", "ss: command not found\n", "1795214067\n"])
def test_nothing_there(text):
    assert refused_line(parse_ss_summary, text) == 1


def test_lists_and_summaries_share_their_times():
    part = SUMMARY + LIST
    parsed = parse(f"Sat Nov 21 02:44:46 UTC 2026\n{part}Sat Nov 21 02:44:56 UTC 2026\n{part}")
    assert parsed.warnings == ()
    for name in ("sockets", "connections"):
        assert [time.second for time in parsed.tables[name]["time"]] == [46, 56]


@examples(50)
@given(st.lists(st.integers(0, 10**9), min_size=12, max_size=12))
def test_summaries_come_back(numbers):
    socks, tcp, estab, closed, orphans, tw, *table = numbers
    raw, udp, tcps = table[0:2], table[2:4], table[4:6]
    inet = [sum(column) for column in zip(raw, udp, tcps, strict=True)]
    text = f"Total: {socks}\nTCP:   {tcp} (estab {estab}, closed {closed}, orphaned {orphans}, timewait {tw})\n\n"
    text += "Transport Total     IP        IPv6\n"
    for name, row in (("RAW", raw), ("UDP", udp), ("TCP", tcps), ("INET", inet), ("FRAG", [0, 0])):
        text += f"{name}\t  {sum(row):<9} {row[0]:<9} {row[1]:<9}\n"
    row = sockets(text).iloc[0]
    assert (row.total, row.tcp, row.established, row.closed, row.orphaned, row.time_wait) == (
        socks, tcp, estab, closed, orphans, tw,
    )  # fmt: skip
    assert (row.raw, row.udp, row.transport_tcp_ipv4, row.transport_tcp_ipv6) == (sum(raw), sum(udp), *tcps)
