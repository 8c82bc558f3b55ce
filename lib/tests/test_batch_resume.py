"""A batch of real kernels that is interrupted, killed and resumed, here and on a Dask cluster."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pandas as pd
import psutil
import pytest
from dask_cluster import dask_cluster, wait
from kernel import HANG_S, write_notebook

pytestmark = pytest.mark.slow

CODE = """\
import json, os, pathlib, time
here = pathlib.Path({folder!r})
with (here / "started").open("a") as log:
    log.write(f"{name} {{number}} {{os.getpid()}}\\n")
while not (here / f"open-{name}-{{number}}").exists():
    time.sleep(0.02)
value = {{"text": str(number), "value": number, "unit": ""}}
pathlib.Path(os.environ["LOADCURVE_PUBLISH"], "values.json").write_text(json.dumps({{"number": value}}))
"""


class Grid:
    """Two notebooks with a few values each; a run waits until the test opens its gate, and logs its kernel."""

    def __init__(self, folder: Path, values: int) -> None:
        self.folder, self.out, self.values = folder, folder / "out", values
        self.names = [f"{name},number={number}" for name in "ab" for number in range(1, values + 1)]
        for name in "ab":
            code = CODE.format(folder=str(folder), name=name)
            write_notebook(folder / f"{name}.ipynb", "number: int = 0  # number ≥ 1: x", code)

    def start(self, *options):
        values = ",".join(map(str, range(1, self.values + 1)))
        argv = ["batch", "a.ipynb", "b.ipynb", "--grid", f"number={values}", "-o", "out", *options]
        # In a process group of its own, as from a terminal; a test that runs in the background ignores SIGINT.
        return subprocess.Popen(
            [sys.executable, "-m", "loadcurve", *argv],
            cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, process_group=0,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )  # fmt: skip

    def open(self, *names):
        for name in names:
            (self.folder / f"open-{name.replace(',number=', '-')}").touch()

    def started(self):
        """Name and process of each kernel that has started, in order."""
        log = self.folder / "started"
        lines = [line.split() for line in log.read_text().splitlines()] if log.exists() else []
        return [(f"{name},number={number}", int(pid)) for name, number, pid in lines]

    def complete(self):
        return sorted(path.stem for path in self.out.glob("*.ipynb"))

    def check_complete(self, process):
        said = process.communicate(timeout=HANG_S)
        assert process.returncode == 0, said
        assert f"{len(self.names)} of {len(self.names)} outputs are complete" in said[0]
        assert self.complete() == self.names
        outputs = {f"{name}.{suffix}" for name in self.names for suffix in ("ipynb", "figures")}
        assert {path.name for path in self.out.iterdir()} == outputs | {"index.html", "values.parquet"}
        table = pd.read_parquet(self.out / "values.parquet")
        assert table["output"].tolist() == self.names
        assert table["value"].tolist() == table["parameter_number"].tolist() == [*range(1, self.values + 1)] * 2
        return said[1]

    def check_once(self, process, lost):
        """Each output is made once, and only that of the killed worker has had a second kernel."""
        said = self.check_complete(process)
        assert sorted(line.split()[2] for line in said.splitlines() if "] made:" in line) == self.names
        runs = [name for name, _ in self.started()]
        assert [runs.count(name) for name in self.names] == [2 if name == lost else 1 for name in self.names]
        return said


def is_gone(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


@pytest.fixture
def grid(request, tmp_path):
    found = Grid(tmp_path, getattr(request, "param", 2))
    yield found
    wait(lambda: all(is_gone(pid) for _, pid in found.started()))


@pytest.mark.parametrize("grid", [3], indirect=True)
def test_an_interrupted_and_killed_batch_runs_only_what_is_missing(grid):
    grid.open("a,number=1", "a,number=2")
    first = grid.start("--jobs", "2")
    wait(lambda: len(grid.started()) == 4 and len(grid.complete()) == 2)
    first.send_signal(signal.SIGINT)
    said = first.communicate(timeout=HANG_S)[1]
    assert first.returncode == 130
    assert "interrupted by SIGINT: the outputs so far are kept; the same command runs the others" in said
    assert "Traceback" not in said
    assert all(is_gone(pid) for _, pid in grid.started())
    assert grid.complete() == grid.names[:2]
    kept = {name: (grid.out / f"{name}.ipynb").stat() for name in grid.names[:2]}

    grid.open("a,number=3")
    second = grid.start("--jobs", "2")
    wait(lambda: len(grid.started()) == 7 and len(grid.complete()) == 3)
    second.kill()
    second.communicate(timeout=HANG_S)
    wait(lambda: all(is_gone(pid) for _, pid in grid.started()))  # a kernel looks for its parent once in a second
    assert grid.complete() == grid.names[:3]

    grid.open(*grid.names)
    said = grid.check_complete(grid.start("--jobs", "2"))
    assert "3 of 6 outputs are complete" in said and "stale" not in said
    runs = [name for name, _ in grid.started()]
    assert [runs.count(name) for name in grid.names] == [1, 1, 2, 3, 2, 1]
    for name, before in kept.items():
        after = (grid.out / f"{name}.ipynb").stat()
        assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


@pytest.fixture
def dask(tmp_path):
    with dask_cluster(tmp_path) as made:
        yield made


@pytest.mark.parametrize("grid", [4], indirect=True)  # each worker has a next job, whatever Dask gives it first
def test_a_worker_of_a_cluster_is_killed_half_way(grid, dask):
    address, workers = dask
    batch = grid.start("--scheduler", address)
    wait(lambda: len(grid.started()) == 2)  # in an order that Dask chose
    grid.open(*(name for name, _ in grid.started()))
    wait(lambda: len(grid.started()) == 4 and len(grid.complete()) == 2)
    running = {name: pid for name, pid in grid.started() if name not in grid.complete()}
    parents = {name: psutil.Process(pid).ppid() for name, pid in running.items()}
    assert set(parents.values()) == {worker.pid for worker in workers}, "each worker runs one kernel"
    workers[0].kill()
    grid.open(*grid.names)
    (lost,) = [name for name, parent in parents.items() if parent == workers[0].pid]
    grid.check_once(batch, lost)


def test_an_interrupt_ends_the_kernels_of_all_workers(grid, dask):
    batch = grid.start("--scheduler", dask[0])
    wait(lambda: len(grid.started()) == 2)
    os.kill(batch.pid, signal.SIGTERM)
    said = batch.communicate(timeout=HANG_S)[1]
    assert batch.returncode == 143 and "interrupted by SIGTERM" in said, said
    wait(lambda: all(is_gone(pid) for _, pid in grid.started()))
    assert not grid.complete()


def children(process):
    return {one.pid for one in psutil.Process(process.pid).children(recursive=True)}


def test_a_cluster_on_this_machine_survives_a_killed_worker_and_leaves_nothing(grid):
    batch = grid.start("--scheduler", "local", "--jobs", "2")
    wait(lambda: len(grid.started()) == 2)
    (name, kernel), _ = grid.started()
    started = children(batch)
    psutil.Process(kernel).parent().kill()  # the worker, which Dask replaces
    grid.open(*grid.names)
    wait(lambda: started.update(children(batch)) or len(grid.complete()) == len(grid.names))
    assert "Traceback" not in grid.check_once(batch, name)
    wait(lambda: all(map(is_gone, started)))


def test_an_interrupt_from_a_terminal_ends_a_cluster_on_this_machine(grid):
    """A terminal sends SIGINT to all processes of the command."""
    batch = grid.start("--scheduler", "local", "--jobs", "2")
    wait(lambda: len(grid.started()) == 2)
    started = children(batch)
    os.killpg(batch.pid, signal.SIGINT)
    said = batch.communicate(timeout=HANG_S)
    assert batch.returncode == 130 and said[0] == ""
    assert said[1] == "interrupted by SIGINT: the outputs so far are kept; the same command runs the others\n"
    wait(lambda: all(map(is_gone, started)))
    assert not grid.complete()
