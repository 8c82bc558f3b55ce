"""Files of /proc: what kernels write, several in one text, cut and in series."""

from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refused import refused_line

from loadcurve import tables
from loadcurve.ingest.kernel.proc import parse_proc
from loadcurve.ingest.sniff import parse, sniff

DATA = Path(__file__).parents[2] / "data/proc"
SOFTIRQS = "             CPU0       CPU1\n          HI:          0          1\n      NET_RX:         20         30\n"
INTERRUPTS = (DATA / "interrupts-offline.txt").read_text()
SNMP = "Tcp: RtoMin MaxConn InSegs\nTcp: 200 -1 18446744073709551615\n"
SOCKSTAT = (DATA / "sockstat-each.txt").read_text()
SOCKSTAT6 = "TCP6: inuse 8\nUDP6: inuse 9\nUDPLITE6: inuse 0\nRAW6: inuse 10\nFRAG6: inuse 11 memory 0\n"
DEV = (DATA / "net-dev-alias.txt").read_text()


def counters(text):
    frame = parse(text).tables["counters"]
    tables.check("counters", frame)
    return {(row.group, row.item if "item" in frame else None, row.counter): row.value for row in frame.itertuples()}


def test_rows_that_grep_found_count_their_processors_from_0():
    parsed = parse("$ grep eth0 /proc/interrupts\n 36:   10   20   PCI-MSI 524288-edge      eth0-rx\n")
    assert parsed.tables["interrupts"]["cpu"].tolist() == ["0", "1"]
    assert "line 2: no heading" in parsed.warnings[0]


@pytest.mark.parametrize("words", [9, 10, 11, 13, 15])
def test_softnet_of_every_kernel(words):
    row = ["0000000a", "00000001", "00000002", *["00000000"] * 5, "00000003", "00000004", "00000005", "00000006"]
    row = [*row, "00000007", "00000008", "00000009"][:words]
    found = counters(" ".join(row) + "\n")
    item = "7" if words >= 13 else "0"
    names = ("processed", "dropped", "time_squeeze", "cpu_collision", "received_rps", "flow_limit_count", "backlog_len")
    names += ("input_qlen", "process_qlen")
    kept = {9: 4, 10: 5, 11: 6, 13: 7, 15: 9}[words]
    values = (10, 1, 2, 3, 4, 5, 6, 8, 9)
    assert found == {("softnet_stat", item, n): v for n, v in zip(names[:kept], values, strict=False)}


def test_sockstat_and_sockstat6_are_one_row():
    sockets = tables.check("sockets", parse(SOCKSTAT + SOCKSTAT6).tables["sockets"])
    columns = "total tcp orphaned time_wait udp raw fragments tcp_ipv6 raw_ipv6 fragments_ipv6"
    assert sockets[columns.split()].to_numpy().tolist() == [[24, 22, 1, 14087, 3, 5, 6, 8, 10, 11]]


def test_a_series_of_several_files():
    text = "".join(f"## 2026-11-20T23:40:0{i}Z\n{SOCKSTAT}{SOFTIRQS}{SNMP}" for i in range(3))
    parsed = parse(text)
    assert parsed.warnings == ()
    times = list(pd.to_datetime([f"2026-11-20T23:40:0{i}Z" for i in range(3)]))
    assert parsed.tables["sockets"]["time"].tolist() == times
    assert parsed.tables["interrupts"]["time"].drop_duplicates().tolist() == times
    assert len(parsed.tables["interrupts"]) == 12


def test_a_series_without_times():
    assert len(parse(SOCKSTAT * 3).tables["sockets"]) == 3
    assert len(parse(SOFTIRQS * 3).tables["interrupts"]) == 12
    stat = "cpu  10 0 20 300 5 0 1 0 0 0\ncpu0 10 0 20 300 5 0 1 0 0 0\nctxt 77\nprocesses 9\n"
    once, twice = parse(stat).tables["counters"], parse(stat * 2).tables["counters"]
    assert twice["value"].tolist() == once["value"].tolist() * 2


