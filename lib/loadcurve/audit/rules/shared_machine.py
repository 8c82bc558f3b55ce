"""Generator and server shared one machine, so each took processor time from the other.

What it means
-------------
Throughput is that of both together, usually lower than the server's alone, and response times include waits for the
generator.  Packets cross no link, so limits of network cards, links and interrupts do not show, and no round trip is
part of a response time.

Why it happens
--------------
The URL names the host of the generator: `localhost`, an address of 127.0.0.0/8, `[::1]`, or the host's own name.

How to fix it
-------------
Start the generator on another machine.  On one machine, bind both to processors of their own (`taskset -c`), record
`sar -u ALL -P ALL 1` during the load, and compare only results that were measured in the same way.

When to ignore it
-----------------
Two versions of one server are compared, the difference is large, and both ran beside the same generator.  The server
waits (for a disk, an upstream, a timer) and the processors are mostly idle: then the finding is ok.
"""

from collections.abc import Iterator, Mapping

import pandas as pd

from loadcurve.audit.hosts import on_loopback
from loadcurve.audit.rule import Finding, Limit, Need, Rule
from loadcurve.audit.run_tables import Tables, key_of
from loadcurve.audit.samples import samples_within
from loadcurve.units import format_quantity

_ADVICE = (
    "Start the generator on another machine, or bind both to processors of their own (`taskset -c`) and record `sar -u "
    "ALL -P ALL 1`."
)


def judge_machine(tables: Tables, limits: Mapping[str, float]) -> Iterator[Finding]:
    """Yield one finding for each row of ``runs`` with a URL: whether it names the generator's own host."""
    runs = tables["runs"]
    cpu = samples_within(tables.get("cpu"), runs)
    whole = cpu[cpu["cpu"] == "all"] if len(cpu) else cpu
    busy = 1 - whole.groupby("key")["cpu_idle_ratio"].mean().astype(float) if len(whole) else pd.Series(dtype=float)
    names = runs["host"].astype("string").str.lower().fillna("")
    hosts = runs["url"].astype("string").str.lower().str.extract(r"^(?:\w+://)?\[?([^/\]]+?)\]?(?::\d+)?(?:/|$)")[0]
    shared = on_loopback(runs) | (names.ne("") & hosts.eq(names).fillna(False))
    for run, key, is_shared in zip(runs.itertuples(index=False), key_of(runs), shared, strict=True):
        if not is_shared:
            yield Finding(run, "ok", f"The URL {run.url} names no host of the generator.")
            continue
        used, text = float(busy.get(key, 1.0)), f"The URL {run.url} is on the generator's own machine"
        if pd.notna(run.server_cpu) and pd.notna(run.generator_cpu) and run.server_cpu != run.generator_cpu:
            yield Finding(run, "ok", f"{text}, each on a processor of its own.", "", used, limits["idle"])
        elif used <= limits["idle"]:
            text += f", whose processors were busy for {format_quantity(used, 'ratio')}."
            yield Finding(run, "ok", text, "", used, limits["idle"])
        else:
            yield Finding(run, "warning", f"{text}.", _ADVICE, used, limits["idle"])


RULE = Rule(
    "shared-machine",
    "Do generator and server run on machines of their own?",
    judge_machine,
    {
        "ok": "another host, processors of their own, or mostly idle ones",
        "warning": "the URL names the generator's own host",
    },
    needs=(Need("runs", ("url",), "the URL", applies=False),),
    limits={"idle": Limit(0.5, "with half of the time idle, neither often waits for a processor that the other uses")},
    family="What saturated",
)
