"""One processor was saturated while the others were not, so the mean over all processors may hide the limit.

What it means
-------------
One processor was busy for more than 90 % of the load, but the host as a whole was not. One thread, or the interrupts
of one processor, cannot go faster, and the mean over all processors hides it: one busy processor of eight is 12.5 %.

Why it happens
--------------
A server with one worker (`worker_processes 1`, a Node.js process, Redis) runs on one processor. A server that is pinned
to one processor does too. All receive queues of a network card may interrupt one processor; rule
`softirq-on-one-processor` then fires as well. A generator with one thread has the same shape.

How to fix it
-------------
`pidstat -u -t 1` or `top -H` shows which thread runs there. If it is the server's, start more workers and let each
accept by itself (`listen … reuseport`). If it is the generator's, start more threads. If it is softirq, spread the
receive queues. If server or generator was pinned to that processor on purpose, the finding names the bottleneck.

When to ignore it
-----------------
In a study of one worker the saturated processor is the result. A process that polls (DPDK, SPDK) is always busy.
"""

from collections.abc import Iterator, Mapping

import pandas as pd

from loadcurve.audit.rule import NO_SAMPLE, Evidence, Finding, Need, Rule, judge_evidence
from loadcurve.audit.rules._monitored import SATURATION
from loadcurve.audit.run_tables import Tables
from loadcurve.audit.utilisation import busy_processors, by_others, worst
from loadcurve.units import format_quantity

EACH_CPU = Need(
    "cpu",
    ("cpu_idle_ratio", "cpu"),
    "the use of each processor",
    "Record `sar -P ALL 1` or `mpstat -P ALL 1` on the server and on the generator while the load runs.",
)


def judge_one_processor(tables: Tables, limits: Mapping[str, float]) -> Iterator[Finding]:
    """Yield one finding for each run: the busiest processor of a host that is not saturated as a whole."""
    most = limits["ratio"]
    busy = busy_processors(tables)
    whole = busy.loc[busy["cpu"] == "all", ["key", "host", "busy"]].rename(columns={"busy": "whole"})
    each = busy[(busy["cpu"] != "all") & (busy["role"] != "generator")].merge(whole, on=["key", "host"])
    full = each["whole"] > most
    # Saturated hosts are found by saturated-processors, the generator's processor by saturated-generator.
    found = pd.concat([worst(each[full], "busy"), worst(each[~full], "busy")])
    found = by_others(found[~found.index.duplicated(keep="last")], tables)
    said = {}
    for row in found.itertuples():
        alone = row.busy > most and row.whole <= most
        role = "server's processor" if row.role else "processor"
        evidence = (
            f"The {role} {row.cpu} of {row.host or 'the host'} was busy for {format_quantity(row.busy, 'ratio')} of "
            f"the load, all {row.cpus} together for {format_quantity(row.whole, 'ratio')}{row.others}."
        )
        said[row.Index] = Evidence("warning" if alone else "ok", evidence, row.first + _ADVICE, row.busy, most)
    yield from judge_evidence(tables, [said], f"{NO_SAMPLE} of each processor", EACH_CPU.record)


_ADVICE = (
    "Find the thread that runs there (`pidstat -u -t 1`, `top -H`): give a server more workers, a generator more "
    "threads, and spread softirq over processors; the throughput may be the limit of this one processor."
)

RULE = Rule(
    "one-saturated-processor",
    "Was no single processor the limit while others were idle?",
    judge_one_processor,
    {
        "ok": "no processor is above 90 %, or all processors of its host together are",
        "warning": "one processor is above 90 %, all together are not",
    },
    needs=(EACH_CPU,),
    limits={"ratio": SATURATION},
    family="What saturated",
)
