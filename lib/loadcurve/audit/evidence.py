"""Rules with several kinds of evidence for one question: the most severe evidence of each run is its finding."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from loadcurve.audit.of_runs import Tables, key_of, rows_of
from loadcurve.audit.rule import NOT_CHECKED, Finding, Severity

_ORDER: tuple[Severity, ...] = ("error", "warning", "ok")


@dataclass(frozen=True)
class Evidence:
    """What one kind of measurement says about a run; attributes as those of `Finding`."""

    severity: Severity
    text: str
    advice: str = ""
    observed: float = np.nan
    expected: float = np.nan


def judge_evidence(
    tables: Tables, kinds: Iterable[Mapping[str, Evidence]], reason: str, record: str
) -> Iterator[Finding]:
    """Yield one finding for each row of ``runs``.

    Examples
    --------
    >>> runs = pd.DataFrame({"study": "s", "run_id": ["a", "b"]})
    >>> ports, log = {"s/a": Evidence("ok", "3 ports.")}, {"s/a": Evidence("error", "No port left.", "Widen.")}
    >>> for finding in judge_evidence({"runs": runs}, [ports, log], "needs `ss -s`", "Record it."):
    ...     print(finding.severity, finding.evidence)
    error No port left. 3 ports.
    unchecked Not checked: needs `ss -s`.
    """
    sources = list(kinds)
    for run, key in rows_of(tables):
        found = [one for source in sources if (one := source.get(key)) is not None]
        if not found:
            yield Finding(run, "unchecked", f"{NOT_CHECKED}{reason}.", record)
            continue
        found.sort(key=lambda one: _ORDER.index(one.severity))
        worst = found[0]
        advice = " ".join(dict.fromkeys(one.advice for one in found if one.advice and one.severity == worst.severity))
        text = " ".join(dict.fromkeys(one.text for one in found))
        yield Finding(run, worst.severity, text, advice, worst.observed, worst.expected)


def refusals(tables: Tables, pattern: str) -> dict[str, tuple[int, str]]:
    """Return how often a load generator or a server's error log reports an error, and its first text, by key."""
    runs, events = tables["runs"], tables.get("events")
    said = pd.DataFrame({"key": key_of(runs), "text": runs["reason"]})
    if events is not None and len(events):
        logged = events[events["tool"].isin(["nginx", "apache"])]
        said = pd.concat([said, pd.DataFrame({"key": key_of(logged), "text": logged["text"]})])
    found = said[said["text"].astype("string").str.contains(pattern, regex=True).fillna(False).astype(bool)]
    if found.empty:
        return {}
    groups = found.groupby("key", sort=False)["text"]
    return {str(key): (len(texts), str(texts.iloc[0])) for key, texts in groups}
