"""Can the measurement be believed?  One small function for each rule; each rule has a page in the handbook."""

from loadcurve.audit.registry import RULES, audit

__all__ = ["RULES", "audit"]
