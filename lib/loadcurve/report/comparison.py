"""A comparison as text."""

from collections.abc import Sequence

from loadcurve.analysis.compare import Comparison, Gate, ratio_words
from loadcurve.blocks.text import table


def comparison_report(comparison: Comparison, gates: Sequence[Gate] = ()) -> str:
    """Return a comparison as text: a row for each level, the overall ratio, and what each gate says."""
    overall, (headings, rows) = comparison.overall, comparison.cells()
    parts = [
        f"{comparison.metric}: B = {comparison.other} against A = {comparison.baseline}",
        table(headings, rows, left=int(headings[0] == "variant")),
        f"All levels: B / A = {ratio_words(overall)}, {100 * overall.level:g} % interval",
        *(f"warning: {sentence}" for sentence in dict.fromkeys(comparison.warnings)),
        *(gate_line(comparison, gate) for gate in gates if gate.metric == comparison.metric),
    ]
    return "\n".join(parts) + "\n"


def gate_line(comparison: Comparison, gate: Gate) -> str:
    """What a gate says of a comparison, in one line: the first ratio that fails it, else the overall one."""
    judged = list(comparison.judge(gate))
    name, ratio, verdict = next((each for each in judged if each[2] == "fail"), judged[0])
    more = ": measure more repeats" if verdict == "undecided" else ""
    return f"{verdict}: {gate}? {name}, {ratio_words(ratio)}{more}"
