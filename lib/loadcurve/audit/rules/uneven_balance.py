"""Rule ``uneven-balance``: the balancer gave each server its share.

A server with more than its share saturates before the others, so the set of servers carries less than the sum of what
they can.  The shares are those of the weights, or what the scheduler is expected to give (a hash of few clients is
uneven by chance).  Chance is excluded by a chi-square test, and the size of the effect is Cohen's w.
"""

from typing import Any

import pandas as pd

from loadcurve.audit.of_runs import Tables, key_of
from loadcurve.audit.rule import Limit, Need
from loadcurve.audit.threshold import threshold_rule
from loadcurve.stats import summarise_fairness

_SERVICE = ["virtual_address", "virtual_port", "service"]
_SERVER = ["server", "server_address", "server_port"]


def measure_balance(tables: Tables) -> pd.DataFrame:
    """Return the most uneven service of each run: Cohen's w, 0 where the counts are no more uneven than chance."""
    rows = tables["balancer"]
    rows = rows[rows["kind"] == "server"].assign(key=key_of(rows), name=_name(rows, _SERVER), of=_name(rows, _SERVICE))
    rows["count"] = rows["requests"].fillna(rows["connections"]).astype(float)
    found: dict[str, dict[str, Any]] = {}
    for (key, _), service in rows.dropna(subset=["count"]).groupby(["key", "of"]):
        servers = service.groupby("name").agg(
            first=("count", "min"), last=("count", "max"), samples=("count", "size"),
            share=("expected_share_ratio", "last"), weight=("weight", "last"),
        )  # fmt: skip
        # Counters go on from before the load, so what two samples or more add is the run's.
        counts = servers["last"] - servers["first"].where(servers["samples"] > 1, 0.0)
        weights = servers["share"].astype(float).fillna(servers["weight"].astype(float)).fillna(1.0)
        used = weights > 0
        if used.sum() < 2 or not counts[used].sum():
            continue
        test = summarise_fairness(counts[used].to_numpy(), weights[used].to_numpy()).iloc[0]
        effect = float(test["effect"]) if test["verdict"] == "uneven beyond chance" else 0.0
        shares = counts[used] / counts[used].sum()
        most = str((shares / (weights[used] / weights[used].sum())).idxmax())
        if effect >= found.get(key, {"observed": -1.0})["observed"]:
            fair = float(weights[most] / weights[used].sum())
            found[key] = {"observed": effect, "server": most, "share": float(shares[most]), "fair": fair}
    return pd.DataFrame.from_dict(found, orient="index", columns=["observed", "server", "share", "fair"])


def _name(rows: pd.DataFrame, columns: list[str]) -> pd.Series:
    parts = rows[columns].astype(object).where(rows[columns].notna(), "")
    return pd.Series(
        [":".join(filter(None, map(str, row))) for row in parts.to_numpy()], index=rows.index, dtype=object
    )


RULE = threshold_rule(
    "uneven-balance",
    "Did the balancer give each server its share?",
    measure_balance,
    evidence="Server {server} was given {share:ratio} of the load; its share is {fair:ratio} (effect {observed:.2f}).",
    advice="Compare the scheduler with the load: a hash needs many clients, least-connection needs long connections; "
    "look for a server whose checks fail, and for kept-alive connections that were opened before a server joined.",
    limits={
        "warning": Limit(0.1, "Cohen's small effect (Statistical Power Analysis, 2nd edition, 1988, chapter 7)"),
        "error": Limit(0.3, "Cohen's medium effect"),
    },
    needs=(Need("balancer", ("kind",), "the counts of a balancer's servers", "", applies=False),),
    unit="",
)
