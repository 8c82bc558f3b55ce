"""An analysis as plain text for a terminal of any width from 72 columns."""

import textwrap
from collections.abc import Iterable, Sequence

import numpy as np

from loadcurve.analysis import Analysis, Curve
from loadcurve.report.cells import level_cells, objective_words, result_cells

_BAR = 24  # characters of the longest bar
_EIGHTHS = " ▏▎▍▌▋▊▉"
_SHOWN = 5  # findings, warnings that are listed; the others are counted


def text_report(analysis: Analysis, width: int = 100, *, unicode: bool = True) -> str:
    """Return an analysis as text.

    Parameters
    ----------
    analysis : Analysis
        As `analyse` returns it.
    width : int
        Columns of the terminal, >= 40, for sentences; tables are as wide as they need to be.
    unicode : bool
        Whether bars may use block characters; else they are made of ``#``.
    """
    many = len(analysis.curves) > 1
    parts = [
        _head(analysis),
        f"Verdict: {analysis.verdict}",
        *(_curve(curve, width, many=many, unicode=unicode) for curve in analysis.curves),
        _listed("Measure next", analysis.next_steps, width, numbered=True),
        _listed("Findings", _findings(analysis), width),
        _listed("Warnings", analysis.warnings, width),
        _listed("Facts that no report prints", analysis.origins, width),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _head(analysis: Analysis) -> str:
    runs = analysis.tables["runs"]
    tools = (runs["tool"].fillna("unknown tool") + " " + runs["tool_version"].fillna("")).str.strip()
    named = ", ".join(f"{count} of {tool}" for tool, count in tools.value_counts(sort=False).items())
    number = f"{len(runs)} run{'s' * (len(runs) != 1)}"
    others = ", ".join(name for name in analysis.tables if name not in ("runs", "latency", "factors", "histogram"))
    return f"{analysis.source}: {number} ({named})" + (f"; also read: {others}" if others else "")


def _curve(curve: Curve, width: int, *, many: bool, unicode: bool) -> str:
    parts = [f"── {curve.variant} " + "─" * max(3, 60 - len(curve.variant))] if many else []
    if len(curve.levels):
        headings, rows = level_cells(curve)
        drawn = bars(curve.levels["throughput_rps"].to_numpy(), unicode)
        parts.append(table([*headings, ""], [[*row, bar] for row, bar in zip(rows, drawn, strict=True)]))
    if curve.results:
        level = curve.results[0].estimate.level
        cells = [result_cells(result) for result in curve.results]
        parts.append(table(["result", "value", f"{level:.0%} interval".replace("%", " %")], cells, left=3))
    if curve.bottleneck:
        parts.append(_paragraph(f"Bottleneck: {curve.bottleneck}", width))
    notes = dict.fromkeys(warning for result in curve.results for warning in result.estimate.warnings)
    parts.append(_listed("Weak points", list(notes), width))
    absent = [f"{objective_words(name)}: {reason}" for name, reason in curve.missing.items()]
    parts.append(_listed("Not computed", absent, width))
    return "\n\n".join(part for part in parts if part)


def _findings(analysis: Analysis) -> list[str]:
    """One sentence for each rule and severity: how many runs, and the first of them with its numbers."""
    sentences = []
    for severity in ("error", "warning"):
        of_severity = analysis.findings[analysis.findings["severity"] == severity]
        for rule, rows in of_severity.groupby("rule", sort=False):
            first = rows.iloc[0]
            runs = f"{len(rows)} runs, such as {first['run_id']}" if len(rows) > 1 else f"{first['run_id']}"
            sentences.append(f"{severity}, {rule}, {runs}: {first['evidence']} {first['advice'] or ''}".strip())
    return sentences


def table(headings: Sequence[str] | None, rows: Sequence[Sequence[str]], left: int = 0) -> str:
    """Return cells in aligned columns: the first `left` and the last to the left, all others to the right."""
    lines = [*([headings] if headings else []), *rows]
    widths = [max(len(cell) for cell in column) for column in zip(*lines, strict=True)]
    last = len(widths) - 1
    return "\n".join(
        "  ".join(
            cell.ljust(size) if i < left or i == last else cell.rjust(size)
            for i, (cell, size) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def bars(values: np.ndarray, unicode: bool) -> list[str]:
    """Return bars in proportion to the values, the longest of `_BAR` characters."""
    lengths = np.nan_to_num(values / np.nanmax(values)) * _BAR
    if not unicode:
        return ["#" * round(length) for length in lengths]
    eighths = [round(8 * length) for length in lengths]
    return [("█" * (n // 8) + _EIGHTHS[n % 8]).rstrip() for n in eighths]


def _listed(title: str, sentences: Iterable[str], width: int, *, numbered: bool = False) -> str:
    every = list(sentences)
    if not every:
        return ""
    kept = every if numbered else every[:_SHOWN]
    lines = [f"{title}:"]
    for i, sentence in enumerate(kept, 1):
        mark = f"{i}. " if numbered else "- "
        lines.append(textwrap.fill(sentence, max(width, 40), initial_indent=mark, subsequent_indent=" " * len(mark)))
    if len(every) > len(kept):
        lines.append(f"- and {len(every) - len(kept)} more")
    return "\n".join(lines)


def _paragraph(sentence: str, width: int) -> str:
    return textwrap.fill(sentence, max(width, 40))
