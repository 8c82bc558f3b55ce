"""Small pictures of faults: the numbers of a published figure's last panel, without axes."""

from pathlib import Path

import numpy as np
import pandas as pd

from loadcurve.plots.style import COLOURS, PALETTE
from loadcurve.site.literal import literal

WIDTH, HEIGHT, EDGE = 120.0, 54.0, 4.0
_STROKE = 'fill="none" stroke-width="2" stroke-linejoin="round" stroke-linecap="round"'


def shape_svg(numbers: Path, alt: str) -> str:
    """Return the counter of a fault as a small drawing: lines or bars, the rule's limit, and a clean run in grey."""
    shown = pd.read_csv(numbers)
    rows = shown[(shown["panel"] == shown["panel"].iloc[-1]) & shown["value"].notna()]
    top = float(np.nanmax([*rows["value"], *rows["limit"], 1e-12]))
    level = 1 - rows["value"] / top
    rows = rows.assign(y=EDGE + level * (HEIGHT - 2 * EDGE), clean=rows["clean"].astype(bool))
    parts = _bars(rows) if rows["axis"].iloc[0] == "name" else _lines(rows)
    if rows["limit"].notna().any():
        y = EDGE + (1 - float(rows["limit"].max()) / top) * (HEIGHT - 2 * EDGE)
        line = f'x1="0" x2="{WIDTH:g}" y1="{y:.1f}" y2="{y:.1f}"'
        parts.append(f'<line {line} stroke="{COLOURS["limit"]}" stroke-width="1.5" stroke-dasharray="4 3"/>')
    return (
        f'<svg class="lc-shape" viewBox="0 0 {WIDTH:g} {HEIGHT:g}" role="img" aria-label="{literal(alt)}">'
        f"{''.join(parts)}</svg>"
    )


def _lines(rows: pd.DataFrame) -> list[str]:
    x = rows["x"].astype(float)
    axis = rows["axis"].iloc[0]
    if axis in ("connections", "class"):
        x = np.log(x)
    span = float(x.max() - x.min()) or 1.0
    rows = rows.assign(at=EDGE + (x - x.min()) / span * (WIDTH - 2 * EDGE))
    parts = []
    for clean in (True, False):
        of = rows[rows["clean"] == clean]
        for place, (_, line) in enumerate(of.groupby("series", sort=False, dropna=False)):
            colour = COLOURS["limit"] if clean else PALETTE[place % len(PALETTE)]
            mean = line.groupby("at")["y"].mean()
            points = " ".join(f"{at:.1f},{y:.1f}" for at, y in mean.items())
            parts.append(f'<polyline points="{points}" {_STROKE} stroke="{colour}"/>')
            if (axis == "connections" or len(mean) < 3) and not clean:
                parts += [
                    f'<circle cx="{at:.1f}" cy="{y:.1f}" r="2" fill="{colour}"/>'
                    for at, y in zip(line["at"], line["y"], strict=True)
                ]
    return parts


def _bars(rows: pd.DataFrame) -> list[str]:
    names = list(rows["name"].unique())
    step, both = WIDTH / len(names), rows["clean"].any()
    width = step * (0.34 if both else 0.6)
    parts = []
    for row in rows.itertuples():
        left = step * (names.index(row.name) + 0.5) - (width if both and not row.clean else 0 if both else width / 2)
        colour = COLOURS["limit"] if row.clean else PALETTE[0]
        box = f'x="{left:.1f}" y="{row.y:.1f}" width="{width:.1f}" height="{HEIGHT - EDGE - row.y:.1f}"'
        parts.append(f'<rect {box} fill="{colour}" fill-opacity="0.35" stroke="{colour}"/>')
    return parts
