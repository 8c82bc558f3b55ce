"""The section `fault`: what goes wrong on purpose."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from loadcurve.errors import ValueRuleError
from loadcurve.lab.faults import FAULTS
from loadcurve.study.section import Choice, Range, with_keys


@dataclass(frozen=True)
@with_keys({name: (kind.value, kind.description) for name, kind in FAULTS.items()})
class FaultSection(Choice):
    """Something that goes wrong on purpose: one of these, each with its only number, or ``true`` where it has none."""

    host: str = ""
    """Name of the host where it happens; empty for the first host of the fault's role."""

    after_s: Annotated[float, Range(0, 3600, unit="s")] = 0.0
    """Time from the start of the load to the fault. What must be set before the start, such as a limit, holds from the
    beginning."""

    lasts_s: Annotated[float, Range(0, 3600, unit="s")] = 0.0
    """How long the fault lasts; 0 for as long as the load."""

    every_s: Annotated[float, Range(0, 3600, unit="s")] = 0.0
    """The fault begins again this time after its last beginning, for as long as the load; 0 for one time. More than
    `lasts_s`."""

    def _broken_rules(self) -> Iterator[ValueRuleError]:
        if self.every_s and not 0 < self.lasts_s < self.every_s:
            yield ValueRuleError(
                "every_s", f"more than lasts_s ({self.lasts_s:g} s), which must be over 0", self.every_s
            )

    @property
    def kind(self) -> str:
        """Name of the fault; empty for none."""
        return self.chosen[0]
