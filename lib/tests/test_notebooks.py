"""The rules of notebooks, counted: order, size, plumbing, no code that belongs into the library, no outputs.

Plumbing is each line of a hidden cell (imports, names of the published tables, provenance), and each line of a visible
statement that only publishes a figure or a table.  A call of `publish.values` is a result: its cell shows the numbers
that pages quote.
"""

import ast
import functools
import inspect
import json
import math
import re
import statistics

import nbformat
import papermill
import pytest
from conftest import ROOT
from one_test import in_one_test

from loadcurve import publish
from loadcurve.batch.grid import check_parameters, declared_parameters
from loadcurve.errors import LoadcurveError
from loadcurve.notebooks.source import TYPES, read_captions
from loadcurve.runtime import jupyter

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
each_notebook = in_one_test("path", NOTEBOOKS, ids=lambda p: p.stem)


@functools.cache
def read(path):
    return nbformat.read(path, as_version=4)


def cells(path, kind="code"):
    return [c for c in read(path).cells if c.cell_type == kind]


@each_notebook
def test_name_is_number_and_noun_phrase(path):
    assert re.fullmatch(r"\d\d_[a-z0-9_]+", path.stem)


@each_notebook
def test_first_cell_asks_and_answers(path):
    first = read(path).cells[0]
    assert first.cell_type == "markdown"
    title, question, answer = first.source.split("\n\n")
    assert title.startswith("# ")
    assert re.fullmatch(r"\*\*.+\?\*\*", question), "the question in bold"
    assert answer.endswith(".")


@each_notebook
def test_second_cell_is_parameters_of_literals(path):
    second = read(path).cells[1]
    assert second.metadata.get("tags") == ["parameters"]
    for line, node in zip(second.source.split("\n"), ast.parse(second.source).body, strict=True):
        assert isinstance(node, ast.AnnAssign), "one annotated literal on each line"
        ast.literal_eval(node.value)
        assert re.search(r"  # .+:? ?.+", line), "unit and meaning in the comment"


@each_notebook
def test_every_parameter_has_type_and_help(path):
    for parameter in papermill.inspect_notebook(path).values():
        assert parameter["inferred_type_name"] in TYPES
        assert parameter["help"]


@each_notebook
def test_every_number_has_a_range_and_every_default_is_right(path):
    declared = declared_parameters(path)
    check_parameters(path, {name: ast.literal_eval(one.default) for name, one in declared.items()})
    for name, one in declared.items():
        numbers = one.kind in ("int", "float") or (one.kind == "list" and '"' not in one.default)
        assert bool(one.range) == numbers, f"{name}: UNIT, RANGE: MEANING"


def outside(declared):
    """Values just outside of a declared range."""
    for end, way in (("gt", 0), ("ge", -1), ("lt", 0), ("le", 1)):
        if math.isfinite(limit := getattr(declared.range, end)):
            value = math.nextafter(limit, way * math.inf) if way else limit
            yield int(limit + way) if declared.kind == "int" else [value] if declared.kind == "list" else value
    yield [math.nan] if declared.kind == "list" else math.nan


@each_notebook
def test_a_value_outside_of_its_range_is_one_line_without_loadcurve_run(path, checkout, monkeypatch):
    """`papermill -p` executes the cells of the parameters and of the setup; the latter refuses the value."""
    source = cells(path)[0].source
    declared = declared_parameters(path)
    variables = {name: ast.literal_eval(one.default) for name, one in declared.items()}
    for name, one in declared.items():
        for value in outside(one) if one.range else ():
            given = variables | {name: value}
            monkeypatch.setattr(jupyter, "cells_and_variables", lambda given=given: (["", source, "x = 1"], given))
            with pytest.raises(LoadcurveError) as caught:
                publish.begin(path.stem)
            shown = value[0] if isinstance(value, list) else value
            assert str(caught.value) == f"{name} must be {one.range.rule(name, one.kind == 'int')}, got {shown!r}"
    monkeypatch.setattr(jupyter, "cells_and_variables", lambda: (["", source], variables))
    publish.begin(path.stem)


