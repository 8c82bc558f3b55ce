r"""The rate of one unit is too small to compare with: n units serve more than n times as much.

What it means
-------------
The efficiency of $n$ equal units (sockets, machines) is $E_n = X_n / (n X_1)$ (N. J. Gunther, “Guerrilla Capacity
Planning”, 2007, chapter 4). Perfect copies have $E_n = 1$; sharing anything usually makes it smaller. Above 1 the
baseline $X_1$ is probably too small: one unit was not measured at its best, or under the same conditions. The scatter
of single runs can cause it too, and so can data that fit into the caches of all units but not of one.

Why it happens
--------------
The baseline is a lower bound; it was measured before tuning, or with fewer connections; the generator limited it; its
processors were idle part of the time, or its cache cold. The report on LVS with two sockets has 33.2 + 32.7 = 65.9
(10,000 requests/s) from two sockets and “30+” from one: $65.9 / (2 \cdot 30) = 1.10$ at most, because “30+” is a
lower bound, from before tuning. The rule compares runs of one variant at the same number of connections; if one unit
never had so many, with the highest throughput that it reached. Another variant is the baseline only at the same number
of connections.

How to fix it
-------------
Measure one unit again with the settings, the load and the generator of the others, until its processors are
full. Report the gain against that number. `loadcurve.models.capacity.summarise_scale_out` gives the efficiency
with its interval.

When to ignore it
-----------------
When more units bring more memory, so that the data fit into the caches of all but not of one. Say so beside the
number.
"""

from collections.abc import Iterator, Mapping

from loadcurve.audit.rule import THROUGHPUT, Finding, Limit, Need, Rule, severity_of
from loadcurve.audit.run_tables import Tables
from loadcurve.tables import merge_generators


def judge_scale_out(tables: Tables, limits: Mapping[str, float]) -> Iterator[Finding]:
    """Yield one finding for each row of ``runs`` with more units than the fewest of its study."""
    for _, group in merge_generators(tables["runs"]).groupby("study", dropna=False, sort=False):
        units = group["server_units"].astype(int)
        loads = group["connections"].astype(float).fillna(0.0)
        least = int(units.min())
        variants = group["variant"].astype(object).fillna("")
        fewest, words = group[units == least], f"{least} unit{'s' * (least > 1)}"
        at_least = fewest["throughput_is_least"].fillna(False).any()
        for run, number, load, variant in zip(group.itertuples(index=False), units, loads, variants, strict=True):
            own = variants[fewest.index] == variant
            comparable = fewest[own if own.any() else loads[fewest.index] == load]
            baselines = comparable["throughput_rps"].astype(float).groupby(loads[comparable.index]).mean()
            if not (number > least > 0 and baselines.max() > 0):
                continue
            same = load if load in baselines else baselines.idxmax()  # the most, if they never had that load
            times, most = number / least, baselines[same]
            efficiency = float(run.throughput_rps / (times * most))
            evidence = f"{run.throughput_rps:,.0f} / ({times:g} × {most:,.0f}) requests/s = {efficiency:.2f}"
            evidence += f"; the throughput of {words} is a lower bound" if at_least else ""
            evidence += f"; {words} had {same:g} connections, not {load:g}" if same != load else ""
            yield Finding(run, severity_of(efficiency, limits), f"{evidence}.", _ADVICE, efficiency, 1.0)


_ADVICE = (
    "The baseline is too small: measure it again with the same settings, load and generator, and do not quote this "
    "gain before."
)

RULE = Rule(
    "super-linear-scale-out",
    "Do n units serve at most n times what one serves?",
    judge_scale_out,
    {"ok": "an efficiency of at most 1.05", "warning": "above 1.05"},
    needs=(
        Need("runs", ("server_units",), "the number of units", "Note server_units in a factors.csv.", applies=False),
        THROUGHPUT,
    ),
    limits={"warning": Limit(1.05, "repeats on a quiet machine differ by a few per cent")},
    family="Physics",
)
