"""sar: clocks, days and zones, languages, what is doubted, what is refused; every sample at hand."""

import math
import random
import re
from contextlib import suppress
from pathlib import Path

import pandas as pd
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from one_test import in_one_test
from refused import refused_line

from loadcurve import parse, tables
from loadcurve.errors import ParseError, ValueRuleError
from loadcurve.ingest.clean import clean
from loadcurve.ingest.sysstat import sar_rows
from loadcurve.ingest.sysstat.sar import parse_sar

DATA = Path(__file__).parents[2] / "data/sar"
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
    assert refused_line(parse_sar, rows(*clocks)) == 2 + len(clocks)


def test_local_time_becomes_utc():
    assert times(parse_sar(rows("10:00:00", "10:00:01"), "Europe/Berlin")) == ["2026-11-20T09:00:01+00:00"]
    autumn = parse_sar(rows("02:30:00", "02:30:01", heading=HEADING.replace("11/20/26", "10/25/26")), "Europe/Berlin")
    assert times(autumn) == ["2026-10-25T00:30:01+00:00"]
    assert "occurs twice" in autumn.warnings[0]
    with pytest.raises(ValueRuleError, match="timezone must be the IANA name"):
        parse_sar(rows("10:00:00", "10:00:01"), "Berlin")


def test_a_date_that_other_languages_write_the_other_way_round_is_doubted():
    heading = HEADING.replace("11/20/26", "01/12/2022")
    assert "read as month/day/year" in parse_sar(rows("10:00:00", "10:00:01", heading=heading)).warnings[0]
    assert parse_sar(rows("10:00:00 AM", "10:00:01 AM", heading=heading)).warnings == ()  # en_US


@pytest.mark.parametrize(
    "written",
    ["11/20/26", "11/20/2026", "2026-11-20", "20.11.2026", "20/11/26", "2026年11月20日", "2026 年 11 月 20 日",
     "2026년 11월 20일", "20-11-2026", "2026/11/20", "2026.11.20.", "20.11.26", "Friday 20 November 2026"],
)  # fmt: skip
def test_dates(written):
    parsed = parse_sar(rows("10:00:00", "10:00:01", heading=HEADING.replace("11/20/26", written)))
    assert times(parsed) == ["2026-11-20T10:00:01+00:00"]
    assert parsed.warnings == ()


def test_a_date_in_unknown_words_leaves_the_times_open():
    parsed = parse_sar(rows("10:00:00", "10:00:01", heading=HEADING.replace("11/20/26", "piątek 20 listopada 2026")))
    assert parsed.tables["sockets"].time.isna().all()
    assert parsed.warnings == (
        "line 1: the date 'piątek 20 listopada 2026' is not understood, so the times have no day",
    )


@pytest.mark.parametrize("average", ["Média:  ", "Moyenne\u202f:", "Moyenne : ", "Media:  "])
def test_the_language_tells_the_order_of_day_and_month(average):
    heading = HEADING.replace("11/20/26", "01/12/2022")
    parsed = parse_sar(clean(rows("10:00:00", "10:00:01", heading=heading) + f"{average} {SOCK_ROW}"))
    assert times(parsed) == ["2022-12-01T10:00:01+00:00"]
    assert parsed.warnings == ()


@pytest.mark.parametrize("written", ["11/31/26", "11/20/2", "2026-13-01", "31.04.2026"])
def test_refused_dates(written):
    assert refused_line(parse_sar, rows("10:00:00", "10:00:01", heading=HEADING.replace("11/20/26", written))) == 1


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
    assert table.drop(columns=["time", "tool"]).to_numpy().tolist() == [[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]]
    assert list(table.columns) == [name for name in tables.SCHEMAS["tcp"].columns if name in table]


def test_names_of_sar_u_and_sar_u_all_may_be_mixed():
    mixed = CPU.replace("%user", " %usr")
    assert parse_sar(rows("10:00:00", "10:00:01", header=mixed, row=CPU_ROW)).tables["cpu"].cpu_user_ratio[0] == 0.2062


