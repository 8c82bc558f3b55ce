"""The generator ran longer than requested, so its mean may contain seconds in which it only waited.

What it means
-------------
Throughput is the number of responses over the whole time, so it contains any seconds in which the tool waited and
sent nothing. Monitors that ran for the planned time saw another load than the mean.

Why it happens
--------------
wrk looks at its clock between events only, and connects to the server before it starts its clock too: with SYNs
dropped, `wrk -d3s --timeout 1s` took 135 s, the time of the kernel's retries.  ab ends at the first response after
its time, however late that comes.  An overloaded machine did not run the tool's threads in time.

How to fix it
-------------
Look for unanswered handshakes: `ss -tan state syn-sent` on the generator's host, `nstat -az TcpExtTCPTimeouts
TcpExtTCPSynRetrans`, and a firewall or a full conntrack table between the hosts.  Put an outer limit on the tool
(`timeout 30 wrk …`), and repeat.

When to ignore it
-----------------
When requests ended the run and not the time.  Up to 1 s more is normal, because wrk checks its clock ten times per
second and closes its connections at the end.
"""

import pandas as pd

from loadcurve.audit.rule import Limit, Need, threshold_rule
from loadcurve.audit.run_tables import Tables, key_of
from loadcurve.audit.utilisation import worst

_ALWAYS_S = 1.0


def measure_excess(tables: Tables) -> pd.DataFrame:
    """Return by which share each run took longer than requested and 1 s more."""
    runs = tables["runs"]
    asked = runs["duration_asked_s"].astype(float)
    excess = (runs["duration_s"].astype(float) - asked - _ALWAYS_S) / asked.where(asked > 0)
    found = pd.DataFrame({"key": key_of(runs), "observed": excess.clip(lower=0.0)})
    return worst(found.assign(took=runs["duration_s"].astype(float), asked=asked))


RULE = threshold_rule(
    "late-end",
    "Did the generator stop when it was asked to?",
    measure_excess,
    evidence="The generator sent its load for {took:.4g} s; {asked:.4g} s were requested.",
    advice="Look for unanswered handshakes (`ss -tan state syn-sent`), and for a busy generator; throughput is a mean "
    "that includes the time of waiting.",
    limits={
        "warning": Limit(0.1, "a tenth of the time without load changes throughput more than repeats do"),
        "error": Limit(1.0, "half of the time or more is not the planned load"),
    },
    needs=(Need("runs", ("duration_asked_s", "duration_s"), "the requested time", applies=False),),
    family="Errors",
)
