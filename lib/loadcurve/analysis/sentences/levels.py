"""Sentences about the levels of one curve: where throughput is highest, and how response times change."""

import numpy as np
import pandas as pd

from loadcurve.analysis.cells import connections_words, percentile, shown

SAME = 0.05
"""Change that counts as none: about the scatter between runs of a quiet machine."""


def throughput_words(levels: pd.DataFrame, load: str = "connections") -> str:
    """Where throughput is highest, and what it does after that.

    Examples
    --------
    >>> rates = pd.DataFrame({"connections": [1, 2, 4, 8], "throughput_rps": [100.0, 200.0, 150.0, 196.0]})
    >>> throughput_words(rates)
    'Throughput is highest at 2 connections (200 requests/s), 25 % lower at 4 and 2 % lower at 8 connections.'
    """
    best, last = levels.loc[levels["throughput_rps"].idxmax()], levels.iloc[-1]
    if len(levels) == 1:
        return (
            f"Throughput was measured at one load, {at_load(last[load], load)}: {shown(last['throughput_rps'], 'rps')}."
        )
    highest = shown(best["throughput_rps"], "rps")
    if best[load] == last[load]:
        gain = last["throughput_rps"] / levels["throughput_rps"].iloc[-2] - 1
        ending = "still rises" if gain > SAME else "is level"
        more = f"{percent(gain)} more than at the load before"
        return f"Throughput {ending} at the highest load, {at_load(last[load], load)} ({highest}; {more})."
    after = levels[levels[load] > best[load]]
    worst, fall = after.loc[after["throughput_rps"].idxmin()], 1 - after["throughput_rps"] / best["throughput_rps"]
    start = f"Throughput is highest at {at_load(best[load], load)} ({highest})"
    end = at_load(last[load], load)
    if fall.max() <= SAME:
        return f"{start} and stays within {percent(SAME)} of that up to {end}."
    if fall.iloc[-1] >= fall.max() - SAME:
        return f"{start} and falls by {percent(fall.iloc[-1])} up to {end}."
    dip = f"{percent(fall.max())} lower at {shown(worst[load], '' if load == 'connections' else 'rps')}"
    return f"{start}, {dip} and {percent(fall.iloc[-1])} lower at {end}."


def latency_words(levels: pd.DataFrame, load: str = "connections", name: str = "latency_mean_s") -> str:
    """How a statistic of the response time changes from the lowest to the highest load.

    Examples
    --------
    >>> latency_words(pd.DataFrame({"connections": [1, 2, 4], "latency_mean_s": [0.01, 0.01, 0.02]}))
    'The mean response time rises from 10.0 ms at 1 connection to 20.0 ms at 4 connections.'
    """
    known = levels[levels[name] > 0]  # 0 is a time below the last digit that is printed
    if known.empty:
        return "No response time is known."
    first, last = known.iloc[0], known.iloc[-1]
    words = "The mean response time" if name == "latency_mean_s" else f"The response time at {percentile(name)}"
    if len(known) == 1:
        return f"{words} is {shown(first[name], 's')} at {at_load(first[load], load)}."
    return (
        f"{words} {direction(last[name] / first[name])} from {shown(first[name], 's')} at {at_load(first[load], load)} "
        f"to {shown(last[name], 's')} at {at_load(last[load], load)}."
    )


def saturation_words(levels: pd.DataFrame, saturation: float, latency_min_s: float) -> str:
    """What the level nearest to N*, and the first near the highest throughput, cost: throughput lost, or time gained.

    Examples
    --------
    >>> levels = pd.DataFrame({"connections": [1, 4, 16], "throughput_rps": [100.0, 200.0, 400.0]})
    >>> saturation_words(levels, 4.0, 0.01)
    'Beyond N*, requests must queue; it is no limit for the load. At 4 connections, nearest to N*, throughput is 50 % of the \
highest and N/X is 2 times R_min; at 16 connections, 100 % and 4 times.'
    """
    number, rate = levels["connections"].astype(float), levels["throughput_rps"].astype(float)
    near, enough = (number / saturation).map(np.log).abs().idxmin(), rate.ge((1 - SAME) * rate.max()).idxmax()
    at = {i: (at_load(number[i], "connections"), percent(rate[i] / rate.max())) for i in (near, enough)}
    times = {i: shown(number[i] / rate[i] / latency_min_s, "") for i in at}
    share = f"throughput is {at[near][1]} of the highest and N/X is {times[near]} times R_min"
    more = f"; at {at[enough][0]}, {at[enough][1]} and {times[enough]} times" if enough != near else ""
    return f"Beyond N*, requests must queue; it is no limit for the load. At {at[near][0]}, nearest to N*, {share}{more}."


def direction(ratio: float) -> str:
    """Verb for a change by a factor: it rises, falls, or stays level.

    Examples
    --------
    >>> direction(2.0), direction(0.97), direction(0.5)
    ('rises', 'stays level', 'falls')
    """
    return "rises" if ratio > 1 + SAME else "falls" if ratio < 1 - SAME else "stays level"


def change_words(ratio: float) -> str:
    """A change by a factor, with its verb.

    Examples
    --------
    >>> change_words(1.2), change_words(0.97), change_words(0.5)
    ('rises by 20 %', 'stays level (−3 %)', 'falls by 50 %')
    """
    if (verb := direction(ratio)) == "stays level":
        return f"{verb} ({ratio - 1:+.0%})".replace("%", " %").replace("-", "−")
    return f"{verb} by {percent(abs(ratio - 1))}"


def at_load(load: float, column: str) -> str:
    """A load with its noun, such as ``8 connections``."""
    if column == "connections":
        return connections_words(load)
    return f"{shown(load, 'rps')} offered"


def percent(ratio: float) -> str:
    """A ratio as whole per cent.

    Examples
    --------
    >>> percent(-0.25)
    '−25 %'
    """
    return f"{ratio:.0%}".replace("%", " %").replace("-", "−")
