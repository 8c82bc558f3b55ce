"""Notebooks by papermill: parameters are checked before a kernel starts, and what was read becomes a makefile."""

import functools
import json
import re
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
import pytest
from kernel import write_notebook

import loadcurve
from loadcurve import batch
from loadcurve.batch import execution
from loadcurve.batch.grid import check_parameters
from loadcurve.batch.runner import dependencies, partial_of
from loadcurve.errors import LoadcurveError

PARAMETERS = """\
study: str = "connections_on_loopback"  # study to read
seconds: float = 2.0  # s: load at each point
repeats: int = 1  # count: repeats of each point
strict: bool = False  # whether to stop at the first
enough: float = 0.9  # ratio, 0 < enough ≤ 1: share of the best
sizes: list = [1, 2]  # count, sizes ≥ 1: sizes to try
other: dict = {}  # a type without a rule
"""


@pytest.fixture
def notebook(checkout):
    return functools.partial(write_notebook, checkout / "99_test.ipynb", PARAMETERS)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"studi": "x"}, "parameter must be one of study, seconds, repeats, strict, enough, sizes, other, got 'studi'"),
        ({"enough": 1.5}, "enough must be 0 < enough <= 1, got 1.5"),
        ({"enough": 0}, "enough must be 0 < enough <= 1, got 0"),
        ({"enough": float("nan")}, "enough must be 0 < enough <= 1, got nan"),
        ({"enough": "0.5"}, "enough must be 0 < enough <= 1, got '0.5'"),
        ({"sizes": [3, 0]}, "sizes must be >= 1, got 0"),
        ({"sizes": 3}, "sizes must be list, got 3"),
        ({"seconds": "fast"}, "seconds must be float, got 'fast'"),
        ({"seconds": True}, "seconds must be float, got True"),
        ({"repeats": 1.5}, "repeats must be int, got 1.5"),
        ({"strict": 1}, "strict must be bool, got 1"),
        ({"study": 7}, "study must be str, got 7"),
    ],
)
def test_a_wrong_parameter_is_refused_before_the_kernel(notebook, checkout, monkeypatch, given, says):
    monkeypatch.setattr(execution.pm, "execute_notebook", lambda *a, **k: pytest.fail("the kernel was started"))
    with pytest.raises(LoadcurveError, match=re.escape(f"99_test.ipynb: {says}")):
        batch.run_notebook(notebook(), checkout / "out.ipynb", given)


def test_a_notebook_that_names_no_kernel_is_one_line(notebook):
    path = notebook()
    book = nbformat.read(path, as_version=4)
    del book.metadata["kernelspec"]
    nbformat.write(book, path)
    with pytest.raises(LoadcurveError, match="expected a notebook that names its kernel, got 'No kernel"):
        check_parameters(path, {})


@pytest.mark.parametrize("given", [{"seconds": 3}, {"enough": 1}, {"sizes": [1, 7]}, {"other": {"a": 1}}])
def test_an_int_may_stand_for_a_float_and_ends_belong_to_a_range(notebook, given):
    assert check_parameters(notebook(), given) == given


