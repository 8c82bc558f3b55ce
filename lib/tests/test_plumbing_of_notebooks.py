"""Most code of the notebooks is analysis that readers see; plumbing is counted and bounded.

Plumbing is each line of a hidden cell (imports, names of the published tables, provenance), and each line of a visible
statement that only publishes a figure or a table.  A call of `publish.values` is a result: its cell shows the numbers
that pages quote.
"""

import ast
import json

from conftest import ROOT


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
