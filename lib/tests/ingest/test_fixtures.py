"""Every pair data/<tool>/<case>.txt + .json: its numbers, what one wrong character does, what a cut does.

A pair dropped in is a test.  The expected cells of a .json were read from the raw text by eye, never by the parser.
"""

import json
import os
import re
from pathlib import Path

import pandas as pd
import pytest

from loadcurve import tables
from loadcurve.errors import ParseError
from loadcurve.ingest.clean import clean
from loadcurve.ingest.registry import FORMS, form_of

DATA = Path(__file__).parents[1] / "data"
TOOLS = {form.tool for form in FORMS}
CASES = sorted(p.with_suffix("") for p in DATA.glob("*/*.json") if p.parent.name in TOOLS)
MOST_GARBLES = int(os.environ.get("LOADCURVE_GARBLES", 300))
MOST_CUTS = int(os.environ.get("LOADCURVE_CUTS", 150))  # 100000 cuts at every byte: minutes instead of seconds

pytestmark = pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.parent.name}-{case.name}")


def _load(case):
    expected = json.loads(case.with_suffix(".json").read_text(encoding="utf-8"))
    form = form_of(case.parent.name, expected.get("variant", ""))
    return case.with_suffix(".txt").read_bytes().decode("utf-8"), expected, lambda text: form.parse(clean(text))


def _select(frame, where):
    if "row" in where:
        return frame.iloc[[where["row"]]]
    for column, value in where.items():
        frame = frame[frame[column] == (pd.Timestamp(value) if column == "time" else value)]
    return frame


def test_cells(case):
    text, expected, parse = _load(case)
    parsed = parse(text)
    assert parsed.tool == case.parent.name
    assert {name: len(frame) for name, frame in parsed.tables.items()} == expected["rows"]
    for cell in expected["cells"]:
        found = _select(parsed.tables[cell["table"]], cell["where"])[cell["column"]].tolist()
        assert len(found) == 1, cell
        if cell["value"] is None:
            assert pd.isna(found[0]), cell
        elif isinstance(cell["value"], float):
            assert found[0] == pytest.approx(cell["value"], rel=1e-9), cell
        else:
            assert found[0] == cell["value"], cell
    assert len(parsed.warnings) == len(expected["warnings"]), parsed.warnings
    for warning, part in zip(parsed.warnings, expected["warnings"], strict=True):
        assert part in warning


def test_schema(case):
    text, _, parse = _load(case)
    for name, frame in parse(text).tables.items():
        known = {"study": "s", "run_id": "r"} | ({"status": "finished"} if name == "runs" else {})
        assert len(tables.check(name, frame.assign(**known))) == len(frame)


def test_line_ends_and_byte_order_mark(case):
    text, _, parse = _load(case)
    plain = parse(text)
    odd = parse("\ufeff" + text.replace("\n", "  \r\n"))
    assert odd.warnings == plain.warnings
    for name, frame in plain.tables.items():
        pd.testing.assert_frame_equal(odd.tables[name], frame)


def _numbers(text, names):
    """Line number and places of the digits of each number; what matches `names` holds digits of names and addresses."""
    hidden = re.sub(names, lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.MULTILINE) if names else text
    for number, line in enumerate(hidden.split("\n"), 1):
        for token in re.finditer(r"[^\s(),=/:]*[0-9][^\s(),=/:]*", line):
            yield number, [at for at in range(*token.span()) if line[at].isdigit()]


def _same(found, whole):
    return found.keys() == whole.keys() and all(found[name].equals(whole[name]) for name in whole)


def test_a_garbled_number_is_found_where_it_is(case):
    """One digit of each number becomes a letter: a located error, a warning that names the line, or the same tables."""
    text, expected, parse = _load(case)
    lines = text.split("\n")
    whole = parse(text).tables
    numbers = list(_numbers(text, expected.get("names", "")))
    assert len(numbers) >= len(expected["cells"])
    for number, digits in numbers[:: len(numbers) // MOST_GARBLES + 1]:
        line, at = lines[number - 1], digits[(number + digits[0]) % len(digits)]
        garbled = "\n".join([*lines[: number - 1], f"{line[:at]}x{line[at + 1 :]}", *lines[number:]])
        said = f"{number}: {line[:at]}x{line[at + 1 :]}"
        try:
            parsed = parse(garbled)
        except ParseError as error:
            assert error.line == number or expected.get("document"), (said, str(error))
            continue
        named = any(re.search(rf"\bline {number}\b", warning) for warning in parsed.warnings)
        assert named or _same(parsed.tables, whole), (said, parsed.warnings)


def test_a_cut_text_invents_nothing(case):
    text, _, parse = _load(case)
    whole = parse(text).tables
    for end in range(0, len(text), len(text) // MOST_CUTS + 1):
        try:
            found = parse(text[:end]).tables
        except ParseError:
            continue
        for name, frame in found.items():
            first = whole[name].head(len(frame))[list(frame.columns)]
            assert len(first) == len(frame), (end, name)
            for column in frame:
                known = frame[column].notna()
                assert (frame[column][known] == first[column][known]).all(), (end, name, column)
