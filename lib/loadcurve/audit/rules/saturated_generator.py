"""Rule ``saturated-generator``: the processor that only the load generator used had time to spare.

A generator that uses its whole processor cannot send more: the highest throughput of the curve is the generator's, and
response times include the wait for the generator.
"""

import pandas as pd

from loadcurve.audit.of_runs import Tables, key_of
from loadcurve.audit.rule import Limit, Need
from loadcurve.audit.rules._monitored import CPU
from loadcurve.audit.samples import samples_within
from loadcurve.audit.threshold import threshold_rule

PINNED = Need(
    "runs",
    ("generator_cpu", "server_cpu"),
    "the processors on which generator and server ran",
    "Bind both to processors of their own (`taskset -c`), and note them in a factors.csv (generator_cpu, server_cpu).",
)


def measure_generator(tables: Tables) -> pd.DataFrame:
    """Return the mean busy share of the generator's processor for each run that gives it one of its own."""
    runs = tables["runs"].assign(key=key_of(tables["runs"])).drop_duplicates("key").set_index("key")
    own = runs.loc[runs["generator_cpu"] != runs["server_cpu"], "generator_cpu"].astype(str)
    samples = samples_within(tables["cpu"], tables["runs"])
    samples = samples[samples["cpu"].astype(str) == samples["key"].map(own)]
    busy = 1 - samples["cpu_idle_ratio"] - samples["cpu_iowait_ratio"].fillna(0.0)
    return busy.groupby(samples["key"]).mean().to_frame("observed").assign(cpu=own)


RULE = threshold_rule(
    "saturated-generator",
    "Did the load generator have processor time to spare?",
    measure_generator,
    evidence="The generator's processor {cpu} was busy for {observed:ratio} of the load.",
    advice="Give the generator more threads and processors, or several hosts, and repeat; until then the throughput is "
    "a lower bound of the server's capacity, and response times include the generator's.",
    limits={"warning": Limit(0.95, "the samples at the edges of the load are partly idle; above it none is free")},
    needs=(PINNED, CPU),
)
