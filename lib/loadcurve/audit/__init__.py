"""Can the measurement be believed?  One small function for each rule; each rule has a page in the handbook."""

from loadcurve.audit.checklist import ANSWERS, answer_of_checks, summarise_checklist
from loadcurve.audit.claims import VERDICTS, judge_claims
from loadcurve.audit.deviation import summarise_deviation
from loadcurve.audit.identities import summarise_identities
from loadcurve.audit.late import least_mean_latency_s
from loadcurve.audit.observed import summarise_busy, summarise_established, summarise_sockets
from loadcurve.audit.registry import all_rules, audit
from loadcurve.audit.rule import Finding, Rule

__all__ = [
    "ANSWERS",
    "VERDICTS",
    "Finding",
    "Rule",
    "all_rules",
    "answer_of_checks",
    "audit",
    "judge_claims",
    "least_mean_latency_s",
    "summarise_busy",
    "summarise_checklist",
    "summarise_deviation",
    "summarise_established",
    "summarise_identities",
    "summarise_sockets",
]
