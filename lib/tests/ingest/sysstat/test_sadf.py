"""sadf: every form against sar's text of the same recording; restarts, languages, older versions; damage."""

import math
from pathlib import Path

import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from refused import refused_line

from loadcurve.errors import ParseError
from loadcurve.ingest.sniff import parse, sniff
from loadcurve.ingest.sysstat.sadf import parse_sadf, parse_sadf_p
from loadcurve.ingest.sysstat.sadf_header import refuse_sadf
from loadcurve.ingest.sysstat.sadf_json import parse_sadf_json

DATA = Path(__file__).parents[2] / "data/sadf"
SAMPLES = DATA.parent / "samples/sar"
SECTIONS, LINES, WIDE, MARKUP, DOCUMENT = (
    (DATA / f"{name}.txt").read_text() for name in ("sections", "lines", "wide", "markup", "document")
)
KEYS = ("time", "cpu", "interface", "device", "item", "interrupt", "group", "counter")


def values_of(parsed):
    """Every number by table, column and what it is about."""
    found = {}
    for name in parsed.tables:
        if name in ("hosts", "averages", "events"):
            continue
        for row in parsed.tables[name].to_dict("records"):
            about = tuple(str(row[key]) for key in KEYS if isinstance(row.get(key), str) or key == "time")
            for column, value in row.items():
                if isinstance(value, int | float) and not math.isnan(value):
                    found[name, about, column] = value
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    [*SAMPLES.glob("sadf-d-*.csv"), SAMPLES / "sadf-p.txt",
     *(DATA / f"{case}.txt" for case in ("sections", "epoch", "local", "markup", "document"))],
    ids=lambda path: path.name,
)  # fmt: skip
def test_the_same_numbers_as_sar_prints(path):
    printed = values_of(parse((SAMPLES / "srv1-A-C.txt").read_text()))
    default = values_of(parse((DATA.parent / "sar/from-file.txt").read_text()))  # -u, where -A has -u ALL
    found = values_of(parse(path.read_text()))
    assert found
    for key, value in found.items():
        table = default if key[0] == "cpu" else printed
        assert table[key] == pytest.approx(value, rel=1e-12), key


def test_forms_agree_with_each_other():
    table = values_of(parse_sadf(SECTIONS))
    document = values_of(parse_sadf_json(DOCUMENT))
    assert {key: value for key, value in document.items() if key[0] in ("cpu", "network")} == table
    assert table.items() >= values_of(parse_sadf_p(LINES)).items()


@examples(50)
@given(st.lists(st.integers(0, 10**9), min_size=8, max_size=8), st.sampled_from([".", ","]))
def test_rows_that_sadf_can_print_come_back(numbers, point):
    header = SECTIONS.split("\n")[5]
    cells = ";".join(f"{n / 100:.2f}" for n in numbers).replace(".", point)
    row = parse_sadf(f"{header}\nvm;1;1795214006;eth0;{cells}\n").tables["network"].iloc[0]
    assert row.received_pps == numbers[0] / 100
    assert row.received_bytes_per_s == numbers[2] / 100 * 1024
    assert row.utilisation_ratio == pytest.approx(numbers[7] / 1e4)


@pytest.mark.parametrize(
    ("text", "events"),
    [
        ("h;-1;2019-04-18 13:37:29 UTC;LINUX-RESTART\t(9 CPU)\n", [("restart", 9, None)]),
        ("h;-1;2019-04-18 13:37:29 UTC;LINUX-RESTART\n", [("restart", None, None)]),
        ("h;-1;1555594649;COM a;b c\n", [("comment", None, "a;b c")]),
        ("h\t-1\t2019-04-18 13:37:29 UTC\tLINUX-RESTART\t(9 CPU)\n", [("restart", 9, None)]),
        ("h\t-1\t2019-04-18 13:37:29 UTC\tCOM Testing sysstat!\n", [("comment", None, "Testing sysstat!")]),
    ],
)
def test_events(text, events):
    found = parse(text).tables["events"]
    assert [(r["event"], r.get("cpus"), r.get("text")) for r in found.to_dict("records")] == events


