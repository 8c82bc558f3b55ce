"""What accidents do to a text: right numbers, a located error, or a warning; never another exception, never a hang.

Each fixture is damaged in many ways, the same on every machine.  `make fuzz` goes further, guided by coverage.
"""

import os
import random
import re
import time
import zlib
from itertools import product
from pathlib import Path

import pytest
from one_test import LONG, in_one_test
from schema_faults import schema_faults

from loadcurve import tables
from loadcurve.errors import ParseError
from loadcurve.ingest.clean import clean, decode
from loadcurve.ingest.files import parse_bytes
from loadcurve.ingest.registry import FORMS
from loadcurve.ingest.sniff import form_starts, sniff

pytestmark = pytest.mark.slow

DATA = Path(__file__).parents[1] / "data"
CASES = sorted(p for p in DATA.glob("*/*.txt") if p.parent.name in {form.tool for form in FORMS})
each_case = in_one_test("case", CASES, ids=lambda case: case.stem, by=lambda case: case.parent.name)
MUTATIONS = int(os.environ.get("LOADCURVE_MUTATIONS", 4))  # of each kind; 1000 takes an hour
MAX_BYTES = 40_000  # of a fixture: what a parser does to ten lines it does to a thousand


def drop(lines: list[bytes], chance: random.Random) -> list[bytes]:
    at = chance.randrange(len(lines))
    return lines[:at] + lines[at + 1 :]


def duplicate(lines: list[bytes], chance: random.Random) -> list[bytes]:
    at = chance.randrange(len(lines))
    return [*lines[: at + 1], *lines[at:]]


def swap(lines: list[bytes], chance: random.Random) -> list[bytes]:
    one, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    lines = list(lines)
    lines[one], lines[other] = lines[other], lines[one]
    return lines


def cut(lines: list[bytes], chance: random.Random) -> list[bytes]:
    whole = b"\n".join(lines)
    return whole[: chance.randrange(len(whole) + 1)].split(b"\n")


def garble(lines: list[bytes], chance: random.Random) -> list[bytes]:
    whole = b"\n".join(lines)
    groups = list(re.finditer(rb"[0-9]+", whole))
    if not groups:
        return lines
    group = chance.choice(groups)
    other = chance.choice(
        [b"", b"-", b"x", b"0", b"9" * 40, b"1e9", b"nan", b"-nan", b"1,5", b"\xc2\xb2", b"inf", b"."]
    )
    return (whole[: group.start()] + other + whole[group.end() :]).split(b"\n")


def nul(lines: list[bytes], chance: random.Random) -> list[bytes]:
    whole = b"\n".join(lines)
    at = chance.randrange(len(whole) + 1)
    return (whole[:at] + b"\0" * chance.choice([1, 3, 4096]) + whole[at:]).split(b"\n")


def noise(lines: list[bytes], chance: random.Random) -> list[bytes]:
    whole = bytearray(b"\n".join(lines))
    for _ in range(chance.choice([1, 10, 100])):
        whole[chance.randrange(len(whole))] = chance.randrange(256)
    return bytes(whole).split(b"\n")


def encode(lines: list[bytes], chance: random.Random) -> list[bytes]:
    text = b"\n".join(lines).decode("utf-8")
    encoding = chance.choice(["utf-16", "utf-16-le", "utf-32", "gb18030", "shift_jis", "cp1251", "latin-1"])
    return text.encode(encoding, "replace").split(b"\n")


def join(lines: list[bytes], chance: random.Random) -> list[bytes]:
    at = chance.randrange(len(lines))
    return [*lines[:at], lines[at] + chance.choice(lines), *lines[at + 1 :]]


def insert(lines: list[bytes], chance: random.Random) -> list[bytes]:
    whole = b"\n".join(lines)
    at, to = sorted(chance.randrange(len(whole) + 1) for _ in range(2))
    words = [b"nan", b"1e999", b"null", b"<a>", b"{}", b"|__", b"-", b"%", b":", b"^C", b'"', b" ", b"\n", whole[at:to]]
    return (whole[:at] + chance.choice(words) + whole[at:]).split(b"\n")


def several(lines: list[bytes], chance: random.Random) -> list[bytes]:
    for _ in range(chance.choice([2, 3, 4])):
        lines = chance.choice([drop, duplicate, swap, cut, garble, nul, join, insert])(lines, chance)
    return lines


DAMAGES = (drop, duplicate, swap, cut, garble, nul, noise, encode, join, insert, several)