def test_restarts_and_comments_are_events():
    text = (
        rows("10:00:00 PM", "10:00:01 PM")
        + "\n22:00:05  LINUX RESTART\t(9 CPU)\n"
        + f"\n10:00:06 PM{SOCK}10:00:07 PM{SOCK_ROW}"
        + "10:00:08 PM  COM Testing sysstat!\n"
        + f"10:00:09 PM{SOCK_ROW}Average:   {SOCK_ROW}"
    )
    parsed = parse_sar(text)
    assert times(parsed) == [f"2026-11-20T22:00:0{second}+00:00" for second in (1, 7, 9)]
    events = parsed.tables["events"]
    assert events.event.tolist() == ["restart", "comment"]
    assert times(parsed, "events") == ["2026-11-20T22:00:05+00:00", "2026-11-20T22:00:08+00:00"]
    assert (events.cpus[0], events.text[1]) == (9, "Testing sysstat!")
    assert parsed.warnings == ()
    assert parse_sar(text.replace("\t(9 CPU)", "")).tables["events"].event[0] == "restart"
    with pytest.raises(ParseError):
        parse_sar(text.replace("(9 CPU)", "(x CPU)"))


def test_a_restart_carries_the_day_to_sections_that_come_after_it():
    text = (
        rows("23:00:00", "23:30:00")
        + "\n01:00:00  LINUX RESTART\t(2 CPU)\n"
        + f"\n01:10:00{SOCK}01:20:00{SOCK_ROW}\n01:10:00{CPU}01:20:00{CPU_ROW}"
    )
    parsed = parse_sar(text)
    assert times(parsed)[-1] == times(parsed, "cpu")[0] == "2026-11-21T01:20:00+00:00"
    assert times(parsed, "events") == ["2026-11-21T01:00:00+00:00"]


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
        ("tcpsck", "udpsck", 3),  # twice the same
        (f"\n10:00:00{SOCK}", "", 2),  # the header row is lost
        (f"10:00:00{SOCK}", "", 3),
        ("10:00:00", "10:00", 3),
    ],
)
def test_refused(right, wrong, line):
    assert refused_line(parse_sar, rows("10:00:00", "10:00:01").replace(right, wrong)) == line


@pytest.mark.parametrize("text", ["", "\n", "Hello\n", "sar 1 3\n", SOCK_ROW])
def test_no_rows(text):
    with pytest.raises(ParseError) as raised:
        parse_sar(text)
    error = raised.value
    assert (error.line, error.expected, error.got) == (1, "sar rows", text.split("\n")[0].strip())


@pytest.mark.parametrize(
    "said",
    [
        "Cannot open /var/log/sa/sa05: No such file or directory",
        "Requested activities not available in file /var/log/sa/sa12",
        "Requested activities not available",
        "Invalid system activity file: sa05",
        "Usage: sar [ options ] [ <interval> [ <count> ] ]",
        "-bash: sar: command not found",
    ],
)
def test_what_sar_says_when_it_fails(said):
    for read in (parse_sar, parse):
        with pytest.raises(ParseError) as raised:
            read(f"$ sar -f sa05\n{said}\n")
        assert (raised.value.line, raised.value.got) == (2, said)


@pytest.mark.parametrize(
    "heading",
    ["SunOS unknown 5.10 Generic_118822-23 sun4u    01/20/2006", "AIX aix1 3 5 00CF9E4F4C00    10/10/12"],
)
def test_another_systems_sar(heading):
    with pytest.raises(ParseError, match="sysstat's sar, on Linux"):
        parse(f"\n{heading}\n\n00:04:04    %usr    %sys    %wio   %idle\n00:04:05       0       0       0     100\n")


