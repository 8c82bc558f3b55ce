"""The sections `objective`, `search` and `stop`: what a run must keep, and which runs follow from it."""

from dataclasses import dataclass
from functools import partial
from typing import Literal

from loadcurve.errors import ValueRuleError, check_all
from loadcurve.lab import faults
from loadcurve.lab.schedule.search import Capacity, SaturatingSize
from loadcurve.lab.servers.settings import check_count
from loadcurve.lab.study_file.section import check_one, check_range, chosen, strict
from loadcurve.study import is_place

# `loadcurve.stats.stopping` never stops sooner: until then the scatter may look small by chance.
_LEAST_REPEATS = 10

strict(Capacity)
strict(SaturatingSize)


@strict
@dataclass(frozen=True)
class ObjectiveSection:
    """What a run must keep.

    Attributes
    ----------
    latency_s : float or None
        Longest response time at `quantile`, in s: 0 < latency_s < 3600.
    quantile : float
        Between 0 and 1: 0.99 for the time that 99 % of the responses stay below.
    failed_ratio : float or None
        Largest share of requests that may fail, 0 or more and below 1; none may where it is not named.  One fails that
        had no response, one of an error status, or one later than the load's `timeout_s`.
    """

    latency_s: float | None = None
    quantile: float = 0.99
    failed_ratio: float | None = None

    def __post_init__(self) -> None:
        check_all(
            lambda: check_range("latency_s", self.latency_s, "0 < latency_s < 3600", lambda s: 0 < s < 3600),
            lambda: check_range("quantile", self.quantile, "0 < quantile < 1", lambda q: 0 < q < 1),
            lambda: check_range("failed_ratio", self.failed_ratio, "0 <= failed_ratio < 1", lambda r: 0 <= r < 1),
        )


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
        check_all(lambda: check_one("search", self, "capacity", "saturating_size"), self._check_factor)

    def _check_factor(self) -> None:
        if not is_place(self.factor):
            raise ValueRuleError("factor", "a place such as connections", self.factor)

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
    """When a point has been repeated often enough: ten times at least, and until its mean is known.

    Attributes
    ----------
    half_width_ratio : float
        Wanted half width of the interval of the mean, between 0 and 1: 0.02 for ± 2 %.
    quantity : str
        The quantity whose mean is to be known.
    most_repeats : int
        After so many, 10–10000, a point is left as it is, and earlier where three runs in a row failed or showed no
        such quantity.
    """

    half_width_ratio: float = 0.02
    quantity: Literal["throughput_rps", "latency_mean_s"] = "throughput_rps"
    most_repeats: int = 50

    def __post_init__(self) -> None:
        rule = "0 < half_width_ratio < 1"
        check_all(
            lambda: check_range("half_width_ratio", self.half_width_ratio, rule, lambda ratio: 0 < ratio < 1),
            lambda: check_count("most_repeats", self.most_repeats, _LEAST_REPEATS, 10_000),
        )


def _up_to_an_hour(seconds: float) -> bool:
    return 0 <= seconds <= 3600


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
    narrow_ports : int or None
        A client has so many ephemeral ports, 1–20000.
    few_descriptors : int or None
        A client may have so many file descriptors, 16–1000000; with `host`, that host's servers.
    drop_syn : bool or None
        What opens a connection to the servers is lost.
    drop_fin : bool or None
        What a server says when it closes a connection is lost.
    lose_packets : float or None
        Share of a server's packets that is lost in each direction, over 0 and up to 1.
    delay_packets : float or None
        Delay of a server's packets in each direction, 0–10 s.
    kill_worker : bool or None
        The first worker of the server is killed; its master starts another.
    stop_server : bool or None
        The server stands still: connections are accepted, none is answered.
    fill_accept_queue : int or None
        The server stands still, and so many connections find a place in its accept queue, 1–65535.
    fill_conntrack : int or None
        Connection tracking of a server's host has so many entries, 1–1000000; not every kernel can.
    cap_connections : int or None
        A server's host takes so many connections, 1–1000000, as where connection tracking is full.
    host : str
        On which host; empty for the first one of the fault's role.
    after_s : float
        How long after the load begins, 0–3600 s; what needs a start of its own, such as a limit, holds from the
        beginning.
    lasts_s : float
        How long, 0–3600 s; 0 for as long as the load.
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
        check_all(
            lambda: check_one("fault", self, *FAULTS, least=0),
            *(partial(self._check_number, name) for name in FAULTS),
            lambda: check_range("after_s", self.after_s, "0 to 3600 s", _up_to_an_hour),
            lambda: check_range("lasts_s", self.lasts_s, "0 to 3600 s", _up_to_an_hour),
        )

    def _check_number(self, name: str) -> None:
        """See that the fault takes its number, whatever its own name for it is."""
        value = getattr(self, name)
        if value is None or value is True:
            return
        try:
            faults.FAULTS[name].make(value, faults.FaultTarget())
        except ValueRuleError as error:
            raise ValueRuleError(name, error.rule, value) from None

    @property
    def kind(self) -> str:
        """Which of them it is; empty for none."""
        name, value = chosen(self)
        return name if value is not None and name in FAULTS else ""
