"""A comparison as text."""

from collections.abc import Sequence
from typing import Literal

from loadcurve.analysis.comparison import Comparison, ratio_words
from loadcurve.analysis.gate import Gate
from loadcurve.blocks.text import table
from loadcurve.stats import Estimate

Undecided = Literal["pass", "fail"]
"""What an undecided gate counts as."""


def comparison_report(comparison: Comparison, gates: Sequence[Gate] = (), undecided: Undecided = "pass") -> str:
    """Return a comparison as text: a row for each level, the overall ratio, and what each gate says (`gate_line`)."""
    overall, (headings, rows) = comparison.overall, comparison.cells()
    parts = [
        f"{comparison.metric}: {comparison.title}",
        table(headings, rows, left=int(headings[0] == "variant")),
        f"All levels: B / A = {ratio_words(overall)}, {100 * overall.level:g} % interval",
        *(f"warning: {sentence}" for sentence in dict.fromkeys(comparison.warnings)),
        *(gate_line(comparison, gate, undecided) for gate in gates if gate.metric == comparison.metric),
    ]
    return "\n".join(parts) + "\n"


def gate_verdict(comparison: Comparison, gate: Gate) -> tuple[str, Estimate, str]:
    """Return the level, the ratio and the verdict that decide a gate: the first that fails it, else all levels."""
    judged = list(comparison.judge(gate))
    return next((each for each in judged if each[2] == "fail"), judged[0])


def gate_line(comparison: Comparison, gate: Gate, undecided: Undecided = "pass") -> str:
    """What a gate says of a comparison, in one line; `undecided` is what an undecided gate counts as."""
    name, ratio, verdict = gate_verdict(comparison, gate)
    line = f"{verdict}: {gate}? {name}, {ratio_words(ratio)}"
    if verdict != "undecided":
        return line
    other = "fail" if undecided == "pass" else "pass"
    return (
        f"{line}: the interval contains {gate.limit:g}; counts as {undecided} (--undecided {other} changes that); "
        "measure more repeats to decide"
    )