@pytest.mark.slow
def test_a_notebook_runs_publishes_and_says_what_it_read(notebook, checkout):
    read = checkout / "data" / "studies" / "s" / "study.yml"
    code = (
        "from pathlib import Path\nfrom loadcurve import publish\nfrom loadcurve.files import reads\n"
        "publish.begin('99_test')\npublish.values(n=repeats)\n"
        f"reads.record_reads([Path({str(read)!r})])"
    )
    stale = checkout / "build" / "figures" / "99_test" / "old.svg"
    stale.parent.mkdir(parents=True)
    stale.write_text("")
    output = checkout / "build" / "notebooks" / "99_test.ipynb"
    batch.run_notebook(notebook(code), output, {"repeats": 7}, publish=True)
    assert output.exists()
    assert '"7"' in (stale.parent / "values.json").read_text()
    assert not stale.exists(), "what a notebook no longer publishes is gone"
    fragment = output.with_suffix(".d").read_text()
    assert fragment == "build/notebooks/99_test.ipynb: data/studies/s/study.yml\n\ndata/studies/s/study.yml:\n"
    assert sorted(p.name for p in output.parent.iterdir()) == ["99_test.d", "99_test.ipynb", "99_test.sha256"]
    listed = subprocess.run(
        ["sha256sum", "--check", "--strict", output.with_suffix(".sha256")],
        cwd=checkout, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert {line.split(":")[0].rpartition("/")[2] for line in listed.stdout.splitlines()} == {
        "99_test.ipynb", "99_test.d", "values.json",
    }  # fmt: skip


@pytest.mark.parametrize("name", ["a b", "a;b", "a:b", "a|b", "a$b", "a#b", "a=b", "a%b", "a\nb", "a`b", "a\\b", "é"])
def test_a_name_that_make_reads_as_syntax_is_refused(checkout, name):
    with pytest.raises(LoadcurveError, match="make cannot hold its name") as caught:
        dependencies(checkout / "out.ipynb", ["data/ok.csv", f"data/{name}.csv"])
    assert "\n" not in str(caught.value)


def test_a_failing_cell_is_one_line_and_leaves_no_output(notebook, checkout):
    output = checkout / "build" / "notebooks" / "99_test.ipynb"
    with pytest.raises(LoadcurveError, match=r"99_test.ipynb: cell 2: ZeroDivisionError: division by zero") as caught:
        batch.run_notebook(notebook("print('before')\n1 / 0"), output)
    assert "\n" not in str(caught.value)
    assert caught.value.cell == "print('before')\n1 / 0\nbefore", "the cell, then what it printed"
    assert not output.exists()
    kept = nbformat.read(partial_of(output), as_version=4)
    assert caught.value.partial == partial_of(output) == output.with_name("99_test.failed.ipynb")
    assert any(o.output_type == "error" for cell in kept.cells for o in cell.get("outputs", []))


def test_a_killed_kernel_is_one_line(notebook, checkout):
    with pytest.raises(LoadcurveError, match="its kernel was ended") as caught:
        batch.run_notebook(notebook("import os\nos.kill(os.getpid(), 9)"), checkout / "out.ipynb")
    assert caught.value.cell == "import os\nos.kill(os.getpid(), 9)"


def test_a_failing_notebook_leaves_what_is_published(notebook, checkout):
    kept = checkout / "build" / "figures" / "99_test" / "values.json"
    kept.parent.mkdir(parents=True)
    kept.write_text("{}")
    with pytest.raises(LoadcurveError):
        batch.run_notebook(notebook("1 / 0"), checkout / "build" / "notebooks" / "99_test.ipynb", publish=True)
    assert kept.read_text() == "{}"


@pytest.mark.slow
def test_runs_with_own_parameters_publish_nothing_and_do_not_mix_their_values(notebook, checkout):
    """Two runs at once, in threads of one process as a notebook with a loop would start them."""
    code = (
        "from loadcurve import publish\npublish.begin('99_test')\n"
        "for place in range(20):\n    publish.values({f'n{place}': repeats})"
    )
    path, before = notebook(code), Path.cwd()
    with ThreadPoolExecutor(2) as pool:
        runs = [
            pool.submit(batch.run_notebook, path, checkout / f"out{number}.ipynb", {"repeats": number})
            for number in range(2)
        ]
        outputs = [run.result() for run in runs]
    for number, output in enumerate(outputs):
        values = json.loads((output.with_suffix(".figures") / "values.json").read_text("utf-8"))
        assert {name: one["text"] for name, one in values.items()} == {f"n{place}": f"{number}" for place in range(20)}
    assert Path.cwd() == before
    assert not list((checkout / "build").rglob("values.json")), "nothing is written anywhere else"


def test_an_error_of_the_library_is_the_same_line_in_batch(notebook, checkout):
    with pytest.raises(LoadcurveError) as caught:
        batch.run_notebook(notebook("import loadcurve\nloadcurve.parse('')"), checkout / "out.ipynb")
    with pytest.raises(LoadcurveError) as known:
        loadcurve.parse("")
    assert str(caught.value).endswith(f"99_test.ipynb: cell 2: {type(known.value).__name__}: {known.value}")


def write_outputs(work, name, text):
    (work / "figures").mkdir()
    (work / "reads").touch()
    (work / name).write_text(text)


def test_two_runs_of_one_notebook_wait_for_each_other(notebook, checkout, monkeypatch):
    entered, waits, order, said = threading.Event(), threading.Event(), [], []

    def execute(book, work, name, given, folder, kernels):
        order.append(given["repeats"])
        entered.set()
        assert waits.wait(60), "the second run never said that it waits"
        write_outputs(work, name, str(given["repeats"]))
        (work / "figures" / "values.json").write_text(str(given["repeats"]))

    def report(line):
        said.append(line)
        waits.set()

    monkeypatch.setattr(execution, "execute", execute)
    path, output = notebook(), checkout / "build" / "notebooks" / "99_test.ipynb"
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(batch.run_notebook, path, output, {"repeats": 1}, publish=True)
        assert entered.wait(60)
        second = pool.submit(batch.run_notebook, path, output, {"repeats": 2}, publish=True, report=report)
        assert first.result(60) == second.result(60) == output
    assert order == [1, 2]
    assert said == ["notebook build/notebooks/99_test.ipynb: another process is at work on it; waiting until it ends"]
    assert output.read_text() == (checkout / "build/figures/99_test/values.json").read_text() == "2"
    assert sorted(p.name for p in output.parent.iterdir()) == ["99_test.d", "99_test.ipynb", "99_test.sha256"]


def test_what_a_killed_run_left_is_not_published(notebook, checkout, monkeypatch):
    output = checkout / "build" / "notebooks" / "99_test.ipynb"
    left = output.with_name(".99_test.ipynb.run") / "figures"
    left.mkdir(parents=True)
    (left / "values.json").write_text("half of a run")
    monkeypatch.setattr(execution, "execute", lambda book, work, name, *_: write_outputs(work, name, "executed"))
    batch.run_notebook(notebook(), output, publish=True)
    assert list((checkout / "build/figures/99_test").iterdir()) == []
