"""Published curves of throughput over load: with their source, long enough, typed twice with the same result."""

import csv

import pytest
import yaml

from loadcurve import read_published, read_published_entries
from loadcurve.errors import LoadcurveError

LEAST_LEVELS = 6
CURVE_FACTS = {"id", "title", "source", "load", "throughput", "where", "kind"}
SOURCE_FACTS = {"id", "title", "author", "year", "address", "read_in", "rights"}


@pytest.fixture(scope="module")
def source(root):
    return yaml.safe_load((root / "data" / "published" / "scaling_curves" / "source.yml").read_text("utf-8"))


@pytest.fixture(scope="module")
def curves():
    return read_published("scaling_curves", "curves")


@pytest.fixture(scope="module")
def second(root):
    path = root / "lib" / "tests" / "data" / "published" / "scaling_curves_second.csv"
    with path.open(encoding="utf-8", newline="") as lines:
        return {row["curve"]: (numbers(row["loads"]), numbers(row["throughputs"])) for row in csv.DictReader(lines)}


def numbers(cells: str) -> list[float]:
    return [float(cell) for cell in cells.split()]


def test_every_curve_has_its_facts_and_a_known_source(source):
    known = [entry["id"] for entry in source["sources"]]
    assert len(known) == len(set(known))
    for entry in source["curves"]:
        assert CURVE_FACTS <= set(entry) <= CURVE_FACTS | {"remark"}, entry
        assert all(str(value).strip() for value in entry.values()), entry
        assert entry["source"] in known
    assert {entry["source"] for entry in source["curves"]} == set(known)


def test_every_source_says_where_it_is_and_who_may_use_it(source):
    for entry in source["sources"]:
        assert set(entry) == SOURCE_FACTS, entry["id"]
        assert all(str(value).strip() for value in entry.values()), entry["id"]


def test_the_rule_by_which_curves_were_taken(source):
    assert source["rule"].strip()
    per_source = [entry["source"] for entry in source["curves"]]
    assert max(per_source.count(name) for name in set(per_source)) <= 6


def test_the_same_curves_in_the_table_and_in_its_source(source, curves):
    listed = [entry["id"] for entry in source["curves"]]
    assert list(curves["curve"].unique()) == listed
    assert len(listed) >= 120
    assert len(source["sources"]) >= 40


def test_levels_rise_and_values_are_positive(curves):
    for name, curve in curves.groupby("curve"):
        assert len(curve) >= LEAST_LEVELS, name
        assert curve["load"].is_monotonic_increasing and curve["load"].is_unique, name
        assert (curve["load"] >= 1).all() and (curve["throughput"] > 0).all(), name


def test_as_typed_a_second_time(curves, second):
    first = {name: (list(c["load"]), list(c["throughput"])) for name, c in curves.groupby("curve", sort=False)}
    assert first == second


def test_lists_of_a_source_are_tables(source):
    found = read_published_entries("scaling_curves", "sources")
    assert found["author"].tolist() == [entry["author"] for entry in source["sources"]]
    with pytest.raises(LoadcurveError, match="name must be one of sources, curves, got 'rule'"):
        read_published_entries("scaling_curves", "rule")
