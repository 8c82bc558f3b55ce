"""Rate of the link through which a study's only server sends its responses."""

import math
from collections.abc import Mapping
from typing import Any

_DEFAULT_MTU = 1500


def link_rate_bps(settings: Mapping[str, Any]) -> float:
    """Return the rate of the only server's link, in bit/s; NaN if the point sets none, or has several servers.

    It is NaN as well for an MTU other than 1500 bytes, because the bytes of frames are not measured there.

    Examples
    --------
    >>> link_rate_bps({"topology": {"recipe": "client_server"}, "links": {"S1": {"rate_bps": 1e8}}})
    100000000.0
    """
    if (settings.get("topology") or {}).get("servers") not in (None, 1):
        return math.nan
    links = list((settings.get("links") or {}).values())
    rates = [float(link["rate_bps"]) for link in links if math.isfinite(link.get("rate_bps", math.inf))]
    plain = all(link.get("mtu", _DEFAULT_MTU) == _DEFAULT_MTU for link in links)
    return min(rates) if rates and plain else math.nan
