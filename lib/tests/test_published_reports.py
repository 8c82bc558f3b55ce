"""Published reports and curves: declared, read, long enough, and with the numbers of their transcriptions."""

import csv
import json
import os
import re
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from one_test import in_one_test

from loadcurve import read, read_published, read_published_entries
from loadcurve.errors import LoadcurveError, ParseError
from loadcurve.files.reads import studies_read
from loadcurve.files.yaml_document import read_yaml, yaml_text
from loadcurve.reading import read_published_raw

ROOT = Path(__file__).resolve().parents[2]
REPORTS = ("nginx_10gbe", "rt_qps_threads", "bottleneck_listeners", "scale_out_lvs", "lvs_acceptance")
FACTS = {
    "title", "about", "author", "date", "origin", "rights", "transcribed", "setup", "said_of_the_values", "found_in",
    "units", "inconsistent", "not_stated", "unreadable", "tables",
}  # fmt: skip
UNITS = {"", "s", "rps", "pps", "bps", "bytes", "bytes_per_s", "ratio", "hz"}
# Printed by the tool, and of no column of loadcurve's tables.
NOT_KEPT = {
    "latency_within_stdev_ratio", "thread_rate_mean_rps", "thread_rate_stdev_rps", "thread_rate_max_rps",
    "thread_rate_within_stdev_ratio", "asked_s", "udp_ipv4", "udp_ipv6", "inet", "inet_ipv4", "inet_ipv6",
    "time_per_request_s", "time_per_request_across_s", "hash_table_size",
}  # fmt: skip
# What is printed behind a number, as factors to the SI unit; K and G of bytes may be of 1000 or of 1024.
SCALES = {
    "": [1], "+": [1], "K": [1e3], "k": [1e3, 2**10], "M": [1e6, 2**20], "W": [1e4], "KW": [1e7], "万": [1e4],
    "w": [1e4], "w+": [1e4], "W+": [1e4],
}  # fmt: skip
FACTORS = {
    "%": [0.01], "ms": [1e-3], "Gbps": [1e9], "Gbit/s": [1e9], "GHz": [1e9], "baseT-FD": [1e6], "Mbps": [1e6],
    "Mb": [1e6], "MBps": [2**20], "KPS": [1e3], "KPs": [1e3], "K": [1e3], "GiB": [2**30], "G": [1e9, 2**30],
    "GB": [1e9], "MB": [1e6, 2**20], "分钟": [60],
}  # fmt: skip
IN_WORDS = {"万兆", "十", "千", "两", "一", "Two", "Two Quad"}
OTHERWISE = {"cpu_s", "wait_s"}  # printed without their unit


def published(root, source):
    return root / "data" / "published" / source


@cache
def described(root, source):
    return read_yaml(published(root, source) / "source.yml").values  # noqa: PD011


def not_read(root, source):
    """Names of the raw files that `source.yml` says are not read."""
    reasons = described(root, source).get("raw", {}).get("not_read", {})
    return {name for names in reasons for name in names.split(", ")}


def tables_of(root):
    return [(source, table) for source in REPORTS for table in described(root, source)["tables"]]


def raw_files(root):
    return [(source, p.name) for source in REPORTS for p in sorted((published(root, source) / "raw").glob("*"))]


each_source = in_one_test("source", REPORTS)
each_table = in_one_test(("source", "table"), tables_of(ROOT))
each_raw = in_one_test(("source", "raw"), raw_files(ROOT))


def test_the_list_of_studies_counts_their_runs(root):
    text = (root / "data" / "README.md").read_text("utf-8")
    rows = re.findall(r"^\| (`studies/\w+`(?:, `studies/\w+`)*) \| [\d-]+ \| ([\d, ]+) \|", text, re.MULTILINE)
    listed = {n: int(c) for names, counts in rows for n, c in zip(names.split(", "), counts.split(", "), strict=True)}
    recorded = sorted((root / "data" / "studies").glob("*/runs.json"))
    counted = {f"`studies/{path.parent.name}`": len(json.loads(path.read_text("utf-8"))["runs"]) for path in recorded}
    del counted["`studies/connections_on_loopback`"]  # has a section of its own there
    assert listed == counted


