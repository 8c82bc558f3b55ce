"""ss: old and new forms, addresses, times, cut snapshots; what is refused; every sample at hand."""

from pathlib import Path

import pytest

from loadcurve.errors import ParseError
from loadcurve.ingest.ss_connections import parse_ss_connections
from loadcurve.ingest.ss_summary import parse_ss_summary

SAMPLES = Path(__file__).parents[3].parent / "shared/samples"
HEADER = "State     Recv-Q Send-Q Local Address:Port Peer Address:Port Process\n"
ROW = "TIME-WAIT 0      0         198.18.0.3:80     198.18.0.1:41156       \n"
SUMMARY = """\
Total: 192
TCP:   7 (estab 1, closed 1, orphaned 1, timewait 1)

Transport Total     IP        IPv6
RAW\t  1         0         1        
UDP\t  6         5         1        
TCP\t  6         6         0        
INET\t  13        11        2        
FRAG\t  2         1         1        

"""  # noqa: W291
OLD = """\
Total: 295 (kernel 312)
TCP:   48 (estab 1, closed 31, orphaned 0, synrecv 0, timewait 5/0), ports 13

Transport Total     ip        IPv6
*         312       -         -        
RAW       0         0         0        
UDP       2         2         0        
TCP       17        12        5        
INET      19        14        5        
FRAG      0         0         0        
"""  # noqa: W291


def sockets(text):
    return parse_ss_summary(text).tables["sockets"]


def connections(text):
    return parse_ss_connections(text).tables["connections"]


def test_summary_old_and_new():
    new, old = sockets(SUMMARY).iloc[0], sockets(OLD).iloc[0]
    assert (new.total, new.tcp, new.established, new.closed, new.orphaned, new.time_wait) == (192, 7, 1, 1, 1, 1)
    assert (new.raw, new.udp, new.transport_tcp, new.transport_tcp_ipv4, new.transport_tcp_ipv6) == (1, 6, 6, 6, 0)
    assert new.fragments == 2
    assert (old.total, old.tcp, old.closed, old.time_wait, old.transport_tcp_ipv6) == (295, 48, 31, 5, 5)


@pytest.mark.parametrize(
    ("line", "instant"),
    [
        ("## 2026-11-20T23:40:00.123456789Z", "2026-11-20T23:40:00.123456+00:00"),
        ("## 2026-11-20T23:40:00Z", "2026-11-20T23:40:00+00:00"),
        ("1795214067.320213382", "2026-11-20T22:34:27.320213+00:00"),
        ("1795214067.32", "2026-11-20T22:34:27.320000+00:00"),
        ("1795214067", "2026-11-20T22:34:27+00:00"),
    ],
)
def test_times(line, instant):
    assert sockets(f"{line}\n{SUMMARY}")["time"][0].isoformat() == instant
    assert connections(f"{line}\n{HEADER}{ROW}")["time"][0].isoformat() == instant


@pytest.mark.parametrize(
    "line", ["## 2026-11-20 23:40", "## 2026-13-20T23:40:00Z", "## EndTime: 5", "17952140.x", "12"]
)
def test_refused_times(line):
    for parse, text in ((parse_ss_summary, SUMMARY), (parse_ss_connections, HEADER + ROW)):
        with pytest.raises(ParseError) as raised:
            parse(f"{text}{line}\n{text}")
        assert raised.value.line == text.count("\n") + 1


def test_summaries_without_times_and_without_frag():
    table = sockets(SUMMARY + OLD + SUMMARY[: SUMMARY.index("FRAG")])
    assert table["total"].tolist() == [192, 295, 192]
    assert table["time"].isna().all()
    assert table["fragments"].isna().tolist() == [False, False, True]


