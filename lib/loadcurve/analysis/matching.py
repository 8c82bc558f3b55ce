"""Which curves and which loads of several measurements are compared with each other."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from loadcurve.analysis.answer import Analysis
from loadcurve.analysis.curve import Curve
from loadcurve.errors import LoadcurveError
from loadcurve.tables.curves import LOOPS, SAME_RATE, UNNAMED

_MOST = 6  # loads in a message
_METRICS = "^(throughput|goodput|latency|error|received)"


def match_curves(measurements: Sequence[Analysis]) -> tuple[dict[str, list[Curve | None]], list[str]]:
    """Match the curves of several measurements by the column of the load and the name of the variant."""
    loads = list(dict.fromkeys(curve.load for one in measurements for curve in one.curves))
    shared = [load for load in loads if sum(any(c.load == load for c in one.curves) for one in measurements) > 1]
    if not shared:
        found = ", ".join(f"{' and '.join(_loads(one))} ({one.source})" for one in measurements)
        raise LoadcurveError(f"load must be the same column in all measurements, got {found}")
    matched: dict[str, list[Curve | None]] = {}
    warnings: list[str] = []
    for load in shared:
        curves_of_each = [{_name(c): c for c in one.curves if c.load == load} for one in measurements]
        for curves in _groups(curves_of_each):
            known = [curve.variant for curve in curves if curve]
            if len(known) > 1:
                name = next((variant for variant in known if variant != UNNAMED), UNNAMED)
                matched[f"{LOOPS[load]}, {name}" if name in matched else name] = curves
        if any(len(each) > 1 for each in curves_of_each):
            unnamed = [one.source for each, one in zip(curves_of_each, measurements, strict=True) if list(each) == [""]]
            warnings += [f"{name} names no variant: it is compared with each variant of the others" for name in unnamed]
    used = {id(curve) for curves in matched.values() for curve in curves}
    for one in measurements:
        warnings += [f"only {one.source} has {c.variant}" for c in one.curves if id(c) not in used]
    if not matched:
        found = "; ".join(f"{', '.join(c.variant for c in one.curves)} ({one.source})" for one in measurements)
        raise LoadcurveError(
            f"measurements must have a variant in common, got {found}: name the folder of one variant of each"
        )
    return matched, warnings


def _groups(curves_of_each: Sequence[Mapping[str, Curve]]) -> list[list[Curve | None]]:
    """Return curves that are compared, one or none of each measurement, from the curves of each by name.

    Where no measurement has several curves, names do not matter.  A measurement whose only curve has no name is
    compared under every name.
    """
    if all(len(each) <= 1 for each in curves_of_each):
        return [[next(iter(each.values()), None) for each in curves_of_each]]
    names = dict.fromkeys(name for each in curves_of_each for name in each if name)
    return [[each.get("" if list(each) == [""] else name) for each in curves_of_each] for name in names]


def match_load(at: float, loads: Iterable[float], load: str) -> float | None:
    """Return the load that is compared with another measurement's `at`: the same, or the closest offered rate.

    Examples
    --------
    >>> match_load(250.0, [249.0, 500.0], "target_rate_rps"), match_load(250.0, [249.0], "connections")
    (249.0, None)
    """
    every = list(loads)
    if at in every:
        return at
    near = [other for other in every if load == "target_rate_rps" and abs(np.log(other / at)) <= np.log1p(SAME_RATE)]
    return min(near, key=lambda other: abs(other - at), default=None)


def metrics_of(curve: Curve) -> list[str]:
    """Return the columns of the runs in which measurements can be compared: quantities that some run has, > 0."""
    runs = curve.runs if len(curve.levels) else curve.runs.iloc[:0]
    found = runs.filter(regex=_METRICS).select_dtypes("number")
    return sorted(name for name in found if (found[name] > 0).any())


def loads_words(curve: Curve) -> str:
    """Return the loads of a curve for a message: ``connections = 1, 2, 4``."""
    loads = [f"{at:g}" for at in curve.levels[curve.load]]
    return f"{curve.load} = {', '.join(loads[:_MOST])}{', …' if len(loads) > _MOST else ''}"


def _loads(one: Analysis) -> list[str]:
    return list(dict.fromkeys(curve.load for curve in one.curves))


def _name(curve: Curve) -> str:
    """Name of the variant without the word for the loop, which only folders with both loops have; empty for none."""
    name = curve.variant.removeprefix(LOOPS[curve.load]).removeprefix(", ")
    return "" if name == UNNAMED else name
