"""Published reports, typed twice: what data/published has is what a second person typed from the reports alone.

The second transcription (lib/tests/data/published) was finished before the two were compared. Numbers, names and
strings as printed are in both; the first person's own words (remarks, labels, conclusions) are not.

The reports' own texts belong to their authors and are not part of this project.  With a folder of them as plain text,
one file for each report, in the environment variable LOADCURVE_REPORTS, further tests check that every line of raw
output and every section that data/published names is in the report's text.
"""

import csv
import math
import os
import re
from functools import cache
from pathlib import Path

import pytest

from loadcurve.files.yaml_document import read_yaml

# Their values are typed twice in a test of their own, or are judgements of a reader.
OTHER_SOURCES = {"audit_labels", "scaling_curves", "reading_checklist"}
# Drawings, a report in our words, and the settings of its rerun: no column of numbers.
OUR_OWN = {"hosts", "links", "claims", "experiments", "settings", "changes"}
KEYS = {
    "prose": ("name",), "outputs": ("raw", "item", "quantity"), "acceptance_plan": ("test_point",),
    "watched": ("resource",),
}  # fmt: skip
# Printed in Chinese, given here in the first person's English.
IN_OTHER_WORDS = {
    ("layouts", "masters_as_printed"), ("layouts", "workers_as_printed"), ("layouts", "addresses_as_printed"),
    ("layouts", "ports_as_printed"),
}  # fmt: skip
# A unit or a classifier of the sentence, before the number or behind it; the value holds it in SI.
NOT_COMPARED = {("prose", "unit_as_printed")}
# Words of a report's title in source.yml that are also in its text, and in no other report.
TITLES = {
    "nginx_10gbe": "Nginx 万兆网络环境测试",
    "rt_qps_threads": "Nginx 性能测试与压力计算",
    "bottleneck_listeners": "关于Linux系统性能瓶颈定位分析(一),Nginx状态页测试",
    "scale_out_lvs": "飞腾腾云S2500基于LVS负载均衡模式下的Nginx性能方案",
    "lvs_acceptance": "一个针对LVS的压力测试报告",
}


def first_folder(root):
    return root / "data" / "published"


def second_folder(root):
    return root / "lib" / "tests" / "data" / "published"


@cache
def declared(root, source):
    return read_yaml(first_folder(root) / source / "source.yml").values


def sources(root):
    return sorted({p.parent.name for p in first_folder(root).glob("*/source.yml")} - OTHER_SOURCES)


def tables_of(root):
    return [(s, t) for s in sources(root) for t in declared(root, s)["tables"] if t not in OUR_OWN]


def pytest_generate_tests(metafunc):
    root = metafunc.config.rootpath.parent if metafunc.config.rootpath.name == "lib" else metafunc.config.rootpath
    if "table" in metafunc.fixturenames:
        metafunc.parametrize(("source", "table"), tables_of(root))
    elif "source" in metafunc.fixturenames:
        metafunc.parametrize("source", sources(root))


def rows_of(path, key):
    """Rows by their key, or by their number where the table has none."""
    with path.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    keyed = {tuple(row[k] for k in key) if key else i: row for i, row in enumerate(rows, start=1)}
    assert len(keyed) == len(rows), f"{path}: rows with the same {', '.join(key)}"
    return keyed


def numeric(meanings):
    return {column for column, meaning in meanings.items() if not str(meaning).startswith("text")}


def is_same(a, b, is_number):
    a, b = " ".join(a.split()), " ".join(b.split())
    if is_number and a and b:
        return math.isclose(float(a), float(b), rel_tol=1e-9)
    return a == b


def differences(file, first, second, numbers, skipped):
    """One line for each row that only one has, and for each cell that differs."""
    found = [f"{file}: row {key} is only in the first" for key in first.keys() - second.keys()]
    found += [f"{file}: row {key} is only in the second" for key in second.keys() - first.keys()]
    for key in [k for k in first if k in second]:
        for column in [c for c in first[key] if c in second[key] and c not in skipped]:
            a, b = first[key][column], second[key][column]
            if not is_same(a, b, column in numbers):
                found.append(f"{file}: row {key}: {column}: first {a!r}, second {b!r}")
    return found