@pytest.mark.parametrize("rest", ["", f"\n10:00:00{SOCK}"])
def test_a_heading_without_rows(rest):
    parsed = parse_sar(HEADING + rest)
    assert parsed.warnings == ("line 1: there are no rows below the heading",)
    assert parsed.tables["hosts"].iloc[0][["host", "kernel", "system", "architecture", "cpus"]].tolist() == [
        "vm", "6.18.44", "Linux", "x86_64", 2,
    ]  # fmt: skip
    assert (
        times(parsed, "hosts")
        if "time" in parsed.tables["hosts"]
        else str(parsed.tables["hosts"].date[0]) == ("2026-11-20 00:00:00+00:00")
    )


def test_rows_without_a_heading_have_no_time():
    parsed = parse(f"10:00:00{CPU}10:00:01{CPU_ROW}")
    assert parsed.tool == "sar"
    assert parsed.tables["cpu"].time.isna().all()
    assert parsed.warnings[0].startswith("line 1: no heading")


@pytest.mark.parametrize(
    "clock",
    ["22时33分25秒", "22 时 33 分 25 秒", "22時33分25秒", "22시 33분 25초", "下午 10时33分25秒", "10:33:25 下午",
     "下午 10:33:25", "10:33:25 PM", "10:33:25  PM", "10:33:25 pm", "22.33.25", "10:33:25 PM IST", "22:33:25 CET"],
)  # fmt: skip
def test_clocks_of_other_languages(clock):
    zone = {"IST": "Asia/Kolkata", "CET": "Europe/Berlin"}.get(clock[-3:], "UTC")
    text = rows(f"{clock} ", f"{clock} ", header=CPU, row=CPU_ROW)
    parsed = parse_sar(text, zone)
    assert parsed.tables["cpu"].time.dt.tz_convert(zone).dt.time.astype(str).tolist() == ["22:33:25"]
    assert parsed.tables["cpu"].cpu_system_ratio.tolist() == [0.7165]
    assert parsed.warnings == ()


def test_a_zone_that_is_not_the_one_named_is_doubted():
    parsed = parse_sar(rows("10:33:25 PM IST ", "10:33:26 PM IST "))
    assert parsed.warnings == ("line 3: the times are in IST but read as UTC: name their zone",)
    assert times(parse_sar(rows("22:33:25 UTC ", "22:33:26 UTC "), "Europe/Berlin")) == ["2026-11-20T22:33:26+00:00"]


@in_one_test(
    "word",
    re.split(
        ", ",
        "Average:, Média:, Media:, Moyenne:, Durchschn.:, Среднее:, 平均时间:, 平均値:, 平均時間：, Średnia:, Průměr:, "
        "Átlag:, Ortalama:, Keskiarvo:, Genomsnitt:, Gj.snitt:, Middel:, Gemiddeld:, Priemer:, Просек:, Середнє:, "
        "평균:, Trung bình:",
    ),
)
def test_averages_in_any_language_are_kept_apart(word):
    row = CPU_ROW.replace(".", ",")
    text = rows("10:00:00", "10:00:01", header=CPU, row=row) + f"{word}{row}\n{word}{CPU}{word}{row}"
    parsed = parse_sar(text)
    assert len(parsed.tables["cpu"]) == 1
    averages = parsed.tables["averages"]
    assert averages.value.tolist() == [0.2062, 0.0, 0.7165, 0.0, 0.0, 0.0773] * 2
    assert set(averages["group"]) == {"sar -u"}
    assert set(averages.unit) == {"ratio"}
    assert set(averages.statistic) == {"average"}
    assert parsed.warnings == ()


def test_minimum_maximum_and_summary():
    text = rows("10:00:00", "10:00:01") + f"\nAverage:{SOCK}Minimum:{SOCK_ROW}Maximum:{SOCK_ROW}Summary {SOCK_ROW}"
    assert parse_sar(text).tables["averages"].statistic.tolist() == ["minimum"] * 6 + ["maximum"] * 6 + ["summary"] * 6