@each_source
def test_facts_of_the_source(root, source):
    facts = described(root, source)
    assert set(facts) | {"raw", "watched", "concluded"} >= FACTS <= set(facts)
    assert set(facts["found_in"]) == set(facts["tables"])
    files = {p.stem for p in published(root, source).glob("*.csv")}
    assert files == set(facts["tables"])
    assert source in (root / "data" / "README.md").read_text("utf-8")
    for plot in facts["unreadable"]["plots"]:
        assert set(plot) == {"section", "of", "file"} and isinstance(plot["file"], str), plot


@each_source
def test_claims_and_what_they_allow_are_in_one_table(source):
    """A claim was measured in numbers, or names what would test it."""
    claims = read_published(source, "claims")
    assert claims["name"].is_unique and (claims["evidence"] != "").all()
    measured = (claims["measured"] != "") & (claims["instead"] == "")
    assert (measured | (claims["settles"] != "")).all()
    assert claims.loc[measured, ["at_least", "at_most"]].ne("").any(axis="columns").all()


@each_table
def test_every_table_is_read_and_has_its_units(source, table):
    read = read_published(source, table)
    assert len(read)
    for name in read.select_dtypes("number").columns.drop("lower_bound", errors="ignore"):
        assert read[name].notna().any(), name
        assert (read[name].dropna() >= 0).all(), name
        if name.endswith("_ratio"):
            assert (read[name].dropna() <= 1).all(), name


@pytest.mark.slow
@each_table
def test_a_garbled_cell_is_named_with_its_line(root, source, table, tmp_path, monkeypatch):
    folder = tmp_path / "data" / "published" / source
    folder.mkdir(parents=True, exist_ok=True)
    monkeypatch.setenv("LOADCURVE_ROOT", str(tmp_path))
    meanings = described(root, source)["tables"][table]
    (folder / "source.yml").write_text(yaml_text({"tables": {table: meanings}}), "utf-8")
    path = folder / f"{table}.csv"
    with (published(root, source) / path.name).open(encoding="utf-8", newline="") as lines:
        header, *rows = csv.reader(lines)
    numeric = [i for i, name in enumerate(header) if not meanings[name].startswith("text,")]
    cells = [(r, i) for r, row in enumerate(rows) for i in numeric if row[i]]
    for r, i in cells:
        garbled = [list(row) for row in rows]
        garbled[r][i] = f"{garbled[r][i]}l"
        with path.open("w", encoding="utf-8", newline="") as out:
            csv.writer(out).writerows([header, *garbled])
        with pytest.raises(ParseError, match=rf"{table}\.csv:{r + 2}: expected a number as {header[i]}, got "):
            read_published(source, table)


@each_source
def test_prose_is_keyed_and_converted(source):
    prose = read_published(source, "prose")
    assert prose["name"].is_unique
    assert set(prose["unit"]) <= UNITS
    assert set(prose["lower_bound"].dropna()) <= {1.0}
    ends = prose["name"].str.extract(r"_(s|rps|pps|bps|bytes|ratio|hz|bytes_per_s)$")[0].fillna("")
    assert (ends.isin(["", *UNITS])).all()
    for row in prose.itertuples():
        if row.unit and row.name.rpartition("_")[2] in UNITS:
            assert row.name.endswith(f"_{row.unit}"), row.name


@each_source
def test_a_number_of_the_text_times_what_scales_it_is_the_value(source):
    prose = read_published(source, "prose")
    for row in prose[~prose["value_as_printed"].isin(IN_WORDS) & ~prose["name"].isin(OTHERWISE)].itertuples():
        number, scale = re.fullmatch(r"([0-9.]+)(\D*)", row.value_as_printed).groups()
        factors = [a * b for a in SCALES[scale] for b in FACTORS.get(row.unit_as_printed, [1])]
        assert any(np.isclose(float(number) * factor, row.value, rtol=1e-12) for factor in factors), row


@each_table
def test_as_printed_times_its_scale_is_the_value(source, table):
    read = read_published(source, table)
    for name in [c for c in read if c.endswith("_as_printed")]:
        ratio = f"{name.removesuffix('_as_printed')}_ratio"
        if ratio in read:
            np.testing.assert_allclose(read[name].astype(float) / 100, read[ratio], rtol=1e-12)
    if "bandwidth_as_printed" in read:
        in_si = read[next(c for c in read if c in ("sent_bytes_per_s", "bandwidth_bytes_per_s"))]
        np.testing.assert_allclose(read["bandwidth_as_printed"] * 2**20, in_si, atol=0.5)


