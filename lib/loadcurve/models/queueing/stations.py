r"""Single stations with Poisson arrivals: M/M/1, M/M/m, M/M/m/K and M/G/1.

A request comes every 1/λ seconds on average, at random, and needs S seconds of one of m servers.  The offered load is
a = λ S, the utilisation ρ = a / m.  Without a limit to the queue, ρ must be below 1.

Erlang B is the share of requests lost without a queue, Erlang C the share that waits with one.

| station | service             | servers | room |
|---------|---------------------|---------|---|
| M/M/1   | exponential         | 1       | endless |
| M/M/m   | exponential         | m       | endless |
| M/M/m/K | exponential         | m       | K in all, those in service included; who finds it full is lost |
| M/G/1   | any, by mean and CV | 1       | endless |

L. Kleinrock, "Queueing Systems, Volume 1: Theory", 1975, chapter 3 (M/M/…) and chapter 5 (M/G/1).
G. Bolch, S. Greiner, H. de Meer, K. S. Trivedi, "Queueing Networks and Markov Chains", chapter 6.
"""

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from loadcurve.errors import ValueRuleError
from loadcurve.models._network import whole
from loadcurve.stats.arrays import Array, above_0, at_least_0


def erlang_b(servers: int, load: ArrayLike) -> Array:
    """Share of requests lost at m servers without a queue: Erlang's B(m, a).

    Parameters
    ----------
    servers : int
        Servers m, >= 1.
    load : array_like
        Offered load a = λ S, >= 0; NaN passes through.

    Returns
    -------
    numpy.ndarray
        By the recursion B(i) = a B(i−1) / (i + a B(i−1)), B(0) = 1: the closed form's factorials overflow.

    References
    ----------
    A. K. Erlang 1917.  Kleinrock 1975, chapter 3 (M/M/m/m).

    Examples
    --------
    >>> print(erlang_b(2, 1.0))  # (1/2) / (1 + 1 + 1/2)
    0.2
    """
    number, offered = int(whole("servers", servers, 1)), at_least_0("load", load)
    lost = np.ones_like(offered)
    for i in range(1, number + 1):
        lost = offered * lost / (i + offered * lost)
    return lost[()]


def erlang_c(servers: int, load: ArrayLike) -> Array:
    """Share of requests that wait at m servers with an endless queue: C = B / (1 − ρ (1 − B)), ρ = a / m.

    Parameters
    ----------
    servers : int
        Servers m, >= 1.
    load : array_like
        Offered load a = λ S, 0 <= a < m; NaN passes through.

    Returns
    -------
    numpy.ndarray
        Probability of waiting.

    References
    ----------
    Kleinrock 1975, chapter 3 (M/M/m).

    Examples
    --------
    >>> print(erlang_c(3, 2.0).round(6))
    0.444444
    """
    blocked = erlang_b(servers, load)
    rho = at_least_0("load", load) / servers
    if np.any(rho >= 1):
        raise ValueRuleError("load", f"< {servers}, the servers (the queue would grow without limit)", np.nanmax(load))
    return blocked / (1 - rho * (1 - blocked))


@dataclass(frozen=True, eq=False)
class Station:
    """A solved station; every field is a number or an array of the shape that the arguments broadcast to.

    Attributes
    ----------
    throughput_rps : numpy.ndarray
        Requests served per second: the arrival rate, less what is lost.
    latency_s, wait_s : numpy.ndarray
        Mean response time, and the part of it before service; of the requests that are served.
    queue_length, waiting : numpy.ndarray
        Mean number at the station, those in service included, and the mean number that waits.
    utilisation_ratio : numpy.ndarray
        Busy share of each server.
    idle_ratio : numpy.ndarray
        Share of time in which the station is empty.
    delayed_ratio : numpy.ndarray
        Share of the served requests that had to wait.
    lost_ratio : numpy.ndarray
        Share of the arrivals that found no room.

    Examples
    --------
    >>> station = solve_mm1(80, 0.010)
    >>> print(station.utilisation_ratio.round(3), station.queue_length.round(3))  # ρ and ρ / (1 − ρ)
    0.8 4.0
    """

    throughput_rps: Array
    latency_s: Array
    wait_s: Array
    queue_length: Array
    waiting: Array
    utilisation_ratio: Array
    idle_ratio: Array
    delayed_ratio: Array
    lost_ratio: Array


def solve_mm1(arrival_rps: ArrayLike, service_s: ArrayLike) -> Station:
    """M/M/1: one server, R = S / (1 − ρ).

    Parameters
    ----------
    arrival_rps : array_like
        Arrival rate λ, >= 0.
    service_s : array_like
        Mean service time S, > 0, with λ S < 1.

    Returns
    -------
    Station
        Of the shape the arguments broadcast to; NaN passes through.

    Raises
    ------
    ValueRuleError
        When an argument breaks its rule, or the queue would grow without limit.

    References
    ----------
    Kleinrock 1975, chapter 3.

    Examples
    --------
    >>> print(solve_mm1(80, 0.010).latency_s.round(6))
    0.05
    """
    return solve_mg1(arrival_rps, service_s, 1.0)  # an exponential time varies as much as its mean: CV 1


