"""How fast ingestion is, against a well-known reader of the same text on the same machine, in the same run."""

import csv
import json
import subprocess
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import mixed
import texts
from process_tree import Cost, cost, machine
from report import peak_bytes, say, seconds

FIXTURES = Path(__file__).parents[1] / "tests" / "data"
MEASURED = Path(__file__).parents[2] / "data" / "bench" / "ingestion.csv"
_MB = 1e6


def start(_: Path) -> None:
    """``import loadcurve`` and ``loadcurve --help``, as whole processes."""
    for what, argv in {
        "import loadcurve": [sys.executable, "-c", "import loadcurve"],
        "loadcurve --help": [sys.executable, "-m", "loadcurve", "--help"],
    }.items():
        took = seconds(lambda argv=argv: subprocess.run(argv, capture_output=True, check=True), 7)
        say(what, f"{took:.3f} s", "< 0.3 s", took < 0.3)


def wrk_files(folder: Path) -> None:
    """A folder of small reports into one table."""
    import loadcurve

    reports = [p.read_text("utf-8") for p in sorted((FIXTURES / "wrk").glob("*.txt")) if p.stat().st_size < 1000]
    n = 6000
    for i in range(n):
        (folder / f"{i:04d}.txt").write_text(reports[i % len(reports)], "utf-8")
    took = seconds(lambda: loadcurve.read(folder))
    say("wrk reports, a file each", f"{n / took:,.0f} files/s", "≥ 3,000 files/s", n / took >= 3000)


def sar(folder: Path) -> None:
    """200 MB of ``sar -A``, and the same recording by way of ``sadf -j``, interval for interval."""
    import loadcurve

    texts.recording(folder / "sa", 60)
    text = texts.sar_text(folder / "sa")
    times = round(200 * _MB / len(text))
    large = texts.longer(text, times)
    took = seconds(lambda: loadcurve.parse(large), 1)
    speed = len(large) / took / _MB
    held = f"{peak_bytes() / len(large):.1f} times the text in memory"
    say(f"sar -A, {len(large) / _MB:.0f} MB", f"{speed:.0f} MB/s, {held}", "≥ 40 MB/s", speed >= 40)
    theirs, ours = seconds(lambda: _by_sadf(folder / "sa")), took / times
    say("sadf -j + json + DataFrame / sar text", f"{theirs:.3f} s / {ours:.3f} s = {theirs / ours:.1f}", "≥ 4",
        theirs / ours >= 4)  # fmt: skip


def _by_sadf(recording: Path) -> dict:
    """A DataFrame for each section of a recording, as one would write it with json and pandas."""
    import pandas as pd

    env = {"LC_ALL": "C", "TZ": "UTC", "PATH": "/usr/bin:/bin"}
    said = subprocess.run(["sadf", "-j", recording, "--", "-A"], env=env, capture_output=True, check=True).stdout
    rows: dict[str, list[dict]] = {}

    def add(section: str, found: object, stamp: dict) -> None:
        if isinstance(found, list):
            for item in found:
                add(section, item, stamp)
            return
        plain = {key: value for key, value in found.items() if not isinstance(value, dict | list)}
        if plain:
            rows.setdefault(section, []).append({**stamp, **plain})
        for key, value in found.items():
            if isinstance(value, dict | list):
                add(f"{section}.{key}", value, {**stamp, **plain})

    for sample in json.loads(said)["sysstat"]["hosts"][0]["statistics"]:
        stamp = sample.pop("timestamp", {})
        for section, found in sample.items():
            add(section, found, stamp)
    frames = {section: pd.DataFrame(found) for section, found in rows.items()}
    for frame in frames.values():
        frame["time"] = pd.to_datetime(frame["date"] + " " + frame["time"], utc=True)
    return frames


