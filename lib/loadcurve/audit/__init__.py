"""Can the measurement be believed?  One small function for each rule; each rule has a page in the handbook."""

from loadcurve.audit.claims import VERDICTS, Claim, judge_claim, summarise_claims
from loadcurve.audit.registry import RULES, audit

__all__ = ["RULES", "VERDICTS", "Claim", "audit", "judge_claim", "summarise_claims"]
