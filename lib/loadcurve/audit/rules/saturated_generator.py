"""The load generator used nearly its whole processor, so the throughput may be its limit and not the server's.

What it means
-------------
The highest throughput of the curve is then a lower bound of the server's capacity. The wait of a request
before wrk writes it is in no response time; the wait of a response until wrk reads it is in the response time.

Why it happens
--------------
One thread of wrk on one processor reads and writes 100,000 to 200,000 small responses/s, and a server on one processor
is often as fast. Scripts (k6, JMeter, Locust) and TLS cost the generator several times as much for each request.

How to fix it
-------------
Give the generator more threads and more processors (`wrk -t`, `taskset -c 2-5`), or run several generators on several
hosts and add up their throughputs. Then repeat the sweep: if throughput rises, the generator was the limit.

When to ignore it
-----------------
If the server's processor is saturated too, more generator capacity changes the throughput little; the response times
still include the generator's queue. An open-loop generator that kept its rate was fast enough for that rate, though its
response times may be too long.
"""

import pandas as pd

from loadcurve.audit.rule import Need, threshold_rule
from loadcurve.audit.rules._monitored import CPU, SATURATION
from loadcurve.audit.run_tables import Tables
from loadcurve.audit.utilisation import busy_processors, by_others, worst

PINNED = Need(
    "runs",
    ("generator_cpu", "server_cpu"),
    "the processors on which generator and server ran",
    "Bind both to processors of their own (`taskset -c`), and note them in a factors.csv (generator_cpu, server_cpu).",
)


def measure_generator(tables: Tables) -> pd.DataFrame:
    """Return the mean busy share of the generator's processor for each run that gives it one of its own."""
    busy = busy_processors(tables)
    return by_others(worst(busy[busy["role"] == "generator"], "busy"), tables)


RULE = threshold_rule(
    "saturated-generator",
    "Did the load generator have processor time to spare?",
    measure_generator,
    evidence="The generator's processor {cpu} was busy for {observed:ratio} of the load{others}.",
    advice="{first}"
    "Give the generator more threads and processors, or several hosts, and repeat; until then the throughput is "
    "a lower bound of the server's capacity, and response times include the generator's.",
    limits={"warning": SATURATION},
    needs=(PINNED, CPU),
    family="What saturated",
)
