"""Checks of measured data: can the measurement be believed?

| module               | holds |
|----------------------|---|
| ``rule``             | `Rule`, `Need`, `Limit` and `Finding`, which every rule uses; ``of_runs``: rows by run |
| ``rules``            | one module for each rule, listed in `RULES` (`all_rules`) |
| ``settings``         | which rules run and with which limits: loadcurve.toml, study.yml, options |
| ``registry``         | `audit`, which runs every rule |
| ``explanation``      | what a rule means, from the docstring of its module |
| ``verdict``          | usable, usable with care, or do not use: all runs together, and each |
| ``findings``         | `Findings`, the table that begins with its verdict; ``sentences`` and ``text`` of it |
| ``failures``         | the share of requests that failed |
| ``observed``         | what the monitors measured in each run: established connections, sockets |
| ``identities``       | numbers of one report that must agree; ``deviation`` compares throughput with N / R |
| ``series``            | throughput of a run per interval, and its warm-up |
| ``atlas``            | recorded faults: what was done to a run, and which rules must find it |
| ``claims experiments`` | verdicts on the claims of a published report, and on its experiments and their reruns |
| ``checklist``        | a checklist for published reports |

``rule`` < ``rules``, ``settings``, ``explanation`` < ``registry``; ``verdict`` < ``sentences`` < ``text`` <
``findings``; the other modules import none of these.

The package is called as a function (``called``): ``loadcurve.audit(data)`` is `loadcurve.audit.registry.audit`.
"""

import sys

from loadcurve.audit.called import Called
from loadcurve.audit.checklist import ANSWERS, answer_of_checks, summarise_checklist
from loadcurve.audit.claims import VERDICTS, judge_claims, verdict_on_claim
from loadcurve.audit.deviation import summarise_deviation
from loadcurve.audit.experiments import NO_CLAIM, judge_experiments
from loadcurve.audit.findings import Findings
from loadcurve.audit.identities import summarise_identities
from loadcurve.audit.observed import summarise_established, summarise_sockets
from loadcurve.audit.registry import all_rules
from loadcurve.audit.registry import audit as audit
from loadcurve.audit.rule import Finding, Limit, Need, Rule
from loadcurve.audit.settings import AuditSettings
from loadcurve.audit.verdict import Verdict, judge, verdict_of_each

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


sys.modules[__name__].__class__ = Called
