"""The sockets in TIME_WAIT were still growing at the end, so the run was not in a steady state.

What it means
-------------
The side that closes a connection first keeps it in TIME_WAIT for 60 s (Linux, TCP_TIMEWAIT_LEN).  If connections are
closed at a constant rate, their number grows for 60 s, and then stays at rate × 60 s (Little's law).  A run that ends
while it grows saw fewer of them than a longer run would, and the next run begins with all of them: neither run is in a
steady state.  The rule takes the growth per second in the second half of the load, on the host with the largest.

Why it happens
--------------
Connections are not kept alive: `ab` without `-k`, `Connection: close`, a proxy without keep-alive to its servers, or a
server that closes after some requests (nginx: `keepalive_requests`, 1000 by default, 100 before 1.19.10).  Then each
request, or each thousand, costs a handshake and a socket in TIME_WAIT, which holds a local port if the client closes
first.

How to fix it
-------------
Keep connections alive, if the clients of the real system do.  Otherwise measure for longer than 60 s and leave out the
first 60 s, and wait 60 s between runs.  `ss -s` prints the number (`timewait`), `ss -tan state time-wait` shows which
end has them.

When to ignore it
-----------------
If the number stays far below the limits: local ports on the client (`local-ports`), `net.ipv4.tcp_max_tw_buckets` on
any host.  A socket in TIME_WAIT takes about 240 bytes and hardly any processor time.
"""

import numpy as np
import pandas as pd

from loadcurve.audit.rule import Limit, Need, threshold_rule
from loadcurve.audit.run_tables import Tables, key_of

_SPAN_S = 1.5  # fewer seconds between the samples of the second half give no rate


def measure_growth(tables: Tables) -> pd.DataFrame:
    """Return by how many sockets per second TIME_WAIT grew in the second half of each run's load."""
    sockets, runs = tables["sockets"], tables["runs"]
    ends_s = runs["duration_s"].astype(float).groupby(key_of(runs)).max()
    keys = key_of(sockets)
    # A count is of one instant, so the samples at the edges of the load are good ones.
    within = sockets["elapsed_s"].between(0, keys.map(ends_s).fillna(np.inf)) & sockets["time_wait"].notna()
    samples = sockets[["host", "tool", "elapsed_s", "time_wait"]][within]
    samples = samples.assign(
        key=keys[within],
        place=samples["host"].astype(object).fillna("the host"),
        tool=samples["tool"].astype(object).fillna(""),
        time_wait=samples["time_wait"].astype(float),
    ).sort_values("elapsed_s")
    series = ["key", "place", "tool"]
    times = samples.groupby(series)["elapsed_s"]
    late = samples[samples["elapsed_s"] >= (times.transform("min") + times.transform("max")) / 2]
    groups = late.groupby(series)
    first, last = groups.first(), groups.last()
    span = last["elapsed_s"] - first["elapsed_s"]
    growth = ((last["time_wait"] - first["time_wait"]) / span.where(span >= _SPAN_S)).rename("observed")
    found = pd.DataFrame({"observed": growth, "number": last["time_wait"]}).reset_index()
    return found.sort_values("observed", na_position="first").drop_duplicates("key", keep="last").set_index("key")


RULE = threshold_rule(
    "growing-time-wait",
    "Had the number of sockets in TIME_WAIT levelled off?",
    measure_growth,
    evidence="In the second half of the load TIME_WAIT on {place} grew by {observed:.0f} sockets/s, to {number:.0f}.",
    advice="Keep connections alive, or measure for longer than 60 s and leave out the first 60 s. Wait 60 s before the "
    "next run.",
    limits={"warning": Limit(100, "6,000 sockets after 60 s, a fifth of the local ports of Linux by default")},
    needs=(
        Need(
            "sockets",
            ("time_wait", "elapsed_s"),
            "the sockets in TIME_WAIT over time",
            "Record `ss -s` every second, with the time before each, on both hosts.",
        ),
    ),
    unit="sockets/s",
    family="Load delivered",
)
