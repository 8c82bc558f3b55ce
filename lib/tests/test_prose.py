"""Words that have a standard term are not used in pages, notebooks, docstrings and messages."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

from conftest import ROOT

# Pattern → what to write instead; only patterns that are wrong in every sentence (not "tell", but "told by").
TERMS = {
    r"\bfore(tell|told)": "predict, extrapolate",
    r"\b(two|several|more|no|of) heaps\b|\bheaps (of|that)\b": "mode, bimodal",
    r"\b[Ii]n the mean,": "on average",
    r"\b[Ww]hat stands\b|\bstands? (in|beside|above|below|before|there|at|on)\b": "is listed in, is defined in",
    r"\bmend(s|ed|ing)?\b": "fix, repair",
    r"\b[Tt]old by\b|\btold apart\b|\btells? (them |it )?apart\b": "detected by, distinguish",
    r"\bpass(ed|es) over\b(?! (it|the ∏))": "is ignored",
    r"\bWhat (the )?\w+ (itself )?(does|prints)( \(|:)|\bWhat prints (it|them)\b": "output of …, sources of the format",
    r"\bstands? (between|behind|inside|for all|for those)\b|\bas (it|they) stands?\b": "separates, follows, unchanged",
    r"\bdo(es)? not tell\b": "does not show, without",
    r"\bafar\b|\bfar end\b|\bdistant (host|machine)\b": "remote host",
    r"\b(made|makes|make|done) (again|anew)\b": "repeat, rerun",
    r"\bhow surely\b": "with what confidence",
    r"\band no (more|fewer)\b": "at most, at least",
    r"\bmakes? (\w+ )?requests\b(?! cheaper)": "sends, serves, handles",
    r"\b(is|are|be|was|were) told\b": "is reported, is printed",
    r"\blacking\b|\b(it|they|machine|host|kernel|nginx) lacks?\b": "is missing",
}  # fmt: skip
# The page about the old names quotes them.
QUOTING = {"laboratory_layout.md"}


def prose() -> Iterator[tuple[Path, int, str]]:
    """Lines of everything that a person reads, without code."""
    for path in (ROOT / "README.md", *sorted((ROOT / "handbook").rglob("*.md"))):
        text = re.sub(r"```.*?```", lambda code: "\n" * code[0].count("\n"), path.read_text("utf-8"), flags=re.DOTALL)
        yield from (
            (path, number, line) for number, line in enumerate(text.splitlines(), 1) if path.name not in QUOTING
        )
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        cells = json.loads(path.read_text("utf-8"))["cells"]
        lines = [line for cell in cells if cell["cell_type"] == "markdown" for line in cell["source"]]
        yield from ((path, number, line) for number, line in enumerate(lines, 1))
    for path in sorted((ROOT / "lib").glob("*/**/*.py")):
        if path.is_relative_to(ROOT / "lib" / "tests"):
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
                lines = node.value.splitlines()
                yield from ((path, node.lineno + number, line) for number, line in enumerate(lines))


def test_words_are_standard_terms():
    found = []
    for path, number, line in prose():
        text = re.sub(r"`[^`]*`", "", line)
        found += [
            f"{path.relative_to(ROOT)}:{number}: expected {term}, got {match[0]!r}"
            for pattern, term in TERMS.items()
            if (match := re.search(pattern, text))
        ]
    assert not found, "\n".join(found)
