"""The repeats show neither a difference between two variants nor agreement, so the comparison is open.

What it means
-------------
At most loads, the repeats show neither that two variants differ nor that they agree within 5 %. Neither may be stated.

Why it happens
--------------
There are too few repeats for their scatter.  "No significant difference" is not equality: with three repeats that
scatter by 6 %, the 95 % interval of a ratio reaches from 0.87 to 1.15 even where both systems are the same.

How to fix it
-------------
Repeat both variants more often, in random order, so that both meet the same state of the machine.  Pinning processors
(`taskset`) and a quiet machine narrow the interval too.  Report the ratio with its interval, not two means side by
side.

When to ignore it
-----------------
The question is not which variant is faster, or the variants are compared by another number than their throughput.

The interval is Welch's (B. L. Welch, Biometrika 34, 1947) of the difference of mean logarithms.  It excludes 0 where
the variants differ, and lies within ±5 % where they agree (D. J. Schuirmann, Journal of Pharmacokinetics and
Biopharmaceutics 15, 1987).
"""

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from loadcurve.audit.rule import Finding, Limit, Rule
from loadcurve.audit.rules._levels import level_words, t_quantile, throughput_by_level
from loadcurve.audit.run_tables import Tables, all_runs


def judge_comparison(tables: Tables, limits: Mapping[str, float]) -> Iterator[Finding]:
    """Yield one finding about all runs together: at how many loads a comparison of two variants is undecided."""
    levels = throughput_by_level(tables)
    levels = levels[levels["runs"] > 1]
    pairs = levels.merge(levels, on=["axis", "level"], suffixes=("", "_b"))
    pairs = pairs[pairs["variant"] < pairs["variant_b"]].reset_index(drop=True)
    if pairs.empty:
        return
    ratio, half = _difference(pairs)
    margin = np.log1p(limits["margin"])
    differ, agree = np.abs(ratio) > half, np.abs(ratio) + half < margin
    undecided = ~(differ | agree)
    share = float(undecided.mean())
    evidence = f"{len(pairs)} comparisons of two variants at one load: {int(differ.sum())} show a difference, "
    evidence += f"{int((agree & ~differ).sum())} show agreement within {limits['margin']:.0%}, ".replace("%", " %")
    evidence += f"{int(undecided.sum())} show neither."
    if share <= limits["share"]:
        yield Finding(all_runs(tables["runs"]), "ok", evidence, "", share, limits["share"])
        return
    worst = int(np.where(undecided, half, -1).argmax())
    one = pairs.loc[worst]
    low, high = np.exp(ratio[worst] - half[worst]), np.exp(ratio[worst] + half[worst])
    evidence += f" At {level_words(one['level'], one['axis'])}, {one['variant']} has {low:.2f} to {high:.2f} times the "
    evidence += f"throughput of {one['variant_b']}."
    advice = "Repeat both variants more often, in random order; until then, do not say which is faster."
    yield Finding(all_runs(tables["runs"]), "warning", evidence, advice, share, limits["share"])


def _difference(pairs: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return the difference of the mean logarithms of each pair, and half the width of its 95 % interval (Welch)."""
    a, b = (pairs[f"log_variance{of}"].to_numpy() / pairs[f"runs{of}"].to_numpy() for of in ("", "_b"))
    n_a, n_b = pairs["runs"].to_numpy() - 1, pairs["runs_b"].to_numpy() - 1
    variance = np.maximum(a + b, 1e-18)
    freedom = variance**2 / np.maximum(a**2 / n_a + b**2 / n_b, 1e-36)
    half = t_quantile(np.maximum(freedom, 1.0)) * np.sqrt(variance)
    return (pairs["log_mean"] - pairs["log_mean_b"]).to_numpy(), half


RULE = Rule(
    "undecided-comparison",
    "Do the repeats decide the comparison of variants?",
    judge_comparison,
    {"ok": "most comparisons show a difference, or agreement within 5 %", "warning": "most show neither"},
    limits={
        "margin": Limit(0.05, "variants whose throughput differs by less are equal for most decisions"),
        "share": Limit(0.5, "single undecided loads are expected where curves cross or saturate"),
    },
    family="Statistics",
)
