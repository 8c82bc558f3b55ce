r"""What several trials at one load decide: kept, broken, or neither.

A load is kept if less than half of all trials there would break the objective, the exceed ratio that RFC 9971
recommends.  It is called kept after k trials that all keep it, or after k + 3 that do with one among them that does
not; broken likewise.  With two of each it is flaky, and that is an answer too.

If half of the trials or more would break it, it is still called kept with a probability of at most

.. math:: \alpha = 2^{-k} + k\, 2^{-(k + 4)}

as the one dissent stands among the first k trials: 0.041 for k = 5.  It is a sign test in sequence, after A. Wald,
"Sequential Tests of Statistical Hypotheses", Annals of Mathematical Statistics 16, 1945.  Trials must be independent.
"""

from dataclasses import dataclass

# Trials that outweigh one dissent: with 3 it adds k/16 of 2⁻ᵏ to the error, with 2 twice as much.
_OUTWEIGH = 3


def error_bound(trials: int) -> float:
    """Return the largest probability of a wrong decision by `trials` >= 2 that agree, or more with one dissent.

    Examples
    --------
    >>> [round(error_bound(k), 3) for k in (3, 4, 5)]
    [0.148, 0.078, 0.041]
    """
    return 0.5**trials + trials * 0.5 ** (trials + _OUTWEIGH + 1)


def trials_to_decide(level: float) -> int:
    """Return the trials that must agree for a decision with confidence `level`, 0 < level < 1.

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
    """Verdicts at one load.

    Attributes
    ----------
    load : float
        Where.
    kept, broken : int
        Verdicts of trials of full length.  While there are none, the last shorter one is used.
    full : int
        Trials of full length.
    decision : str
        ``kept``, ``broken``, ``flaky``, or ``open`` where more trials are needed.
    """

    load: float
    kept: int
    broken: int
    full: int
    decision: str

    @property
    def leaning(self) -> str:
        """``kept`` or ``broken`` by most of its trials, ``tied``, or ``flaky``."""
        if self.decision == "flaky":
            return "flaky"
        return "kept" if self.kept > self.broken else "broken" if self.kept < self.broken else "tied"


def tally(load: float, verdicts: list[tuple[bool, bool]], needed: int) -> Tally:
    """Count the verdicts of a load, pairs of (of full length, kept) in their order; `needed` that agree decide."""
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
