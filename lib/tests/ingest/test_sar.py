"""sar: clocks, days and zones, what is passed over with a warning, what is refused; every sample at hand."""

import math
from pathlib import Path

import pytest

from loadcurve import tables
from loadcurve.errors import ParseError, ValueRuleError
from loadcurve.ingest.sar import parse_sar

DATA = Path(__file__).parents[1] / "data/sar"
SAMPLES = Path(__file__).parents[3].parent / "shared/samples"
HEADING = "Linux 6.18.44 (vm) \t11/20/26 \t_x86_64_\t(2 CPU)\n"
SOCK = "       totsck    tcpsck    udpsck    rawsck   ip-frag    tcp-tw\n"
SOCK_ROW = "           87        85         0         0         0         0\n"
CPU = "        CPU     %user     %nice   %system   %iowait    %steal     %idle\n"
CPU_ROW = "        all     20.62      0.00     71.65      0.00      0.00      7.73\n"


def times(parsed, table="sockets"):
    return [time.isoformat() for time in parsed.tables[table]["time"]]


def rows(*clocks, heading=HEADING, header=SOCK, row=SOCK_ROW):
    return heading + f"\n{clocks[0]}{header}" + "".join(f"{clock}{row}" for clock in clocks[1:])


def test_midnight_is_crossed_by_every_section_of_its_own():
    text = (
        rows("23:59:58", "23:59:59", "00:00:00", "00:00:01")
        + f"\n23:59:58{CPU}23:59:59{CPU_ROW}00:00:00{CPU_ROW}"
        + f"\n00:00:01{SOCK}00:00:02{SOCK_ROW}"
    )
    parsed = parse_sar(text)
    assert times(parsed) == [
        "2026-11-20T23:59:59+00:00",
        "2026-11-21T00:00:00+00:00",
        "2026-11-21T00:00:01+00:00",
        "2026-11-21T00:00:02+00:00",
    ]
    assert times(parsed, "cpu") == ["2026-11-20T23:59:59+00:00", "2026-11-21T00:00:00+00:00"]


def test_midnight_between_a_header_and_its_row():
    assert times(parse_sar(rows("23:59:59", "00:00:00"))) == ["2026-11-21T00:00:00+00:00"]


def test_four_days_in_one_file():
    parsed = parse_sar(rows("22:00:00", *["08:00:00", "16:00:00", "00:00:00"] * 4))
    assert times(parsed)[-1] == "2026-11-25T00:00:00+00:00"


def test_a_clock_set_back_a_little_is_not_another_day_and_loses_no_row():
    parsed = parse_sar(rows("10:00:00", "10:00:01", "10:00:00", "10:00:01"))
    assert times(parsed) == [f"2026-11-20T10:00:0{second}+00:00" for second in (1, 0, 1)]


@pytest.mark.parametrize(
    ("printed", "utc"),
    [
        ("12:10:06 AM", "00:10:06"),
        ("12:10:06 PM", "12:10:06"),
        ("01:02:03 PM", "13:02:03"),
        ("11:59:59 AM", "11:59:59"),
    ],
)
def test_twelve_hour_clock(printed, utc):
    assert times(parse_sar(rows(printed, printed))) == [f"2026-11-20T{utc}+00:00"]


@pytest.mark.parametrize(
    "clocks", [("10:33:25 PM", "10:33:26"), ("10:33:25", "10:33:26 AM"), ("13:33:25 PM",), ("24:00:00",)]
)
def test_a_clock_that_does_not_fit(clocks):
    with pytest.raises(ParseError) as raised:
        parse_sar(rows(*clocks))
    assert raised.value.line == 2 + len(clocks)


def test_local_time_becomes_utc():
    assert times(parse_sar(rows("10:00:00", "10:00:01"), "Europe/Berlin")) == ["2026-11-20T09:00:01+00:00"]
    autumn = parse_sar(rows("02:30:00", "02:30:01", heading=HEADING.replace("11/20/26", "10/25/26")), "Europe/Berlin")
    assert times(autumn) == ["2026-10-25T00:30:01+00:00"]
    assert "occurs twice" in autumn.warnings[0]
    with pytest.raises(ValueRuleError, match="timezone must be the IANA name"):
        parse_sar(rows("10:00:00", "10:00:01"), "Berlin")


@pytest.mark.parametrize("written", ["11/20/26", "11/20/2026", "2026-11-20"])
def test_dates(written):
    parsed = parse_sar(rows("10:00:00", "10:00:01", heading=HEADING.replace("11/20/26", written)))
    assert times(parsed) == ["2026-11-20T10:00:01+00:00"]
    assert parsed.warnings == ()


def test_a_date_that_other_languages_write_the_other_way_round_is_doubted():
    heading = HEADING.replace("11/20/26", "01/12/2022")
    assert "read as month/day/year" in parse_sar(rows("10:00:00", "10:00:01", heading=heading)).warnings[0]
    assert parse_sar(rows("10:00:00 AM", "10:00:01 AM", heading=heading)).warnings == ()  # en_US


@pytest.mark.parametrize("written", ["20.11.2026", "2026年11月20日", "20/11/26", "11/31/26", "11/20/2", "2026-13-01"])
def test_refused_dates(written):
    with pytest.raises(ParseError) as raised:
        parse_sar(rows("10:00:00", "10:00:01", heading=HEADING.replace("11/20/26", written)))
    assert raised.value.line == 1


def test_heading_without_architecture_as_old_versions_write_it():
    assert len(parse_sar(rows("10:00:00", "10:00:01", heading="Linux 2.6.18 (vm) \t11/20/26\n")).tables["sockets"]) == 1


