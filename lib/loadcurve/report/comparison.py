"""A comparison as text."""

from collections.abc import Sequence

from loadcurve.analysis.compare import Comparison, Gate
from loadcurve.blocks.text import table
from loadcurve.stats import Estimate
from loadcurve.units import format_quantity, unit_of_column


def comparison_report(comparison: Comparison, gates: Sequence[Gate] = ()) -> str:
    """Return a comparison as text: a row for each level, the overall ratio, and what each gate says."""
    levels, unit = comparison.levels, unit_of_column(comparison.metric)
    load = next(name for name in ("connections", "target_rate_rps") if name in levels)
    several = len(levels["variant"].unique()) > 1
    headings = [*(["variant"] if several else []), load, "runs", "A", "B", "B / A", "interval", ""]
    rows = [
        [
            *([row["variant"]] if several else []),
            f"{row[load]:,g}",
            f"{row['baseline_runs']}, {row['other_runs']}",
            format_quantity(row["baseline"], unit),
            format_quantity(row["other"], unit),
            f"{row['ratio']:.3f}",
            _interval(row["lo"], row["hi"]),
            row["verdict"],
        ]
        for row in levels.to_dict("records")
    ]
    overall = comparison.overall
    parts = [
        f"{comparison.metric}: B = {comparison.other} against A = {comparison.baseline}",
        table(headings, rows, left=int(several)),
        f"All levels: B / A = {_ratio(overall)}, {100 * overall.level:g} % interval",
        *(f"warning: {sentence}" for sentence in dict.fromkeys(comparison.warnings)),
        *(gate_line(comparison, gate) for gate in gates if gate.metric == comparison.metric),
    ]
    return "\n".join(parts) + "\n"


def gate_line(comparison: Comparison, gate: Gate) -> str:
    """What a gate says of a comparison, in one line: the first ratio that fails it, else the overall one."""
    judged = list(comparison.judge(gate))
    name, ratio, verdict = next((each for each in judged if each[2] == "fail"), judged[0])
    more = ": measure more repeats" if verdict == "undecided" else ""
    return f"{verdict}: {gate}? {name}, {_ratio(ratio)}{more}"


def _ratio(estimate: Estimate) -> str:
    return f"{estimate.value:.3f} {_interval(estimate.lo, estimate.hi) or '(no interval)'}"


def _interval(lo: float, hi: float) -> str:
    return "" if lo != lo or hi != hi else f"[{lo:.3f}, {hi:.3f}]"
