r"""Decide from several trials whether a load is kept, broken, or neither.

A load is kept if fewer than half of all possible trials at it would break the objective; this is the exceed ratio that
RFC 9971 recommends.  A load is called kept after k trials that all keep the objective, or after k + 3 that keep it and
one that breaks it; broken likewise.  With two trials of each verdict, the load is called flaky, which is also a result.

If at least half of all trials would break the objective, the load is still called kept with a probability of at most

.. math:: \alpha = 2^{-k} + k\, 2^{-(k + 4)}

because the single dissenting trial must be among the first k trials: 0.041 for k = 5.  This is a sequential sign test,
after A. Wald, "Sequential Tests of Statistical Hypotheses", Annals of Mathematical Statistics 16, 1945.  Trials must be
independent.
"""

from dataclasses import dataclass

# Further trials that outweigh one dissenting trial: 3 add k/16 of 2⁻ᵏ to the error probability, 2 add twice as much.
_OUTWEIGH = 3


def error_bound(trials: int) -> float:
    """Return the largest probability of a wrong decision by `trials` >= 2 that agree, or by more with one dissent.

    Examples
    --------
    >>> [round(error_bound(k), 3) for k in (3, 4, 5)]
    [0.148, 0.078, 0.041]
    """
    return 0.5**trials + trials * 0.5 ** (trials + _OUTWEIGH + 1)


def trials_to_decide(level: float) -> int:
    """Return the number of trials that must agree for a decision with confidence `level`, 0 < level < 1.

    Examples
    --------
    >>> trials_to_decide(0.95)
    5
    """
    trials = 2
    while error_bound(trials) > 1 - level:
        trials += 1
    return trials


@dataclass(frozen=True)
class Tally:
    """Number of trials of each verdict at one load."""

    load: float
    # `kept` and `broken`: number of full-length trials with each verdict; without full-length trials, the last shorter
    # trial counts.
    kept: int
    broken: int
    full: int  # Number of trials of full length
    decision: str  # `kept`, `broken`, `flaky`, or `open` if more trials are needed

    @property
    def leaning(self) -> str:
        """Verdict of most trials, ``kept`` or ``broken``; else ``tied`` or ``flaky``."""
        if self.decision == "flaky":
            return "flaky"
        return "kept" if self.kept > self.broken else "broken" if self.kept < self.broken else "tied"


def tally(load: float, verdicts: list[tuple[bool, bool]], needed: int) -> Tally:
    """Return the tally of a load from pairs (of full length, kept) in order; `needed` trials that agree decide it."""
    full = [kept for is_full, kept in verdicts if is_full]
    count = full or [verdicts[-1][1]]
    kept = sum(count)
    broken = len(count) - kept
    return Tally(load, kept, broken, len(full), _decide(kept, broken, needed) if full else "open")


def _decide(kept: int, broken: int, needed: int) -> str:
    if min(kept, broken) > 1:
        return "flaky"
    if max(kept, broken) < needed + _OUTWEIGH * min(kept, broken):
        return "open"
    return "kept" if kept > broken else "broken"
