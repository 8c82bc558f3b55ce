"""Units are settled at the door: tool text in, SI numbers out; prefixes come back only when a number is shown.

wrk prints with its own three rules (wrk 4.1.0, ``src/units.c``): counts in steps of 1000 (``k M G T P``), bytes in
steps of 1024 though written ``KB MB GB TB PB``, times ``us ms s`` in steps of 1000 and from 1 s on in steps of 60
(``m h``).  A unit is changed at 0.85 of the next one, so ``0.95m`` is 57 s and a right number.
"""

import math
import re

_NUMBER = re.compile(r"(-?nan|-?\d+(?:\.\d+)?)([A-Za-z%]*)\Z")
_TIME_S = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_BYTES = {unit: 1024.0**power for power, unit in enumerate(["B", "KB", "MB", "GB", "TB", "PB"])}
_COUNT = {unit: 1000.0**power for power, unit in enumerate(["", "k", "M", "G", "T", "P"])}
_RATIO = {"%": 0.01}


def _scaled(text: str, scale: dict[str, float], what: str) -> float:
    match = _NUMBER.match(text)
    if match is None or (match[2] not in scale and not match[1].endswith("nan")):
        raise ValueError(f"{what}, got {text!r}")
    if match[1].endswith("nan"):
        return math.nan
    return float(match[1]) * scale[match[2]]


def parse_time_s(text: str) -> float:
    """Seconds from a time as wrk prints it: ``us ms s m h``; ``-nan`` is missing.

    Raises
    ------
    ValueError
        When the text is not such a time.

    Examples
    --------
    >>> parse_time_s("1.50m"), parse_time_s("250.00us")
    (90.0, 0.00025)
    """
    return _scaled(text, _TIME_S, "a time such as 1.20ms")


def parse_bytes(text: str) -> float:
    """Bytes from a size as wrk prints it: ``B KB MB GB TB PB`` in steps of 1024.

    Examples
    --------
    >>> parse_bytes("2.00KB")
    2048.0
    """
    return _scaled(text, _BYTES, "a size such as 2.03KB")


def parse_count(text: str) -> float:
    """A plain number from a count as wrk prints it: ``k M G T P`` in steps of 1000.

    Examples
    --------
    >>> parse_count("1.50k")
    1500.0
    """
    return _scaled(text, _COUNT, "a count such as 1.20k")


def parse_percent(text: str) -> float:
    """A ratio in 0–1 from a percentage; ``-nan%`` is missing.

    Examples
    --------
    >>> parse_percent("75.00%")
    0.75
    """
    return _scaled(text, _RATIO, "a percentage such as 75.00%")


_SHOWN = {
    "s": [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs")],
    "rps": [(1e6, "M/s"), (1e3, "k/s"), (1.0, "/s")],
    "bytes": [(2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB"), (1.0, "B")],
}
_SHOWN["bps"] = [(1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s")]
_SHOWN["pps"] = _SHOWN["per_s"] = _SHOWN["rps"]
_SHOWN["bytes_per_s"] = [(scale, f"{unit}/s") for scale, unit in _SHOWN["bytes"]]

# Longest first: `_bytes_per_s` ends in `_per_s` and `_s` too.
_SUFFIXES = ("bytes_per_s", "per_s", "rps", "pps", "bps", "bytes", "ratio", "s")


def unit_of_column(name: str) -> str:
    """Unit that a column's name ends in; empty for a count or a name.

    Examples
    --------
    >>> unit_of_column("latency_mean_s"), unit_of_column("received_bytes_per_s"), unit_of_column("connections")
    ('s', 'bytes_per_s', '')
    """
    return next((unit for unit in _SUFFIXES if name.endswith(f"_{unit}")), "")


def format_quantity(value: float, unit: str = "", digits: int = 3) -> str:
    """A number with its unit, as prose shows it: `digits` significant digits and a readable prefix.

    Parameters
    ----------
    value : float
        In the SI unit named by `unit`.
    unit : str
        ``s``, ``rps``, ``pps``, ``per_s``, ``bytes``, ``bytes_per_s``, ``ratio`` (shown as a percentage), or ``""``.

    Examples
    --------
    >>> format_quantity(0.01026, "s"), format_quantity(41418.44, "rps"), format_quantity(0.0213, "ratio")
    ('10.3 ms', '41.4 k/s', '2.13 %')
    >>> format_quantity(1250), format_quantity(8.0), format_quantity(0.01, "s")
    ('1,250', '8', '10.0 ms')
    """
    if not math.isfinite(value):
        return "not known" if math.isnan(value) else ("∞" if value > 0 else "−∞")
    prefix, suffix = 1.0, ""
    if unit == "ratio":
        prefix, suffix = 0.01, "%"
    elif unit in _SHOWN:
        prefix, suffix = next((p for p in _SHOWN[unit] if abs(value) >= p[0]), _SHOWN[unit][-1])
    elif unit:
        suffix = unit
    whole = not unit and value == round(value)  # a count shows no decimals
    text = (f"{value:,.0f}" if whole else _significant(value / prefix, digits)).replace("-", "−")
    return text if not suffix else f"{text}{'' if suffix.startswith('/') else ' '}{suffix}"


def rounded_ends(value: float, digits: int) -> tuple[float, float]:
    """Least and largest number that a text may have rounded to `value`, printed with `digits` significant digits.

    Parameters
    ----------
    value : float
        Above 0, as it was printed.
    digits : int
        Significant digits, >= 1: 1 for “20 thousand”.

    Examples
    --------
    >>> rounded_ends(20_000, 1), rounded_ends(100_000, 2)
    ((15000.0, 25000.0), (95000.0, 105000.0))
    """
    half = 10.0 ** (math.floor(math.log10(value)) + 1 - digits) / 2
    return value - half, value + half


def _significant(number: float, digits: int) -> str:
    if number == 0:
        return "0"
    magnitude = math.floor(math.log10(abs(number)))
    return f"{number:,.{max(0, digits - 1 - magnitude)}f}"
