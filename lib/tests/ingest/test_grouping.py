"""Folders as people keep them: which runs are repeats of one point, written down by hand for each folder."""

import functools
import re
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import loadcurve
from loadcurve.analysis import analyse
from loadcurve.errors import LoadcurveError
from loadcurve.ingest.grouping import group_runs

DATA = Path(__file__).parents[1] / "data"
WRK = {n: (DATA / "folders" / "wrk_only" / f"c{n}.txt").read_text("utf-8") for n in (1, 2, 4, 8, 16, 32, 64, 128)}
AB = {n: (DATA / "folders" / "ab_sar" / f"c{n}.ab.txt").read_text("utf-8") for n in (1, 2, 4, 8)}
K6 = {n: (DATA / "folders" / "json_tools" / f"vus{n}.k6.json").read_text("utf-8") for n in (1, 2, 4)}
HEY = (DATA / "hey" / "plain.txt").read_text("utf-8")
WRK2 = (DATA / "wrk2" / "uncorrected.txt").read_text("utf-8").partition("\n")[2]  # without its command
JMETER = (DATA / "jmeter" / "statistics.txt").read_text("utf-8")
SERVERS = ["nginx", "rust-hyper", "go-gin", "node", "h2o", "caddy", "express", "actix"]


def wrk2(rate):
    """A report of a run that served this rate."""
    scaled = [(number, f"{float(number) * rate / 399.97:.2f}") for number in ("3.96", "399.97", "135.12")]
    return functools.reduce(lambda text, pair: text.replace(*pair), scaled, WRK2).replace(
        "12003", f"{30.01 * rate:.0f}"
    )


def log(*parts):
    return "".join(f"=== c={n} run {run} ===\n{WRK[n]}\n" for n, run in parts)