def test_events_of_documents():
    document = DOCUMENT.replace(
        '"restarts": [', '"restarts": [{"boot": {"date": "2026-11-20", "time": "22:00:00", "utc": 1}}'
    )
    assert str(parse(document).tables["events"].time[0]) == "2026-11-20 22:00:00+00:00"


def test_interrupts_of_all_versions():
    old = "# hostname;interval;timestamp;INTR;intr/s\nh;1;1795214006;-1;35525.06\nh;1;1795214006;19;25.92\n"
    assert parse(old).tables["interrupts"][["interrupt", "cpu"]].values.tolist() == [["sum", "all"], ["19", "all"]]
    new = "# hostname;interval;timestamp;INTR;CPU*\nh;1;1795214006;sum;3781.00;3495.00;286.00\n"
    assert parse(new).tables["interrupts"].cpu.tolist() == ["all", "0", "1"]
    chosen = "# hostname;interval;timestamp;INTR;CPU*\nh;1;1795214006;sum;3781.00;86.00\n"
    parsed = parse(chosen)
    assert parsed.tables["interrupts"].cpu.tolist() == ["all"]
    assert "not named" in parsed.warnings[0]
    named = "# hostname;interval;timestamp;CPU;%usr;%idle\nh;1;1795214006;-1;1.00;99.00\nh;1;1795214006;3;1.00;99.00\n"
    assert parse(named + chosen).tables["interrupts"].cpu.tolist() == ["all", "3"]
    lines = "h\t1\t1795214006\tsum\tcpu0\t3495.00\nh\t1\t1795214006\ti019\tintr/s\t25.92\n"
    assert parse(lines).tables["interrupts"][["interrupt", "cpu"]].values.tolist() == [["sum", "0"], ["19", "all"]]


def test_wide_rows_tell_disks_from_interfaces():
    header = WIDE.split("\n")[0]
    disks = "DEV;tps;rkB/s;wkB/s;dkB/s;areq-sz;aqu-sz;await;%util[...]"
    assert parse_sadf(WIDE).tables["network"].interface.tolist() == ["lo", "eth0"] * 2
    text = f"# hostname;interval;timestamp;{disks};{header.split('[...];')[1]}[...]\n"
    zeros = ";".join(["0.00"] * 8)
    parsed = parse_sadf(f"{text}h;1;1795214006;vda;{zeros};lo;{zeros};eth0;{zeros}\n")
    assert parsed.tables["disks"].device.tolist() == ["vda"]
    with pytest.raises(ParseError, match="can be distinguished"):
        parse_sadf(f"{text}h;1;1795214006;abc;{zeros};def;{zeros};ghi;{zeros}\n")


def test_zones_of_local_times():
    text = SECTIONS.replace(" UTC", " EST")
    assert str(parse_sadf(text, "America/New_York").tables["cpu"].time[0]) == "2026-11-21 03:33:26+00:00"
    assert parse_sadf(text, "America/New_York").warnings == ()
    assert "EST" in parse_sadf(text).warnings[0]


@pytest.mark.parametrize(("text", "parser", "line"), [
    (SECTIONS.split("\n", 1)[1], parse_sadf, 1),
    ("22:33:26 UTC; CPU; -1; %user; 31997; 32037;\n", refuse_sadf, 1),
])  # fmt: skip
def test_refused(text, parser, line):
    assert refused_line(parser, text) == line


@pytest.mark.parametrize(
    ("text", "name"),
    [(SECTIONS, "sadf"), (WIDE, "sadf"), (LINES, "sadf:p"), (MARKUP, "sadf:xml"), (DOCUMENT, "sadf:json"),
     ("\n$ sadf -j\n" + DOCUMENT, "sadf:json")],
)  # fmt: skip
def test_told_apart(text, name):
    assert sniff(text).name == name
