"""The sections `objective`, `search` and `stop`: the objective of a run, and the runs that depend on it."""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, Protocol

from loadcurve.errors import ValueRuleError
from loadcurve.lab.schedule.search import Capacity, SaturatingSize
from loadcurve.study import is_place
from loadcurve.study.section import Check, Choice, Range, Section


def check_place(name: str, value: str) -> None:
    """Check that a value is the place of a level."""
    if not is_place(value):
        raise ValueRuleError(name, "a place such as connections", value)


@dataclass(frozen=True)
class ObjectiveSection(Section):
    """Objective that a run must keep."""

    latency_s: Annotated[float | None, Range(gt=0, lt=3600)] = None
    """Longest response time at `quantile`."""

    quantile: Annotated[float, Range(gt=0, lt=1)] = 0.99
    """Quantile of the response time: 0.99 for the 99th percentile."""

    failed_ratio: Annotated[float | None, Range(ge=0, lt=1)] = None
    """Largest share of requests that may fail; by default, none may fail. A request fails when it has no response, or
    when the response has an error status or is later than the load's `timeout_s`."""


@dataclass(frozen=True)
class SearchSection(Choice):
    """A search for a level of one factor, separately for each variant."""

    required: ClassVar[bool] = True

    factor: Annotated[str, Check(check_place)] = "connections"
    """Place of the level, such as ``connections`` or ``server.nginx.response.text.body_bytes``."""

    capacity: Capacity | None = None
    """The highest level that keeps the study's objective."""

    saturating_size: SaturatingSize | None = None
    """The smallest response whose throughput fills a limit."""

    @property
    def goal(self) -> Capacity | SaturatingSize:
        """Goal of the search."""
        goal: Capacity | SaturatingSize = self.chosen[1]
        return goal

    @property
    def kind(self) -> Literal["capacity", "saturating_size"]:
        """Name of the goal of the search."""
        return "capacity" if self.capacity is not None else "saturating_size"


@dataclass(frozen=True)
class StopSection(Section):
    """Rule for the number of repeats of a point: at least ten, and until its mean is known precisely enough."""

    half_width_ratio: Annotated[float, Range(gt=0, lt=1)] = 0.02
    """Requested half width of the interval of the mean: 0.02 for ± 2 %."""

    quantity: Literal["throughput_rps", "latency_mean_s"] = "throughput_rps"
    """Quantity to average over the repeats."""

    # `loadcurve.stats.stopping` never stops before ten repeats: with fewer, the scatter may be small by chance.
    most_repeats: Annotated[int, Range(10, 10_000)] = 50
    """Largest number of repeats of a point. Repeats of a point also end when three runs in a row failed or did not
    measure the quantity."""


class Goals(Protocol):
    """Sections that determine the order of a study's points; `StudyFile` implements this protocol."""

    @property
    def objective(self) -> ObjectiveSection:
        """Objective that a run must keep."""

    @property
    def search(self) -> SearchSection | None:
        """Search for a level; None for a study that does not search."""

    @property
    def stop(self) -> StopSection | None:
        """Stop rule for repeats; None for a fixed number of repeats."""
