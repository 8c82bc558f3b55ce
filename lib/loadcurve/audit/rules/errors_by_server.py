r"""One server behind the balancer fails more often than the others, so the run mixes two systems.

What it means
-------------
One server returned errors for more than 1 % of what it got, and more than three times as often as all other servers
together.  Fewer than 10 errors of a server may be chance, and do not count.

Why it happens
--------------
A server lacks a file or a back end, ran out of workers, descriptors or memory, or was restarted during the load.  An
error is often quicker than a response, so a least-connection scheduler sends the broken server more than its share.

How to fix it
-------------
Compare the servers by `echo "show stat" | socat stdio SOCKET` (columns `econ`, `eresp`, `hrsp_5xx`), or request each of
them without the balancer: `for s in S1 S2; do curl -s -o /dev/null -w '%{http_code}\n' http://$s/; done`.  Read the
error log of the server that the finding names, repair it, and repeat the run.

When to ignore it
-----------------
The failing server is the fault under study, and the number reported is how the others carry its load.
"""

import pandas as pd

from loadcurve.audit.rule import Limit, Need, threshold_rule
from loadcurve.audit.rules._balancer import of_servers
from loadcurve.audit.run_tables import Tables
from loadcurve.audit.utilisation import worst

_TIMES = 3.0  # of the other servers' share of errors
_FEWEST = 10.0  # errors: the 95 % interval of a smaller Poisson count is wider than a factor of two


def measure_errors(tables: Tables) -> pd.DataFrame:
    """Return the server of each run with the greatest share of errors that is beyond that of the others, else 0."""
    servers = of_servers(tables)
    # The 502 and 503 that haproxy sends for a failed server are among its 5xx.
    tried = servers[["errors_connect", "errors_response"]].sum(axis=1, min_count=1)
    servers["errors"] = pd.concat([tried, servers["responses_5xx"]], axis=1).max(axis=1)
    servers = servers[servers["errors"].notna() & (servers["decisions"] > 0)]
    sums = servers.groupby(["key", "of"])[["errors", "decisions"]].transform("sum")
    others = sums - servers[["errors", "decisions"]]
    rest = (others["errors"] / others["decisions"].where(others["decisions"] > 0)).fillna(0.0).clip(upper=1.0)
    own = (servers["errors"] / servers["decisions"]).clip(upper=1.0)
    beyond = (own > _TIMES * rest) & (servers["errors"] >= _FEWEST)
    return worst(servers.assign(observed=own.where(beyond, 0.0), rest=rest))


RULE = threshold_rule(
    "errors-by-server",
    "Do all servers behind the balancer fail equally seldom?",
    measure_errors,
    evidence="Server {name} failed {errors:.0f} of {decisions:.0f} assignments, the other servers {rest:ratio}.",
    advice="Read the error log of this server, request it without the balancer, repair it, and repeat the run.",
    limits={"warning": Limit(0.01, "99 % is the least availability that service level objectives commonly ask for")},
    needs=(
        Need("balancer", ("errors_response",), "the errors of each server", applies=False),
        Need("balancer", ("connections",), "the counts of a balancer's servers", applies=False),
    ),
    family="Balance",
)