def quoted(source, raw):
    outputs = read_published(source, "outputs")
    return outputs[outputs["raw"] == raw]


@each_raw
def test_a_raw_output_is_read_or_said_why_not(root, source, raw):
    studies_read.clear()
    if raw in not_read(root, source):
        with pytest.raises(LoadcurveError):
            read_published_raw(source, raw)
        return
    read_published_raw(source, raw)
    assert studies_read == {f"published/{source}"}


@each_raw
def test_what_was_transcribed_stands_in_the_raw_output(root, source, raw):
    text = (published(root, source) / "raw" / raw).read_text("utf-8")
    assert text.endswith("\n") and "#" not in re.sub(r"\[[^\]]*\]#|\[#/sec\]", "", text)
    if "outputs" in described(root, source)["tables"]:
        for row in quoted(source, raw).itertuples():
            assert re.search(rf"(?<![\d.]){re.escape(row.as_printed)}(?![\d.]*\d)", text), row
            assert row.as_printed[0].isdigit()


@each_raw
def test_a_raw_output_gives_the_numbers_that_were_transcribed(root, source, raw):
    if raw in not_read(root, source):
        return
    tables = read_published_raw(source, raw).tables
    rows = quoted(source, raw)
    assert len(rows)
    kept = rows[~rows["quantity"].isin(NOT_KEPT)]
    for row in kept.itertuples():
        assert parsed_value(tables, row) == pytest.approx(row.value, rel=1e-9), row


def parsed_value(tables, row):
    if "counters" in tables:
        counters = tables["counters"]
        chain, at = row.item.rsplit(" ", 1)
        of_chain = counters[(counters["group"] == chain) & (counters["counter"] == row.quantity)]
        is_policy = of_chain["item"].str.startswith("policy")
        found = of_chain[is_policy] if at == "policy" else of_chain[~is_policy].iloc[[int(at) - 1]]
        return found["value"].item()
    if "balancer" in tables:
        servers = tables["balancer"]
        named = servers["server_address"].str.cat(servers["server_port"], sep=":") == row.item
        return servers.loc[named.fillna(False), row.quantity].item()
    if row.quantity == "latency_s":
        latency = tables["latency"]
        return latency.loc[np.isclose(latency["quantile"], float(row.item.rstrip("%")) / 100), "latency_s"].item()
    table = tables["sockets"] if "sockets" in tables else tables["runs"]
    return table[row.quantity].item()


@each_source
def test_every_raw_output_of_a_tool_was_transcribed(root, source):
    if "outputs" not in described(root, source)["tables"]:
        return
    folder = {p.name for p in (published(root, source) / "raw").glob("*")}
    outputs = read_published(source, "outputs")
    assert set(outputs["raw"]) <= folder
    assert folder - set(outputs["raw"]) <= not_read(root, source)
    assert not outputs.duplicated(["raw", "item", "quantity"]).any()


def test_names_of_raw_files_in_tables_exist(root):
    cases = read_published("rt_qps_threads", "cases")
    named = pd.concat([cases["wrk"], cases["sockets_client"], cases["sockets_server"]])
    assert {name for name in named if name} <= {name for _, name in raw_files(root)}
    times = read_published("lvs_acceptance", "response_times")
    assert set(times["raw"]) <= {name for _, name in raw_files(root)}


def test_rows_that_repeat_others_are_their_copies():
    rates = read_published("nginx_10gbe", "rates")
    copies = rates[rates["repeats_test"].notna()]
    assert len(copies) == 6
    facts = ["interrupts_per_s", "response_bytes", "throughput_rps", "sent_bytes_per_s", "cpu_irq_ratio"]
    for row in copies.itertuples():
        first = rates[(rates["test"] == row.repeats_test) & (rates["repeats_test"].isna())]
        same = (first[facts] == pd.Series(row._asdict())[facts].astype(float)).all(axis=1)
        assert same.sum() == 1, row