def test_tcp_and_etcp_are_one_row_whatever_the_version_calls_retransmissions():
    text = (
        HEADING
        + "\n10:00:00     active/s passive/s    iseg/s    oseg/s\n10:00:01         1.00      2.00      3.00      4.00\n"
        + "\n10:00:00     atmptf/s  estres/s retrseg/s isegerr/s   orsts/s\n"
        + "10:00:01         5.00      6.00      7.00      8.00      9.00\n"
    )
    table = parse_sar(text).tables["tcp"]
    assert table.drop(columns="time").to_numpy().tolist() == [[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]]
    assert list(table.columns) == [name for name in tables.SCHEMAS["tcp"].columns if name in table]


def test_names_of_sar_u_and_sar_u_all_may_be_mixed():
    mixed = CPU.replace("%user", " %usr")
    assert parse_sar(rows("10:00:00", "10:00:01", header=mixed, row=CPU_ROW)).tables["cpu"].cpu_user_ratio[0] == 0.2062


def test_restart_and_comment_are_passed_over_with_a_warning():
    text = (
        rows("10:00:00", "10:00:01")
        + "\n10:00:05 PM  LINUX RESTART\t(9 CPU)\n"
        + "\n10:00:06     COM Testing sysstat!\n"
        + f"\n10:00:06{SOCK}10:00:07{SOCK_ROW}Average:{SOCK_ROW}"
    )
    parsed = parse_sar(text)
    assert times(parsed) == ["2026-11-20T10:00:01+00:00", "2026-11-20T10:00:07+00:00"]
    assert [warning.split(":")[0] for warning in parsed.warnings] == ["line 6", "line 8"]
    with pytest.raises(ParseError):
        parse_sar(text.replace("(9 CPU)", "(x CPU)"))


def test_two_outputs_in_one_text_and_a_prompt_before_each():
    text = "$ sar 1\n" + rows("10:00:00", "10:00:01")
    parsed = parse_sar(text + rows("10:00:00", "10:00:01", heading=HEADING.replace("/20/", "/21/")))
    assert times(parsed) == ["2026-11-20T10:00:01+00:00", "2026-11-21T10:00:01+00:00"]


def test_percentages_that_do_not_add_up_are_doubted_and_one_over_100_is_missing():
    row = CPU_ROW.replace("20.62", "24.62")
    parsed = parse_sar(rows("10:00:00", "10:00:01", header=CPU, row=row))
    assert parsed.warnings == ("line 4: the percentages add up to 104.00, not 100",)
    parsed = parse_sar(rows("10:00:00", "10:00:01", header=CPU, row=CPU_ROW.replace("    20.62", "205155.82")))
    assert math.isnan(parsed.tables["cpu"].cpu_user_ratio[0])
    assert parsed.tables["cpu"].cpu_system_ratio[0] == 0.7165


@pytest.mark.parametrize("cut", ["10:00:0", f"10:00:02{SOCK_ROW[:30]}", f"10:00:02{SOCK_ROW.rstrip()}"])
def test_a_line_without_its_end_is_left_out(cut):
    parsed = parse_sar(rows("10:00:00", "10:00:01") + cut)
    assert times(parsed) == ["2026-11-20T10:00:01+00:00"]
    assert parsed.warnings[0].startswith("line 5: the text ends inside a line")


@pytest.mark.parametrize(
    ("right", "wrong", "line"),
    [
        (SOCK_ROW, SOCK_ROW.replace("85", ""), 4),  # a column too few
        (SOCK_ROW, SOCK_ROW.replace("85", "85 1"), 4),
        (SOCK_ROW, SOCK_ROW.replace("85", "-1"), 4),
        (SOCK_ROW, SOCK_ROW.replace("85", "8.5"), 4),
        ("tcpsck", "tcpsick", 3),  # a column we do not know in a section we do
        ("tcpsck", "udpsck", 3),  # twice the same
        (f"\n10:00:00{SOCK}", "", 2),  # the header row is lost
        (f"10:00:00{SOCK}", "", 3),
        ("10:00:01", "Mittelwert:", 4),
        ("10:00:00", "10:00", 3),
    ],
)
def test_refused(right, wrong, line):
    with pytest.raises(ParseError) as raised:
        parse_sar(rows("10:00:00", "10:00:01").replace(right, wrong))
    assert raised.value.line == line


@pytest.mark.parametrize(
    "text", ["", "\n", HEADING, HEADING + f"\n10:00:00{SOCK}", "sar: command not found\n", SOCK_ROW]
)
def test_no_rows(text):
    with pytest.raises(ParseError) as raised:
        parse_sar(text)
    error = raised.value
    assert (error.line, error.expected, error.got) == (1, "sar rows", text.split("\n")[0].strip())


# Samples that are refused: other languages (their dates and decimals), and --human, whose numbers carry units.
REFUSED = {"srv1-de_DE.txt": "date", "srv1-zh_CN.txt": "date", "sar-h-pretty.txt": "number"}
# Samples in which no section has a table.
ONLY_WARNINGS = {"srv1-qwrB.txt", "srv1-net-extra.txt"}


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="the samples are not here")
def test_every_sample():
    found = [p for pattern in ("srv1-*.txt", "sar-*.txt", "*-ns-*.txt") for p in SAMPLES.glob(f"sar/{pattern}")]
    assert len(found) > 12
    for path in found:
        try:
            parsed = parse_sar(path.read_text())
        except ParseError as error:
            assert REFUSED[path.name] in error.expected, (path, error)
            continue
        assert path.name not in REFUSED
        assert bool(parsed.tables) == (path.name not in ONLY_WARNINGS)
        assert parsed.tables or parsed.warnings
        assert not [warning for warning in parsed.warnings if "add up" in warning]
        for name, frame in parsed.tables.items():
            tables.check(name, frame.assign(study="s", run_id="r"))