def test_a_last_line_that_ends_in_a_blank_is_left_out_with_a_warning():
    parsed = parse("MemTotal:  8000 kB\nMemFree:  4000 kB\nHugePages_Total:  1 ")
    assert "line 3" in parsed.warnings[0]
    assert "HugePages_Total" not in parsed.tables["counters"].to_string()


def test_a_session():
    net = "[root@lb ~]# head /proc/net/*\n==> /proc/net/sockstat <==\n"
    text = f"[root@lb ~]# cat /proc/softirqs\n{SOFTIRQS}{net}{SOCKSTAT}\n"
    parsed = parse(text)
    assert parsed.warnings == ()
    assert set(parsed.tables) == {"interrupts", "sockets", "counters"}


def test_the_name_in_front_of_other_lines_is_a_warning():
    assert "line 5" in parse(SOFTIRQS + "\nsomething else\n").warnings[0]


def test_the_last_number_may_be_cut():
    frame = parse(SOFTIRQS.rstrip()).tables["interrupts"]
    assert frame["interrupts"].tolist() == [0, 1, 20]
    assert "time_wait" in parse(SOCKSTAT.rstrip()).tables["sockets"]
    assert "line 2" in parse(SNMP.rstrip()).warnings[0]
    assert "before the values" in parse(SNMP + "Udp: InDatagrams NoPorts").warnings[0]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("MemTotal:  8000 kB\nMemFree:  -1 kB\n", 2),
        ("hello\n", 1),
        (INTERRUPTS.replace(" 2  IO", " 2x  IO"), 2),
        (INTERRUPTS.replace(" 24:", " 2x4:"), 2),
        (SOFTIRQS.replace("         30", ""), 3),
        (SOFTIRQS.replace("30", "9" * 19), 3),
        (SNMP.replace(" -1 ", " "), 2),
        (SNMP.replace("Tcp: 200", "Udp: 200"), 2),
        (SNMP.replace("200", "2OO"), 2),
        (SOCKSTAT.replace("14087", "14o87"), 2),
        (SOCKSTAT.replace("24", "-24"), 1),
        (DEV.replace(" 58150188 ", " "), 4),
        (DEV.split("\n")[0], 1),
        ("0000000a 00000000 0000000x " + "00000000 " * 8 + "\n", 1),
    ],
)
def test_refused(text, line):
    assert refused_line(parse_proc, text) == line


def test_each_is_told_from_what_it_says():
    for text in (SOFTIRQS, INTERRUPTS, SNMP, SOCKSTAT, SOCKSTAT6, DEV, "0.28 0.27 0.20 3/96 1790\n"):
        assert sniff(text).name == "proc", text
        assert sniff("# " + text.replace("\n", "\n# ")).name == "proc", text


@given(
    st.lists(st.integers(0, 2**20), min_size=1, max_size=9, unique=True).flatmap(
        lambda cpus: st.tuples(
            st.just(sorted(cpus)),
            st.lists(
                st.lists(st.integers(0, 2**32 - 1), min_size=len(cpus), max_size=len(cpus)), min_size=1, max_size=9
            ),
        )
    )
)
def test_what_the_kernel_can_write_is_read(case):
    cpus, rows = case
    text = "           " + "".join(f"CPU{cpu:<8d}" for cpu in cpus) + "\n"
    text += "".join(
        f"{i:3d}: " + "".join(f"{n:10d} " for n in row) + f"  IO-APIC {i:3d}-edge      dev{i}\n"
        for i, row in enumerate(rows)
    )
    frame = parse_proc(text).tables["interrupts"]
    assert frame["interrupts"].tolist() == [n for row in rows for n in row]
    assert frame["cpu"].tolist() == [str(cpu) for cpu in cpus] * len(rows)
