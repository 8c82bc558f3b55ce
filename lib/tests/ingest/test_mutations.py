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
from loadcurve.ingest.sniff import sniff

pytestmark = pytest.mark.slow

DATA = Path(__file__).parents[1] / "data"
CASES = sorted(p for p in DATA.glob("*/*.txt") if p.parent.name in {form.tool for form in FORMS})
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


DAMAGES = (drop, duplicate, swap, cut, garble, nul, noise, encode)


@in_one_test("case", CASES, ids=lambda p: f"{p.parent.name}-{p.stem}")
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
        if seed % 5 == 0:
            read.append((told, parsed.tables))
    assert schema_faults(read) == []


@in_one_test("case", CASES, ids=lambda p: f"{p.parent.name}-{p.stem}")
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
