"""Which limit a number of opened connections reached: of open files or of local ports."""

from dataclasses import dataclass

import numpy as np

from loadcurve.models.wire.ports import LINUX_PORTS

# Standard streams, epoll and its like: a process has a few descriptors beside its connections.
OTHER_DESCRIPTORS = 32
_USUAL = tuple(2**k for k in range(8, 21))  # 1,024 by default, 65,536 or 1,048,576 where it was raised


@dataclass(frozen=True)
class ReachedLimit:
    """A limit that explains why no more connections opened.

    Attributes
    ----------
    words : str
        What the number of open connections is, with the limit.
    advice : str
        How to raise the limit.
    """

    words: str
    advice: str


def limit_reached(opened: int, open_files: float = np.nan, ports: float = np.nan) -> ReachedLimit | None:
    """Return the limit just above a number of open connections, or None.

    Examples
    --------
    >>> limit_reached(1020).words
    'just below 1024, a usual limit of open files'
    >>> limit_reached(195, open_files=200).words
    'just below 200, the limit of open files'
    >>> limit_reached(700) is None
    True
    """
    limits = _USUAL if np.isnan(open_files) else (int(open_files),)
    for limit in limits:
        if limit - OTHER_DESCRIPTORS <= opened < limit:
            which = "a usual" if np.isnan(open_files) else "the"
            advice = "Raise the generator's limit of open files (`ulimit -n`)."
            return ReachedLimit(f"just below {limit}, {which} limit of open files", advice)
    ports = LINUX_PORTS if np.isnan(ports) else ports
    if ports - OTHER_DESCRIPTORS <= opened <= ports:
        advice = "Widen net.ipv4.ip_local_port_range on the generator's host, or use several client addresses."
        return ReachedLimit(f"just about the number of local ports, {ports:.0f}", advice)
    return None