def test_the_second_transcription_says_the_same(root, source, table):
    file = f"{source}/{table}.csv"
    path = second_folder(root) / file
    assert path.exists(), f"{file} was typed only once: add lib/tests/data/published/{file}, typed from the report"
    key = KEYS.get(table, ())
    first, second = rows_of(first_folder(root) / file, key), rows_of(path, key)
    skipped = {column for t, column in NOT_COMPARED if t == table}
    found = differences(file, first, second, numeric(declared(root, source)["tables"][table]), skipped)
    assert not found, "\n".join(found)


def test_every_number_and_every_string_as_printed_was_typed_twice(root, source, table):
    meanings = declared(root, source)["tables"][table]
    needed = numeric(meanings) | {c for c in meanings if c.endswith("_as_printed") and (table, c) not in IN_OTHER_WORDS}
    with (second_folder(root) / source / f"{table}.csv").open(encoding="utf-8", newline="") as lines:
        header = next(csv.reader(lines))
    assert needed | set(KEYS.get(table, ())) <= set(header) <= set(meanings)


def test_tables_that_need_no_second_transcription_have_no_numbers(root, source):
    for table in OUR_OWN & set(declared(root, source)["tables"]):
        meanings = declared(root, source)["tables"][table]
        assert not numeric(meanings), f"{source}/{table}.csv"
        assert not [column for column in meanings if column.endswith("_as_printed")], f"{source}/{table}.csv"


def test_each_difference_is_named():
    first = {1: {"a": "12.50", "b": "3 W+", "c": "x"}, 2: {"a": "", "b": "", "c": ""}}
    same = {1: {"a": "12.5", "b": " 3  W+"}, 2: {"a": "", "b": ""}}
    assert differences("t.csv", first, same, {"a"}, set()) == []
    other = {1: {"a": "12.51", "b": "3 W"}, 3: {"a": "1", "b": ""}}
    assert differences("t.csv", first, other, {"a"}, set()) == [
        "t.csv: row 2 is only in the first",
        "t.csv: row 3 is only in the second",
        "t.csv: row 1: a: first '12.50', second '12.51'",
        "t.csv: row 1: b: first '3 W+', second '3 W'",
    ]
    assert differences("t.csv", {1: {"a": "0"}}, {1: {"a": ""}}, {"a"}, set()) != []
    assert differences("t.csv", {1: {"b": "1.0"}}, {1: {"b": "1"}}, set(), set()) != []


@cache
def report(root, source):
    """The report's text, with each run of blanks made one blank."""
    assert TITLES[source] in declared(root, source)["title"]
    if "LOADCURVE_REPORTS" not in os.environ:
        pytest.skip("set LOADCURVE_REPORTS to a folder of the reports' texts, which this project does not contain")
    texts = [path.read_text("utf-8") for path in sorted(Path(os.environ["LOADCURVE_REPORTS"]).glob("*.txt"))]
    return next(" ".join(text.split()) for text in texts if TITLES[source] in text)


def places(text, line):
    """Spans at which a text contains a line, as whole words; the number of blanks does not count."""
    wanted = re.escape(" ".join(line.split()))
    return [match.span() for match in re.finditer(rf"(?<![\w.]){wanted}(?![\w.])", text)]


def test_each_line_of_a_raw_file_is_in_the_report(root, source):
    text = report(root, source)
    for path in sorted((first_folder(root) / source / "raw").glob("*")):
        for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
            assert not line.strip() or places(text, line), f"{source}/raw/{path.name}:{number}: {line}"


def test_raw_output_of_a_tool_is_whole(root, source):
    """Between two lines of the output the report has nothing but, at most, an author's note after a #."""
    text = report(root, source)
    if "outputs" not in declared(root, source)["tables"]:
        return
    for name in {key[0] for key in rows_of(first_folder(root) / source / "outputs.csv", KEYS["outputs"])}:
        lines = (first_folder(root) / source / "raw" / name).read_text("utf-8").splitlines()
        note = r"(?: #(?: [^#]*?)?)? "
        wanted = note.join(re.escape(" ".join(line.split())) for line in lines if line.strip())
        assert re.search(rf"(?<![\w.]){wanted}(?![\w.])", text), f"{source}/raw/{name}"


def test_every_section_of_the_prose_is_a_heading_of_the_report(root, source):
    for key, row in rows_of(first_folder(root) / source / "prose.csv", KEYS["prose"]).items():
        assert places(report(root, source), row["section"]), (key, row["section"])
