"""vmstat: its options, older versions, repeated headers, several runs, other systems."""

from pathlib import Path

import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from refused import refused_line

from loadcurve.ingest.sysstat.vmstat import parse_vmstat

DATA = Path(__file__).parents[2] / "data/vmstat"
BOOT = (DATA / "since-boot.txt").read_text()
TIMED = (DATA / "wide-time.txt").read_text()
GROUPS, HEADER, *ROWS = BOOT.rstrip("\n").split("\n")


@examples(50)
@given(
    st.lists(st.integers(0, 10**6), min_size=12, max_size=12),
    st.lists(st.integers(0, 20), min_size=4, max_size=4),
)
def test_rows_that_vmstat_can_print_come_back(counts, shares):
    us, sy, wa, steal = shares
    values = [*counts, us, sy, 100 - us - sy - wa - steal, wa, steal]
    row = "{:2} {:2} {:6} {:6} {:6} {:6} {:4} {:4} {:5} {:5} {:4} {:4} {:2} {:2} {:2} {:2} {:2}".format(*values)
    found = parse_vmstat(f"{GROUPS}\n{HEADER}\n{ROWS[0]}\n{row}\n").tables
    assert found["load"].iloc[1][["run_queue", "blocked"]].tolist() == counts[:2]
    names = ["swap_used_bytes", "free_bytes", "buffers_bytes", "cached_bytes"]
    assert found["memory"].iloc[1][names].tolist() == [1024 * n for n in counts[2:6]]
    assert found["counters"]["value"].tolist() == [1024 * n for n in counts[6:10]] + counts[10:]
    assert found["cpu"].iloc[0][["cpu_user_ratio", "cpu_steal_ratio"]].tolist() == [us / 100, steal / 100]


def test_only_the_first_header_of_a_run_begins_with_averages():
    rows = "\n".join(ROWS[1:] * 11)
    repeated = f"{GROUPS}\n{HEADER}\n{rows}\n{GROUPS}\n{HEADER}\n{rows}\n{GROUPS}\n{HEADER}\n{ROWS[2]}\n"
    parsed = parse_vmstat(repeated)
    assert len(parsed.tables["cpu"]) == 2 * 22 + 1 - 1
    assert len(parsed.warnings) == 1


@pytest.mark.parametrize("between", ["", "\n", "$ vmstat 1 2\n", "# second run\n"])
def test_each_run_begins_with_averages(between):
    parsed = parse_vmstat(f"{BOOT}{between}{BOOT}")
    assert (len(parsed.tables["cpu"]), len(parsed.tables["load"]), len(parsed.tables["averages"])) == (4, 6, 22)


def test_options_of_the_command_are_heeded_where_it_stands_there():
    assert len(parse_vmstat(f"[root@lb1 ~]# vmstat -y 1\n{BOOT}").tables["cpu"]) == 3
    assert parse_vmstat(f"$ vmstat -Sm 1\n{BOOT}").tables["memory"].free_bytes[0] == 24284988e6
    assert parse_vmstat(f"$ vmstat -n 1 3\n{BOOT}").tables["memory"].free_bytes[0] == 24284988 * 1024


@pytest.mark.parametrize(
    ("zone", "timezone", "time", "warned"),
    [
        ("UTC", "Asia/Tokyo", "2026-11-21 03:17:05+00:00", 0),
        ("JST", "Asia/Tokyo", "2026-11-20 18:17:05+00:00", 0),
        ("CST", "Europe/Berlin", "2026-11-21 02:17:05+00:00", 1),
        ("+08", "UTC", "2026-11-20 19:17:05+00:00", 0),
        ("-0330", "UTC", "2026-11-21 06:47:05+00:00", 0),
    ],
)
def test_zones(zone, timezone, time, warned):
    parsed = parse_vmstat(TIMED.replace("UTC", zone), timezone)
    assert str(parsed.tables["cpu"].time[0]) == time
    assert len(parsed.warnings) == 1 + warned


def test_times_that_a_script_wrote_before_each_row():
    dated = "\n".join([GROUPS, HEADER, *(f"2026-11-20 22:33:2{i} {row}" for i, row in enumerate(ROWS))]) + "\n"
    assert str(parse_vmstat(dated).tables["cpu"].time[1]) == "2026-11-20 22:33:22+00:00"
    daily = "--time-- " + "\n".join([GROUPS, HEADER, *(f"22:33:2{i} {row}" for i, row in enumerate(ROWS))]) + "\n"
    parsed = parse_vmstat(daily)
    assert "time" not in parsed.tables["cpu"]
    assert "without a date" in parsed.warnings[0]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"{GROUPS}\n{HEADER}\n", 1),
        (f"{GROUPS}\n{HEADER} xx\n{ROWS[0]}\n", 2),
    ],
)
def test_refused(text, line):
    assert refused_line(parse_vmstat, text) == line


def test_a_cut_number_is_left_out():
    for end in range(len(BOOT) - 1, len(BOOT) - 6, -1):
        parsed = parse_vmstat(BOOT[:end])
        assert len(parsed.tables["cpu"]) == (2 if end == len(BOOT) - 1 else 1)
