"""The limit of a system in one sentence: the saturated resource, or that no watched resource is saturated.

A throughput that no longer rises with the connections, while nothing watched is busy, is limited by something that is
not watched.  The report "Nginx status page test" met it: 40 clients, throughput flat from about 200 connections on,
processors, memory, disk and network all with room.  The cause was its single listening port.
"""

import numpy as np
import pandas as pd

from loadcurve.errors import check_columns
from loadcurve.models.capacity.bottleneck import summarise_demands
from loadcurve.tables.curves import SATURATED_RATIO, saturation_of
from loadcurve.units import format_quantity

_UNWATCHED = "look at accept queues, locks, a single listening port, the generator"


def bottleneck_verdict(
    usage: pd.DataFrame, *, load: str = "connections", target_utilisation_ratio: float = 1.0, level: float = 0.95
) -> str:
    """Say what limits the system, with the numbers.

    Parameters
    ----------
    usage : pandas.DataFrame
        As for `summarise_demands`, with the column `load` too.  The generator's processor is a resource as any other.
    load : str
        Column of the load: connections, or the rate that an open loop offered.
    target_utilisation_ratio, level
        As for `summarise_demands`.

    Returns
    -------
    str
        One of four sentences.  A resource is saturated where its mean over the runs of a load is at least 90 % busy,
        unless throughput doubles over such loads: then other work keeps it busy, and the limit is not known.
        Throughput is at a plateau where the highest load brings less than 5 % more than a load of at most half of it.

    Raises
    ------
    ValueRuleError
        As `summarise_demands`.

    Examples
    --------
    >>> usage = pd.DataFrame({"resource": "cpu", "servers": 8, "connections": [50, 100, 200, 400]})
    >>> usage = usage.assign(throughput_rps=[9000, 15000, 20000, 20100], utilisation_ratio=[0.09, 0.15, 0.2, 0.2])
    >>> print(bottleneck_verdict(usage))  # doctest: +NORMALIZE_WHITESPACE
    no watched resource saturates: throughput stays at 20,100 requests/s from connections = 200 to 400, where cpu is
    20 % busy and would allow 100,000 [98,400, 103,000] requests/s; look at accept queues, locks, a single listening
    port, the generator
    """
    check_columns(usage, [load])
    demands = summarise_demands(usage, load=load, target_utilisation_ratio=target_utilisation_ratio, level=level)
    demands = demands.set_index("resource")
    found = saturation_of(usage, load)
    busy, throughput = found.busy, found.throughput
    named = [name for name in demands.index if name in found.resources]
    if found.kind == "saturated":
        return f"saturated: {'; '.join(_sentence(demands.loc[name], name, busy[name]) for name in named)}"
    if found.kind == "other work":
        return _other_work(named, busy, throughput)
    first, last = demands.index[0], throughput.index.max()
    allows = f"would allow {_interval(demands.loc[first], 'saturation')}"
    share = _percent(busy[first].iloc[-1])
    if found.kind == "plateau":
        return (
            f"no watched resource saturates: throughput stays at {_rate(throughput.max())} requests/s from "
            f"{load} = {found.flat_from:g} to {last:g}, where {first} is {share} busy and {allows}; "
            f"{_UNWATCHED}"
        )
    return (
        f"no bottleneck was reached: throughput is not at a plateau at {load} = {last:g}, "
        f"{_rate(throughput[last])} requests/s; the first resource to saturate would be {first}, "
        f"now {share} busy: it {allows}"
    )


def _other_work(names: list[str], busy: pd.Series, throughput: pd.Series) -> str:
    first = names[0]
    served = throughput[busy[first].index[busy[first] >= SATURATED_RATIO]]
    are = "are" if len(names) > 1 else "is"
    return (
        f"not known: {' and '.join(names)} {are} at least {_percent(SATURATED_RATIO)} busy from "
        f"{served.index.name} = {served.idxmin():g} on, yet throughput rises from {_rate(served.min())} to "
        f"{_rate(served.max())} requests/s: other work keeps the machine busy, or the monitor sampled other times; "
        f"stop that work and measure again"
    )


def _sentence(demand: pd.Series, name: str, busy: pd.Series) -> str:
    return (
        f"{name} is {_percent(busy.max())} busy at {busy.index.name} = {busy.idxmax():g} and allows "
        f"{_interval(demand, 'saturation')}"
    )


def _interval(demand: pd.Series, name: str) -> str:
    value, lo, hi = (demand[f"{name}_{end}"] for end in ("rps", "lo", "hi"))
    if np.isinf(value):
        return "any throughput"
    ends = "" if pd.isna(lo) else f" [{_rate(lo)}, {_rate(hi)}]"
    return f"{_rate(value)}{ends} requests/s"


def _rate(rps: float) -> str:
    return format_quantity(rps, "rps").removesuffix(" requests/s")  # rounded as in the table of bottlenecks


def _percent(ratio: float) -> str:
    return f"{100 * ratio:.0f} %"
