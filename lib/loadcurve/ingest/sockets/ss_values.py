"""ss: the value of one token of a socket's details into numbers, a whole column at a time.

Output of ss (iproute2 6.1, ``misc/ss.c``):

- ``tcp_stats_print``: ``rto rtt ato minrtt rcv_rtt`` are milliseconds printed with ``%g`` (six digits:
  ``1.23457e+06``), ``lastsnd lastrcv lastack`` whole milliseconds, ``busy rwnd_limited sndbuf_limited`` whole
  milliseconds and ``ms``.
- ``sprint_bw``: rates in bits per second in steps of 1000 (``62.3Mbps``), with -n all digits (``594026739bps``).
- ``print_ms_timer``: ``N.MMMms`` is N.MMM SECONDS (the newest version writes ``N.MMMsec``), ``MMMms`` milliseconds.
"""

import re
from collections.abc import Callable
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_TIMER = re.compile(
    r"(?:(?P<ms>[0-9]{3})ms|(?:(?P<min>[0-9]{1,9})min)?(?:(?P<sec>[0-9]{1,2})(?:sec|(?P<frac>\.[0-9]{3})(?:ms|sec)))?)"
)
_FEW = 1000  # texts
_FLOAT = r"[0-9]{1,30}(?:\.[0-9]{1,30})?(?:e\+?[0-9]{1,2})?"
_SCALES = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}


@cache
def timer_s(text: str) -> float:
    """Seconds until a timer of ``ss -o`` fires; NaN where ss printed no time.

    Raises ValueError where ss does not print such a time.

    Examples
    --------
    >>> timer_s("9.403ms"), timer_s("011ms"), timer_s("1min8sec"), timer_s("81min"), timer_s("")
    (9.403, 0.011, 68.0, 4860.0, nan)
    """
    found = _TIMER.fullmatch(text)
    if found is None:
        raise ValueError(f"a time such as 9.403ms, 59sec or 1min8sec, got {text!r}")
    if not text:
        return float("nan")
    if found["ms"]:
        return int(found["ms"]) / 1000
    return 60.0 * int(found["min"] or 0) + float((found["sec"] or "0") + (found["frac"] or ""))


_DIGITS = np.zeros(256, bool)
_DIGITS[list(b"0123456789")] = True
_DECIMAL = _DIGITS.copy()
_DECIMAL[list(b".e+")] = True


def only(texts: pa.Array, allowed: np.ndarray, longest: int = 1 << 30) -> bool:
    """Whether all texts, none of which may be empty, too long or null, have only characters that are `allowed`."""
    offsets = np.frombuffer(texts.buffers()[1], np.int32)[texts.offset : texts.offset + len(texts) + 1]
    lengths = np.diff(offsets)
    if texts.null_count or not len(texts) or lengths.min() == 0 or lengths.max() > longest:
        return False
    return bool(allowed[np.frombuffer(texts.buffers()[2], np.uint8)[offsets[0] : offsets[-1]]].all())


def matches(texts: pa.Array, pattern: str) -> np.ndarray:
    """Where texts match a pattern; few of them in Python, because Arrow compiles one for half a millisecond."""
    if len(texts) > _FEW:
        return pc.match_substring_regex(texts, pattern).to_numpy(zero_copy_only=False)
    search = re.compile(pattern, re.ASCII).search
    return np.array([search(text) is not None for text in texts.to_pylist()], bool)


def are_whole(texts: pa.Array) -> np.ndarray:
    """Where a text is a whole number of at most 18 digits."""
    if only(texts, _DIGITS, 18):
        return np.ones(len(texts), bool)
    return matches(texts, r"^-?[0-9]{1,18}$")


def whole(texts: pa.Array) -> pa.Array:
    """Whole numbers; null where a text is none.  19 digits and more, a counter that overflowed, become -1."""
    if only(texts, _DIGITS, 18):
        return texts.cast(pa.int64())
    right = pc.match_substring_regex(texts, r"^-?[0-9]{1,20}$")
    usable = pc.if_else(right, texts, pa.scalar(None, texts.type))
    small = pc.less_equal(pc.binary_length(usable), 18)
    return pc.if_else(small, pc.if_else(small, usable, "0").cast(pa.int64()), -1)


def size(texts: pa.Array) -> pa.Array:
    """Bytes, whole numbers as `whole` reads them, as real ones."""
    return whole(texts).cast(pa.float64(), safe=False)


def real(texts: pa.Array) -> pa.Array:
    """Numbers as ``%g`` prints them; null where a text is none, -1 where it is negative."""
    if only(texts, _DECIMAL):
        try:
            return texts.cast(pa.float64())
        except pa.ArrowInvalid:
            pass
    right = pc.match_substring_regex(texts, rf"^-?{_FLOAT}$")
    values = pc.if_else(right, texts, pa.scalar(None, texts.type)).cast(pa.float64())
    return pc.if_else(pc.less(values, 0), -1.0, values)


def milliseconds(texts: pa.Array) -> pa.Array:
    """Milliseconds into seconds; negative ones become -1."""
    values = real(texts)
    return pc.if_else(pc.less(values, 0), -1.0, pc.divide(values, 1000.0))