FOLDERS = {
    "servers by file": (
        {f"{name}.txt": WRK[64] for name in SERVERS},
        {name: {64: 1} for name in SERVERS},
        ["8 servers from the names"],
    ),
    "variants by subfolder, repeats by a counter": (
        {f"{mesh}/run-{i}.log": WRK[16] for mesh in ("istio", "linkerd", "kuma", "plain") for i in (0, 1, 2)},
        {mesh: {16: 3} for mesh in ("istio", "linkerd", "kuma", "plain")},
        ["4 servers from the names", "repeats by 'run"],
    ),
    "two factors and a counter": (
        {f"{method}_size{size}_c{n}_r{r}.txt": WRK[n] for method in ("get", "put") for size in (100, 1000)
         for n in (1, 2) for r in (1, 2)},
        {f"{method} size={size}": {1: 2, 2: 2} for method in ("get", "put") for size in (100, 1000)},
        ["2 methods from the names", "2 values of size from the names", "repeats by 'r([0-9]+)'"],
    ),
    "timestamps": (
        {f"2026-11-2{day}T10-00-0{n}_c{n}.txt": WRK[n] for day in (1, 2, 3) for n in (1, 2)},
        {"all runs": {1: 3, 2: 3}},
        ["repeats by the times in the names"],
    ),
    "counters of repeats, and of a sweep": (
        {f"{i:02}_c{n}-{r}.txt": WRK[n] for i, n in enumerate((1, 2, 4)) for r in (1, 2, 3)},
        {"all runs": {1: 3, 2: 3, 4: 3}},
        ["repeats by"],
    ),
    "one log": (
        {"all.log": log((64, 1), (64, 2), (32, 1), (32, 2))},
        {"all runs": {32: 2, 64: 2}},
        ["repeats by 'run"],
    ),
    "mixed tools": (
        {f"c{n}.wrk.txt": WRK[n] for n in (1, 2)} | {f"c{n}.ab.txt": AB[n] for n in (4, 8)},
        {"tool=ab": {4: 1, 8: 1}, "tool=wrk": {1: 1, 2: 1}},
        [],
    ),
    "connections in names": (
        {f"hey-{n}.txt": HEY for n in (1, 16, 64)},
        {"all runs": {1: 1, 16: 1, 64: 1}},
        ["connections from the names, as hey printed none"],
    ),
    "JMeter dashboards": (
        {f"users{n}/statistics.json": JMETER for n in (10, 20, 40)},
        {"all runs": {10: 1, 20: 1, 40: 1}},
        ["connections from the names, as jmeter printed none"],
    ),
    "k6 summaries of two scripts": (
        {f"{script}_vus{n}.json": text for script in ("login", "search") for n, text in K6.items()},
        {script: {1: 1, 2: 1, 4: 1} for script in ("login", "search")},
        ["2 variants from the names"],
    ),
    "wrk2 at many rates": (
        {f"R{rate}.txt": WRK2 for rate in (6_500, 13_000, 65_000)},
        {"all runs": {6_500: 1, 13_000: 1, 65_000: 1}},
        ["offered rates from the names, as wrk2 printed none"],
    ),
    "rates in thousands beside the commands": (
        {f"get-{rate}k.txt": wrk2(1000 * rate) for rate in (2, 4, 8)} | {"commands.sh": "wrk2 -R2000 > get-2k.txt\n"},
        {"all runs": {2_000: 1, 4_000: 1, 8_000: 1}},
        ["offered rates from the names, as wrk2 printed none"],
    ),
    "a word more, and a word of two meanings": (
        {f"{team}/result_{n}{k}.txt": WRK[n] for team in ("fuka", "shiro") for n in (1, 16) for k in ("", "_k")},
        {f"{team}{k}": {1: 1, 16: 1} for team in ("fuka", "shiro") for k in ("", " k")},
        ["2 variants from the names", "with and without 'k' from the names"],
    ),
    "numbers and words in one place": (
        {f"m-{path}-{size}.txt": WRK[64] for path in ("direct", "lb") for size in ("616", "100k", "empty")},
        {f"{path} {size}": {64: 1} for path in ("direct", "lb") for size in ("616", "100k", "empty")},
        ["2 variants from the names", "3 variants from the names"],
    ),
    "versions": (
        {f"nginx-{version}-c{n}.txt": WRK[n] for version in ("1.24", "1.26.1") for n in (1, 2)},
        {"nginx=1.24": {1: 1, 2: 1}, "nginx=1.26.1": {1: 1, 2: 1}},
        ["2 values of nginx from the names"],
    ),
    "words for loads": (
        {f"{server}/{word}.txt": WRK[n] for server in ("nginx", "caddy") for word, n in (("low", 1), ("high", 64))},
        {"nginx": {1: 1, 64: 1}, "caddy": {1: 1, 64: 1}},
        ["2 servers from the names"],
    ),
    "numbers of two meanings": (
        {f"hey-{n}.txt": HEY for n in (1, 2, 3)},
        {f"hey={n}": {} for n in (1, 2, 3)},
        ["3 values of hey from the names"],
    ),
}  # fmt: skip


def written(folder, files):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return folder


def points(found):
    return {curve.variant: dict(zip(curve.levels[curve.load], curve.levels["runs"], strict=True)) if len(curve.levels)
            else {} for curve in found.curves}  # fmt: skip


@pytest.mark.parametrize("name", FOLDERS)
def test_the_runs_of_a_folder_are_grouped_as_a_person_would(name, tmp_path):
    files, expected, notes = FOLDERS[name]
    found = analyse(written(tmp_path, files))
    assert points(found) == expected
    assert all(note in found.grouping for note in notes) or not any(expected.values())
    assert len(found.grouping.split("; ")) == 2 + len(notes) or not any(expected.values())


