r"""Exact analysis of a closed network with several classes whose centres may have several servers.

With :math:`\mathbf n` the requests of each class and :math:`n` all of them, a centre with m servers has the factor

.. math:: F_k(\mathbf n) = n! \prod_c \frac{D_{ck}^{n_c}}{n_c!} \prod_{i \le n} \frac{1}{\min(i, m)}

and the network the normalising constant :math:`G(\mathbf N) = \sum \prod_k F_k(\mathbf n_k)` over all states.  Split by
how many requests j are at centre k, with :math:`G_{-k}` of the network without it:

.. math:: w_0(\mathbf n) = G_{-k}(\mathbf n), \qquad
          w_j(\mathbf n) = \frac{1}{\min(j, m)} \sum_c D_{ck}\, w_{j-1}(\mathbf n - \mathbf 1_c), \qquad
          G(\mathbf n) = \sum_j w_j(\mathbf n)

An arriving request of class c sees the network without itself.  It needs (j + 1) / min(j + 1, m) times its demand where
it finds j others:

.. math:: R_{ck}(\mathbf N) = \frac{D_{ck}}{G(\mathbf N - \mathbf 1_c)} \sum_j \frac{j + 1}{\min(j + 1, m)}
          \, w_j(\mathbf N - \mathbf 1_c)

From j = m on, the weights fall by the same factor at each step, so their sum is one recursion over the populations.
All terms are positive and taken in logarithms: nothing cancels, as it does in mean value analysis with several servers.

F. Baskett, K. M. Chandy, R. R. Muntz, F. G. Palacios, "Open, Closed, and Mixed Networks of Queues with Different
Classes of Customers", Journal of the ACM 22(2), 1975 (product form).  M. Reiser, H. Kobayashi, "Queuing Networks with
Multiple Closed Chains: Theory and Computational Algorithms", IBM Journal of Research and Development 19(3), 1975
(convolution).
"""

import numpy as np
import scipy

from loadcurve.stats.arrays import Array, Integers


def residence_times(number: Integers, demand: Array, think: Array, many: Array) -> Array:
    """Return the residence time of each class at each centre, shape (C, K), for checked arguments.

    Its cost is K² min(m, N) passes over the ∏(N_c + 1) populations.  A class without requests gets NaN.
    """
    lattice, present = Lattice(number), np.flatnonzero(number)
    delay = np.isinf(many)
    outside = think + demand[:, delay].sum(axis=1)  # delays are one delay
    residence = np.where(delay, demand, np.nan)
    with np.errstate(divide="ignore"):  # log 0: a class that skips the centre
        log_demand = np.log(demand)
    queued = np.flatnonzero(~delay & demand.any(axis=0))
    residence[:, ~delay & ~demand.any(axis=0)] = 0.0
    for k in queued:
        others = lattice.delay(outside)
        for other in queued[queued != k]:
            others, _ = lattice.add(others, log_demand[:, other], many[other])
        total, seen = lattice.add(others, log_demand[:, k], many[k])
        before = others.size - 1 - lattice.stride[present]  # N − 1_c
        residence[present, k] = demand[present, k] * np.exp(seen[before] - total[before])
    return residence


class Lattice:
    """All populations 0 <= n <= N in one row, and the sums over them.

    `populations` (C, P) lists the P = ∏(N_c + 1) populations, `stride` (C,) how far before each the one with a
    request of a class less is, and `levels` the places of those of 0, 1, … requests of all classes together.
    """

    def __init__(self, number: Integers) -> None:
        shape = tuple(number + 1)
        self.populations = np.indices(shape).reshape(number.size, -1)
        self.stride = np.array([int(np.prod(shape[c + 1 :])) for c in range(number.size)])
        size = self.populations.sum(axis=0)
        order = np.argsort(size, kind="stable")
        self.levels = np.split(order, np.flatnonzero(np.diff(size[order])) + 1)

    def delay(self, outside: Array) -> Array:
        """Return log ∏ Z_c^n_c / n_c!, the constant of a delay alone."""
        log_g = np.zeros(self.populations.shape[1])
        for c, pause in enumerate(outside):
            n = self.populations[c]
            log_g += np.where(n > 0, n * np.log(pause) if pause > 0 else -np.inf, 0.0) - scipy.special.gammaln(n + 1)
        return log_g

    def add(self, others: Array, log_demand: Array, servers: float) -> tuple[Array, Array]:
        """Return log G with one more centre, and log Σ (j + 1) / min(j + 1, m) w_j, from log G without it."""
        full = int(min(servers, self.populations.sum(axis=0).max() + 1))
        weight, total = others, others
        for j in range(1, full):  # w_j for j < m
            weight = self._one_more(weight, log_demand - np.log(j))
            total = np.logaddexp(total, weight)
        step = log_demand - np.log(full)
        tail = self._from_below(self._one_more(weight, step), step)  # Σ w_j over j >= m
        beyond = self._from_below(tail, step)  # Σ (j − m + 1) w_j over j >= m
        total = np.logaddexp(total, tail)
        return total, np.logaddexp(total, beyond - np.log(full))

    def _one_more(self, log_w: Array, step: Array) -> Array:
        """Return log Σ_c exp(step_c) w(n − 1_c)."""
        found = np.full(log_w.size, -np.inf)
        for c, size in enumerate(self.stride):
            some = self.populations[c] > 0
            found[some] = np.logaddexp(found[some], step[c] + log_w[np.flatnonzero(some) - size])
        return found

    def _from_below(self, log_w: Array, step: Array) -> Array:
        """Return log t with t(n) = w(n) + Σ_c exp(step_c) t(n − 1_c)."""
        found = log_w.copy()
        for at in self.levels[1:]:  # all populations of one size at once
            for c, size in enumerate(self.stride):
                here = at[self.populations[c, at] > 0]
                found[here] = np.logaddexp(found[here], step[c] + found[here - size])
        return found