def test_a_cut_summary_is_left_out():
    for end in range(1, SUMMARY.index("FRAG") + 20):
        text = f"1795214067.3\n{SUMMARY}1795214068.3\n{SUMMARY[:end]}"
        parsed = parse_ss_summary(text)
        whole = text.endswith("2        \n")  # the end of the INET row: FRAG may just not be there
        assert len(parsed.tables["sockets"]) == 1 + whole, end
        assert bool(parsed.warnings) != whole


@pytest.mark.parametrize("end", range(0, SUMMARY.index("INET") + 20, 7))
def test_nothing_but_a_cut_summary(end):
    with pytest.raises(ParseError):
        parse_ss_summary(SUMMARY[:end])


def test_a_summary_cut_inside_a_series_is_an_error():
    with pytest.raises(ParseError) as raised:
        parse_ss_summary(f"1795214067.3\n{SUMMARY[:11]}1795214068.3\n{SUMMARY}")
    assert raised.value.line == 3


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
        ("Transport Total     IP        IPv6\n", "", 4),
        ("FRAG\t  2         1         1        \n", "Netid State Recv-Q Send-Q Local Address:Port\n", 9),
    ],
)
def test_refused_summaries(right, wrong, line):
    with pytest.raises(ParseError) as raised:
        parse_ss_summary(SUMMARY.replace(right, wrong))
    assert raised.value.line == line


@pytest.mark.parametrize("parse", [parse_ss_summary, parse_ss_connections])
@pytest.mark.parametrize("text", ["", "\n", "Tot", "ss: command not found\n"])
def test_nothing_there(parse, text):
    with pytest.raises(ParseError) as raised:
        parse(text)
    assert raised.value.line == 1


@pytest.mark.parametrize(
    ("local", "address", "port"),
    [
        ("0.0.0.0:80", "0.0.0.0", "80"),
        ("*:22", "*", "22"),
        ("[::]:22", "::", "22"),
        (":::22", "::", "22"),
        ("::1:25", "::1", "25"),
        ("[::ffff:10.0.0.1]:80", "::ffff:10.0.0.1", "80"),
        ("::ffff:10.0.0.1:80", "::ffff:10.0.0.1", "80"),
        ("127.0.0.53%lo:53", "127.0.0.53%lo", "53"),
        ("0.0.0.0%virbr0:67", "0.0.0.0%virbr0", "67"),
        ("[fe80::5054:ff:fe12:3456]%eth0:22", "fe80::5054:ff:fe12:3456%eth0", "22"),
        ("192.168.x.x:ssh", "192.168.x.x", "ssh"),
        ("10.0.0.1:http-alt", "10.0.0.1", "http-alt"),
        ("10.0.0.1:pop3", "10.0.0.1", "pop3"),
        ("0.0.0.0:*", "0.0.0.0", "*"),
    ],
)
def test_addresses(local, address, port):
    row = connections(f"{HEADER}ESTAB 0 0 10.0.0.9:1 10.0.0.8:2\nESTAB 1 2 {local} {local}\n").iloc[1]
    assert (row.local_address, row.local_port, row.peer_address, row.peer_port) == (address, port) * 2


@pytest.mark.parametrize(
    "wrong", ["198.18.0.3", "198.18.0.256:80", "198.18.3:80", "198.18.0.1x:80", "h:80", "1.2.3.4:8x"]
)
def test_refused_addresses(wrong):
    with pytest.raises(ParseError) as raised:
        connections(f"{HEADER}{ROW}ESTAB 0 0 {wrong} 10.0.0.1:80\n{ROW}")
    assert raised.value.line == 3


STATES = [
    "ESTAB", "SYN-SENT", "SYN-RECV", "FIN-WAIT-1", "FIN-WAIT-2", "TIME-WAIT", "UNCONN", "CLOSE-WAIT", "LAST-ACK",
    "LISTEN", "CLOSING",
]  # fmt: skip


