"""iostat: older columns, decimal commas, times, names alone on a line, JSON of other versions."""

from pathlib import Path

import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

from loadcurve.errors import ParseError
from loadcurve.ingest.sniff import parse
from loadcurve.ingest.sysstat.iostat import parse_iostat, parse_iostat_json

DATA = Path(__file__).parents[2] / "data/iostat"
JSON = (DATA / "document.txt").read_text()
HEADING = "Linux 6.1.0 (vm)  11/20/26  _x86_64_ (2 CPU)\n\n"
OLD = (DATA / "decimal-commas.txt").read_text()


@examples(50)
@given(st.lists(st.integers(0, 10**9), min_size=3, max_size=3), st.integers(0, 10**12))
def test_rows_that_iostat_can_print_come_back(rates, total):
    header = "Device             tps    kB_read/s    kB_wrtn/s    kB_read    kB_wrtn\n"
    cells = f"{rates[0] / 100:8.2f} {rates[1] / 100:12.2f} {rates[2] / 100:12.2f} {total:10} {total:10}"
    tables = parse_iostat(f"{HEADING}{header}{'nvme0n1':<13} {cells}\n\n").tables
    names = ["transfers_per_s", "read_bytes_per_s", "written_bytes_per_s"]
    expected = [rates[0] / 100, rates[1] / 100 * 1024, rates[2] / 100 * 1024]
    assert tables["disks"].iloc[0][names].tolist() == pytest.approx(expected)
    assert tables["counters"].value.tolist() == [total * 1024.0] * 2


@pytest.mark.parametrize(
    ("stamp", "time"),
    [
        ("11/20/2026 10:33:26 PM", "2026-11-20 22:33:26+00:00"),
        ("Time: 10:33:26 PM", "2026-11-20 22:33:26+00:00"),
        ("Time: 22:33:26", "2026-11-20 22:33:26+00:00"),
        ("20.11.2026 22:33:26", "2026-11-20 22:33:26+00:00"),
        ("2026-11-20T22:33:26+0100", "2026-11-20 21:33:26+00:00"),
        ("2026-11-20T22:33:26-05:00", "2026-11-21 03:33:26+00:00"),
        ("2026年11月20日 22时33分26秒", "2026-11-20 22:33:26+00:00"),
    ],
)
def test_times(stamp, time):
    text = f"{HEADING}{stamp}\nDevice             tps    kB_read/s\nvda               1.00         2.00\n\n"
    assert str(parse(text).tables["disks"].time[0]) == time


def test_decimal_commas_in_a_document():
    text = JSON.replace("7.11", "7,11").replace("19.72", "19,72")
    assert parse_iostat_json(text).tables["cpu"].cpu_user_ratio[0] == 0.0711


WRAPPED = """Device:         rrqm/s   wrqm/s     r/s     w/s    rMB/s    wMB/s
avgrq-sz avgqu-sz   await r_await w_await  svctm  %util
nvme0n1        6306.50 18248.00  636.00 1280.00    45.11    76.19
129.65     3.03    1.23    0.67    1.51   0.76 145.50
nvme1n1       11441.50 13234.00 1069.50  961.00    71.87    55.39
128.35     3.32    1.30    0.90    1.75   0.72 146.50

"""


def test_rows_that_a_mail_has_wrapped_are_joined():
    # linux-raid, a mail about raid456
    tables, warnings = parse_iostat(WRAPPED).tables, parse_iostat(WRAPPED).warnings
    disks = tables["disks"]
    assert disks.device.tolist() == ["nvme0n1", "nvme1n1"]
    assert disks.reads_per_s.tolist() == [636.0, 1069.5]
    assert disks.read_bytes_per_s.tolist() == pytest.approx([45.11 * 2**20, 71.87 * 2**20])
    assert disks.utilisation_ratio.tolist() == pytest.approx([1.455, 1.465])
    assert any("broken in parts" in warning for warning in warnings)


@pytest.mark.parametrize("left_out", range(1, 6))
def test_a_wrapped_report_without_one_of_its_lines_is_not_read_as_another(left_out):
    lines = WRAPPED.split("\n")
    with pytest.raises(ParseError):
        parse_iostat("\n".join(lines[:left_out] + lines[left_out + 1 :]))


def test_prose_below_the_rows_is_left_out_with_a_warning():
    parsed = parse_iostat(OLD.rstrip() + "\nThis workload has an average time (await) of 9 milliseconds\n")
    assert parsed.tables["disks"].device.tolist() == ["sda"]
    assert any("not a row of iostat" in warning for warning in parsed.warnings)
