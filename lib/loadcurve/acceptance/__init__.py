"""Acceptance of a balancer: declared checks, and what recorded runs say about each.

| module       | holds |
|--------------|---|
| `check`      | `AcceptanceCheck` and `Outcome` |
| `checks`     | `CHECKS`: the list of all checks, each with its criterion and the reason for it |
| `functional` | decisions from the files of a functional test |
| `load`       | decisions from the tables of runs with load |
| `judge`      | `judge_acceptance`: a study's runs into a table of pass, fail and not checked |
"""

from loadcurve.acceptance.check import AcceptanceCheck, Outcome
from loadcurve.acceptance.checks import CHECKS
from loadcurve.acceptance.judge import describe_checks, is_acceptance, judge_acceptance, judge_functions

__all__ = [
    "CHECKS",
    "AcceptanceCheck",
    "Outcome",
    "describe_checks",
    "is_acceptance",
    "judge_acceptance",
    "judge_functions",
]
