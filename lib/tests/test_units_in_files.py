"""Units, meanings and times in files: what DuckDB, Polars and pandas show of tables that loadcurve wrote."""

import json
import re
from datetime import UTC, datetime

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import loadcurve
from loadcurve import read_table, tables
from loadcurve.errors import LoadcurveError
from loadcurve.ingest.files import Hints
from loadcurve.reading import read_each
from loadcurve.reading.export import write_tables

WRK = "wrk/fdlimit.txt"
# 22:00 in a zone eight hours ahead of UTC is 14:00 UTC.
ACCESS = '127.0.0.1 - - [22/Nov/2026:22:00:00 +0800] "GET / HTTP/1.1" 200 616 "-" "curl/8"\n'
INSTANT = datetime(2026, 11, 22, 14, tzinfo=UTC)


@pytest.fixture(scope="module")
def raw(tmp_path_factory, root):
    folder = tmp_path_factory.mktemp("raw")
    (folder / "load.txt").write_bytes((root / "lib/tests/data" / WRK).read_bytes())
    (folder / "access.log").write_text(ACCESS, "utf-8")
    return folder


@pytest.fixture(scope="module")
def written(raw):
    for form in ("parquet", "csv"):
        write_tables(read_each(raw, Hints()), raw.parent / "tables", form)
    return raw.parent / "tables"


def by_duckdb(file):
    zone, micros = duckdb.sql(f"SELECT typeof(time), epoch_us(time) FROM '{file}'").fetchall()[0]
    ((units,),) = duckdb.sql(
        f"SELECT decode(value) FROM parquet_kv_metadata('{file}') WHERE decode(key) = 'units'"
    ).fetchall()
    return zone == "TIMESTAMP WITH TIME ZONE", micros / 1e6, json.loads(units)


def by_polars(file):
    times = pl.read_parquet(file)["time"]
    return times.dtype.time_zone == "UTC", times[0].timestamp(), json.loads(pl.read_parquet_metadata(file)["units"])


def by_pandas(file):
    frame = pd.read_parquet(file)
    return str(frame["time"].dt.tz) == "UTC", frame["time"][0].timestamp(), frame.attrs["units"]


@pytest.mark.parametrize("reader", [by_duckdb, by_polars, by_pandas])
def test_other_programs_show_times_in_utc_and_units(written, reader):
    in_utc, instant, units = reader(str(written / "requests.parquet"))
    assert in_utc and instant == INSTANT.timestamp()
    assert (units["time"], units["latency_s"], units["sent_bytes"]) == ("UTC", "s", "bytes")


@pytest.mark.parametrize("name", ["runs", "requests"])
def test_a_parquet_file_describes_itself(written, name):
    schema = pq.read_schema(written / f"{name}.parquet")
    assert schema.metadata[b"loadcurve.version"].decode() == loadcurve.__version__
    assert schema.metadata[b"description"].decode() == tables.SCHEMAS[name].description
    assert all(field.metadata.keys() >= {b"unit", b"description"} for field in schema)
    assert {field.type for field in schema if pa.types.is_timestamp(field.type)} == {pa.timestamp("us", "UTC")}
    # Types too: a column of counts without a value is still one of integers.
    pd.testing.assert_frame_equal(tables.columns(written / f"{name}.parquet"), tables.columns(name))


def test_a_table_in_memory_and_a_foreign_file_are_described_by_their_columns(tmp_path, raw):
    runs = loadcurve.read(raw).tables["runs"].assign(rack="b", pause_s=1.5, delay=pd.Timedelta(seconds=1))
    described = tables.columns(runs).set_index("column")
    assert described.loc["throughput_rps", "meaning"].startswith("Responses per second (X)")
    assert described.loc[["throughput_rps", "pause_s", "rack"], "unit"].tolist() == ["requests/s", "s", ""]
    foreign = tmp_path / "f.parquet"
    pq.write_table(pa.table({"sent_bytes": [1], "ok": [True], "when": [INSTANT]}), foreign)
    assert tables.columns(foreign)[["type", "unit"]].to_numpy().tolist() == [
        ["integer", "bytes"], ["yes/no", ""], ["time", ""],
    ]  # fmt: skip
    (tmp_path / "no.parquet").write_text("Requests/sec: 12\n")
    for name, got in (("no.parquet", "Parquet magic bytes not found"), ("gone.parquet", "No such file")):
        with pytest.raises(LoadcurveError, match=f"{name}: expected a Parquet file, got .*{got}") as caught:
            tables.columns(tmp_path / name)
        assert "\n" not in str(caught.value)


def test_csv_files_have_a_description_beside_them(written):
    described = pd.read_csv(written / "columns.csv", keep_default_na=False)
    assert set(described["table"]) == {path.stem for path in written.glob("*.csv")} - {"columns"}
    for name, rows in described.groupby("table"):
        assert rows["column"].tolist() == list(pd.read_csv(written / f"{name}.csv", nrows=0).columns)
    row = described.query("table == 'runs' and column == 'received_bytes_per_s'").iloc[0]
    assert (row["unit"], row["description"]) == ("bytes/s", "Bytes read per second, headers included.")


def test_the_examples_of_the_guide_print_the_unit(root, written, monkeypatch, capsys):
    guide = (root / "handbook/guides/read_raw_files.md").read_text("utf-8")
    section = re.search(r"\n## Open the tables in .*?(?=\n## )", guide, re.DOTALL)[0]
    examples = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    monkeypatch.chdir(written.parent)
    for example in examples:
        exec(compile(example, "guide", "exec"), {})
        assert capsys.readouterr().out.splitlines()[-1] == "requests/s"
    assert len(examples) == 3


@pytest.mark.parametrize("name", ["plain", "a" * 64])
@pytest.mark.parametrize("place", ["data/studies", "else=where/b c"])
def test_a_folder_of_tables_has_a_plain_name(checkout, root, monkeypatch, name, place):
    """However a study is given, other programs find its tables, and its name in them."""
    study = by_hand(checkout / place / name, root)
    monkeypatch.chdir(study)
    for given in (study, f"{study}/", ".", study / "study.yml"):
        assert read_table("runs", given)["study"].tolist() == [name]
    (file,) = (checkout / "build/tidy").glob("*/runs.parquet")
    assert re.fullmatch(name if place == "data/studies" else rf"{name}\+[0-9a-f]{{16}}", file.parent.name)
    several = str(checkout / "build/tidy/*/runs.parquet")
    assert duckdb.sql(f"SELECT study FROM '{several}'").fetchall() == [(name,)]
    assert pl.read_parquet(several)["study"].to_list() == [name]


@pytest.mark.parametrize("name", ["study=cpu", "a b", "größe", ".hidden", "a;b"])
def test_a_study_whose_name_is_not_plain_is_refused(checkout, root, name):
    with pytest.raises(LoadcurveError, match="expected study to be a name of letters, digits"):
        read_table("runs", by_hand(checkout / "data/studies" / name, root))
    assert not list(checkout.glob("build/tidy/*"))


def by_hand(study, root):
    """A study of one run that was made by hand."""
    (study / "c64").mkdir(parents=True)
    (study / "study.yml").write_text(json.dumps({"study": study.name, "question": "Which name?"}), "utf-8")
    (study / "c64/load.txt").write_bytes((root / "lib/tests/data" / WRK).read_bytes())
    return study
