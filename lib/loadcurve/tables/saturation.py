"""Which resources of a curve are saturated, and whether its throughput is at a plateau: one definition for all.

The audit's rules, the verdict on the bottleneck and the report all take `SATURATED_RATIO` and `saturation_of`, so they
cannot contradict each other about the same data.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

SATURATED_RATIO = 0.90
"""Utilisation from which a resource counts as saturated.

A queue at a single server whose arrivals and services are random is ten service times long there (M/M/1,
R = S / (1 − U); E. D. Lazowska et al., "Quantitative System Performance", 1984), so a higher threshold would call a
system free in which requests mainly wait.  A lower one would include resources with capacity for a fifth more load.
"""

PLATEAU_RISE = 0.05
"""What a load at least twice as high must bring for throughput to count as rising: more than repeats scatter.

Ten repeats of a CPU-bound server on a small virtual machine had a coefficient of variation of 5.6 to 7.7 %, so the
mean of three repeats scatters by 4 %.
"""

# Throughput of a resource that only the requests keep busy is m / D.  D varies between loads, as with larger batches,
# but seldom twofold.
_UNRELATED = 2.0

Kind = Literal["saturated", "other work", "plateau", "rising"]


@dataclass(frozen=True)
class Saturation:
    """What limits the throughput of one curve, as far as its resources were watched.

    Its kind is ``saturated``: a resource is; ``other work``: a resource is always busy, yet throughput doubles, so
    other work keeps it busy; ``plateau``: throughput rises no further, and no watched resource is saturated;
    ``rising``: throughput still rises.
    """

    kind: Kind
    resources: tuple[str, ...]  # The saturated resources, or where there are none, those with other work
    other_work: tuple[str, ...]  # Resources that other work keeps busy
    busy: pd.Series  # Mean utilisation over the runs of a load, by resource and load
    throughput: pd.Series  # Mean throughput by load
    flat_from: float  # Load from which throughput rises no further; NaN if it still rises at the highest load

    @property
    def flat(self) -> pd.Series:
        """Throughput of the loads of the plateau; empty without one."""
        return self.throughput[self.throughput.index >= self.flat_from]


def saturation_of(usage: pd.DataFrame, load: str = "connections") -> Saturation:
    """Return what limits the throughput of a curve.

    Examples
    --------
    >>> usage = pd.DataFrame({"resource": "CPU", "connections": [1, 2, 4, 8], "throughput_rps": [100, 200, 380, 390],
    ...                       "utilisation_ratio": [0.25, 0.5, 0.95, 0.98]})
    >>> found = saturation_of(usage)
    >>> found.kind, found.resources, found.flat_from
    ('saturated', ('CPU',), 4.0)
    """
    busy = usage.groupby(["resource", load], observed=True)["utilisation_ratio"].mean()
    throughput = usage.groupby(load)["throughput_rps"].mean().astype(float)
    highest = busy.groupby("resource", observed=True).max()
    full = [str(name) for name in pd.unique(usage["resource"]) if highest[name] >= SATURATED_RATIO]
    saturated = tuple(name for name in full if not _has_other_work(busy[name], throughput))
    flat_from = _flat_from(throughput)
    other_work = tuple(name for name in full if name not in saturated)
    kind: Kind = "rising" if np.isnan(flat_from) else "plateau"
    if full:
        kind = "saturated" if saturated else "other work"
    return Saturation(kind, saturated or other_work, other_work, busy, throughput, flat_from)


def _has_other_work(busy: pd.Series, throughput: pd.Series) -> bool:
    """Whether throughput rises over loads at which the resource is always busy: requests alone cannot do that."""
    served = throughput[busy.index[busy >= SATURATED_RATIO]]
    return bool(served.max() > _UNRELATED * served.min() and served.idxmax() > served.idxmin())


def _flat_from(throughput: pd.Series) -> float:
    """Return the best load of those at most half the highest, if the highest load brings hardly more than it."""
    last = throughput.index.max()
    half = throughput[throughput.index <= last / 2]
    if len(half) and throughput[last] <= (1 + PLATEAU_RISE) * half.max():
        level = half.max() / (1 + PLATEAU_RISE)
        return float(half.index[half >= level].min())
    return np.nan
