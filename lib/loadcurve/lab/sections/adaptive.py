"""The sections `objective`, `search` and `stop`: what a run must keep, and which runs follow from it."""

from dataclasses import dataclass
from typing import Literal

from loadcurve.errors import ValueRuleError
from loadcurve.lab.search import Capacity, SaturatingSize
from loadcurve.lab.sections.section import check_one, chosen, strict

strict(Capacity)
strict(SaturatingSize)


@strict
@dataclass(frozen=True)
class ObjectiveSection:
    """What a run must keep.

    Attributes
    ----------
    latency_s : float or None
        Longest response time at `quantile`.
    quantile : float
        0 to 1.
    failed_ratio : float
        Largest share of requests that may fail.
    """

    latency_s: float | None = None
    quantile: float = 0.99
    failed_ratio: float = 0.0

    def __post_init__(self) -> None:
        if self.latency_s is not None and not 0 < self.latency_s < 3600:
            raise ValueRuleError("latency_s", "0 < latency_s < 3600", self.latency_s)
        for name in ("quantile", "failed_ratio"):
            if not 0 <= getattr(self, name) < 1:
                raise ValueRuleError(name, f"0 <= {name} < 1", getattr(self, name))


@strict
@dataclass(frozen=True)
class SearchSection:
    """A search for a level of one factor, for each variant by itself.

    Attributes
    ----------
    factor : str
        Place of the level, such as ``connections`` or ``server.nginx.response.text.body_bytes``.
    capacity : Capacity or None
        The highest level that keeps the study's objective.
    saturating_size : SaturatingSize or None
        The smallest response whose throughput fills a limit.
    """

    factor: str = "connections"
    capacity: Capacity | None = None
    saturating_size: SaturatingSize | None = None

    def __post_init__(self) -> None:
        check_one("search", self, "capacity", "saturating_size")

    @property
    def goal(self) -> Capacity | SaturatingSize:
        """What is searched."""
        return self.capacity or self.saturating_size

    @property
    def kind(self) -> str:
        """Name of what is searched."""
        return "capacity" if self.capacity else "saturating_size"


@strict
@dataclass(frozen=True)
class StopSection:
    """When a point has been repeated often enough.

    Attributes
    ----------
    half_width_ratio : float
        Wanted half width of the interval of the mean: 0.02 for ± 2 %.
    quantity : str
        Whose mean.
    most_repeats : int
        After so many a point is left as it is.
    """

    half_width_ratio: float = 0.02
    quantity: Literal["throughput_rps", "latency_mean_s"] = "throughput_rps"
    most_repeats: int = 50

    def __post_init__(self) -> None:
        if not 0 < self.half_width_ratio < 1:
            raise ValueRuleError("half_width_ratio", "0 < half_width_ratio < 1", self.half_width_ratio)
        if self.most_repeats < 2:
            raise ValueRuleError("most_repeats", ">= 2", self.most_repeats)


FAULTS = (
    "narrow_ports", "few_descriptors", "drop_syn", "drop_fin", "lose_packets", "delay_packets", "kill_worker",
    "stop_server", "fill_accept_queue", "fill_conntrack", "cap_connections",
)  # fmt: skip
"""Faults by their names in a study: those of `loadcurve.lab.faults`."""


@strict
@dataclass(frozen=True)
class FaultSection:
    """Something that goes wrong on purpose: one of these, each with its only number, or ``true`` where it has none.

    Attributes
    ----------
    narrow_ports, few_descriptors, fill_accept_queue, fill_conntrack, cap_connections : int
        How many ports, descriptors, places in the queue, entries or connections are left.
    lose_packets : float
        Share of the packets that are lost in each direction.
    delay_packets : float
        Delay in s in each direction.
    drop_syn, drop_fin, kill_worker, stop_server : bool
        Whether it happens.
    host : str
        On which host; empty for the first one of the fault's role.
    after_s : float
        How long after the load begins; what needs a start of its own, such as a limit, holds from the beginning.
    lasts_s : float
        How long; 0 for as long as the load.
    """

    narrow_ports: int | None = None
    few_descriptors: int | None = None
    drop_syn: Literal[True] | None = None
    drop_fin: Literal[True] | None = None
    lose_packets: float | None = None
    delay_packets: float | None = None
    kill_worker: Literal[True] | None = None
    stop_server: Literal[True] | None = None
    fill_accept_queue: int | None = None
    fill_conntrack: int | None = None
    cap_connections: int | None = None
    host: str = ""
    after_s: float = 0.0
    lasts_s: float = 0.0

    def __post_init__(self) -> None:
        check_one("fault", self, *FAULTS, least=0)
        for name in ("after_s", "lasts_s"):
            if not 0 <= getattr(self, name) <= 3600:
                raise ValueRuleError(name, "0 to 3600 s", getattr(self, name))

    @property
    def kind(self) -> str:
        """Which of them it is; empty for none."""
        name, value = chosen(self)
        return name if value is not None and name in FAULTS else ""
