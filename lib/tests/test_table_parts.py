"""Work of several processes, here and on Dask clusters: the results of one process, whole when a process is stopped."""

import contextlib
import io
import os
import signal
import threading
from pathlib import Path

import pandas as pd
import psutil
import pytest
from dask_cluster import dask_cluster, wait

from loadcurve.cli import app
from loadcurve.ingest import raw_folder, table_parts
from loadcurve.runtime import many_files
from loadcurve.runtime.cluster import connected, map_items
from loadcurve.tables import columns

pytestmark = pytest.mark.slow
FOLDERS = Path(__file__).parent / "data" / "folders"
ITSELF = table_parts._write_group, many_files.in_order_on


@pytest.fixture
def ingest(called, tmp_path, monkeypatch):
    """Ingests a folder of 26 files as if it were large, in a part for each few files."""
    monkeypatch.chdir(FOLDERS)
    monkeypatch.setattr(raw_folder, "_PART_ROWS", 30)
    monkeypatch.setattr(many_files, "_WORTH_WORKERS_S", 0.0)
    monkeypatch.setattr(many_files, "_CHUNK_S", 0.0)

    def run(out, *options):
        return called("ingest", "wrk_monitors", "--format", "parquet", "-o", tmp_path / out, *options)

    return run


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """What one process writes, and the tables of it."""
    out, said = tmp_path_factory.mktemp("tables") / "alone", io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(said):
        patch.chdir(FOLDERS)
        patch.setattr(raw_folder, "_PART_ROWS", 30)
        app(["ingest", "wrk_monitors", "--format", "parquet", "-o", str(out), "--jobs", "1"], standalone_mode=False)
    return said.getvalue().replace(str(out), "OUT"), tables_in(out)


def tables_in(out):
    assert not list(out.rglob(".*")), "no draft is left"
    return {path.name: pd.read_parquet(path) for path in sorted(out.iterdir())}


def check_same(found, expected):
    assert list(found) == list(expected)
    for name, table in expected.items():
        pd.testing.assert_frame_equal(found[name], table)


def test_two_processes_write_the_tables_of_one(ingest, alone, tmp_path, monkeypatch):
    """Row for row, with the text on the terminal; pandas, Arrow and `columns` read a folder of parts as one table."""
    code, out, _ = ingest("both", "--jobs", 2)
    assert (code, out.replace(str(tmp_path / "both"), "OUT")) == (0, alone[0])
    folder = tmp_path / "both/connections.parquet"
    parts = sorted(path.name for path in folder.iterdir())
    assert parts == [f"part-{n:05d}.parquet" for n in range(len(parts))] and len(parts) > 1
    assert (tmp_path / "both/runs.parquet").is_file(), "one part is a file"
    found = tables_in(tmp_path / "both")
    check_same(found, alone[1])
    assert found[folder.name].attrs["units"]["send_bps"] == "bits/s"
    pd.testing.assert_frame_equal(columns(folder), columns("connections"))

    monkeypatch.setattr(raw_folder, "_PART_ROWS", 10**6)
    assert ingest("both")[0] == 0, "files take the place of folders"
    assert all(path.is_file() for path in (tmp_path / "both").iterdir())
    check_same(tables_in(tmp_path / "both"), found)
    monkeypatch.setattr(raw_folder, "_PART_ROWS", 30)
    assert ingest("both")[0] == 0, "and folders that of files"
    check_same(tables_in(tmp_path / "both"), found)


def killed_while_writing(draft, table, numbered):
    """Half of a part is written, then the worker is killed: always for part 3, or once with a file that says so."""
    if numbered[0] == 3 and not (once := draft.parent.with_name("once")).exists():
        if once.parent.joinpath("only-once").exists():
            once.touch()
        with table_parts._part(draft, "part-00003.parquet", "connections") as file:
            file.write_bytes(b"PAR1")
            os.kill(os.getpid(), signal.SIGKILL)
    return ITSELF[0](draft, table, numbered)


def test_the_part_of_a_killed_process_is_written_again(ingest, alone, tmp_path, monkeypatch):
    monkeypatch.setattr(table_parts, "_write_group", killed_while_writing)
    code, _, err = ingest("out/", "--jobs", 2)
    assert code == 1 and "a part of the tables was not written, because the process that read it was killed" in err
    assert tables_in(tmp_path / "out") == {}
    (tmp_path / "only-once").touch()
    assert ingest("out", "--jobs", 2)[0] == 0
    assert (tmp_path / "once").exists()
    check_same(tables_in(tmp_path / "out"), alone[1])


def test_an_interrupt_while_parts_are_written_leaves_the_old_tables(ingest, tmp_path, monkeypatch):
    ingest("out", "--jobs", 1)
    before = tables_in(tmp_path / "out")

    def interrupted(function, items, *more, **options):
        with contextlib.closing(many_files_in_order(function, items, *more, **options)) as results:
            if function.func is ITSELF[0]:
                yield next(results)
                raise KeyboardInterrupt
            yield from results

    many_files_in_order = many_files.in_order
    with monkeypatch.context() as patched:
        patched.setattr(many_files, "in_order", interrupted)
        assert ingest("out", "--jobs", 2)[0] == 130
    check_same(tables_in(tmp_path / "out"), before)
    assert ingest("out", "--jobs", 2)[0] == 0
    check_same(tables_in(tmp_path / "out"), before)


@pytest.mark.parametrize("stage", ["reading", "writing"])
def test_a_worker_of_a_cluster_is_killed_half_way(ingest, alone, tmp_path, monkeypatch, stage):
    """One of two workers hangs with its files, and is killed when the other has finished some; each row is there once.

    The scheduler gives what the lost worker was to do to the other one.
    """
    made = "*/.store/*" if stage == "reading" else "*/*/part-*.parquet"

    def kill():
        wait(lambda: any((tmp_path / "out").glob(f".parts-{made}")))
        workers[0].kill()

    def half_way(client, function, items, lost):
        if (getattr(function, "func", None) is ITSELF[0]) == (stage == "writing"):
            os.kill(workers[0].pid, signal.SIGSTOP)
            threading.Thread(target=kill, daemon=True).start()
        return ITSELF[1](client, function, items, lost)

    monkeypatch.setattr(many_files, "in_order_on", half_way)
    with dask_cluster(tmp_path) as (address, workers):
        code, _, err = ingest("out", "--scheduler", address)
        assert code == 0, err
        assert workers[0].wait(10) == -signal.SIGKILL
    check_same(tables_in(tmp_path / "out"), alone[1])


@pytest.mark.parametrize("options", [{"workers": 1}, {"workers": 2}, {"workers": 2, "scheduler": "local"}], ids=str)
def test_items_are_mapped_alike_here_in_processes_and_on_dask(options):
    items = ["1 + 1", "(1, 2)", "[abs, -3]"]
    assert list(map_items(eval, items, **options)) == [2, (1, 2), [abs, -3]]
    with pytest.raises(ZeroDivisionError):
        list(map_items(eval, ["1 / 0"], **options))


def test_a_cluster_on_this_machine_listens_on_loopback_only():
    before = {one.pid for one in psutil.Process().children()}
    with connected("local", 1):
        own = [psutil.Process(), *(one for one in psutil.Process().children(recursive=True) if one.pid not in before)]
        listens = {at.laddr.ip for one in own for at in one.net_connections() if at.status == psutil.CONN_LISTEN}
    assert listens == {"127.0.0.1"}
