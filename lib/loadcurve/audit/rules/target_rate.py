"""Rule ``target-rate``: a generator that holds a rate held it.

What it means
-------------
An open-loop test asks for a rate of requests (`wrk2 -R 2000`, `vegeta attack -rate=2000`).  The responses came at a
lower rate, so requests queued in the server or in the generator, and the response times of the run grow with its
duration: they describe no steady state.  In a recorded run wrk2 asked for 2,000 requests/s and got 780 requests/s for
12 s; its mean of 6.7 s is half of the run and says nothing about the server.  2 % is a warning, because the last
requests of a short run are cut off; 10 % is an error, because such a queue fills in seconds.

Why it happens
--------------
The rate is beyond the capacity of the server.  The generator has too few connections: with a response time $R$, $N$
connections carry at most $N / R$ requests/s.  The generator's processor is busy, or it sends late.

How to fix it
-------------
Ask for a lower rate, and increase it step by step: the last rate that was held is the capacity.  If the server was not
busy, give the generator more connections (at least rate × highest response time) and processors.

When to ignore it
-----------------
When the purpose is to show behaviour under overload; then report throughput and the share of timeouts over time, and
no percentile of the whole run.
"""

import pandas as pd

from loadcurve.audit.of_runs import Tables, key_of
from loadcurve.audit.rule import Limit, Need
from loadcurve.audit.threshold import threshold_rule
from loadcurve.tables import merge_generators


def measure_shortfall(tables: Tables) -> pd.DataFrame:
    """Return by which share the throughput of each run is below its target rate."""
    runs = merge_generators(tables["runs"])
    runs = runs.assign(observed=1 - runs["throughput_rps"] / runs["target_rate_rps"], key=key_of(runs))
    return runs.set_index("key")[["observed", "throughput_rps", "target_rate_rps"]]


RULE = threshold_rule(
    "target-rate",
    "Did the responses come at the rate that was asked for?",
    measure_shortfall,
    evidence="{throughput_rps:rps 4} of {target_rate_rps:rps 4} came.",
    advice="The rate is beyond the capacity of the server or of the generator: ask for a lower rate, or give the "
    "generator more connections and processors if the server was not busy.",
    limits={
        "warning": Limit(0.02, "the last requests of a run of a few seconds are cut off: up to 2 %"),
        "error": Limit(0.1, "a queue that grows by a tenth of the rate fills in seconds"),
    },
    needs=(
        Need("runs", ("target_rate_rps",), "the rate that was asked for", "", applies=False),
        Need("runs", ("throughput_rps",), "the throughput", "Use a generator that reports it."),
    ),
    family="Load delivered",
)
