"""Response times of an open loop beyond the capacity: they grow with the length of the run."""

import numpy as np
from numpy.typing import ArrayLike

from loadcurve.errors import ValueRuleError
from loadcurve.stats.arrays import Array


def overload_latency_s(
    offered_rps: ArrayLike, capacity_rps: float, duration_s: float, quantile: float, unloaded_s: float
) -> Array:
    """Response times by quantile of a run at a fixed rate, counted from when each request was due.

    Parameters
    ----------
    offered_rps : array_like of float, shape (n,)
        Offered rates λ, in requests/s, > 0.
    capacity_rps : float
        Highest rate C that the server serves, in requests/s, > 0.
    duration_s : float
        Length T of the run, in s, > 0; requests without a response at its end have no response time.
    quantile : float
        q, 0 to 1.
    unloaded_s : float
        Response time R₀ without waiting, in s, >= 0.

    Returns
    -------
    numpy.ndarray, shape (n,)
        R₀ up to the capacity, R₀ + q T (1 − C/λ) above it, in s.

    Notes
    -----
    Beyond the capacity the server completes request n at n/C, which was due at n/λ.  A request that completes at t
    waited t (1 − C/λ), and completions are uniform over the run.  This is the fluid approximation of an overloaded
    queue (G. F. Newell, "Applications of Queueing Theory", 2nd edition, 1982, chapter 2): it leaves out the scatter of
    arrivals and of service, so below the capacity it has no queue.

    Examples
    --------
    >>> overload_latency_s([50, 100, 200], 100, duration_s=4, quantile=0.5, unloaded_s=0.02).tolist()
    [0.02, 0.02, 1.02]
    """
    offered = np.asarray(offered_rps, dtype=float)
    for name, value in (("offered_rps", offered), ("capacity_rps", capacity_rps), ("duration_s", duration_s)):
        if not np.all(np.asarray(value) > 0):
            raise ValueRuleError(name, "> 0", value)
    if not (0 <= quantile <= 1 and unloaded_s >= 0):
        raise ValueRuleError("quantile, unloaded_s", "0 to 1, and >= 0", (quantile, unloaded_s))
    return unloaded_s + quantile * duration_s * np.maximum(0.0, 1 - capacity_rps / offered)