@pytest.mark.parametrize("name", sorted(FOLDERS.keys() - {"words for loads"}))
def test_every_option_that_the_grouping_names_is_accepted_and_changes_it(name, tmp_path):
    folder = written(tmp_path, FOLDERS[name][0])
    found = loadcurve.read(folder)
    for pattern in re.findall(r"--repeats '(.+?)'\)", " ".join(found.origins)):
        pooled = analyse(folder, factors={"repeat": pattern})
        assert len(pooled.curves) < len(FOLDERS[name][1]) or len(pooled.curves) == 1


def test_runs_at_a_rate_that_no_report_prints_are_no_repeats(tmp_path):
    """Three reports of wrk2 with as many connections served 2, 4 and 8 thousand requests/s: not one load."""
    found = analyse(written(tmp_path, {f"run{i}.txt": wrk2(rate) for i, rate in enumerate((2000, 4000, 8000), 1)}))
    assert points(found) == {"all runs": {}} and not any("wrk2" in step for step in found.next_steps)
    assert "--factor 'target_rate_rps=" in found.not_used[0]
    assert "2,000 to 8,000 requests/s" in found.answer


def test_the_same_reports_have_the_same_groups_as_one_file_and_as_a_folder(tmp_path):
    parts = [(64, 1), (64, 2), (32, 1), (32, 2)]
    folder = written(tmp_path / "folder", {f"c{n}-run{r}.txt": WRK[n] for n, r in parts})
    one = analyse(written(tmp_path, {"all.log": log(*parts)}) / "all.log")
    several = analyse(folder)
    assert points(one) == points(several) and str(one.verdict) == str(several.verdict)
    assert one.levels["throughput_rps"].tolist() == several.levels["throughput_rps"].tolist()


def test_a_number_that_contradicts_the_report_is_a_factor(tmp_path):
    """A closed loop of 120,000 requests/s holds no rate of 6,500; connections that a report prints are as printed."""
    folder = written(tmp_path, {f"R{rate}.txt": WRK[64] for rate in (650, 1300)})
    assert points(analyse(folder)) == {"target_in_name=650": {64: 1}, "target_in_name=1300": {64: 1}}


def test_what_is_not_used_is_named_with_what_would_make_it_count(tmp_path):
    found = analyse(written(tmp_path, {"a.txt": WRK[1], "b.txt": HEY, "c.txt": WRK2, "d.txt": "shopping\n"}))
    assert [line.partition(": ")[0] for line in found.not_used] == [
        "1 run of hey", "1 run of wrk2", "1 file could not be read",
    ]  # fmt: skip
    assert "--factor 'connections=" in found.not_used[0] and "--factor 'target_rate_rps=" in found.not_used[1]
    for form in (str(found), found._repr_html_()):
        assert form.index("hey prints no connections") < form.index("Levels (")


@given(
    st.dictionaries(st.text(max_size=12), st.tuples(st.sampled_from([None, 1, 64]), st.text(max_size=6)), max_size=6)
)
def test_names_of_any_kind_have_a_grouping(names):
    """Whatever the names are: each level belongs to a run, and runs that are pooled differ in counters alone."""
    known = {run: {"tool": "wrk", "connections": connections} for run, (connections, _) in names.items()}
    found = group_runs({run: [folder, run] for run, (_, folder) in names.items()}, known)
    assert all(levels.keys() <= names.keys() for levels in found.columns.values())


def test_names_of_letters_are_never_pooled():
    """Any two runs whose names differ in letters differ in a factor."""
    names = {f"{a}{b}": [f"{a}-{b}"] for a in ("x", "yy") for b in ("", "k", "pp")}
    found = group_runs(names, {run: {"tool": "wrk", "connections": 8} for run in names})
    rows = pd.DataFrame(found.columns)
    assert len(rows.drop_duplicates()) == len(names)


def test_a_wrong_pattern_of_repeats_is_refused(tmp_path):
    with pytest.raises(LoadcurveError, match="factor repeat must be"):
        analyse(written(tmp_path, {"a.txt": WRK[1], "b.txt": WRK[1]}), factors={"repeat": "("})
