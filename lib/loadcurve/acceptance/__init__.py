"""Acceptance of a balancer: declared checks, and what recorded runs say about each.

| module      | holds |
|-------------|---|
| `decisions` | `AcceptanceCheck` and `Outcome`; how each check is decided, from files of a functional test or tables |
| `judge`     | `CHECKS`: all checks with criterion and reason; `judge_acceptance`: pass, fail and not checked |
"""

from loadcurve.acceptance.decisions import AcceptanceCheck, Outcome
from loadcurve.acceptance.judge import CHECKS, describe_checks, is_acceptance, judge_acceptance, judge_functions

__all__ = [
    "CHECKS",
    "AcceptanceCheck",
    "Outcome",
    "describe_checks",
    "is_acceptance",
    "judge_acceptance",
    "judge_functions",
]