# Numbers that the reports print, or SI units of them.
@in_one_test(
    ("source", "run_id", "column", "value"),
    [
        ("nginx_10gbe", "test 2, response size: 616", "throughput_rps", 586296),
        ("nginx_10gbe", "test 2, response size: 616", "header_bytes", 1448 - 1232),
        ("nginx_10gbe", "test 3, access_log: on, SSD", "connections", 24 * 30),
        ("nginx_10gbe", "test 7, other server: resin4", "header_bytes", None),
        ("nginx_10gbe", "test 2, first trials", "latency_mean_s", 0.00088715),
        ("rt_qps_threads", "8000 connections", "errors_connect", 6980),
        ("bottleneck_listeners", "newer server", "throughput_rps", 20000),
        ("scale_out_lvs", "both", "server_units", 2),
        ("scale_out_lvs", "untuned, one socket", "throughput_is_least", True),
        ("lvs_acceptance", "no rules", "latency_mean_s", 1.106074),
        ("lvs_acceptance", "with LVS", "requests", 100000),
    ],
)
def test_a_report_is_read_as_declared_tables(root, source, run_id, column, value):
    runs = read(published(root, source)).tables["runs"].set_index("run_id")
    assert runs.index.is_unique
    found = runs.loc[run_id, column]
    assert pd.isna(found) if value is None else found == pytest.approx(value, rel=1e-9)


def test_the_monitors_of_a_report_belong_to_its_runs(root):
    sockets = read(published(root, "rt_qps_threads")).tables["sockets"].set_index(["run_id", "host"])
    assert sockets.loc[("30000 connections", "client"), "established"] == 7959
    network = read(published(root, "nginx_10gbe")).tables["network"].set_index("run_id")
    assert network.loc["test 2, response size: 2590", "transmitted_bytes_per_s"] == 1230776566
    assert read(published(root, "scaling_curves")).tables == {}, "it declares none"


HEAD = "tables: {rates: {rps: rate, name: 'text, name'}}\n"
ENTRY = "declared: [{rows_of: rates, only: {name: [a, '']}, run_id: '{name}', runs: {throughput_rps: %s}}]\n"
NUMBER = "expected a number, or an expression of them"
BOMB = "a0: &a0 [x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 8)}]\n" for i in range(1, 9)
)
WRONG_SOURCES = {
    "[a]": ":1: expected a mapping with the keys of a source, got",
    "a: !!set {b}": ":1: expected a value without a YAML tag",
    "a: " + "[" * 5000: ":1: expected values nested at most 20 deep",
    "a: " + "9" * 5001: ":1: expected a number of at most 300 digits",
    BOMB + "declared: [{run_id: a, runs: {throughput_rps: *a8}}]": ":1: expected at most 200000 values",
    BOMB + "declared: [{run_id: *a8}]": ":1: expected at most 200000 values",
    "a: " + "x" * (1 << 20): ": expected at most 1048576 bytes",
    "tables: [rates]": ":1: expected tables to be an object, got",
    "tables: {../up: {rps: rate}}": ":1: expected tables to be named with letters, digits, _ and -, got '../up'",
    HEAD + "declared: 1": ":2: expected declared to be array, got '1'",
    HEAD + "declared:\n- {run_id: a}\n- 1": ":4: expected declared.1 to be an object, got '1'",
    HEAD + "declared: [{}]": ":2: expected the key declared.0.run_id, got 'none'",
    HEAD + "declared: [{run_id: 5}]": ":2: expected declared.0.run_id to be string, got '5'",
    HEAD + "declared: [{run_id: a, run: {}}]": ":2: expected one of the keys .*network, .*rows_of, .*, got 'run'",
    HEAD + "declared: [{run_id: a, rows_of: none}]": ":2: expected one of the tables rates, got 'none'",
    HEAD + "declared: [{run_id: a, rows_of: ../up}]": ":2: expected one of the tables rates, got '../up'",
    HEAD + "declared: [{run_id: a, only: {rps: [5]}}]": r":2: expected one of the columns \(none without rows_of\)",
    HEAD + "declared: [{run_id: '{no}', rows_of: rates}]": ":2: expected one of the columns rps, name, got 'no'",
    HEAD + "declared: [{run_id: '{name:>900000000}', rows_of: rates}]": "rps, name, got 'name:>900000000'",
    HEAD + "declared: [{run_id: '{name.__class__}', rows_of: rates}]": "rps, name, got 'name.__class__'",
    HEAD + f"declared: [{{run_id: '{'{rps}' * 401}', rows_of: rates}}]": "expected a text of at most 2000 characters",
    HEAD + f"declared: [{{run_id: '{'{name}' * 300}', rows_of: rates}}]": "expected texts of at most 2000 characters",
    HEAD + "declared: [{run_id: a, runs: {speed: rps}}]": ":2: expected a column of runs, got 'speed'",
    HEAD + "declared: [{run_id: a, runs: {tool: 5}}]": ":2: expected a text of at most 2000 characters, got '5.0'",
    HEAD + "declared: [{run_id: a, raw: {../up.txt: c}}]": ":2: expected one of the files of raw .*, got '../up.txt'",
    HEAD + "declared: [" + "{run_id: a}, " * 10_001 + "]": ":2: expected at most 20000 rows in all, got 'more'",
    HEAD + ENTRY % "rps plus 1": rf":2: {NUMBER} \(it is no expression of quantities\), got 'rps plus 1'",
    HEAD + ENTRY % "unknown": rf":2: {NUMBER} \(unknown is not given\), got 'unknown'",
    HEAD + ENTRY % "name * 2": rf":2: {NUMBER} \(the text 'a' is no number\)",
    HEAD + ENTRY % "name": ":2: expected a number, got 'a column of texts'",
    HEAD + ENTRY % "rps < 6": ":2: expected an expression of numbers, got 'True'",
    HEAD + ENTRY % "rps / 0": rf":2: {NUMBER} \(it has no finite value at 5 and 0\), got 'rps / 0'",
    HEAD + ENTRY % ".inf": rf":2: {NUMBER} ",
    HEAD + ENTRY % "1e999": rf":2: {NUMBER} ",
    HEAD + ENTRY % ("rps" + " + rps" * 200): rf":2: {NUMBER} \(it has more than 1000 characters\)",
    HEAD + ENTRY % "-rps": ": table runs: throughput_rps must be .*, got -5",
    HEAD[:-2] + ", prose: {a: b}}\n" + ENTRY % "rps * 1": ":1: expected one of the columns a, got 'name'",
}  # fmt: skip


