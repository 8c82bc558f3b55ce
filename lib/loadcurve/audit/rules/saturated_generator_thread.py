"""One thread of the load generator used a whole processor, so its connections got no more requests.

What it means
-------------
A thread cannot use more than one processor. When one thread of the generator is busy all the time, the connections of
this thread get no more requests, whatever the other processors do. The host looks idle: one busy thread on 16
processors is 6 % of the machine. Throughput is then a lower bound of the server's capacity.

Why it happens
--------------
ab and a `wrk -t1` have one thread. Event loops of one process (Locust, a Node.js script) have one thread for all
connections. A generator with several threads may give most connections to one of them.

How to fix it
-------------
Start more threads (`wrk -t`, `h2load -t`, `hey -cpus`) or more processes, and divide the connections evenly. Replace
ab, which has no option for threads, by wrk or by several ab in parallel. Repeat the run: if throughput rises, the
thread was the limit.

When to ignore it
-----------------
If the same run also shows a saturated server, the thread is not the only limit. A thread that spins while it waits
(`DPDK`, busy polling) is always busy and says nothing about the load.
"""

import numpy as np
import pandas as pd

from loadcurve.audit.rule import threshold_rule
from loadcurve.audit.rules._monitored import SATURATION, THREADS
from loadcurve.audit.run_tables import Tables, runs_by_key
from loadcurve.audit.samples import samples_within
from loadcurve.audit.utilisation import worst

# Name of the process where it is not that of the tool: wrk2 is built as wrk, and these run on a Java virtual machine.
_PROCESS = {"wrk2": "wrk", "jmeter": "java", "gatling": "java"}
_ONE_THREAD = ("ab",)  # httpd, support/ab.c: one poll loop


def measure_threads(tables: Tables) -> pd.DataFrame:
    """Return the busiest thread of the generator in each run.

    Without rows of threads, a process of a known number of threads counts as its mean thread.
    """
    samples = samples_within(tables["processes"], tables["runs"])
    runs = runs_by_key(tables["runs"])
    if samples.empty:
        return pd.DataFrame(columns=["observed"])
    of_run = runs.reindex(samples["key"])
    named = of_run["tool"].replace(_PROCESS).to_numpy(dtype=object, na_value="")
    elsewhere = (samples["host"].notna() & of_run["host"].notna().to_numpy()).to_numpy() & (
        samples["host"].to_numpy(dtype=object, na_value="") != of_run["host"].to_numpy(dtype=object, na_value="")
    )
    command = samples["command"].to_numpy(dtype=object, na_value="")
    own = samples[~elsewhere & (command == named) & samples["tid"].isna().to_numpy()]
    places = ["key", "host", "pid"]
    of_generator = pd.MultiIndex.from_frame(own[places].drop_duplicates())
    threads = samples[samples["tid"].notna() & pd.MultiIndex.from_frame(samples[places]).isin(of_generator)]
    each = threads.groupby([*places, "tid"], dropna=False)["cpu_used_ratio"].mean().reset_index()
    whole = own[~own["key"].isin(each["key"])].groupby(places, dropna=False)["cpu_used_ratio"].mean().reset_index()
    number = runs["threads"].astype("Float64").mask(runs["tool"].isin(_ONE_THREAD), 1.0).reindex(whole["key"])
    whole = whole.assign(cpu_used_ratio=whole["cpu_used_ratio"].to_numpy() / number.to_numpy(float, na_value=np.nan))
    found = worst(pd.concat([each, whole], ignore_index=True), "cpu_used_ratio")
    return found.assign(tool=runs["tool"].reindex(found.index))


RULE = threshold_rule(
    "saturated-generator-thread",
    "Did every thread of the generator have processor time to spare?",
    measure_threads,
    evidence="The busiest thread of {tool} used {observed:ratio} of a processor.",
    advice="Start more threads or several generators, divide the connections evenly among them, and repeat; until then "
    "the throughput is a lower bound of the server's capacity.",
    limits={"warning": SATURATION},
    needs=(THREADS,),
    family="What saturated",
)
