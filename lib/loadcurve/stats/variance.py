"""Mean over several levels of repetition (builds, server starts, runs).

Level 1 is the lowest (measurements of one start), level n the highest.  The values form a nested, balanced design.

T. Kalibera, R. Jones, "Rigorous Benchmarking in Reasonable Time", ISMM 2013 (the
worked example of the tests).
"""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from loadcurve.errors import ValueRuleError
from loadcurve.stats.arrays import Array, between_0_and_1
from loadcurve.stats.estimate import Estimate
from loadcurve.stats.mean import find_mean


def find_mean_of_levels(values: ArrayLike, level: float = 0.95) -> Estimate:
    r"""Mean of a nested design, with the interval that the highest level gives.

    .. math:: \bar y \pm t_{r_n-1,\,(1+\text{level})/2} \sqrt{S_n^2 / r_n}

    Parameters
    ----------
    values : array_like of float, shape (r_n, ..., r_1)
        Highest level first, at least 2 repetitions at each level, any unit, no NaN.
    level : float
        Confidence level, 0 < level < 1.

    Returns
    -------
    Estimate
        In the unit of `values`.  Only repetitions of the highest level are independent; more of the lower ones cannot
        replace them.

    Raises
    ------
    ValueRuleError
        When a rule is broken.

    Examples
    --------
    >>> print(find_mean_of_levels([[[9, 5], [8, 3]], [[10, 6], [7, 11]], [[1, 12], [2, 4]]]))
    6.5 [1.811, 13.9]
    """
    known, level = _design(values), between_0_and_1("level", level)
    highest = known.reshape(known.shape[0], -1).mean(axis=1)
    method = f"mean, t interval over the {highest.size} repetitions of the highest of {known.ndim} levels"
    return replace(find_mean(highest, level), method=method)


def _design(values: ArrayLike) -> Array:
    try:
        array = np.asarray(values, dtype=float)
    except ValueError as error:
        raise ValueRuleError("values", "numbers, as many in each group of a level", "others") from error
    if array.ndim == 0 or min(array.shape) < 2:
        raise ValueRuleError("values", "of at least 2 repetitions at each level", f"shape {array.shape}")
    if not np.isfinite(array).all():
        raise ValueRuleError("values", "complete", array[~np.isfinite(array)][0])
    return array