@pytest.fixture
def report(tmp_path):
    """Writes a `source.yml` beside two tables; the folder beside it holds what is not to be read."""
    folder = tmp_path / "report"
    folder.mkdir()
    (tmp_path / "up.csv").write_text("rps,name\n7,up\n", "utf-8")
    (tmp_path / "up.txt").write_text("Total: 5\n", "utf-8")
    (folder / "rates.csv").write_text("rps,name\n5,a\n,\n0,zero" + "0" * 10 + "\n", "utf-8")
    (folder / "prose.csv").write_text("a\n1\n", "utf-8")

    def write(text):
        (folder / "source.yml").write_text(text, "utf-8")
        return folder

    return write


@in_one_test("text", WRONG_SOURCES)
def test_a_wrong_source_is_one_line_that_names_the_place(report, text):
    with pytest.raises(LoadcurveError, match="source.yml.*" + WRONG_SOURCES[text]) as caught:
        read(report(text))
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 900


def test_a_declaration_takes_texts_and_computed_numbers(report):
    text = HEAD + ENTRY.replace("'{name}'", "'{rps}, {name} of {{2}}'") % "(rps + 1) * 10 / 2"
    with pytest.raises(LoadcurveError, match="got '2'"):
        read(report(text))
    runs = read(report(text.replace("{{2}}", "2"))).tables["runs"]
    assert runs["run_id"].tolist() == ["5, a of 2", ",  of 2"]
    assert runs["throughput_rps"].tolist() == [30, pytest.approx(np.nan, nan_ok=True)], "of an empty cell nothing"


@pytest.mark.parametrize("name", ["source.yml", "rates.csv", "raw/a.txt"])
def test_a_report_is_read_in_its_folder_alone(report, name):
    folder = report(HEAD + "declared: [{run_id: a, rows_of: rates}, {run_id: b, raw: {a.txt: c}}]")
    (folder / "raw").mkdir()
    (folder / "raw/a.txt").write_text("Total: 5\n")
    (folder / name).unlink()
    (folder / name).symlink_to("/etc/passwd")
    if name == "source.yml":  # without it, a folder as any other
        said = f"not read: {folder}: expected files of this folder, got 1 link out of it (source.yml)"
        assert [said in warning for warning in read(folder).warnings].count(True) == 1
        return
    with pytest.raises(LoadcurveError, match=f"{name}: expected a file of this folder .*, got 'a link that leads out"):
        read(folder)
    (folder / name).unlink()
    os.mkfifo(folder / name)
    with pytest.raises(LoadcurveError, match=f"{name}: expected "):
        read(folder)


