r"""The bottleneck report: resources ranked by what they allow, and what the observed plateau says about each.

Below saturation the demand of a resource is the slope of its utilisation against throughput; at saturation it is
D = m U / X (`summarise_demands`).  A resource of m servers is always busy at

.. math::

    X_\text{max} = \frac{m\,(1 - U_0)}{D}

The least X_max bounds the throughput.  The plateau of the throughput is measured without any monitor, so the two can
contradict each other: then a request costs another amount of work at saturation, or an unwatched resource is the limit.

P. J. Denning, J. P. Buzen, "The Operational Analysis of Queueing Network Models", ACM Computing Surveys 10(3), 1978.

The verdict names the limit in one sentence: the saturated resource, or that no watched resource is saturated.
A throughput that no longer rises with the connections, while nothing watched is busy, is limited by something that is
not watched.  The report "Nginx status page test" met it: 40 clients, throughput flat from about 200 connections on,
processors, memory, disk and network all with room.  The cause was its single listening port.
"""

from typing import Any

import numpy as np
import pandas as pd

from loadcurve.errors import check_columns
from loadcurve.models.capacity.bottleneck import Interval, overlap, summarise_demands
from loadcurve.stats.estimate import Estimate
from loadcurve.stats.mean import find_mean
from loadcurve.tables.curves import SATURATED_RATIO, Saturation, saturation_of
from loadcurve.units import format_quantity


def summarise_bottlenecks(usage: pd.DataFrame, *, load: str = "connections", level: float = 0.95) -> pd.DataFrame:
    """Resources ranked by the throughput that they allow, and whether the observed plateau agrees.

    Parameters
    ----------
    usage : pandas.DataFrame
        As for `summarise_demands`, with the column `load` too.
    load : str
        Column of the load.
    level : float
        Confidence level, 0 < level < 1.

    Returns
    -------
    pandas.DataFrame
        One row for each resource, the one that allows least first.  Columns:

        ``resource, servers, utilisation_ratio, at_load``
            the highest mean utilisation over the runs of a load, and that load.
        ``demand_s, demand_lo, demand_hi, saturated``
            seconds of work that one request needs: D = m U / X if the resource is saturated, else by regression.
        ``saturation_rps, saturation_lo, saturation_hi``
            the throughput that it allows, X_max; measured if it is saturated, else extrapolated.  Both are NaN if other
            work keeps the resource busy.
        ``predicted_rps, predicted_lo, predicted_hi``
            X_max by the loads below its saturation alone; NaN without such loads.
        ``highest_rps, plateau_rps, plateau_lo, plateau_hi``
            the highest mean throughput of a load, and the observed plateau, the same in all rows; the plateau is NaN
            while throughput still rises.
        ``verdict``
            ``agrees``, ``contradicts``, ``not the limit``, ``may be the limit``, ``not tested`` or ``other work``.
        ``meaning``
            the verdict in words, with its number.

    Raises
    ------
    ValueRuleError
        As `summarise_demands`.

    Examples
    --------
    >>> rate = [100.0, 200.0, 300.0, 400.0, 404.0, 396.0]
    >>> cpu = pd.DataFrame({"resource": "CPU", "servers": 1, "connections": [1, 2, 3, 8, 16, 32],
    ...                     "throughput_rps": rate, "utilisation_ratio": [x / 404 for x in rate]})
    >>> disk = cpu.assign(resource="disk", utilisation_ratio=cpu["throughput_rps"] / 2000)
    >>> summarise_bottlenecks(pd.concat([cpu, disk]))[["resource", "demand_s", "verdict"]].round(5).values.tolist()
    [['CPU', 0.00248, 'agrees'], ['disk', 0.0005, 'not the limit']]
    """
    check_columns(usage, [load])
    demands = summarise_demands(usage, load=load, level=level)
    found = saturation_of(usage, load)
    plateau = _plateau(usage, found, load, level)
    rows = [_row(demand, found, plateau) for demand in demands.to_dict("records")]
    return pd.DataFrame(rows).sort_values("saturation_rps", kind="stable", ignore_index=True)  # NaN last


def _plateau(usage: pd.DataFrame, found: Saturation, load: str, level: float) -> Estimate | None:
    """Return the mean throughput over the runs of the plateau; None while throughput still rises."""
    if np.isnan(found.flat_from):
        return None
    runs = usage[usage["resource"] == usage["resource"].iloc[0]]
    return find_mean(runs.loc[runs[load] >= found.flat_from, "throughput_rps"], level)


