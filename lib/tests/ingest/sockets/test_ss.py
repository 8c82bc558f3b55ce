"""ss lists: addresses, headers, families, cut texts; what is refused; every sample at hand."""

from pathlib import Path

import pytest
from refused import refused_line

from loadcurve import parse
from loadcurve.ingest.sockets.ss_connections import parse_ss_connections

HEADER = "State     Recv-Q Send-Q Local Address:Port Peer Address:Port Process\n"
ROW = "TIME-WAIT 0      0         198.18.0.3:80     198.18.0.1:41156       \n"


def connections(text):
    return parse_ss_connections(text).tables["connections"]


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
    assert refused_line(connections, f"{HEADER}{ROW}ESTAB 0 0 {wrong} 10.0.0.1:80\n{ROW}") == 3


STATES = [
    "ESTAB", "SYN-SENT", "SYN-RECV", "FIN-WAIT-1", "FIN-WAIT-2", "TIME-WAIT", "UNCONN", "CLOSE-WAIT", "LAST-ACK",
    "LISTEN", "CLOSING",
]  # fmt: skip


def test_states():
    text = HEADER + "".join(f"{state} 0 0 10.0.0.1:80 10.0.0.2:1024\n" for state in STATES)
    assert connections(text)["state"].tolist() == STATES
    assert refused_line(connections, text.replace("LAST-ACK", "LOST-ACK")) == 10


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
    assert refused_line(connections, HEADER + ROW + ROW.replace("TIME-WAIT ", "")) == 3
    assert refused_line(connections, HEADER.replace("State ", "") + ROW) == 2
    both = connections(HEADER + ROW + HEADER.replace("State ", "") + ROW.replace("TIME-WAIT ", ""))
    assert both["state"].isna().tolist() == [False, True]


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
    assert parsed.tables["connections"]["inode"][1] == 5
    on_the_next = connections(f"{HEADER}{ROW}{ROW}    {users} ino:5\n{ROW}")
    assert on_the_next["process"].isna().tolist() == [True, False, True]
    for wrong in (users.replace(",", ",x", 1), users[:-1]):
        assert refused_line(parse_ss_connections, f"{HEADER}{ROW}{ROW.rstrip()} {wrong}\n") == 3


def test_what_stands_around_a_list():
    parsed = parse(f"Welcome to lb1\n[root@lb1 ~]# ss -tan\n{HEADER}{ROW}{ROW}[root@lb1 ~]# logout\nfoo bar\n")
    assert len(parsed.tables["connections"]) == 2
    assert parsed.warnings == ("line 7: not read: 'foo bar'",)
    assert len(parse("".join(f"> {line}\n" for line in f"{HEADER}{ROW}".splitlines())).tables["connections"]) == 1


@pytest.mark.parametrize(
    ("tail", "rows"),
    [
        ("ESTAB 0 0 10.0.0.1:80 10.0.0.2:41234", 2),  # no port has six digits
        ("LISTEN 0 0 10.0.0.1:80 10.0.0.2:*", 2),
        ("ESTAB 0 0 10.0.0.1:80 10.0.0.2:4123", 1),
        ("ESTAB 0 0 10.0.0.1:80 10.0.0.2:4123  ", 2),
        ('ESTAB 0 0 10.0.0.1:80 10.0.0.2:4123 users:(("a b",pid=1', 2),
        ("ESTAB 0 0   ", 1),
    ],
)
def test_the_end_without_a_newline(tail, rows):
    parsed = parse_ss_connections(HEADER + ROW + tail)
    assert len(parsed.tables["connections"]) == rows
    assert all("line 3: the text ends" in warning for warning in parsed.warnings)
    assert bool(parsed.warnings) == (rows == 1 or "users" in tail)


ROWS = (Path(__file__).parents[2] / "data/ss/list-ipv6.txt").read_text()


@pytest.mark.parametrize("width", [25, 32, 40, 50, 56, 60, 76])
def test_rows_that_mail_has_wrapped_are_joined(width):
    lines = []
    for line in ROWS.split("\n"):
        while len(line) > width and " " in line[18:width].strip():
            cut = line.rindex(" ", 0, width)
            lines.append(line[:cut].rstrip())
            line = line[cut:].strip()
        lines.append(line)
    plain, wrapped = parse(ROWS), parse("\n".join(lines))
    assert wrapped.tables["connections"].equals(plain.tables["connections"])