def solve_mg1(arrival_rps: ArrayLike, service_s: ArrayLike, service_cv: ArrayLike) -> Station:
    """M/G/1: one server, any distribution of the service time: W = S ρ (1 + c²) / (2 (1 − ρ)).

    Parameters
    ----------
    arrival_rps, service_s
        As for `solve_mm1`.
    service_cv : array_like
        Coefficient of variation c of the service time (standard deviation / mean), >= 0: 0 constant, 1 exponential.

    Returns
    -------
    Station
        Of the shape the arguments broadcast to; NaN passes through.

    Raises
    ------
    ValueRuleError
        When an argument breaks its rule, or the queue would grow without limit.

    References
    ----------
    Pollaczek's and Khinchine's mean value formula: Kleinrock 1975, chapter 5.

    Examples
    --------
    >>> print(solve_mg1(80, 0.010, [0, 1, 3]).wait_s.round(6))
    [0.02 0.04 0.2 ]
    """
    rate, service, load = _load(arrival_rps, service_s, 1)
    variation = at_least_0("service_cv", service_cv)
    wait = service * load * (1 + variation**2) / (2 * (1 - load))
    return _station(rate, service, 1, wait, idle=1 - load, delayed=load)


def solve_mmm(arrival_rps: ArrayLike, service_s: ArrayLike, servers: int) -> Station:
    """M/M/m: m servers and one queue, W = C S / (m (1 − ρ)) with Erlang's C.

    Parameters
    ----------
    arrival_rps : array_like
        Arrival rate λ, >= 0.
    service_s : array_like
        Mean service time S, > 0, with λ S < m.
    servers : int
        Servers m, >= 1.

    Returns
    -------
    Station
        Of the shape the arguments broadcast to; NaN passes through.

    Raises
    ------
    ValueRuleError
        When an argument breaks its rule, or the queue would grow without limit.

    References
    ----------
    Kleinrock 1975, chapter 3.

    Examples
    --------
    >>> print(solve_mmm(9, 1 / 5, 2).latency_s.round(3))
    1.053
    """
    number = int(whole("servers", servers, 1))
    rate, service, load = _load(arrival_rps, service_s, number)
    delayed = erlang_c(number, load)
    wait = delayed * service / (number - load)
    # Time spent with exactly m present is p(m) = C (1 − ρ); p(0) = p(m) m! / a^m, in logarithms.
    with np.errstate(divide="ignore", invalid="ignore"):
        log_idle = (
            np.log(delayed) + np.log1p(-load / number) + scipy.special.gammaln(number + 1) - number * np.log(load)
        )
    idle = np.where(load == 0, 1.0, np.exp(log_idle))
    return _station(rate, service, number, wait, idle=idle, delayed=delayed)


def solve_mmmk(arrival_rps: ArrayLike, service_s: ArrayLike, servers: int, capacity: int) -> Station:
    """M/M/m/K: m servers and room for K requests in all; a request that finds it full is lost.

    Parameters
    ----------
    arrival_rps : array_like
        Arrival rate λ, > 0; it may exceed what the servers can do.
    service_s : array_like
        Mean service time S, > 0.
    servers : int
        Servers m, >= 1.
    capacity : int
        Room K, >= m: m in service and K − m waiting, such as workers and a listen backlog.

    Returns
    -------
    Station
        Of the shape the arguments broadcast to; NaN passes through.

    References
    ----------
    Bolch and others, chapter 6 (M/M/m/K); Kleinrock 1975, chapter 3 (birth-death equilibrium).

    Examples
    --------
    >>> station = solve_mmmk(3, 1 / 2, servers=2, capacity=5)
    >>> print(station.lost_ratio.round(5), station.queue_length.round(5))
    0.08511 2.00595
    """
    number = int(whole("servers", servers, 1))
    room = int(whole("capacity", capacity, number))
    rate, service = np.broadcast_arrays(above_0("arrival_rps", arrival_rps), above_0("service_s", service_s))
    n = np.arange(room + 1)
    # p(n) ∝ a^n / (n! until m, then m! m^(n−m)); in logarithms, because both overflow.
    log_weight = n * np.log(rate * service)[..., None] - np.cumsum(np.log(np.clip(n, 1, number)))
    share = np.exp(log_weight - scipy.special.logsumexp(log_weight, axis=-1, keepdims=True))
    lost = share[..., -1]
    # Of the requests that get in: those who find all servers busy, but not a full station.
    delayed = share[..., number:-1].sum(axis=-1) / share[..., :-1].sum(axis=-1)
    throughput = share @ np.minimum(n, number) / service  # what busy servers finish
    waiting = share @ np.maximum(n - number, 0)
    return _station(throughput, service, number, waiting / throughput, idle=share[..., 0], delayed=delayed, lost=lost)


def _load(arrival_rps: ArrayLike, service_s: ArrayLike, servers: int) -> tuple[Array, Array, Array]:
    rate, service = np.broadcast_arrays(at_least_0("arrival_rps", arrival_rps), above_0("service_s", service_s))
    load = rate * service
    full = load >= servers
    if full.any():
        rule = f"< servers / service_s = {servers / service[full].flat[0]:g} (the queue would grow without limit)"
        raise ValueRuleError("arrival_rps", rule, rate[full].flat[0])
    return rate, service, load


def _station(
    throughput: Array, service: Array, servers: int, wait: Array, idle: Array, delayed: Array, lost: ArrayLike = 0.0
) -> Station:
    latency = wait + service
    fields = (
        throughput,
        latency,
        wait,
        throughput * latency,  # Little's law for the station,
        throughput * wait,  # for its queue,
        throughput * service / servers,  # and for its servers
        idle,
        delayed,
        lost,
    )
    return Station(*(field[()] for field in np.broadcast_arrays(*fields)))
