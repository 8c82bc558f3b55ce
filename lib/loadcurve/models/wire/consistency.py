"""Published or measured rates against the wire: do requests/s and bytes/s belong to the same moment?

Requests per second times the bytes that a request must take gives bytes per second.  A report that prints both, as the
largest value of each, prints two moments; and a request rate whose bytes do not fit the line was not a sustained one.
"""

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from loadcurve.errors import ValueRuleError
from loadcurve.models.wire.limits import link_used_ratio
from loadcurve.stats.arrays import above_0

CONSISTENT, INCONSISTENT, ABOVE_LINE_RATE = "consistent", "inconsistent", "above line rate"


def summarise_consistency(
    throughput_rps: ArrayLike,
    sent_bytes_per_s: ArrayLike,
    frame_bytes: ArrayLike,
    medium_bytes: ArrayLike,
    link_bps: float,
    tolerance_ratio: float = 0.01,
) -> pd.DataFrame:
    """Observed bytes per request beside the wire model, the share of the link they take, and a verdict.

    Parameters
    ----------
    throughput_rps : array_like
        Requests per second, > 0.
    sent_bytes_per_s : array_like
        Bytes per second that the interface counted in the direction of the responses, > 0.
    frame_bytes, medium_bytes : array_like
        What the model says one request takes in that direction: in frames, as interfaces count, and on the medium.
    link_bps : float
        Line rate, > 0.
    tolerance_ratio : float
        Deviation that is still consistent, 0 to 1.  It has to hold what the model leaves out, such as an
        acknowledgement or a header that is a few bytes longer.

    Returns
    -------
    pandas.DataFrame
        ``observed_bytes model_bytes deviation_ratio link_used_ratio verdict``, a row for each pair:
        ``link_used_ratio`` is throughput x model on the medium; ``verdict`` is *above line rate* where that passes 1
        by more than the tolerance, else *inconsistent* where the observed bytes deviate by more than it, else
        *consistent*, and missing where a number is.

    Examples
    --------
    >>> summarise_consistency([579103, 586296], [878859780, 481751777], [1514, 898], [1538, 922], 10e9).round(3)[
    ...     ["observed_bytes", "deviation_ratio", "verdict"]].values.tolist()
    [[1517.623, 0.002, 'consistent'], [821.687, -0.085, 'inconsistent']]
    """
    if not 0 <= tolerance_ratio <= 1:
        raise ValueRuleError("tolerance_ratio", "0 <= tolerance_ratio <= 1", tolerance_ratio)
    throughput, sent, frame, medium = np.broadcast_arrays(
        np.atleast_1d(above_0("throughput_rps", throughput_rps)),
        above_0("sent_bytes_per_s", sent_bytes_per_s),
        above_0("frame_bytes", frame_bytes),
        above_0("medium_bytes", medium_bytes),
    )
    table = pd.DataFrame({"observed_bytes": sent / throughput, "model_bytes": frame})
    table["deviation_ratio"] = table["observed_bytes"] / table["model_bytes"] - 1
    table["link_used_ratio"] = link_used_ratio(link_bps, throughput, medium)
    known = table.notna().all(axis=1)
    table["verdict"] = pd.Series(CONSISTENT, index=table.index, dtype=object).where(known)
    table.loc[known & (table["deviation_ratio"].abs() > tolerance_ratio), "verdict"] = INCONSISTENT
    table.loc[known & (table["link_used_ratio"] > 1 + tolerance_ratio), "verdict"] = ABOVE_LINE_RATE
    return table