def _row(demand: dict[Any, Any], found: Saturation, plateau: Estimate | None) -> dict[str, Any]:
    name = demand["resource"]
    busy = found.busy[name]
    full = demand["saturated_points"] >= 2 or np.isnan(demand["line_saturation_rps"])
    prefix = "saturated_demand" if full else "demand"
    verdict, meaning = _judge(demand, found, plateau)
    observed = (np.nan,) * 3 if plateau is None else (plateau.value, plateau.lo, plateau.hi)
    if verdict == "other work":  # its demand would be that of the other work
        demand = demand | {name: np.nan for name in demand if name.endswith(("_s", "_rps", "_lo", "_hi"))}
    return {
        "resource": name,
        "servers": demand["servers"],
        "utilisation_ratio": busy.max(),
        "at_load": busy.idxmax(),
        **{f"demand_{end}": demand[f"{prefix}_{end}"] for end in ("s", "lo", "hi")},
        "saturated": bool(full),
        **{f"saturation_{end}": demand[f"saturation_{end}"] for end in ("rps", "lo", "hi")},
        **{f"predicted_{end}": demand[f"line_saturation_{end}"] for end in ("rps", "lo", "hi")},
        "highest_rps": found.throughput.max(),
        **dict(zip(("plateau_rps", "plateau_lo", "plateau_hi"), observed, strict=True)),
        "verdict": verdict,
        "meaning": meaning,
    }


def _judge(demand: dict[Any, Any], found: Saturation, plateau: Estimate | None) -> tuple[str, str]:
    """Compare what a resource allows with the plateau, or while throughput rises, with its highest value."""
    name, highest = demand["resource"], found.throughput.max()
    predicted, allows = _interval(demand, "line_saturation"), _interval(demand, "saturation")
    if name in found.other_work:
        return "other work", "busy with other work"
    if name in found.resources:
        if np.isnan(predicted).any():
            return "not tested", "saturated at every load"
        if overlap(predicted, allows):
            return "agrees", "saturated, as lower loads predict"
        return "contradicts", f"saturated; lower loads predict {_percent(predicted[0] / allows[0] - 1)}"
    if plateau is None:
        return "not tested", f"not reached: allows {_times(allows[0] / highest)} the highest"
    limits = (plateau.value, plateau.lo, plateau.hi)
    if np.isnan([*allows, *limits]).any():
        return "not tested", "no interval: repeat each load"
    if overlap(allows, limits):
        return "may be the limit", f"may be the limit, {_whole_percent(demand['highest_utilisation_ratio'])} busy"
    if allows[0] > limits[0]:
        return "not the limit", f"allows {_times(allows[0] / limits[0])} the plateau"
    return "contradicts", f"the plateau is {_times(limits[0] / allows[0])} what it allows"


def _interval(demand: dict[Any, Any], name: str) -> Interval:
    value, lo, hi = (float(demand[f"{name}_{end}"]) for end in ("rps", "lo", "hi"))
    return value, lo, hi


def _times(ratio: float) -> str:
    return "any multiple of" if np.isinf(ratio) else f"{ratio:.1f} times"


def _percent(change: float) -> str:
    return f"{100 * change:+.0f} %".replace("-", "−").replace("+0 %", "±0 %").replace("−0 %", "±0 %")


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
    allows = f"would allow {_saturation_text(demands.loc[first])}"
    share = _whole_percent(busy[first].iloc[-1])
    if found.kind == "plateau":
        return (
            f"no watched resource saturates: throughput {found.course(_rate)} requests/s from "
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
        f"not known: {' and '.join(names)} {are} at least {_whole_percent(SATURATED_RATIO)} busy from "
        f"{served.index.name} = {served.idxmin():g} on, yet throughput rises from {_rate(served.min())} to "
        f"{_rate(served.max())} requests/s: other work keeps the machine busy, or the monitor sampled other times; "
        f"stop that work and measure again"
    )


def _sentence(demand: pd.Series, name: str, busy: pd.Series) -> str:
    return (
        f"{name} is {_whole_percent(busy.max())} busy at {busy.index.name} = {busy.idxmax():g} and allows "
        f"{_saturation_text(demand)}"
    )


def _saturation_text(demand: pd.Series) -> str:
    value, lo, hi = _interval(demand, "saturation")
    if np.isinf(value):
        return "any throughput"
    ends = "" if pd.isna(lo) else f" [{_rate(lo)}, {_rate(hi)}]"
    return f"{_rate(value)}{ends} requests/s"


def _rate(rps: float) -> str:
    return format_quantity(rps, "rps").removesuffix(" requests/s")  # rounded as in the table of bottlenecks


def _whole_percent(ratio: float) -> str:
    return f"{100 * ratio:.0f} %"
