"""The load was so short that a large part of it is its start, so its mean is biased.

What it means
-------------
A large part of so short a load is its start, when connections open, caches are cold and TCP windows grow, so its mean
is biased.  A connection whose SYN is lost misses the first second (RFC 6298, section 2: the first retry comes after
1 s), and one stall changes every number.  No sample of a monitor with an interval of 1 s is certain to lie within a
load shorter than 3 s and at least 1 s from its ends, so the rules about saturation have nothing to check.

Why it happens
--------------
The tool was given a number of requests: ab ends after `-n`, and `-t` alone sets `-n 50000`; hey sends 200 requests
unless told otherwise.  A fast server has responded to them within a fraction of a second.  Or the options of a smoke
test were kept (`wrk -d1s`).

How to fix it
-------------
Measure for at least 10 s: `wrk -d 10s`, `ab -t 10 -n 10000000` in this order, `hey -z 10s`, `h2load -D 10`, `k6 run
--duration 10s`.  weighttp takes no time, so give it more requests (`-n`).  A load of 3 s is the minimum, not a
recommendation: wrk2 calibrates for its first 10 s, so its README warns of runs shorter than 10 to 20 s, and RFC 2544
(section 24) recommends trials of at least 60 s for network devices.

When to ignore it
-----------------
In a smoke test, which only checks that the server responds.  If you compare short runs with each other, repeat each in
random order: their intervals then contain the scatter, but not the bias of the start.
"""

from collections.abc import Iterator, Mapping

from loadcurve.audit.rule import DURATION, Finding, Limit, Rule
from loadcurve.audit.run_tables import Tables, rows_of
from loadcurve.audit.samples import advised_seconds
from loadcurve.units import format_quantity

_OPTIONS = {
    "ab": "-t {s} -n 10000000",
    "fortio": "load -t {s}s",
    "ghz": "-z {s}s",
    "h2load": "-D {s}",
    "hey": "-z {s}s",
    "k6": "run --duration {s}s",
    "locust": "-t {s}s",
    "oha": "-z {s}s",
    "siege": "-t {s}S",
    "vegeta": "attack -duration={s}s",
    "weighttp": "-n",
    "wrk": "-d {s}s",
    "wrk2": "-d {s}s",
}
"""Option of a generator for the duration, or, without one, for the number of requests."""


def judge_duration(tables: Tables, limits: Mapping[str, float]) -> Iterator[Finding]:
    """Yield one finding for each row of ``runs``: a warning where the load of its generator was too short."""
    least = limits["seconds"]
    for run, _ in rows_of(tables):
        lasted = float(run.duration_s)
        evidence = f"The load lasted {format_quantity(lasted, 's')}."
        if lasted < least:
            seconds = max(advised_seconds(run), least)
            option = _OPTIONS.get(str(run.tool), "").format(s=f"{seconds:g}")
            advice = f"Measure for at least {seconds:g} s" + (f" (`{run.tool} {option}`)." if option else ".")
            yield Finding(run, "warning", evidence, advice, lasted, least)
        else:
            yield Finding(run, "ok", evidence, "", lasted, least)


RULE = Rule(
    "short-load",
    "Did the load last long enough?",
    judge_duration,
    {"ok": "at least 3 s", "warning": "less than 3 s"},
    needs=(DURATION,),
    limits={"seconds": Limit(3, "room for one whole sample of 1 s that is at least 1 s from both ends of the load")},
    family="Statistics",
)
