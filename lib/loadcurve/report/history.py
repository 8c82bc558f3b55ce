"""A history as text."""

import math

from loadcurve.analysis.history import History
from loadcurve.blocks.text import bars, table
from loadcurve.units import format_quantity, unit_of_column


def history_report(history: History, *, unicode: bool = True) -> str:
    """Return a history as text: a row for each measurement, the changes, and the warnings."""
    unit, points = unit_of_column(history.metric), history.points
    drawn = bars(points["value"].to_numpy(float), unicode)
    rows = [
        [
            f"{row['time']:%Y-%m-%d %H:%M}",
            row["source"],
            str(row["runs"]),
            format_quantity(row["value"], unit),
            ""
            if math.isnan(row["lo"])
            else f"[{format_quantity(row['lo'], unit)}, {format_quantity(row['hi'], unit)}]",
            bar,
        ]
        for row, bar in zip(points.to_dict("records"), drawn, strict=True)
    ]
    lines = [
        f"{history.metric} at {history.load}, {len(points)} measurements (times in UTC)",
        table(["date", "source", "runs", "mean", "interval", ""], rows, left=2),
        *(
            f"change at {change.source}: {100 * (change.ratio.value - 1):+.1f} % "
            f"[{100 * (change.ratio.lo - 1):+.1f}, {100 * (change.ratio.hi - 1):+.1f}]"
            for change in history.changes
        ),
    ]
    if not history.changes and not history.warnings:
        lines.append("no change found")
    return "\n".join([*lines, *(f"warning: {sentence}" for sentence in history.warnings)]) + "\n"
