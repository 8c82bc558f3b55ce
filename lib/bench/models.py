"""How fast the models are, against SciPy's own fit of the same curves in the same run."""

from pathlib import Path

import numpy as np
from report import say, seconds
from scipy import optimize

# Ten levels as a sweep of connections has them, and a curve with its peak inside.
_NUMBER = np.array([1.0, 2, 4, 6, 8, 12, 16, 24, 32, 48])
_TRUE = (100.0, 0.05, 0.001)
_REFITS = 10_000
_ALONE = 300  # fits in a loop; the rest would only wait


def bootstrap(_: Path) -> None:
    """Refits of the Universal Scalability Law, and the same data sets in a loop over SciPy's curve_fit."""
    from loadcurve.models.scaling import LAWS

    law, draw = LAWS["usl"], np.random.default_rng(20261120)
    observed = law.function(_NUMBER, *_TRUE) * (1 + 0.03 * draw.standard_normal((_REFITS, _NUMBER.size)))
    ours = seconds(lambda: law.solve(_NUMBER, observed, np.ones(_NUMBER.size)))
    say(f"USL, 10 points, {_REFITS:,} refits", f"{ours:.3f} s", "≤ 0.25 s", ours <= 0.25)

    def alone(**options: object) -> float:
        def loop() -> None:
            for throughput in observed[:_ALONE]:
                optimize.curve_fit(law.function, _NUMBER, throughput, p0=_TRUE, **options)

        return seconds(loop, 1) / _ALONE * _REFITS

    for what, options, asked in (("bounded", {"bounds": (0, np.inf)}, 50), ("unbounded", {}, 8)):
        theirs = alone(**options)
        say(f"curve_fit, {what}, in a loop / ours", f"{theirs:.2f} s / {ours:.3f} s = {theirs / ours:.0f}",
            f"≥ {asked}", theirs / ours >= asked)  # fmt: skip


def network(_: Path) -> None:
    """Exact mean value analysis of a closed network of ten centres, for every population up to ten thousand."""
    from loadcurve.models.queueing import solve_network

    demands = np.linspace(0.001, 0.01, 10)
    took = seconds(lambda: solve_network(10_000, demands))
    say("exact MVA, 10 centres, N = 10,000", f"{took:.3f} s", "≤ 0.2 s", took <= 0.2)


def tournament(_: Path) -> None:
    """All laws against one curve of ten points, with bands at a hundred loads."""
    from loadcurve.models.scaling import LAWS, run_tournament

    noise = 0.03 * np.random.default_rng(1).standard_normal(_NUMBER.size)
    throughput = LAWS["usl"].function(_NUMBER, *_TRUE) * np.exp(noise)
    at = np.linspace(1, 100, 100)
    took = seconds(lambda: run_tournament(_NUMBER, throughput).predict(at))
    say("tournament with bands, 10 points", f"{took:.2f} s", "≤ 0.5 s", took <= 0.5)


CASES = {case.__name__: case for case in (bootstrap, network, tournament)}
