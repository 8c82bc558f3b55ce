"""Can the measurement be believed?  One small function for each rule; each rule has a page in the handbook."""

from loadcurve.audit.checklist import ANSWERS, answer_of_checks, summarise_checklist
from loadcurve.audit.claims import VERDICTS, Claim, judge_claim, summarise_claims
from loadcurve.audit.registry import RULES, audit

__all__ = [
    "ANSWERS",
    "RULES",
    "VERDICTS",
    "Claim",
    "answer_of_checks",
    "audit",
    "judge_claim",
    "summarise_checklist",
    "summarise_claims",
]