@pytest.mark.parametrize("row", ["平均时间:     all  ", "Average:        all     20.62      0.00"])
def test_a_truncated_average_invents_nothing(row):
    parsed = parse_sar(rows("10:00:00", "10:00:01", header=CPU, row=CPU_ROW) + row + "\n")
    assert len(parsed.tables.get("averages", ())) == row.count(".")
    assert parsed.warnings[0].startswith("line 5: ")


def test_several_hosts_keep_their_rows_apart():
    text = rows("10:00:00", "10:00:01") + rows("10:00:00", "10:00:01", heading=HEADING.replace("(vm)", "(lb)"))
    parsed = parse_sar(text)
    assert parsed.tables["sockets"].host.tolist() == ["vm", "lb"]
    assert parsed.tables["hosts"].host.tolist() == ["vm", "lb"]
    assert "host" not in parse_sar(rows("10:00:00", "10:00:01")).tables["sockets"]


def test_human_numbers():
    header = "    kbmemfree kbmemused  %memused   kbdirty\n"
    parsed = parse_sar(rows("10:00:00", "10:00:01", header=header, row="     24.2G    212.6M      0.8%      0.0B\n"))
    assert parsed.tables["memory"].iloc[0, 2:].tolist() == [24.2 * 2**30, 212.6 * 2**20, 0.008, 0.0]
    for wrong in ("24.2%", "24.2X", "24.2kB"):
        text = rows("10:00:00", "10:00:01", header=header, row=f"     {wrong}    1    0.8%      0.0B\n")
        assert refused_line(parse_sar, text) == 4


def test_impossible_numbers_are_missing_but_possible_ones_over_1_are_not():
    disk = "   DEV   tps   rkB/s   wkB/s   areq-sz   aqu-sz   await   %util\n"
    parsed = parse_sar(
        rows("10:00:00", "10:00:01", header=disk, row="   sda  -1.00 20515558222.82 0.00 0.00 0.00 0.00 171.46\n")
    )
    disks = parsed.tables["disks"]
    assert math.isnan(disks.transfers_per_s[0])
    assert disks.read_bytes_per_s[0] == pytest.approx(20515558222.82 * 1024)
    assert disks.utilisation_ratio[0] == 1.7146
    assert parsed.warnings == ("line 4: transfers_per_s -1 cannot be, and is missing",)
    parsed = parse_sar(
        rows("10:00:00", "10:00:01", header="   kbmemfree %memused\n", row="   18446744073709551615 316.85\n")
    )
    assert math.isnan(parsed.tables["memory"].free_bytes[0])
    assert parsed.tables["memory"].used_ratio[0] == 3.1685


def test_lost_empty_lines_and_doubled_ones():
    text = rows("10:00:00", "10:00:01", "10:00:02") + f"\n10:00:00{CPU}10:00:01{CPU_ROW}"
    whole = parse_sar(text).tables
    for changed in (re.sub(r"\n\n", "\n", text), text.replace("\n", "\n\n")):
        found = parse_sar(changed)
        for name in ("sockets", "cpu"):
            pd.testing.assert_frame_equal(found.tables[name], whole[name])


def test_a_row_is_read_under_its_own_columns_only():
    text = rows("10:00:00", "10:00:01") + f"\n10:00:00{SOCK[:34]}\n10:00:01{SOCK_ROW}"
    assert refused_line(parse_sar, text) == 7


def test_a_last_row_with_two_decimals_is_whole_without_its_newline():
    text = rows("10:00:00", "10:00:01", "10:00:02", header=CPU, row=CPU_ROW)
    assert len(parse_sar(text.rstrip()).tables["cpu"]) == 2
    assert len(parse_sar(text.rstrip()[:-1]).tables["cpu"]) == 1
    assert len(parse_sar(text + f"Average:{CPU_ROW}".rstrip()).tables["averages"]) == 6


