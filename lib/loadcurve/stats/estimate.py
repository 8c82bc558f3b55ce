"""A number with its interval: what every `find_*` returns."""

import math
from dataclasses import dataclass

from loadcurve.blocks import Items, Paragraph, to_display
from loadcurve.errors import ValueRuleError
from loadcurve.stats.arrays import between_0_and_1


@dataclass(frozen=True)
class Estimate:
    """A value, the interval around it, and what weakens it.

    Attributes
    ----------
    value : float
        The estimate, in the SI unit of its quantity; NaN where it could not be made.
    lo, hi : float
        Ends of the interval, ``lo <= value <= hi`` as far as they are known; NaN where an end is not known.
    level : float
        Confidence level of the interval, 0 < level < 1.
    method : str
        How value and interval were made, in words.
    warnings : tuple of str
        What weakens the estimate, one sentence each, none of them twice.
    repeats : int, optional
        Runs that it rests on, of two groups the fewer; None where it does not come from repeated runs.

    Raises
    ------
    ValueRuleError
        When `level` is no level, or the value lies outside its own interval.

    Examples
    --------
    >>> print(Estimate(96.52, 71.5, 121.5, 0.95, "delta method"))
    96.52 [71.5, 121.5]
    """

    value: float
    lo: float
    hi: float
    level: float
    method: str
    warnings: tuple[str, ...] = ()
    repeats: int | None = None

    def __post_init__(self) -> None:
        for name in ("value", "lo", "hi", "level"):
            object.__setattr__(self, name, float(getattr(self, name)))
        object.__setattr__(self, "warnings", tuple(dict.fromkeys(self.warnings)))
        between_0_and_1("level", self.level)
        known = [end for end in (self.lo, self.value, self.hi) if not math.isnan(end)]
        if known != sorted(known):
            raise ValueRuleError("value", f"in its interval [{self.lo}, {self.hi}]", self.value)

    def __str__(self) -> str:
        return f"{self.value:.4g} [{self.lo:.4g}, {self.hi:.4g}]"

    def _repr_html_(self) -> str:
        level = f"{self.level:.0%}".replace("%", " %")
        shown = Paragraph("", f"{str(self).replace('inf', '∞')} ({level} interval, {self.method})")
        return to_display([shown, Items("Weak points", self.warnings)])
