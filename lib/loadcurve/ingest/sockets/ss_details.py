"""ss: the tokens that -o -e -m -i add to a socket, into columns of `connections`, a whole column at a time.

Output of ss (iproute2 6.1, ``misc/ss.c``, ``tcp_stats_print``, ``sock_details_print``): blanks separate
the tokens; a token is a flag (``sack``), a name and a value (``rto:204``), or, for three rates, a name, a blank and a
value (``send 62.3Mbps``); what is 0 is not printed.  Other versions have other tokens: those without a column are
copied to `other` unchanged.  Of the values:

- ``tcp_stats_print``: ``rto rtt ato minrtt rcv_rtt`` are milliseconds printed with ``%g`` (six digits:
  ``1.23457e+06``), ``lastsnd lastrcv lastack`` whole milliseconds, ``busy rwnd_limited sndbuf_limited`` whole
  milliseconds and ``ms``.
- ``sprint_bw``: rates in bits per second in steps of 1000 (``62.3Mbps``), with -n all digits (``594026739bps``).
- ``print_ms_timer``: ``N.MMMms`` is N.MMM SECONDS (the newest version writes ``N.MMMsec``), ``MMMms`` milliseconds.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from loadcurve.errors import ParseError

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
        return np.asarray(pc.match_substring_regex(texts, pattern).to_numpy(zero_copy_only=False))
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


def pair(separator: str, reader: Callable[..., Any], lone: bool = False) -> Callable[[pa.Array], list[pa.Array]]:
    """Function that reads two values around a separator; with `lone` the second may be missing."""

    def read(texts: pa.Array) -> list[pa.Array]:
        parts = pc.split_pattern(texts, separator, max_splits=1)
        offsets = parts.offsets.to_numpy()
        two = np.diff(offsets) == 2
        if not two.any() and lone:
            return [reader(texts), pa.nulls(len(texts), pa.float64())]
        second = parts.values.take(pa.array(offsets[:-1] + 1, mask=~two))
        first = reader(parts.values.take(pa.array(offsets[:-1])))
        second = reader(second) if two.all() else placed(reader(second.drop_null()), np.flatnonzero(two), len(two))
        right = pc.is_valid(second) if not lone else pc.or_(pc.is_valid(second), pa.array(~two))
        return [pc.if_else(right, first, pa.scalar(None, first.type)), second]

    return read


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
    parts = found.flatten()  # carries the nulls of the whole to its parts, unlike field()
    return [parts[found.type.get_field_index(name)] for name in names]


_Reader = Callable[[pa.Array], list[Any]]


def _one(reader: Callable[..., Any]) -> _Reader:
    return lambda texts: [reader(texts)]


_TEXT = _one(lambda texts: pc.if_else(pc.equal(texts, ""), None, texts))
_WHOLE, _SIZE, _MS, _LIMITED, _RATE = map(_one, (whole, size, milliseconds, limited, rate))

# Name that ss prints → columns of its value, and the function that reads it.
KEYS: dict[str, tuple[tuple[str, ...], _Reader]] = {
    "timer": (("timer", "timer_s", "timer_retries"), timer),
    "uid": (("uid",), _WHOLE),
    "ino": (("inode",), _WHOLE),
    "sk": (("cookie",), _TEXT),
    "cgroup": (("cgroup",), _TEXT),
    "wscale": (("send_window_scale", "receive_window_scale"), pair(",", whole)),
    "rto": (("rto_s",), _MS),
    "backoff": (("backoff",), _WHOLE),
    "rtt": (("rtt_s", "rtt_deviation_s"), pair("/", milliseconds, lone=True)),
    "ato": (("ato_s",), _MS),
    "minrtt": (("min_rtt_s",), _MS),
    "rcv_rtt": (("receive_rtt_s",), _MS),
    "mss": (("mss_bytes",), _SIZE),
    "pmtu": (("path_mtu_bytes",), _SIZE),
    "rcvmss": (("receive_mss_bytes",), _SIZE),
    "advmss": (("advertised_mss_bytes",), _SIZE),
    "cwnd": (("cwnd",), _WHOLE),
    "ssthresh": (("ssthresh",), _WHOLE),
    "bytes_sent": (("sent_bytes",), _SIZE),
    "bytes_retrans": (("retransmitted_bytes",), _SIZE),
    "bytes_acked": (("acknowledged_bytes",), _SIZE),
    "bytes_received": (("received_bytes",), _SIZE),
    "segs_out": (("segments_sent",), _WHOLE),
    "segs_in": (("segments_received",), _WHOLE),
    "data_segs_out": (("data_segments_sent",), _WHOLE),
    "data_segs_in": (("data_segments_received",), _WHOLE),
    "send": (("send_bps",), _RATE),
    "pacing_rate": (("pacing_rate_bps", "pacing_rate_max_bps"), pair("/", rate, lone=True)),
    "delivery_rate": (("delivery_rate_bps",), _RATE),
    "lastsnd": (("last_sent_s",), _MS),
    "lastrcv": (("last_received_s",), _MS),
    "lastack": (("last_acknowledged_s",), _MS),
    "delivered": (("delivered",), _WHOLE),
    "delivered_ce": (("delivered_marked",), _WHOLE),
    "busy": (("busy_s",), _LIMITED),
    "rwnd_limited": (("receive_window_limited_s",), _LIMITED),
    "sndbuf_limited": (("send_buffer_limited_s",), _LIMITED),
    "unacked": (("unacknowledged",), _WHOLE),
    "retrans": (("retransmits", "retransmits_total"), pair("/", whole)),
    "lost": (("lost",), _WHOLE),
    "sacked": (("sacked",), _WHOLE),
    "dsack_dups": (("duplicate_sacks",), _WHOLE),
    "reordering": (("reordering",), _WHOLE),
    "reord_seen": (("reorderings_seen",), _WHOLE),
    "rcv_space": (("receive_space_bytes",), _SIZE),
    "rcv_ssthresh": (("receive_ssthresh_bytes",), _SIZE),
    "notsent": (("unsent_bytes",), _SIZE),
    "snd_wnd": (("send_window_bytes",), _SIZE),
    "rcv_wnd": (("receive_window_bytes",), _SIZE),
    "skmem": (
        ("receive_memory_bytes", "receive_buffer_bytes", "transmit_memory_bytes", "transmit_buffer_bytes",
         "forward_memory_bytes", "write_queue_bytes", "option_memory_bytes", "backlog_bytes", "drops"),
        skmem,
    ),
    "mem": (
        ("receive_memory_bytes", "write_queue_bytes", "forward_memory_bytes", "transmit_memory_bytes"), mem,
    ),
}  # fmt: skip
SEPARATE = ("send", "pacing_rate", "delivery_rate")
"""Names whose value is the next token."""
_REPEATED = ("ino", "cgroup")  # a unix socket's inode and its file's; --cgroup beside -e
OPTIONS = ("ts", "usec_ts", "sack", "ecn", "ecnseen", "fastopen", "app_limited", "bidir", "fallback_mode")
CONTROLS = (
    "reno", "cubic", "bbr", "bbr1", "bbr2", "bbr3", "bic", "cdg", "dctcp", "dctcp-reno", "highspeed", "htcp", "hybla",
    "illinois", "lp", "nv", "prague", "scalable", "vegas", "veno", "westwood", "yeah", "lia", "olia", "balia", "wvegas",
    "bpf_cubic", "bpf_dctcp", "bbrplus", "tsunami", "nanqinlang",
)  # fmt: skip
_BEFORE_A_CONTROL = re.compile(r"(?:ts|sack|ecn|ecnseen|fastopen)+(?=[a-z])")  # iproute2 2.6 left the blank out
_AFTER_A_CONTROL = ("wscale", "rto", "backoff", "rtt", "ato", "mss", "cwnd")
_KEYS = pa.array(list(KEYS))
_WORD = r"^[a-z][a-z0-9_-]{0,15}$"
# A token without a colon: never a lone number or address, nor the first word of a row.
_OTHER = r"^(?:[A-Za-z_]|\.\.\.$|…$|<->$|<--$|-->$|---$|[()]+$|0x[0-9a-f]+,?$)"
_NOT_OTHER = (
    r"^(?:ESTAB|LISTEN|UNCONN|CLOSING|UNDEF|UNKNOWN|(?:TIME|CLOSE)-WAIT|LAST-ACK|FIN-WAIT-[12]|(?:NEW-)?SYN-(?:SENT|RECV)"
    r"|tcp|udp|u_str|u_dgr|u_seq|Netid|State|Recv-Q)$"
)
_BEHIND_THE_OPTIONS = (
    "busy_s", "unacknowledged", "retransmits", "receive_rtt_s", "receive_space_bytes", "receive_ssthresh_bytes",
    "unsent_bytes", "min_rtt_s", "send_window_bytes", "receive_window_bytes",
)  # fmt: skip
_LISTS = ("peers:", "filter", "via", "map_id:")  # a list of numbers follows these words


@dataclass(frozen=True)
class Tokens:
    """Tokens of details, in the order of the text."""

    texts: pa.Array
    rows: np.ndarray  # Socket of each, counted from 0 in this part of the text
    lines: np.ndarray  # Line of each in the file, from 1


def columns_of(tokens: Tokens, count: int, warnings: list[str]) -> dict[str, pa.Array]:
    """Return the columns that the tokens fill, each with `count` values; null where a socket has no such token."""
    texts, parts = tokens.texts, pc.split_pattern(tokens.texts, ":", max_splits=1)
    starts = parts.offsets.to_numpy()[:-1]
    named = np.diff(parts.offsets.to_numpy()) == 2
    flat = parts.values
    # flat may lie before the array's own offset when it is a slice; it never is here.
    codes = pc.fill_null(pc.index_in(flat.take(pa.array(starts)), _KEYS), -1).to_numpy().astype(np.int8)  # sorted fast
    codes[~named] = -1
    consumed = _separate(tokens, codes, named)
    columns: dict[str, pa.Array] = {}
    order = np.argsort(codes, kind="stable")
    edges = np.searchsorted(codes[order], np.arange(len(KEYS) + 1))
    repeated = np.zeros(len(codes), bool)
    for code, (name, (targets, reader)) in enumerate(KEYS.items()):
        which = order[edges[code] : edges[code + 1]]
        if not len(which):
            continue
        rows = tokens.rows[which]
        again = np.concatenate([[False], rows[1:] == rows[:-1]])
        if again.any():
            if name not in _REPEATED:
                raise _wrong(tokens, which[again][0], f"the token {name!r} once for a socket")
            repeated[which[again]] = True
            which, rows = which[~again], rows[~again]
        at = which + consumed[which]
        found = reader(texts.take(pa.array(at)) if name in SEPARATE else flat.take(pa.array(starts[at] + 1)))
        if (wrong := found[0].is_null().to_numpy(zero_copy_only=False)).any():
            raise _wrong(tokens, at[wrong][0], f"a value of {name!r} as ss prints it")
        for target, column in zip(targets, found, strict=True):
            column = _not_negative(tokens, at, column, warnings)
            if target in columns:  # mem and skmem hold the same numbers
                column, columns[target] = columns[target], placed(column, rows, count)
                columns[target] = pc.coalesce(column, columns[target])
            else:
                columns[target] = placed(column, rows, count)
    left = (codes == -1) & ~(np.concatenate([[0], consumed[:-1]]) == 1) | repeated
    columns |= _flags(tokens, left, codes, count)
    if "delivery_rate_bps" in columns or "app_limited" in columns:
        # Versions that print delivery_rate print app_limited too, so without it the flag is false.
        rated = columns.get("delivery_rate_bps", pa.nulls(count, pa.float64()))
        no = pc.if_else(pc.is_valid(rated), False, pa.scalar(None, pa.bool_()))
        columns["app_limited"] = pc.coalesce(columns["app_limited"], no) if "app_limited" in columns else no
    return columns


def _separate(tokens: Tokens, codes: np.ndarray, named: np.ndarray) -> np.ndarray:
    """Give the names whose value is the next token their code; returns 1 for each of them, 0 for all others."""
    consumed = np.zeros(len(codes), np.int64)
    keys = list(KEYS)
    lone = np.flatnonzero(~named)
    words = tokens.texts.take(pa.array(lone))
    for name in SEPARATE:
        at = lone[pc.equal(words, name).to_numpy(zero_copy_only=False)]
        if not len(at):
            continue
        last = at == len(codes) - 1
        alone = last | (tokens.rows[np.minimum(at + 1, len(codes) - 1)] != tokens.rows[at])
        if alone.any():
            raise _wrong(tokens, at[alone][0], f"a value of {name!r}")
        codes[at] = keys.index(name)
        consumed[at] = 1
    return consumed


def _flags(tokens: Tokens, left: np.ndarray, codes: np.ndarray, count: int) -> dict[str, pa.Array]:
    """Columns of the tokens that are no name with a value of a column."""
    at = np.flatnonzero(left)
    if not len(at):
        return {}
    encoded = tokens.texts.take(pa.array(at)).dictionary_encode()
    words, index = encoded.dictionary, encoded.indices.to_numpy()
    option = pc.is_in(words, pa.array(OPTIONS)).to_numpy(zero_copy_only=False)[index]
    control = pc.is_in(words, pa.array(CONTROLS)).to_numpy(zero_copy_only=False)[index]
    follows = np.append(codes, -1)[np.minimum(at + 1, len(codes))]
    before = np.isin(follows, [list(KEYS).index(name) for name in _AFTER_A_CONTROL])
    word = matches(words, _WORD)[index]
    control |= word & before & ~option
    rest = ~(option | control)
    fit = matches(words, _OTHER) & ~matches(words, _NOT_OTHER)
    for i in np.flatnonzero(rest & ~fit[index]):
        row = tokens.rows[at[i]]
        before_it = tokens.texts.filter(pa.array((tokens.rows == row) & (np.arange(len(codes)) < at[i]))).to_pylist()
        if not ((before_it and before_it[-1].endswith(":")) or any(text in _LISTS for text in before_it)):
            raise _wrong(tokens, at[i], "a token of ss's details")
    columns = {
        "options": _joined(tokens, at[option | control], count),
        "other": _joined(tokens, at[rest], count),
    }
    chosen = at[control]
    if len(chosen):
        chosen = chosen[np.concatenate([[True], np.diff(tokens.rows[chosen]) != 0])]
        controls = tokens.texts.take(pa.array(chosen)).dictionary_encode()
        names = pa.array([_BEFORE_A_CONTROL.sub("", word) for word in controls.dictionary.to_pylist()])
        columns["congestion_control"] = placed(names.take(controls.indices), tokens.rows[chosen], count)
    limited = at[(words.to_numpy(zero_copy_only=False) == "app_limited")[index]]
    if len(limited):
        columns["app_limited"] = placed(pa.array(np.ones(len(limited), bool)), tokens.rows[limited], count)
    return {name: column for name, column in columns.items() if column.null_count < count}


def _joined(tokens: Tokens, at: np.ndarray, count: int) -> pa.Array:
    """Tokens of each socket with a blank between them."""
    rows, first = np.unique(tokens.rows[at], return_index=True)
    lists = pa.ListArray.from_arrays(pa.array(np.append(first, len(at)), pa.int32()), tokens.texts.take(pa.array(at)))
    return placed(pc.binary_join(lists, " "), rows, count)


def placed(column: pa.Array, rows: np.ndarray, count: int) -> pa.Array:
    """`column` of some sockets as one of all."""
    if len(rows) == count:
        return column
    where = np.full(count, -1)
    where[rows] = np.arange(len(rows))
    return column.take(pa.array(where, mask=where < 0))


def _not_negative(tokens: Tokens, at: np.ndarray, column: pa.Array, warnings: list[str]) -> pa.Array:
    if not pa.types.is_integer(column.type) and not pa.types.is_floating(column.type):
        return column
    if (least := pc.min(column).as_py()) is None or not least < 0:
        return column
    negative = pc.fill_null(pc.less(column, 0), False)
    first = at[np.flatnonzero(negative.to_numpy(zero_copy_only=False))[0]]
    shown = tokens.texts[int(first)].as_py()
    warnings.append(f"line {tokens.lines[first]}: {shown!r} is a counter that overflowed, so missing, here and below")
    return pc.if_else(negative, pa.scalar(None, column.type), column)


def _wrong(tokens: Tokens, at: int, expected: str) -> ParseError:
    return ParseError(int(tokens.lines[at]), expected, tokens.texts[int(at)].as_py())


def has_last_tokens(columns: dict[str, pa.Array]) -> bool:
    """Whether the last socket has one of the tokens that ss prints after all options."""
    return any(name in columns and columns[name][-1].is_valid for name in _BEHIND_THE_OPTIONS)


def cut_texts(columns: dict[str, pa.Array]) -> None:
    """Remove the texts of the last socket, whose tokens the end of the text cut."""
    for name in ("options", "other", "app_limited"):
        if name in columns:
            column = columns[name]
            columns[name] = pa.concat_arrays([column.slice(0, len(column) - 1), pa.nulls(1, column.type)])