BROKEN = "an interrupt broke this line; its parts were joined"


@st.composite
def _interrupted(draw, text):
    """A text with one line broken before some of its columns, as by the newline of sar's handler; and that line."""
    lines = text.split("\n")
    at = draw(st.sampled_from([i for i, line in enumerate(lines) if re.match(r"[0-9A-Z]\S+:", line)]))
    columns = [found.start() + draw(st.integers(0, len(found[0]) - 1)) for found in re.finditer(" +", lines[at])]
    for place in sorted(draw(st.sets(st.sampled_from(columns), min_size=1, max_size=3)), reverse=True):
        newlines = "\n" * draw(st.integers(1, 2))
        lines[at] = lines[at][:place] + newlines + lines[at][place:]
    return "\n".join(lines), at + 1


@pytest.mark.slow
@examples(60)
@given(st.data())
@pytest.mark.parametrize("name", ["live-iso", "live-12h", "german", "all-cpus"])
def test_a_line_that_an_interrupt_broke_is_put_together_again(name, data):
    text = (DATA / f"{name}.txt").read_text("utf-8")
    whole = parse_sar(text)
    broken, line = data.draw(_interrupted(text))
    parsed = parse_sar(broken)
    assert parsed.warnings == (*whole.warnings, f"line {line}: {BROKEN}")
    for table, frame in whole.tables.items():
        pd.testing.assert_frame_equal(parsed.tables[table], frame)


def test_below_a_broken_line_errors_are_where_they_are():
    text = (
        rows("10:00:00", "10:00:01", "10:00:02").replace("  tcpsck", "\n\n  tcpsck").replace("\n10:00:02", "\n10:00:0x")
    )
    assert text.split("\n")[6] == f"10:00:0x{SOCK_ROW.rstrip()}"
    assert refused_line(parse_sar, text) == 7


@pytest.mark.parametrize(
    ("right", "wrong", "line"),
    [
        ("        85         0", "\n         0", 4),  # a column is lost with it
        ("        85         0", "        85\n        85         0", 4),  # one is doubled
    ],
)
def test_a_line_that_blanks_begin_is_no_part_of_every_line(right, wrong, line):
    assert refused_line(parse_sar, rows("10:00:00", "10:00:01", "10:00:02").replace(right, wrong, 1)) == line


def test_a_row_that_lost_its_time_is_no_part_of_the_row_before_it():
    parsed = parse_sar(rows("10:00:00", "10:00:01", "10:00:02").replace("10:00:02", "        "))
    assert times(parsed) == ["2026-11-20T10:00:01+00:00"]
    assert [w[:24] for w in parsed.warnings] == ["line 5: not understood: "]


def test_a_broken_last_line_that_may_be_cut_too_is_not_put_together():
    text = rows("10:00:00", "10:00:01", "10:00:02").removesuffix("0\n") + "1\n"
    cut = text.replace("10:00:02           87", "10:00:02           87\n").removesuffix("\n")
    with suppress(ParseError):
        assert times(parse_sar(cut)) == ["2026-11-20T10:00:01+00:00"]


def test_an_indented_text_is_as_one_that_is_not():
    text = rows("10:00:00", "10:00:01", "10:00:02")
    assert parse_sar(re.sub("(?m)^", "    ", text)).tables["sockets"].equals(parse_sar(text).tables["sockets"])


@pytest.mark.slow
def test_many_lines_that_blanks_begin_end_soon():
    for rest in ("\n " * 10**5, "\n x" * 10**5, "\n10:00:01\n 1" * 10**4):
        with suppress(ParseError):
            parse_sar(rows("10:00:00", "10:00:01") + "10:00:02" + rest)


@st.composite
def _cells(draw):
    """Numbers for three interfaces over some instants, in hundredths."""
    instants = draw(st.integers(1, 5))
    number = st.integers(0, 10**11)
    return draw(st.lists(st.lists(number, min_size=8, max_size=8), min_size=3 * instants, max_size=3 * instants))


