"""Checks of measured data: can the measurement be believed?

| module          | holds |
|-----------------|---|
| ``of_runs``     | tables by run; ``samples``: samples within the load, counters, throughput per interval and warm-up |
| ``hosts``       | settings, ports and open files of hosts; connections and sockets measured there |
| ``utilisation`` | how busy processors, disks and links were, and which resource is busiest |
| ``rule``        | `Rule`, `Need`, `Limit` and `Finding`; rules of one threshold, rules of several kinds of evidence |
| ``identities``  | numbers that must agree: of one report, with N / R, with the bytes and packets on the wire |
| ``rules``       | one module for each rule, listed in `RULES` |
| ``explanation`` | what a rule means, from the docstring of its module |
| ``settings``    | which rules run and with which limits: loadcurve.toml, study.yml, options |
| ``verdict``     | usable, usable with care, or do not use: all runs together, and each; findings as sentences |
| ``findings``    | `Findings`, the table that begins with its verdict, and its text |
| ``registry``    | `all_rules`, and `audit`, which runs them |
| ``atlas``       | recorded faults: what was done to a run, which rules must find it, and the numbers of its figure |
| ``claims``      | verdicts on the claims and experiments of published reports; a checklist for them |

Each imports only from those above it.

The package is called as a function: ``loadcurve.audit(data)`` is `loadcurve.audit.registry.audit`.
"""

import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from loadcurve.packages import imported_late

if TYPE_CHECKING:
    from loadcurve.audit.claims import (
        ANSWERS,
        NO_CLAIM,
        VERDICTS,
        answer_of_checks,
        judge_claims,
        judge_experiments,
        summarise_checklist,
        verdict_on_claim,
    )
    from loadcurve.audit.findings import Findings
    from loadcurve.audit.hosts import summarise_established, summarise_sockets
    from loadcurve.audit.identities import summarise_deviation, summarise_identities
    from loadcurve.audit.registry import all_rules, audit  # noqa: F401  # the name of the package too
    from loadcurve.audit.rule import Finding, Limit, Need, Rule
    from loadcurve.audit.run_tables import Tables
    from loadcurve.audit.settings import AuditSettings
    from loadcurve.audit.verdict import Verdict, judge, verdict_of_each
    from loadcurve.ingest.parsed import Parsed

__all__ = [
    "ANSWERS",
    "NO_CLAIM",
    "VERDICTS",
    "AuditSettings",
    "Finding",
    "Findings",
    "Limit",
    "Need",
    "Rule",
    "Verdict",
    "all_rules",
    "answer_of_checks",
    "judge",
    "judge_claims",
    "judge_experiments",
    "summarise_checklist",
    "summarise_deviation",
    "summarise_established",
    "summarise_identities",
    "summarise_sockets",
    "verdict_of_each",
    "verdict_on_claim",
]

__getattr__ = imported_late(__name__, (*__all__, "audit"))


def __dir__() -> list[str]:
    """The public names, for completion."""
    return __all__


class CallableAudit(ModuleType):
    """A package that is also the function of its name."""

    def __call__(self, data: "Tables | Parsed | str | Path", settings: "AuditSettings | None" = None) -> "Findings":
        """Return what every rule finds, as `loadcurve.audit.registry.audit`."""
        from loadcurve.audit.registry import audit

        return audit(data, settings)


sys.modules[__name__].__class__ = CallableAudit
