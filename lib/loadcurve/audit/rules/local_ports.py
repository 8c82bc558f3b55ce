"""Rule ``local-ports``: the generator's host has local ports to spare.

A closed connection keeps its local port in TIME_WAIT for 60 s (Linux, TCP_TIMEWAIT_LEN).  With the default range of
28,232 ports to one server address and port, no more than 28,232 / 60 s = 470 connections can be opened each second for
long.  Beyond that, connections fail or wait, and throughput falls in steps of a minute.
"""

import pandas as pd

from loadcurve.audit.of_runs import Tables, key_of
from loadcurve.audit.rule import Limit
from loadcurve.audit.rules._monitored import SUMMARY
from loadcurve.audit.threshold import threshold_rule
from loadcurve.models.wire.ports import LINUX_PORTS


def measure_time_wait(tables: Tables) -> pd.DataFrame:
    """Return the most sockets in TIME_WAIT of each run, also after the load, as a share of the local ports."""
    sockets = tables["sockets"].dropna(subset=["time_wait"])
    most = sockets["time_wait"].astype(float).groupby(key_of(sockets)).max()
    return pd.DataFrame({"observed": most / LINUX_PORTS, "time_wait": most})


RULE = threshold_rule(
    "local-ports",
    "Did the generator's host have local ports to spare?",
    measure_time_wait,
    evidence="{time_wait:.0f} sockets were in TIME_WAIT; the default range has 28232 local ports.",
    advice="If these are sockets of the generator's host: keep connections alive (`ab -k`), use several client "
    "addresses, widen net.ipv4.ip_local_port_range, or set net.ipv4.tcp_tw_reuse there.",
    limits={
        "warning": Limit(0.5, "half the ports in half a minute: a run of a minute uses them all"),
        "error": Limit(0.95, "the search for a free port fails or takes long before the last port is used"),
    },
    needs=(SUMMARY,),
)