@examples(25)
@given(_cells(), st.booleans(), st.booleans())
def test_what_is_printed_is_read(cells, comma, twelve):
    header = "        IFACE   rxpck/s   txpck/s    rxkB/s    txkB/s   rxcmp/s   txcmp/s  rxmcst/s   %ifutil\n"
    clock = (lambda i: f"11:59:{i:02} PM") if twelve else (lambda i: f"23:59:{i:02}   ")
    text = HEADING + f"\n{clock(0)}{header}"
    for i, row in enumerate(cells):
        numbers = "".join(f" {n // 100}.{n % 100:02}".rjust(10) for n in row)
        text += f"{clock(i // 3 + 1)}    eth{i % 3}{numbers.replace('.', ',') if comma else numbers}\n"
    network = parse_sar(text).tables["network"]
    assert network.received_pps.tolist() == [row[0] / 100 for row in cells]
    assert network.transmitted_bytes_per_s.tolist() == [row[3] / 100 * 1024 for row in cells]
    assert network.utilisation_ratio.tolist() == [row[7] / 1e4 for row in cells]


def _long():
    """Long text with what makes the fast way stumble: a comment, a missing processor, a device that comes late."""
    draw = random.Random(5)
    text = HEADING + f"\n00:00:00{CPU}"
    for i in range(1, 2000):
        clock = f"{i // 3600:02}:{i // 60 % 60:02}:{i % 60:02}"
        for cpu in ("all", "0", "1")[: 2 if i == 700 else 3]:
            busy = draw.randrange(10000)
            text += f"{clock}     {cpu:>6} {busy / 100:9.2f}" + "      0.00" * 4 + f" {100 - busy / 100:9.2f}\n"
        if i == 900:
            text += f"{clock}  COM half time\n"
        if i == 1200:
            text += f"\n{clock}{CPU}"
    text += "\n00:00:00     IFACE   rxpck/s   txpck/s    rxkB/s    txkB/s\n"
    for i in range(1, 2000):
        clock = f"{i // 3600:02}:{i // 60 % 60:02}:{i % 60:02}"
        for name in ("lo", "eth0", "veth1e5")[: 2 if i < 1500 else 3]:
            text += f"{clock}   {name:>9}" + "".join(f" {draw.randrange(10**7) / 100:9.2f}" for _ in range(4)) + "\n"
    return text


@pytest.mark.parametrize("least", [1 << 12, 1 << 16])
@pytest.mark.parametrize("comma", [False, True])
def test_long_texts_are_read_at_once_with_the_same_result(monkeypatch, least, comma):
    text = _long().replace(".", ",") if comma else _long()
    monkeypatch.setattr(sar_rows, "_LEAST", 1 << 40)
    slow = parse_sar(text)
    monkeypatch.setattr(sar_rows, "_LEAST", least)
    fast = parse_sar(text)
    assert fast.warnings == slow.warnings
    assert fast.tables.keys() == slow.tables.keys()
    for name, frame in slow.tables.items():
        pd.testing.assert_frame_equal(fast.tables[name], frame, check_exact=True)


@pytest.mark.slow
@pytest.mark.parametrize("wrong", ["1e5", "nan", "inf", "0x1", "1.234", "1.", ".5", "1.2.3", "1_0", "--1", "1.00.00"])
def test_long_texts_are_read_as_strictly(wrong):
    text = _long()
    lines = text.split("\n")
    at = len(lines) - 500
    lines[at] = re.sub(r"[0-9.]+$", wrong, lines[at])
    if wrong == "nan":
        assert math.isnan(parse_sar("\n".join(lines)).tables["network"].transmitted_bytes_per_s.iloc[-499])
        return
    assert refused_line(parse_sar, "\n".join(lines)) == at + 1