def test_what_is_not_there():
    with pytest.raises(LoadcurveError, match="source must be one of .*, bottleneck_listeners, .*, got 'some'"):
        read_published_raw("some", "a.txt")
    with pytest.raises(LoadcurveError, match=r"name must be one of c0001\.wrk\.txt, .*, got 'a.txt'"):
        read_published_raw("rt_qps_threads", "a.txt")


# A few numbers of the reports, as those who set up this project recomputed them by hand.
def test_identities_that_hold_in_what_was_published():
    outputs = read_published("lvs_acceptance", "outputs")
    block = outputs[outputs["raw"] == "rules_none.ab.txt"].set_index("quantity")["value"]
    assert block["connections"] / block["throughput_rps"] == pytest.approx(block["time_per_request_s"], rel=1e-5)
    assert block["received_bytes"] / block["duration_s"] == pytest.approx(block["received_bytes_per_s"], rel=1e-4)
    runs = read_published_raw("rt_qps_threads", "c8000.wrk.txt").tables["runs"].iloc[0]
    assert runs["throughput_rps"] * runs["latency_mean_s"] == pytest.approx(1011.8, abs=0.05)
    assert runs["connections"] - runs["errors_connect"] == 1020
    rates = read_published("scale_out_lvs", "rates").set_index("case")["throughput_rps"]
    assert rates["weighttp 1"] + rates["weighttp 2"] == rates["both"]


LEAST_LEVELS = 6
CURVE_FACTS = {"id", "title", "source", "load", "throughput", "where", "kind"}
SOURCE_FACTS = {"id", "title", "author", "year", "address", "read_in", "rights"}


@pytest.fixture(scope="module")
def curve_sources(root):
    return read_yaml(root / "data" / "published" / "scaling_curves" / "source.yml").values  # noqa: PD011


@pytest.fixture(scope="module")
def curves():
    return read_published("scaling_curves", "curves")


@pytest.fixture(scope="module")
def typed_again(root):
    path = root / "lib" / "tests" / "data" / "published" / "scaling_curves_second.csv"
    with path.open(encoding="utf-8", newline="") as lines:
        return {row["curve"]: (floats(row["loads"]), floats(row["throughputs"])) for row in csv.DictReader(lines)}


def floats(cells: str) -> list[float]:
    return [float(cell) for cell in cells.split()]


def test_every_curve_has_its_facts_and_a_known_source(curve_sources):
    known = [entry["id"] for entry in curve_sources["sources"]]
    assert len(known) == len(set(known))
    for entry in curve_sources["curves"]:
        assert CURVE_FACTS <= set(entry) <= CURVE_FACTS | {"remark"}, entry
        assert all(str(value).strip() for value in entry.values()), entry
        assert entry["source"] in known
    assert {entry["source"] for entry in curve_sources["curves"]} == set(known)


def test_every_source_says_where_it_is_and_who_may_use_it(curve_sources):
    for entry in curve_sources["sources"]:
        assert set(entry) == SOURCE_FACTS, entry["id"]
        assert all(str(value).strip() for value in entry.values()), entry["id"]


def test_the_rule_by_which_curves_were_taken(curve_sources):
    assert curve_sources["rule"].strip()
    per_source = [entry["source"] for entry in curve_sources["curves"]]
    assert max(per_source.count(name) for name in set(per_source)) <= 6


def test_the_same_curves_in_the_table_and_in_its_source(curve_sources, curves):
    listed = [entry["id"] for entry in curve_sources["curves"]]
    assert list(curves["curve"].unique()) == listed
    assert len(listed) >= 120
    assert len(curve_sources["sources"]) >= 40


def test_levels_rise_and_values_are_positive(curves):
    for name, curve in curves.groupby("curve"):
        assert len(curve) >= LEAST_LEVELS, name
        assert curve["load"].is_monotonic_increasing and curve["load"].is_unique, name
        assert (curve["load"] >= 1).all() and (curve["throughput"] > 0).all(), name


def test_as_typed_a_second_time(curves, typed_again):
    first = {name: (list(c["load"]), list(c["throughput"])) for name, c in curves.groupby("curve", sort=False)}
    assert first == typed_again


def test_lists_of_a_source_are_tables(curve_sources):
    found = read_published_entries("scaling_curves", "sources")
    assert found["author"].tolist() == [entry["author"] for entry in curve_sources["sources"]]
    with pytest.raises(LoadcurveError, match="name must be one of sources, curves, got 'rule'"):
        read_published_entries("scaling_curves", "rule")