@each_case
def test_damage_gives_tables_or_a_located_error(case):
    raw = case.read_bytes()
    form = sniff(raw.decode("utf-8"))
    lines = raw[:MAX_BYTES].split(b"\n")
    read = []
    for damage, seed in product(DAMAGES, range(MUTATIONS if len(raw) < 10_000 else -(-MUTATIONS // 4))):
        told = f"{damage.__name__}, seed {seed}"
        chance = random.Random(zlib.crc32(f"{case.parent.name}/{case.stem}/{damage.__name__}/{seed}".encode()))
        broken = b"\n".join(damage(lines, chance))
        try:
            parsed = form.parse(clean(decode(broken)[0])) if seed % 2 else parse_bytes(broken, "file")
        except ParseError as error:
            assert 0 <= error.line <= broken.count(b"\n") + broken.count(b"\r") + 1, told
            assert "\n" not in str(error), told
            continue
        assert all("\n" not in warning for warning in parsed.warnings), told
        assert set(parsed.tables) <= set(tables.SCHEMAS), told
        if seed % 2 == 0:
            read.append((told, parsed.tables))
    assert schema_faults(read) == []


@each_case
def test_a_line_of_megabytes_in_the_middle_is_no_hang(case):
    """The fixture's own words, a hundred thousand times on one line: quadratic time would take minutes."""
    raw = case.read_bytes()
    form = sniff(raw.decode("utf-8"))
    lines = raw[:4000].split(b"\n")
    at = zlib.crc32(case.stem.encode()) % len(lines)
    long = (lines[at].strip() or b" ") + b" "
    lines[at] = long * (LONG // len(long))
    begun = time.process_time()
    try:
        form.parse(clean(decode(b"\n".join(lines))[0]))
    except ParseError as error:
        assert len(str(error)) < 1000
    assert time.process_time() - begun < 60  # a hang, not a speed


# What a line of megabytes is made of: of every tool, and words of its own, which its patterns may try at every place.
ANY = (" ", "9", "a ", "{", "[ms]: ", "[", '"', ",")
OWN = {
    "ab": ("(", "Server Software: x", "Benchmarking (be patient)", "Percentage of ", "apr_", "50%", "<tr>", "<", "ab: ",
           "Connect: 0, ", "\t0", "socket: (", "Total: 1 ", "Connect:\n0\n", "Server\n", "Server Port:\n"),
    "conntrack": ("src=1 ",),
    "ethtool": ("CPU0 ", "rx: 5 "),
    "ip": ("2: eth0: <", "rx: 5 "),
    "iostat": ("Linux 6.1 (h) ", "Device: tps ", "avg-cpu: "),
    "iptables": ("to:1.", "dnat to ::"),
    "ipvsadm": ("-> ", "TCP  ", "TCP 1:1 ", ":", "IP Virtual Server version ", "-A -t ", "x@"),
    "mpstat": ("Linux 6.1 (h) ", "22:33:26 CPU ", '{"sysstat": {'),
    "netstat": ("Tcp:", "Tcp: A "),
    "nft": ("counter packets ", "dnat to ::"),
    "nstat": ("#kernel", "Tcp: A "),
    "pidstat": ("Linux 6.1 (h) ", "# Time UID PID ", "22:33:26 0 1 "),
    "proc": ("CPU0 ", "0000000a ", "Tcp: A "),
    "sadf": ("vm;1;1795214006;", "# hostname;interval;timestamp;", "<sysstat>", "vm\t1\t1795214006\tall\t"),
    "sar": ("1 ", "Average: ", "10:00:00 ", "Linux x (y) ", "%", "LINUX RESTART ", "10:00:00 COM "),
    "ss": ("ESTAB ", ":", "1:2 ", "Netid ", "ss: ", "users:(("),
    "vmstat": ("procs ", "r b swpd ", "1 0 0 "),
    "weighttp": ("weighttp ", "weighttp -c ", "{ ", "error: ", "requests: ", "finished in 1 sec,"),
    "wrk": ("Running ", "Thread Stats ", "1 threads and ", "unable to connect to ", "Running 1s test @ h\n",
            "Thread Stats Avg Stdev Max\n", "Latency Distribution\n1% 1.00ms\n"),
}  # fmt: skip
FIRST = {sniff(case.read_text("utf-8")): case.read_text("utf-8").split("\n")[:6] for case in reversed(CASES)}


@in_one_test("form", FIRST, ids=lambda form: form.name, by=lambda form: form.tool)
def test_long_lines_alone_or_in_a_report_are_no_hang(form):
    """Alone, glued to the sixth line of a report, and on a line of their own behind it."""
    head = "\n".join(FIRST[form])
    for unit in (*ANY, *OWN.get(form.tool, ()), f"{FIRST[form][0]} "):
        long = unit * (LONG // len(unit))
        begun = time.process_time()
        for text in (long, head + long, f"{head}\n{long}\n"):
            try:
                form.parse(text)
            except ParseError as error:
                assert len(str(error)) < 1000, unit
        assert time.process_time() - begun < 60, unit  # a hang, not a speed


@in_one_test("unit", sorted({unit for units in OWN.values() for unit in units}))
def test_signatures_are_looked_for_in_linear_time(unit):
    begun = time.process_time()
    list(form_starts(unit * (LONG // len(unit))))
    assert time.process_time() - begun < 60  # a hang, not a speed
