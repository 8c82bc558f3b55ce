"""Every pair data/<tool>/<case>.txt + .json: its numbers, what one wrong character does, what a cut does.

A pair dropped in is a test.  The expected cells of a .json were read from the raw text by eye, never by the parser.
"""

import json
import os
import re
from pathlib import Path

import pandas as pd
import pytest
from one_test import in_one_test
from schema_faults import schema_faults

from loadcurve.errors import ParseError
from loadcurve.ingest.clean import clean
from loadcurve.ingest.registry import FORMS, form_of

DATA = Path(__file__).parents[1] / "data"
TOOLS = {form.tool for form in FORMS}
CASES = sorted(p.with_suffix("") for p in DATA.glob("*/*.json") if p.parent.name in TOOLS)
MAX_GARBLES = int(os.environ.get("LOADCURVE_GARBLES", 80))
MAX_CUTS = int(os.environ.get("LOADCURVE_CUTS", 40))  # 100000 cuts at every byte: minutes instead of seconds

STATUS = {"runs": {"status": "finished"}}
each_case = in_one_test("case", CASES, ids=lambda case: case.name, by=lambda case: case.parent.name)


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


@each_case
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
    assert not [name for name, columns in expected.get("absent", {}).items() if {*columns} & {*parsed.tables[name]}]
    assert len(parsed.warnings) == len(expected["warnings"]), parsed.warnings
    for warning, part in zip(parsed.warnings, expected["warnings"], strict=True):
        assert part in warning


@pytest.mark.slow
def test_tables_fit_their_schemas_and_keep_all_rows():
    known = {"study": "s", "run_id": "r"}
    parsed = []
    for case in CASES:
        text, _, parse = _load(case)
        found = parse(text).tables
        parsed.append((case, {name: found[name].assign(**known | STATUS.get(name, {})) for name in found}))
    assert schema_faults(parsed) == []


@pytest.mark.slow
@each_case
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


@pytest.mark.slow
@each_case
def test_a_garbled_number_is_found_where_it_is(case):
    """One digit of each number becomes a letter: a located error, a warning that names the line, or the same tables."""
    text, expected, parse = _load(case)
    lines = text.split("\n")
    whole = parse(text).tables
    numbers = list(_numbers(text, expected.get("names", "")))
    assert len(numbers) >= len(expected["cells"])
    for number, digits in numbers[:: len(numbers) // MAX_GARBLES + 1]:
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


def _columns(table):
    """Column → cells, missing as None; of rows without making a DataFrame, which would cost more than the parser."""
    if isinstance(table, pd.DataFrame):
        return {column: [_or_none(cell) for cell in table[column].tolist()] for column in table}
    names = dict.fromkeys(name for row in table for name in row)
    return {name: [_or_none(row.get(name)) for row in table] for name in names}


def _or_none(cell):
    return None if cell is pd.NA or cell != cell else cell


@pytest.mark.slow
@each_case
def test_a_cut_text_invents_nothing(case):
    """Cut anywhere, each table is the beginning of the whole table; cells may be missing, none may be another one.

    Totals over the rows are those of the rows that are left.
    """
    text, expected, parse = _load(case)
    totals = form_of(case.parent.name, expected.get("variant", "")).totals
    tables_of = parse(text).tables
    whole = {name: (len(tables_of[name]), _columns(tables_of.rows(name))) for name in tables_of}
    for end in range(0, len(text), len(text) // MAX_CUTS + 1):
        try:
            found = parse(text[:end]).tables
        except ParseError:
            continue
        for name in found.keys() - set(totals):
            length, expected = whole[name]
            rows = found.rows(name)
            assert len(rows) <= length, (end, name)
            if isinstance(rows, pd.DataFrame) and rows.equals(tables_of[name].iloc[: len(rows)]):
                continue
            for column, cells in _columns(rows).items():
                wrong = [pair for pair in zip(cells, expected[column], strict=False) if None is not pair[0] != pair[1]]
                assert wrong == [], (end, name, column)
        for name in found.keys() & {"runs"} & set(totals):
            most = tables_of[name]["requests"].sum()
            left = len(found["requests"]) if "requests" in found else found[name]["requests"].sum()
            assert found[name]["requests"].sum() == left <= most, end
