"""The sections `objective`, `search` and `stop`: what a run must keep, and which runs follow from it."""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, Protocol

from loadcurve.errors import ValueRuleError
from loadcurve.lab.schedule.search import Capacity, SaturatingSize
from loadcurve.section import Check, Choice, Range, Section
from loadcurve.study import is_place


def check_place(name: str, value: str) -> None:
    """Check that a value is the place of a level."""
    if not is_place(value):
        raise ValueRuleError(name, "a place such as connections", value)


@dataclass(frozen=True)
class ObjectiveSection(Section):
    """What a run must keep."""

    latency_s: Annotated[float | None, Range(gt=0, lt=3600)] = None
    """Longest response time at `quantile`."""

    quantile: Annotated[float, Range(gt=0, lt=1)] = 0.99
    """Quantile of the response time: 0.99 for the time that 99 % of the responses stay below."""

    failed_ratio: Annotated[float | None, Range(ge=0, lt=1)] = None
    """Largest share of requests that may fail; none may fail where it is left out. A request fails when it has no
    response, one with an error status, or one later than the load's `timeout_s`."""


@dataclass(frozen=True)
class SearchSection(Choice):
    """A search for a level of one factor, for each variant by itself."""

    required: ClassVar[bool] = True

    factor: Annotated[str, Check(check_place)] = "connections"
    """Place of the level, such as ``connections`` or ``server.nginx.response.text.body_bytes``."""

    capacity: Capacity | None = None
    """The highest level that keeps the study's objective."""

    saturating_size: SaturatingSize | None = None
    """The smallest response whose throughput fills a limit."""

    @property
    def goal(self) -> Capacity | SaturatingSize:
        """What is searched."""
        return self.chosen[1]

    @property
    def kind(self) -> Literal["capacity", "saturating_size"]:
        """Name of what is searched."""
        return "capacity" if self.capacity is not None else "saturating_size"


@dataclass(frozen=True)
class StopSection(Section):
    """When a point has been repeated often enough: at least ten times, and until its mean is known."""

    half_width_ratio: Annotated[float, Range(gt=0, lt=1)] = 0.02
    """Wanted half width of the interval of the mean: 0.02 for ± 2 %."""

    quantity: Literal["throughput_rps", "latency_mean_s"] = "throughput_rps"
    """The quantity whose mean is to be known."""

    # `loadcurve.stats.stopping` never stops before ten: until then the scatter may look small by chance.
    most_repeats: Annotated[int, Range(10, 10_000)] = 50
    """Largest number of repeats of a point. A point also ends where three runs in a row failed or did not show the
    quantity."""


class Goals(Protocol):
    """What the order of a study's points depends on; `StudyFile` has it."""

    @property
    def objective(self) -> ObjectiveSection:
        """What a run must keep."""

    @property
    def search(self) -> SearchSection | None:
        """Which level is searched; None for a study that does not search."""

    @property
    def stop(self) -> StopSection | None:
        """When a point has been repeated often enough; None for a fixed number of repeats."""
