"""Rule ``contradicting-numbers``: throughput is requests over time, and transfer rate is bytes over time.

The identities hold by definition.  Numbers of one report that break them are from different moments, such as a peak, or
were copied wrongly.
"""

from collections.abc import Iterator, Mapping

from loadcurve.audit.identities import summarise_identities
from loadcurve.audit.of_runs import Tables
from loadcurve.audit.rule import Finding, Limit, Need, Rule, Severity

_WORDS = {"throughput": "requests over time", "transfer rate": "bytes over time"}


def judge_contradictions(tables: Tables, limits: Mapping[str, float]) -> Iterator[Finding]:
    """Yield one finding for each row of ``runs``: the identity that is furthest off."""
    runs = tables["runs"]
    found = summarise_identities(runs.assign(run_id=range(len(runs))))
    found = found[found["identity"].isin(_WORDS)]
    furthest = found.loc[found["off_ratio"].abs().groupby(found["run_id"]).idxmax()]
    for worst in furthest.to_dict("records"):
        row = runs.iloc[worst["run_id"]]
        off = abs(float(worst["off_ratio"]))
        severity: Severity = "ok"
        if off > limits["warning"]:
            severity = "error" if off > limits["error"] else "warning"
        evidence = (
            f"The {worst['identity']} is {worst['stated']:.6g}; {_WORDS[worst['identity']]} is {worst['implied']:.6g}."
        )
        advice = (
            "" if severity == "ok" else "Find out which of the numbers is of another moment or run; use none before."
        )
        yield Finding(row, severity, evidence, advice, float(worst["stated"]), float(worst["implied"]))


RULE = Rule(
    "contradicting-numbers",
    "Do the numbers of the report agree with each other?",
    judge_contradictions,
    {"ok": "within 2 %", "warning": "off by more than 2 %", "error": "off by more than 10 %"},
    needs=(
        Need("runs", ("requests",), "the number of requests", "Use a generator that reports it."),
        Need("runs", ("duration_s",), "the duration", "Use a generator that reports it."),
        Need("runs", ("throughput_rps",), "the throughput", "Use a generator that reports it."),
    ),
    limits={
        "warning": Limit(0.02, "wrk prints the duration with three digits and sizes with two decimals"),
        "error": Limit(0.1, "rounding explains less than a tenth of a duration of a second and more"),
    },
)