def ss_list(folder: Path) -> None:
    """A million sockets of ``ss -tan``, and a tenth of them by jc."""
    import jc

    import loadcurve

    n = 1_000_000
    texts.ss_list(folder / "ss", n)
    text = (folder / "ss").read_text("ascii")
    ours = seconds(lambda: loadcurve.parse(text)) / n
    # jc asks for the Netid column, which ss prints when several families are asked for.
    lines = text.split("\n")[: n // 10 + 1]
    for_jc = "\n".join(["Netid " + lines[0].replace("Process", ""), *(f"tcp   {line}" for line in lines[1:])])
    theirs = seconds(lambda: jc.parse("ss", for_jc, quiet=True), 1) / (n // 10)
    say("jc / loadcurve, ss -tan, a line", f"{theirs * 1e6:.2f} µs / {ours * 1e6:.2f} µs = {theirs / ours:.1f}", "≥ 5",
        theirs / ours >= 5)  # fmt: skip


def ss_details(folder: Path) -> None:
    """A million sockets of ``ss -tin`` with every token."""
    import loadcurve

    n = 1_000_000
    texts.ss_details(folder / "ss", n)
    size = (folder / "ss").stat().st_size
    took = seconds(lambda: loadcurve.parse((folder / "ss").read_text("ascii")), 1)
    say(f"ss -tin, {n:,} sockets, {size / _MB:.0f} MB", f"{took:.1f} s, {peak_bytes() / 1e9:.2f} GB",
        "≤ 15 s, < 1.5 GB", took <= 15 and peak_bytes() < 1.5e9)  # fmt: skip


def ab_requests(folder: Path) -> None:
    """Ten million rows of ``ab -g``, and the same file by bare pyarrow.csv."""
    from pyarrow import csv as arrow_csv

    from loadcurve.ingest.files import Hints
    from loadcurve.reading import read_file

    n = 10_000_000
    texts.ab_requests(folder / "g.tsv", n)
    bare = seconds(lambda: arrow_csv.read_csv(folder / "g.tsv", parse_options=arrow_csv.ParseOptions(delimiter="\t")))
    ours = seconds(lambda: read_file(folder / "g.tsv", Hints()).tables["requests"])
    say(f"loadcurve / pyarrow.csv, ab -g, {n:,} rows", f"{ours:.2f} s / {bare:.2f} s = {ours / bare:.2f}", "≤ 1.5",
        ours / bare <= 1.5)  # fmt: skip


def folder(place: Path) -> None:
    """A gigabyte of mixed files into Parquet, by the command line, with several numbers of processes and on Dask."""
    raw = place / "raw"
    mixed.write_folder(raw, 1e9)
    size = sum(path.stat().st_size for path in raw.rglob("*") if path.is_file())
    argv = [sys.executable, "-m", "loadcurve", "ingest", str(raw), "--format", "parquet", "-o", str(place / "out")]
    on_dask = "two workers of Dask"
    ways = {"1": ["-j1"], "2": ["-j2"], "4": ["-j4"], on_dask: ["-j2", "--scheduler", "local"]}
    costs = {name: cost([*argv, *options]) for name, options in ways.items()}
    _write_costs(costs, size, place / "out")
    most = costs["2"].together_bytes
    figure = f"{costs['1'].wall_s:.1f} s, {costs['1'].cpu_s:.1f} s of CPU, {most / 1e9:.2f} GB in two processes"
    say(f"mixed folder of {size / 1e9:.2f} GB into Parquet", figure, "< 1.39 GB", most < 1.39e9)
    ratio = costs["1"].wall_s / costs["2"].wall_s
    took = f"{costs['1'].wall_s:.1f} s / {costs['2'].wall_s:.1f} s = {ratio:.2f}"
    say("one process / two processes", took, "≥ 1.8", ratio >= 1.8)


def _write_costs(costs: dict[str, Cost], size: int, tables: Path) -> None:
    """Write what the handbook's page about limits shows."""
    import pyarrow.dataset

    files = [path for path in tables.rglob("*.parquet") if path.is_file()]
    known = {
        "raw_bytes": size,
        "rows": sum(pyarrow.dataset.dataset(path).count_rows() for path in files),
        "table_bytes": sum(path.stat().st_size for path in files),
        "machine": machine(),
        "measured": f"{datetime.now(UTC):%Y-%m-%d}",
    }
    with MEASURED.open("w", encoding="utf-8", newline="") as out:
        rows = [{"workers": name, **asdict(cost), **known} for name, cost in costs.items()]
        writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


CASES = {case.__name__: case for case in (start, wrk_files, sar, ss_list, ss_details, ab_requests, folder)}
