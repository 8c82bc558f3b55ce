"""mpstat: older versions, offline processors, languages, midnight, JSON against text."""

from pathlib import Path

import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from refused import refused_line

from loadcurve.ingest.sniff import parse, sniff
from loadcurve.ingest.sysstat.mpstat import parse_mpstat, parse_mpstat_json

DATA = Path(__file__).parents[2] / "data/mpstat"
TEXT = (DATA / "each-processor.txt").read_text()
JSON = (DATA / "document.txt").read_text()
HEADING, _, HEADER, ROW, *_ = TEXT.split("\n")


@examples(50)
@given(st.lists(st.integers(0, 900), min_size=9, max_size=9), st.sampled_from([".", ","]))
def test_rows_that_mpstat_can_print_come_back(shares, point):
    values = [*shares, 10000 - sum(shares)]
    row = "22:33:26     all" + "".join(f" {n / 100:7.2f}" for n in values).replace(".", point)
    cpu = parse_mpstat(f"{HEADING}\n\n{HEADER}\n{row}\n").tables["cpu"].iloc[0]
    names = ["user", "nice", "system", "iowait", "irq", "softirq", "steal", "guest", "guest_nice", "idle"]
    assert [cpu[f"cpu_{name}_ratio"] for name in names] == pytest.approx([n / 1e4 for n in values], abs=1e-12)


def test_json_has_the_numbers_of_the_text():
    found = parse_mpstat_json(JSON).tables
    assert sniff(JSON).name == "mpstat:json"
    assert found["cpu"].columns.tolist()[3:] == parse_mpstat(TEXT).tables["cpu"].columns.tolist()[3:]


@pytest.mark.parametrize(
    ("average", "date", "day"),
    [("Moyenne :", "20/11/2026", 20), ("Durchschn.:", "20.11.2026", 20), ("平均时间:", "2026年11月20日", 20)],
)
def test_languages(average, date, day):
    text = TEXT.replace("Average:", average).replace("11/20/26", date).replace(".", ",")
    text = text.replace("6,18,44", "6.18.44").replace("20,11,2026", date).replace("Durchschn,", "Durchschn.")
    cpu = parse(text).tables["cpu"]
    assert (cpu.time[0].day, cpu.time[0].month, cpu.cpu_user_ratio[0]) == (day, 11, 0.2042)
    assert len(parse(text).tables["averages"]) == 30


def test_midnight():
    text = TEXT.replace("22:33:25", "23:59:58").replace("22:33:26", "23:59:59").replace("22:33:27", "00:00:00")
    times = parse_mpstat(text.replace("22:33:28", "00:00:01")).tables["cpu"].time
    assert [str(times[i])[:19] for i in (0, 3, 6)] == [
        "2026-11-20 23:59:59",
        "2026-11-21 00:00:00",
        "2026-11-21 00:00:01",
    ]


def test_processors_that_are_off():
    off = f"{HEADING}\n\n{HEADER}\n{ROW}\n22:33:26       0" + "    0.00" * 10 + "\n"
    parsed = parse_mpstat(off)
    assert parsed.tables["cpu"].cpu.tolist() == ["all"]
    assert "was off" in parsed.warnings[0]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"{HEADING}\n\n{HEADER}\n", 1),
        (f"{HEADING}\n\n{ROW}\n", 3),
    ],
)
def test_refused(text, line):
    assert refused_line(parse_mpstat, text) == line


def test_a_cut_document_keeps_its_whole_intervals():
    at = JSON.rindex('"cpu": "1"')
    parsed = parse_mpstat_json(JSON[:at])
    assert len(parsed.tables["cpu"]) == 3
    assert "left out" in parsed.warnings[0]