@pytest.mark.slow
def test_papermill_alone_shows_the_line(root, tmp_path):
    notebook = root / "notebooks/30_throughput_by_connections.ipynb"
    with pytest.raises(papermill.PapermillExecutionError) as caught:
        papermill.execute_notebook(notebook, tmp_path / "out.ipynb", {"enough": 1.5}, progress_bar=False)
    assert caught.value.evalue == "enough must be 0 < enough <= 1, got 1.5"


@each_notebook
def test_third_cell_is_hidden_setup_that_names_the_notebook(path):
    setup = read(path).cells[2]
    assert setup.metadata.get("tags") == ["hidden"]
    assert f'publish.begin("{path.stem}")' in setup.source


@each_notebook
def test_hidden_cells_are_collapsed_in_jupyterlab(path):
    for cell in read(path).cells:
        hidden = "hidden" in cell.metadata.get("tags", [])
        assert cell.metadata.get("jupyter", {}).get("source_hidden", False) is hidden


@each_notebook
def test_sections_stand_in_order(path):
    headings = [m for c in cells(path, "markdown") for m in re.findall(r"^## (.+)$", c.source, re.MULTILINE)]
    assert headings[-1] == "Limits", "the last words are what the data do not show"
    assert "hidden" in cells(path)[-1].metadata.get("tags", []), "provenance"


@each_notebook
def test_size(path):
    notebook = read(path)
    lengths = [len(c.source.split("\n")) for c in cells(path)]
    only_captions = [c for c in notebook.cells if c.source.startswith(("**Figure `", "**Table `"))]
    # A case study has two parts: what was published, and the rerun of each experiment.
    assert len(notebook.cells) - len(only_captions) <= 72
    assert statistics.median(lengths) <= 3
    assert max(lengths) <= 12


@each_notebook
def test_every_figure_and_table_has_one_caption(path):
    """By kind and name; a table that a loop publishes has its name in an f-string, which stands for any text.

    One that is computed as a whole is an argument.
    """
    published = []
    for call in (node for cell in cells(path) for node in ast.walk(ast.parse(cell.source))):
        if not isinstance(call, ast.Call) or any(keyword.arg == "caption" for keyword in call.keywords):
            continue
        if (name := ast.unparse(call.func)) in ("publish.figure", "publish.table"):
            slug = call.args[0]
            parts = slug.values if isinstance(slug, ast.JoinedStr) else [slug]
            pattern = "".join(re.escape(p.value) if isinstance(p, ast.Constant) else r"\w+" for p in parts)
            published.append((name.removeprefix("publish.").capitalize(), pattern))
    captions = list(read_captions(path))
    text = "\n".join(c.source for c in cells(path, "markdown"))
    assert len(captions) == len(re.findall(r"^\*\*(?:Figure|Table) `", text, re.MULTILINE)), (
        "each caption once, well formed"
    )
    for kind, slug in captions:
        assert any(kind == k and re.fullmatch(pattern, slug) for k, pattern in published), f"{slug} is not published"
    for kind, pattern in published:
        assert any(kind == k and re.fullmatch(pattern, slug) for k, slug in captions), f"{pattern} has no caption"


@each_notebook
def test_one_figure_a_cell(path):
    for cell in cells(path):
        assert cell.source.count("publish.figure(") <= 1


@each_notebook
def test_no_code_that_belongs_into_the_library(path):
    for cell in cells(path):
        for node in ast.walk(ast.parse(cell.source)):
            assert not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Lambda | ast.Try)
        assert not re.search(r"^\s*[!%]", cell.source, re.MULTILINE), "no magics, no shell"
        assert not re.search(r"\bopen\(|read_csv|read_text|read_parquet", cell.source), "no raw reading"
        assert not re.search(r"[\"'](/|~|\.\./|[A-Z]:\\)", cell.source), "no path out of the checkout"


