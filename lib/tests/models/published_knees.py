"""Curves with the knees that the tests and the data generator of kneed publish for them.

Source: arvkevi/kneed 0.8.5, BSD 3-clause, tests/test_sample.py and kneed/data_generator.py; only the numbers are taken.
Each entry: x, y, sensitivity, curve, direction, mode, knee.
"""

import numpy as np

_TEN = np.arange(10.0)
_RISING = [1, 2, 3, 4, 5, 10, 15, 20, 40, 100]
_CONCAVE = [0, 60, 80, 85, 90, 95, 96, 97, 98, 99]
_BUMPY = [
    7305, 6979, 6666.6, 6463.2, 6326.5, 6048.8, 6032.8, 5762, 5742.8, 5398.2, 5256.8, 5227, 5001.7, 4942,
    4854.2, 4734.6, 4558.7, 4491.1, 4411.6, 4333, 4234.6, 4139.1, 4056.8, 4022.5, 3868, 3808.3, 3745.3, 3692.3,
    3645.6, 3618.3, 3574.3, 3504.3, 3452.4, 3401.2, 3382.4, 3340.7, 3301.1, 3247.6, 3190.3, 3180, 3154.2,
    3089.5, 3045.6, 2989, 2993.6, 2941.3, 2875.6, 2866.3, 2834.1, 2785.1, 2759.7, 2763.2, 2720.1, 2660.1,
    2690.2, 2635.7, 2632.9, 2574.6, 2556, 2545.7, 2513.4, 2491.6, 2496, 2466.5, 2442.7, 2420.5, 2381.5, 2388.1,
    2340.6, 2335, 2318.9, 2319, 2308.2, 2262.2, 2235.8, 2259.3, 2221, 2202.7, 2184.3, 2170.1, 2160, 2127.7,
    2134.7, 2102, 2101.4, 2066.4, 2074.3, 2063.7, 2048.1, 2031.9,
]  # fmt: skip
_FLAT = [
    1, 0.787701317715959, 0.7437774524158126, 0.6559297218155198, 0.5065885797950219, 0.36749633967789164,
    0.2547584187408492, 0.16251830161054173, 0.10395314787701318, 0.06734992679355783, 0.043923865300146414,
    0.027818448023426062, 0.01903367496339678, 0.013177159590043924, 0.010248901903367497, 0.007320644216691069,
    0.005856515373352855, 0.004392386530014641,
]  # fmt: skip
_FIGURE_2 = np.linspace(0, 1, 10)
_SINE = np.arange(0, 10, 0.1)
_GAMMA = np.sort(np.random.RandomState(23).gamma(0.5, 1.0, 1000))[::-1]


def _shapes():
    """The four shapes, whole and without their last three points on an axis of tenths."""
    for curve, direction, y, whole, cut in (
        ("concave", "increasing", _CONCAVE, 2, 0.2),
        ("concave", "decreasing", [100 - v for v in _RISING], 7, 0.4),
        ("convex", "increasing", _RISING, 7, 0.4),
        ("convex", "decreasing", _RISING[::-1], 2, 0.2),
    ):
        for mode in ("offline", "largest"):
            yield _TEN, y, 1, curve, direction, mode, whole
            yield _TEN[:-3] / 10, np.array(y[:-3]) / 10, 1, curve, direction, mode, cut


KNEES = [
    (_FIGURE_2, -1 / (_FIGURE_2 + 0.1) + 5, 1, "concave", "increasing", "offline", 2 / 9),
    *_shapes(),
    (np.arange(90.0), _BUMPY, 1, "convex", "decreasing", "offline", 26),
    (np.arange(90.0), _BUMPY, 1, "convex", "decreasing", "online", 53),
    (np.arange(18.0), _FLAT, 0, "convex", "decreasing", "offline", 1),
    (np.arange(18.0), _FLAT, 1, "convex", "decreasing", "offline", 8),
    (_SINE, np.sin(_SINE), 1, "convex", "decreasing", "online", 4.5),
    (_SINE, np.sin(_SINE), 1, "convex", "increasing", "online", 4.9),
    (_SINE, np.sin(_SINE), 1, "concave", "increasing", "online", 7.7),
    (_SINE, np.sin(_SINE), 1, "concave", "decreasing", "online", 1.8),
    (np.arange(1.0, 1001), _GAMMA, 1, "convex", "decreasing", "online", 482),
    (np.arange(1.0, 1001), _GAMMA, 1, "convex", "decreasing", "offline", 22),
    *(
        (np.arange(1.0, 1001), _GAMMA, sensitivity, "convex", "decreasing", "offline", knee)
        for sensitivity, knee in ((3, 137), (5, 178), (10, 258), (100, 305), (200, 482), (400, 482))
    ),
    ([1, 2, 3], [0.90483742, 0.81873075, 0.74081822], 1, "convex", "decreasing", "offline", np.nan),
    (_TEN, np.ones(10), 1, "concave", "increasing", "offline", np.nan),
]
