"""Sentences about an open loop beside a closed loop of the same server."""

import pandas as pd

from loadcurve.analysis.cells import connections_words, shown
from loadcurve.analysis.sentences.levels import at_load

_FLAT = 2.0  # a percentile that has at most doubled since the lowest rate


def rates_caption(offered: pd.DataFrame, closed: pd.DataFrame) -> str:
    """Up to which rate the 99th percentile is level, where it ends, and what the closed loop shows at most.

    `offered` is from `summarise_rates`, of an open loop; `closed` is the same of a closed loop, and may be empty.

    Examples
    --------
    >>> offered = pd.DataFrame({"target_rate_rps": [100.0, 300.0, 450.0], "latency_p99_s": [0.02, 0.03, 0.6]})
    >>> closed = pd.DataFrame({"connections": [1, 32], "latency_p99_s": [0.02, 0.09]})
    >>> rates_caption(offered, closed)
    'In the open loop, p99 is at most twice that of the lowest rate up to 300 requests/s offered (30.0 ms), and 600 ms \
at 450 requests/s offered. In the closed loop, it never exceeds 90.0 ms, at 32 connections.'
    """
    p99 = offered.set_index("target_rate_rps")["latency_p99_s"].sort_index()
    level = (p99 <= _FLAT * p99.iloc[0]).cummin()
    flat, last = p99[level].index[-1], p99.index[-1]
    words = f"In the open loop, p99 is at most twice that of the lowest rate up to {at_load(flat, 'target_rate_rps')}"
    words += f" ({shown(p99[flat], 's')})"
    words += "." if flat == last else f", and {shown(p99[last], 's')} at {at_load(last, 'target_rate_rps')}."
    if closed.empty:
        return words
    worst = closed.loc[closed["latency_p99_s"].idxmax()]
    at = connections_words(worst["connections"])
    return f"{words} In the closed loop, it never exceeds {shown(worst['latency_p99_s'], 's')}, at {at}."


def correction_caption(rate_rps: float, due_s: float, sent_s: float) -> str:
    """Give the 99th percentile at one rate, from when requests were due and from when they were sent.

    Examples
    --------
    >>> correction_caption(450.0, 0.68, 0.09)
    'At 450 requests/s offered, p99 is 680 ms from when requests were due, and 90.0 ms from when they were sent.'
    """
    due, sent = shown(due_s, "s"), shown(sent_s, "s")
    at = at_load(rate_rps, "target_rate_rps")
    return f"At {at}, p99 is {due} from when requests were due, and {sent} from when they were sent."
