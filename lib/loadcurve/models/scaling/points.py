"""Points of a curve, checked: sorted, each level once, missing values left out with a warning."""

import numpy as np
from numpy.typing import ArrayLike

from loadcurve.errors import ValueRuleError
from loadcurve.stats.arrays import Array, above_0, measured


def known_points(
    connections: ArrayLike, throughput_rps: ArrayLike, weights: ArrayLike | None, least: int
) -> tuple[Array, Array, Array, list[str]]:
    """Connections, throughput and weights of the points that have a value, sorted by connections; and warnings."""
    number = np.atleast_1d(measured("connections", connections))
    throughput = np.atleast_1d(measured("throughput_rps", throughput_rps))
    weight = np.ones_like(number) if weights is None else np.atleast_1d(above_0("weights", weights))
    if number.shape != throughput.shape or number.ndim != 1:
        raise ValueRuleError("throughput_rps", f"of the shape of connections, {number.shape}", throughput.shape)
    if weight.shape != number.shape:
        raise ValueRuleError("weights", f"of the shape of connections, {number.shape}", weight.shape)
    known = np.isfinite(number) & np.isfinite(throughput) & np.isfinite(weight)
    warnings = [] if known.all() else [f"{(~known).sum()} of {known.size} points have no value and are left out"]
    number, throughput, weight = number[known], throughput[known], weight[known]
    if number.size < least:
        raise ValueRuleError("points", f">= {least} (the law has {least} parameters)", number.size)
    order = np.argsort(number)
    number, throughput, weight = number[order], throughput[order], weight[order]
    twice = number[1:][np.diff(number) == 0]
    if twice.size:
        raise ValueRuleError("connections", "each level once (pass the mean over its repeats)", f"{twice[0]:g} twice")
    return number, throughput, weight / weight.mean(), warnings
