"""Mixes of responses of one and two segments that give a wanted share of full and small packets.

A load of large packets fills the link, one of small packets the packet rate; real traffic has both.  A body that makes
exactly one full segment gives one full packet, a small body one small packet, and a body of both one of each:

    small : full = 1 : 0, 1 : 1 or 0 : 1

Any mix lies between two of these three, and two kinds of responses are enough.
"""

import pandas as pd

from loadcurve.errors import ValueRuleError
from loadcurve.models.wire.frames import ETHERNET, Wire, summarise_responses


def summarise_mix(full_ratio: float, small_bytes: float, header_bytes: float, wire: Wire = ETHERNET) -> pd.DataFrame:
    """Two kinds of responses, and the share of each, for a wanted share of full packets.

    The mix has two branches.  Up to one half, small responses are mixed with responses of a full and a small segment;
    above, full responses with those.

    Parameters
    ----------
    full_ratio : float
        Wanted share of full segments among the packets of the responses, 0 to 1.
    small_bytes : float
        Payload of a small segment, `header_bytes` <= small_bytes < a full segment: what a response of one small
        segment hands to TCP.
    header_bytes : float
        HTTP header of each response, > 0.
    wire : Wire
        What a segment costs.

    Returns
    -------
    pandas.DataFrame
        ``kind responses_ratio full small`` and the columns of `summarise_responses`: of each kind its share of the
        responses, its full and small packets, and the body to serve.  Two rows, of which one may have the share 0.

    Examples
    --------
    >>> mix = summarise_mix(0.25, small_bytes=216, header_bytes=216)
    >>> mix[["kind", "responses_ratio", "response_bytes"]].round(3).values.tolist()
    [['small', 0.667, 0.0], ['full and small', 0.333, 1448.0]]
    """
    if not 0 <= full_ratio <= 1:
        raise ValueRuleError("full_ratio", "0 <= full_ratio <= 1", full_ratio)
    if not 0 < header_bytes <= small_bytes < wire.segment_bytes:
        rule = f"header_bytes <= small_bytes < {wire.segment_bytes}, header_bytes > 0"
        raise ValueRuleError("small_bytes", rule, f"{small_bytes} with header_bytes {header_bytes}")
    kinds = {"small": (0, 1), "full and small": (1, 1), "full": (1, 0)}
    if full_ratio <= 0.5:
        chosen, both = ("small", "full and small"), full_ratio / (1 - full_ratio)  # full share w / (1 + w)
        shares = (1 - both, both)
    else:
        chosen, both = ("full and small", "full"), (1 - full_ratio) / full_ratio  # full share 1 / (1 + w)
        shares = (both, 1 - both)
    table = pd.DataFrame({"kind": chosen, "responses_ratio": shares})
    table["full"], table["small"] = zip(*(kinds[kind] for kind in chosen), strict=True)
    body = table["full"] * wire.segment_bytes + table["small"] * small_bytes - header_bytes
    return table.join(summarise_responses(body, header_bytes, wire))