@each_notebook
def test_code_contains_no_sentences(path):
    """Sentences belong to Markdown cells, captions, and the tables of claims; code contains names and labels."""
    for cell in cells(path):
        for node in ast.walk(ast.parse(cell.source)):
            parts = node.values if isinstance(node, ast.JoinedStr) else [node]
            text = "".join(str(p.value) if isinstance(p, ast.Constant) else "x" for p in parts)
            if isinstance(node, ast.JoinedStr | ast.Constant):
                assert not re.search(r"(\w+\W+){3}\w+[.?]$", text), text


@each_notebook
def test_every_call_of_the_library_fits_its_function(path):
    """An unknown name of the library, or an unknown argument of a function, is found without executing the notebook."""
    known, wrong = {}, []
    tree = ast.parse("\n".join(c.source for c in cells(path)))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    exec(compile(ast.Module(imports, []), path.name, "exec"), known)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (function := resolved(node.func, known, wrong)):
            names = [keyword.arg for keyword in node.keywords if keyword.arg]
            takes = inspect.signature(function).parameters.values()
            if not any(one.kind is one.VAR_KEYWORD for one in takes):
                wrong += [
                    f"{ast.unparse(node.func)}({name}=…)" for name in names if name not in {o.name for o in takes}
                ]
    assert not wrong


def resolved(node, known, wrong):
    """Return the library's function that an expression names; None for anything else."""
    if isinstance(node, ast.Name):
        found = known.get(node.id)
    elif isinstance(node, ast.Attribute) and inspect.ismodule(module := resolved(node.value, known, wrong)):
        found = getattr(module, node.attr, None)
        wrong += [ast.unparse(node)] if found is None else []
    else:
        return None
    ours = getattr(found, "__module__", getattr(found, "__name__", "")) or ""
    return found if ours.startswith("loadcurve") else None


@each_notebook
def test_outputs_are_stripped(path):
    for cell in cells(path):
        assert cell.outputs == []
        assert cell.execution_count is None


@each_notebook
def test_prose_outweighs_silence(path):
    """Every figure and table has words before it: no two code cells with a figure stand without prose between."""
    words = sum(len(c.source.split()) for c in cells(path, "markdown"))
    assert words >= 2 * len(cells(path))


def lines_of(notebook):
    """Lines of code of a notebook: all, in hidden cells, and of statements that publish a figure or a table."""
    cells = [c for c in json.loads(notebook.read_text("utf-8"))["cells"] if c["cell_type"] == "code"]
    hidden = ["hidden" in c["metadata"].get("tags", ()) for c in cells]
    codes = ["".join(c["source"]) for c in cells]
    counts = [sum(1 for line in code.splitlines() if line.strip()) for code in codes]
    shown = [node for code, h in zip(codes, hidden, strict=True) if not h for node in ast.parse(code).body]
    publishing = [node for node in shown if ast.unparse(node).startswith(("publish.figure(", "publish.table("))]
    return (
        sum(counts),
        sum(count for count, h in zip(counts, hidden, strict=True) if h),
        sum(node.end_lineno - node.lineno + 1 for node in publishing),
    )


def test_a_fifth_of_the_code_at_most_is_plumbing():
    whole, hidden, publishing = (sum(n) for n in zip(*map(lines_of, (ROOT / "notebooks").glob("*.ipynb")), strict=True))
    assert hidden < 0.1 * whole
    assert hidden + publishing < 0.2 * whole


def test_plumbing_is_counted(tmp_path):
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": ["# A"]},
        {"cell_type": "code", "metadata": {"tags": ["hidden"]}, "source": ["import a\n", "\n", "import b"]},
        {"cell_type": "code", "metadata": {}, "source": ["x = 1\n", "publish.figure(\n", "    x\n", ");"]},
        {"cell_type": "code", "metadata": {}, "source": ["publish.values(x=x)"]},
    ]
    (tmp_path / "a.ipynb").write_text(json.dumps({"cells": cells}))
    assert lines_of(tmp_path / "a.ipynb") == (7, 2, 3)