def limited(texts: pa.Array) -> pa.Array:
    """Times such as ``12ms`` and ``12ms(0.5%)`` into seconds."""
    if pc.all(pc.ends_with(texts, "ms")).as_py() and only(bare := _without_end(texts, 2), _DIGITS):
        return milliseconds(bare)
    return milliseconds(_groups(texts, r"^(?P<ms>[0-9]{1,18})ms(?:\([0-9.]{1,12}%\))?$", "ms")[0])


def rate(texts: pa.Array) -> pa.Array:
    """Rates such as ``62.3Mbps`` and ``594026739bps`` into bits per second."""
    if pc.all(pc.ends_with(texts, "bps")).as_py() and only(bare := _without_end(texts, 3), _DIGITS):
        return real(bare)
    number, unit = _groups(texts, rf"^(?P<number>{_FLOAT})(?P<unit>[kKMGT]?)bps$", "number", "unit")
    scale = pa.array(list(_SCALES.values())).take(pc.index_in(unit, pa.array(list(_SCALES))))
    return pc.multiply(number.cast(pa.float64()), scale)


def _without_end(texts: pa.Array, count: int) -> pa.Array:
    return pc.binary_slice(texts.cast(pa.binary()), 0, -count).cast(pa.string())


def pair(separator: str, reader: Callable, lone: bool = False) -> Callable[[pa.Array], list[pa.Array]]:
    """Function that reads two values around a separator; with `lone` the second may be missing."""

    def read(texts: pa.Array) -> list[pa.Array]:
        parts = pc.split_pattern(texts, separator, max_splits=1)
        offsets = parts.offsets.to_numpy()
        two = np.diff(offsets) == 2
        if not two.any() and lone:
            return [reader(texts), pa.nulls(len(texts), pa.float64())]
        second = parts.values.take(pa.array(offsets[:-1] + 1, mask=~two))
        first = reader(parts.values.take(pa.array(offsets[:-1])))
        second = reader(second) if two.all() else _placed_again(reader(second.drop_null()), two)
        right = pc.is_valid(second) if not lone else pc.or_(pc.is_valid(second), pa.array(~two))
        return [pc.if_else(right, first, pa.scalar(None, first.type)), second]

    return read


def _placed_again(values: pa.Array, where: np.ndarray) -> pa.Array:
    return values.take(pa.array(np.cumsum(where) - 1, mask=~where))


def timer(texts: pa.Array) -> list[pa.Array]:
    """Name, seconds and retries of ``(keepalive,9.403ms,0)``."""
    names, times, retries = _groups(
        texts, r"^\((?P<name>[A-Za-z0-9_]{1,20}),(?P<time>[0-9a-z.]{0,20}),(?P<retries>[0-9]{1,9})\)$",
        "name", "time", "retries",
    )  # fmt: skip
    encoded = times.dictionary_encode()
    seconds, wrong = [], []
    for text in encoded.dictionary.to_pylist():
        try:
            seconds.append(timer_s(text))
            wrong.append(False)
        except ValueError:
            seconds.append(0.0)
            wrong.append(True)
    invalid = pc.fill_null(pa.array(wrong, pa.bool_()).take(encoded.indices), True)
    return [
        pc.if_else(invalid, pa.scalar(None, names.type), names),
        pa.array(seconds, pa.float64()).take(encoded.indices),
        whole(retries),
    ]


_SKMEM = ("r", "rb", "t", "tb", "f", "w", "o", "bl", "d")


def skmem(texts: pa.Array) -> list[pa.Array]:
    """The nine numbers of ``(r0,rb87380,t0,tb16384,f0,w0,o0,bl0,d0)``; the last two are not in old versions."""
    parts = [f",?{name}(?P<{name}>[0-9]{{1,18}})" for name in _SKMEM[:7]]
    parts += [f"(?:,{name}(?P<{name}>[0-9]{{1,18}}))?" for name in _SKMEM[7:]]
    found = _groups(texts, rf"^\({''.join(parts)}\)$", *_SKMEM)
    return [
        *map(whole, found[:7]),
        *(whole(pc.if_else(pc.equal(part, ""), pa.scalar(None, part.type), part)) for part in found[7:]),
    ]


def mem(texts: pa.Array) -> list[pa.Array]:
    """The four numbers of ``mem:(r0,w0,f0,t0)``, which old versions print."""
    number = "[0-9]{1,18}"
    pattern = rf"^\(r(?P<r>{number}),w(?P<w>{number}),f(?P<f>{number}),t(?P<t>{number})\)$"
    return [whole(part) for part in _groups(texts, pattern, "r", "w", "f", "t")]


def _groups(texts: pa.Array, pattern: str, *names: str) -> list[pa.Array]:
    found = pc.extract_regex(texts, pattern)
    return [_field(found, name) for name in names]


def _field(found: pa.StructArray, name: str) -> pa.Array:
    # flatten() carries the nulls of the whole to its parts, field() does not.
    return found.flatten()[found.type.get_field_index(name)]
