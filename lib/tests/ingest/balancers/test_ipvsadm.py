"""ipvsadm and /proc/net/ip_vs*: what its C code prints comes back; traps; errors; anything else is refused."""

from pathlib import Path

import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

from loadcurve import parse, tables
from loadcurve.ingest.balancers.ip_vs_stats import parse_ip_vs_stats
from loadcurve.ingest.balancers.ipvsadm import parse_ipvsadm
from loadcurve.ingest.balancers.lists import scaled

DATA = Path(__file__).parents[2] / "data"
LIST = (DATA / "ipvsadm/list.txt").read_text()
STATS = (DATA / "ipvsadm/stats.txt").read_text()
KERNEL = (DATA / "proc/ip_vs.txt").read_text()
HEADING = "\n".join(LIST.split("\n")[1:4]) + "\n"


def largenum(n):
    """What print_largenum does in ipvsadm.c."""
    for limit, scale, unit in ((10**8, 1, ""), (10**9, 10**3, "K"), (10**11, 10**6, "M"), (10**14, 10**9, "G")):
        if n < limit:
            return f"{n // scale}{unit}".rjust(9)
    return f"{n // 10**12}T".rjust(9)


@given(st.integers(0, 10**18))
def test_cut_numbers_come_back_within_what_was_cut(n):
    token = largenum(n).strip()
    value, rounded = scaled(token, 1)
    step = {"K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}.get(token[-1], 1)
    assert value <= n < value + step
    assert rounded == (step > 1)


ROWS = st.lists(
    st.tuples(
        st.ip_addresses().map(lambda a: f"[{a}]" if a.version == 6 else str(a)),
        st.integers(0, 65535),
        st.sampled_from(["Route", "Masq", "Tunnel", "Local"]),
        st.integers(0, 65535),
        st.integers(0, 2**32 - 1),
        st.integers(0, 2**32 - 1),
    ),
    max_size=5,
)


@pytest.mark.slow
@examples(30)
@given(st.lists(ROWS, min_size=1, max_size=3), st.sampled_from(["", " persistent 60", " (mh-port) persistent 5 ops"]))
def test_lists_that_ipvsadm_can_print_are_read(services, flags):
    text = HEADING
    for i, servers in enumerate(services):
        text += f"TCP  198.18.0.9:{i} wrr{flags}\n"
        for address, port, forward, weight, active, inactive in servers:
            text += f"  -> {f'{address}:{port}':<28} {forward:<7} {weight:<6} {active:<10} {inactive:<10}\n"
    table = tables.check("balancer", parse_ipvsadm(text).tables["balancer"])
    assert (table["kind"] == "service").sum() == len(services)
    found = table[table["kind"] == "server"]
    columns = ["server_address", "server_port", "forward", "weight", "active", "inactive"]
    flat = [(a.strip("[]"), str(p), *rest) for servers in services for a, p, *rest in servers]
    assert [tuple(row) for row in found[columns].to_numpy().tolist()] == flat
    assert found["scheduler"].eq("wrr").all() and found["protocol"].eq("TCP").all()


@examples(60)
@given(st.lists(st.integers(0, 2**62), min_size=5, max_size=5), st.booleans())
def test_counters_that_ipvsadm_can_print_are_read(numbers, exact):
    line = "".join(f" {n:>8}" if exact else largenum(n) for n in numbers)
    text = "\n".join(STATS.split("\n")[:3]) + f"\nTCP  198.18.0.9:80{' ' * 15}{line}\n"
    row = parse_ipvsadm(text).tables["balancer"].iloc[0]
    columns = ["connections", "received_packets", "sent_packets", "received_bytes", "sent_bytes"]
    expected = numbers if exact else [scaled(largenum(n).strip(), 1)[0] for n in numbers]
    assert [int(row[column]) for column in columns] == expected
    assert row["rounded"] == (not exact and max(numbers) >= 10**8)


def test_the_kernel_says_the_same_as_ipvsadm():
    kernel = parse_ipvsadm(KERNEL).tables["balancer"]
    columns = ["kind", "virtual_address", "virtual_port", "server_address", "server_port", "forward", "weight"]
    said = parse_ipvsadm(LIST).tables["balancer"]
    assert {tuple(map(str, row)) for row in kernel[columns].to_numpy()} == {
        tuple(map(str, row)) for row in said[columns].to_numpy()
    }


def test_a_session_of_several_calls_is_one_text():
    session = f"[root@lb ~]# ipvsadm -ln\n{LIST}[root@lb ~]# cat /proc/net/ip_vs\n{KERNEL}[root@lb ~]# ipvsadm -Lnc\n"
    parsed = parse(session + (DATA / "ipvsadm/connections.txt").read_text())
    assert parsed.tool == "ipvsadm"
    assert parsed.tables["balancer"]["tool"].tolist() == ["ipvsadm"] * 18 + ["proc"] * 18
    assert len(parsed.tables["flows"]) == 10
    assert parsed.warnings == ()


def test_a_series_has_a_time_for_each_snapshot():
    series = f"## 2026-11-20T23:40:00Z\n{STATS}## 2026-11-20T23:40:05Z\n{STATS}"
    parsed = parse(series)
    times = parsed.tables["balancer"]["time"]
    assert times.dt.second.tolist() == [0] * 18 + [5] * 18 and str(times.dt.tz) == "UTC"
    assert parsed.warnings == ()
    assert parse(STATS + STATS).warnings == ("2 lists of one kind follow each other without a time between them",)


def test_the_clock_of_watch_is_local():
    heading = "Every 2.0s: sudo ipvsadm -Ln                  lb1: Sat Nov 21 02:44:46 2026\n\n"
    table = parse(heading + LIST.split("\n", 1)[1], timezone="Europe/Berlin").tables["balancer"]
    assert table["time"].dt.hour.unique().tolist() == [1]


@pytest.mark.parametrize("indent", ["", "\t", "      "])
def test_blanks_do_not_matter(indent):
    squeezed = "".join(f"{indent}{' '.join(line.split())}\n" for line in LIST.split("\n"))
    assert parse(squeezed).tables["balancer"].equals(parse(LIST).tables["balancer"])
    commented = "".join(f"# {line}\n" for line in LIST.split("\n")[1:])
    assert len(parse(commented).tables["balancer"]) == 18


def test_aligned_numbers_are_whole_without_their_newline():
    assert parse(STATS.rstrip("\n")).tables["balancer"]["received_bytes"].tolist()[-1] == 4117893
    parsed = parse(LIST.rstrip())
    assert parsed.tables["balancer"]["inactive"].isna().tolist()[-1]
    assert parsed.warnings == ("line 22: the text ends inside this line; the word that may be cut is left out",)


def test_servers_with_more_connections_than_their_service_are_odd():
    odd = STATS.replace("TCP  198.18.0.9:80                    5060", "TCP  198.18.0.9:80                    3060")
    assert parse(odd).warnings == ("the servers of 198.18.0.9 have 5060 connections, the service has 3060",)


def test_the_processors_of_ip_vs_stats_are_hexadecimal():
    text = (DATA / "proc/ip_vs_stats_percpu.txt").read_text().replace("  0     6E91", " 1F     6E91")
    assert parse_ip_vs_stats(text).tables["counters"]["item"].tolist()[0] == "31"


def test_a_heading_whose_blanks_were_lost_is_no_server():
    text = (DATA / "ipvsadm/heading-without-blanks.txt").read_text().split("TCP")[0]
    parsed = parse_ipvsadm(text)
    assert (parsed.tool, len(parsed.tables["balancer"])) == ("ipvsadm", 0)
