"""Plot a topology: clients (C), balancers or proxies (LB) and servers (S), from left to right, and their links."""

from math import atan2, degrees

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch

from loadcurve.plots._axes import axes_or_new
from loadcurve.plots.style import COLOURS, PALETTE, figure_of

_ROLES = {"C": PALETTE[1], "LB": PALETTE[3], "S": PALETTE[0]}
# Half the width and height of a box; columns and rows are 1 apart.
_WIDTH, _HEIGHT = 0.36, 0.34


def plot_topology(hosts: pd.DataFrame, links: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot hosts as boxes in a column for each role, and the links between them.

    - `hosts`: ``host role facts``: a short name, one of C, LB and S, and up to three lines of text.
    - `links`: ``source target label``: names of hosts, and what the link carries (may be empty).

    Examples
    --------
    >>> hosts = pd.DataFrame({"host": ["C1", "S1"], "role": ["C", "S"], "facts": ["wrk", "nginx"]})
    >>> links = pd.DataFrame({"source": ["C1"], "target": ["S1"], "label": ["1 ms"]})
    >>> [text.get_text() for text in plot_topology(hosts, links).texts if text.get_text()]
    ['C1', 'wrk', 'S1', 'nginx', '1 ms']
    """
    ax = axes_or_new(ax, hosts=hosts)
    columns = [role for role in _ROLES if (hosts["role"] == role).any()]
    most = int(hosts["role"].value_counts().max())
    place = {}
    for x, role in enumerate(columns):
        rows, color = hosts[hosts["role"] == role], _ROLES[role]
        for i, row in enumerate(rows.itertuples()):
            y = (len(rows) - 1) / 2 - i
            place[row.host] = (x, y)
            corner, width, height = (x - _WIDTH + 0.03, y - _HEIGHT + 0.03), 2 * _WIDTH - 0.06, 2 * _HEIGHT - 0.06
            box = FancyBboxPatch(corner, width, height, boxstyle="round,pad=0.03", fc=(color, 0.1), ec=color, lw=1.6)
            ax.add_patch(box)
            ax.text(x, y + 0.17, row.host, ha="center", va="center", color=color, weight="bold")
            ax.text(x, y - 0.1, row.facts, ha="center", va="center", fontsize=8.5)
    arrow = {"arrowstyle": "-|>", "color": COLOURS["limit"], "linewidth": 1.4, "shrinkA": 0, "shrinkB": 0}
    for link in links.itertuples():
        (x, y), (to_x, to_y) = place[link.source], place[link.target]
        ax.annotate("", (to_x - _WIDTH, to_y), xytext=(x + _WIDTH, y), arrowprops=arrow)
        if link.label:
            # Rotate the label along its arrow, so that it does not overlap the boxes at both ends.
            ax.text(
                (x + to_x) / 2, (y + to_y) / 2 + 0.05, link.label, fontsize=8.5, ha="center", va="bottom",
                rotation=degrees(atan2(to_y - y, to_x - x - 2 * _WIDTH)), rotation_mode="anchor",
                transform_rotates_text=True,
            )  # fmt: skip
    ax.set_xlim(-0.5, len(columns) - 0.5)
    ax.set_ylim(-most / 2, most / 2)
    figure_of(ax).set_figheight(0.5 + 1.15 * most)
    ax.set_axis_off()
    return ax
