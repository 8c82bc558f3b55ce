r"""The balancer gave one server more than its share, so that server saturates first.

What it means
-------------
One server got more than its share of connections or requests, by more than chance.  It saturates before the others,
so the set of servers carries less than the sum of what each of them can.  The size of the effect is Cohen's $w =
(\chi^2/n)^{1/2}$: 0.1 is 55 : 45 between two servers, 0.3 is 65 : 35.

Why it happens
--------------
A hash of few client addresses is uneven by itself (see hash-with-few-sources).  Weights differ from what was planned,
a server failed its checks for a while, or connections that were opened before a server joined stay where they are.
Least-connection schedulers give more to a faster server on purpose.

How to fix it
-------------
Compare `ipvsadm -Ln --stats`, `nft list ruleset` or `echo "show stat" | socat stdio SOCKET` before and after the load.
Use round robin to measure capacity, and look for a server that was down.  If the balancer assigns connections, open
many more of them than there are servers, so that their random assignment evens out.

When to ignore it
-----------------
The scheduler follows the load of the servers, and response times of all servers agree.  The rule compares with a
multinomial distribution over what the balancer assigned, which is connections unless it assigns requests: requests on
kept-alive connections are not independent, and a chi-square test over them sees unevenness that is chance.
"""

import pandas as pd

from loadcurve.audit.rule import Limit, threshold_rule
from loadcurve.audit.rules._balancer import COUNTED, of_servers
from loadcurve.audit.run_tables import Tables
from loadcurve.audit.utilisation import worst

# A study has many runs, and each is tested: one false alarm in a thousand.
_PROBABILITY = 0.001


def measure_balance(tables: Tables) -> pd.DataFrame:
    """Return the most uneven service of each run: Cohen's w, 0 where the counts are no more uneven than chance.

    The test is that of `loadcurve.stats.summarise_fairness`, of all runs at once.
    """
    from scipy.special import chdtrc  # here, because most audits have no balancer

    servers = of_servers(tables)
    servers = servers[(servers["share"] > 0) & servers["decisions"].notna()]
    groups = servers.groupby(["key", "of"], sort=False)
    total = groups["decisions"].transform("sum")
    fair = servers["share"] / groups["share"].transform("sum")
    due = fair * total
    servers = servers.assign(
        fair=fair, due=due, got=servers["decisions"] / total, total=total, off=(servers["decisions"] - due).abs(),
        chi_square=(servers["decisions"] - due) ** 2 / due,
    )  # fmt: skip
    servers = servers[(groups["name"].transform("size") > 1) & (total > 0)]
    services = servers.groupby(["key", "of"], sort=False).agg(
        chi_square=("chi_square", "sum"), servers=("name", "size"), total=("total", "first"), off=("off", "max"),
        least=("due", "min"), most=("due", "max"),
    )  # fmt: skip
    by_chance = chdtrc(services["servers"].to_numpy() - 1, services["chi_square"].to_numpy()) > _PROBABILITY
    # Round robin leaves a turn unfinished: one assignment with equal weights, else the largest weight.
    by_turns = services["off"] <= services["most"] / services["least"]
    effect = (services["chi_square"] / services["total"]) ** 0.5
    observed = effect.mask(by_chance | by_turns, 0.0).rename("observed")
    fullest = servers.assign(over=servers["got"] / servers["fair"]).sort_values("over", kind="stable")
    fullest = fullest.drop_duplicates(["key", "of"], keep="last")
    return worst(fullest.join(observed, on=["key", "of"]))


RULE = threshold_rule(
    "uneven-balance",
    "Did the balancer give each server its share?",
    measure_balance,
    evidence="Server {name} got {got:ratio} of {total:.0f} assignments; its share is {fair:ratio} "
    "(effect {observed:.2f}).",
    advice="Compare the scheduler with the load: a hash needs many clients, least-connection needs long connections; "
    "look for a server whose checks fail, and for kept-alive connections that were opened before a server joined.",
    limits={
        "warning": Limit(0.1, "Cohen's small effect (Statistical Power Analysis, 2nd edition, 1988, chapter 7)"),
        "error": Limit(0.3, "Cohen's medium effect"),
    },
    needs=(COUNTED,),
    unit="",
    family="Balance",
)