def test_states():
    text = HEADER + "".join(f"{state} 0 0 10.0.0.1:80 10.0.0.2:1024\n" for state in STATES)
    assert connections(text)["state"].tolist() == STATES
    with pytest.raises(ParseError) as raised:
        connections(text.replace("LAST-ACK", "LOST-ACK"))
    assert raised.value.line == 10


@pytest.mark.parametrize(
    "header",
    [
        "",
        "State  Recv-Q Send-Q Local Address:Port Peer Address:PortProcess\n",
        "State  Recv-Q Send-Q Local Address:Port Peer Address:Port Process   \n",
        "State      Recv-Q Send-Q        Local Address:Port          Peer Address:Port \n",
        "Netid State      Recv-Q Send-Q Local Address:Port Peer Address:Port\n",
    ],
)
def test_headers(header):
    row = ("tcp   " if header.startswith("Netid") else "") + ROW
    assert connections(header + row)["state"].tolist() == ["TIME-WAIT"]


def test_rows_must_have_the_columns_of_the_header():
    with pytest.raises(ParseError) as raised:
        connections(HEADER + ROW + ROW.replace("TIME-WAIT ", ""))
    assert raised.value.line == 3
    with pytest.raises(ParseError) as raised:
        connections(HEADER.replace("State ", "") + ROW)
    assert raised.value.line == 2
    with pytest.raises(ParseError):
        connections(HEADER + ROW + HEADER.replace("State ", ""))


def test_snapshots_of_a_series_may_be_empty():
    text = f"1795214067.1\n{HEADER}{ROW}{ROW}\n1795214068.1\n{HEADER}1795214069.1\n{HEADER}{ROW}"
    assert [time.second for time in connections(text)["time"]] == [27, 27, 29]
    assert connections(text.replace(HEADER, ""))["time"].equals(connections(text)["time"])  # -H
    assert len(connections(HEADER)) == 0
    parsed = parse_ss_connections(text + "1795214070.1\n")
    assert parsed.warnings == ("line 11: the text ends with a time and no snapshot",)


def test_a_row_without_its_end_is_left_out():
    parsed = parse_ss_connections(HEADER + ROW + ROW.rstrip()[:-2])
    assert parsed.tables["connections"]["peer_port"].tolist() == ["41156"]
    assert "line 3: the text ends inside a line" in parsed.warnings[0]


@pytest.mark.parametrize("users", ['users:(("sshd",1231,3))', 'users:(("nginx",pid=2,fd=5),("nginx: w",pid=1,fd=5))'])
def test_processes(users):
    parsed = parse_ss_connections(f"{HEADER}{ROW}{ROW.rstrip()} {users} ino:5 sk:1\n")
    assert parsed.tables["connections"]["process"].isna().tolist() == [True, False]
    assert parsed.tables["connections"]["process"][1] == users
    assert parsed.warnings == ("line 3: not read, here and below: ino:5 sk:1",)
    with pytest.raises(ParseError) as raised:
        parse_ss_connections(f"{HEADER}{ROW}{ROW.rstrip()} {users.replace(',', ',x', 1)}\n")
    assert raised.value.line == 3


# Samples of other forms: details on lines of their own (-i, -m without -O), another family, or an error message.
REFUSED = {
    "ss-tin-srv1.txt", "ss-tin.srv1.txt", "ss-tin-client.txt", "ss-tlnpie.srv1.txt", "ss-tanem.srv1.txt",
    "ss-tanoemip-srv1.txt", "ss-x.srv1.txt", "ss-s_-4.srv1.txt",
}  # fmt: skip


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="the samples are not here")
def test_every_sample():
    found = sorted(SAMPLES.glob("ss/ss-*"))
    assert len(found) > 30
    for path in found:
        parse = parse_ss_summary if path.name.startswith("ss-s") else parse_ss_connections
        try:
            parsed = parse(path.read_text())
        except ParseError as error:
            assert path.name in REFUSED or path.suffix == ".err", (path, error)
        else:
            assert path.name not in REFUSED
            assert parsed.tables
