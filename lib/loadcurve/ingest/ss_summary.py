"""ss: summaries (``ss -s``) into the table `sockets`.

Seen: iproute2 6.1 on Debian 12, alone and as a series with a time before each snapshot (`snapshots`); older forms in
public repositories.

What ss itself does (iproute2 6.1, ``misc/ss.c``, ``print_summary``):

- The first number after ``TCP:`` and ``closed`` include time-wait, ``orphaned`` is machine-wide, and ``closed`` is a
  difference of counts of different scope.
- The transport table has IP + IPv6 = Total in each row, and RAW + UDP + TCP = INET in each column.
- Older versions have also ``(kernel N)``, ``synrecv``, ``N/N``, ``ports`` and a row ``*``.
"""

import re

import pandas as pd

from loadcurve.errors import ParseError
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.snapshots import instant, utc, whole_lines

_TRANSPORT = ("RAW", "UDP", "TCP", "INET", "FRAG")
# The lines of ss -s in their order: first word, shape, and whether every version prints it.
_N = r"\s+([0-9]+)"
_SUMMARY = (
    ("Total:", re.compile(rf"Total:{_N}(?:\s+\(kernel\s+[0-9]+\))?"), True),
    (
        "TCP:",
        re.compile(
            rf"TCP:{_N}\s+\(estab{_N}, closed\s+(-?[0-9]+), orphaned{_N}(?:, synrecv\s+[0-9]+)?"
            rf", timewait{_N}(?:/[0-9]+)?\)(?:, ports\s+[0-9]+)?"
        ),
        True,
    ),
    ("Transport", re.compile(r"Transport\s+Total\s+(?:IP|ip)\s+IPv6"), True),
    ("*", re.compile(r"\*\s+[0-9]+\s+-\s+-"), False),
    *((word, re.compile(rf"{word}{_N}{_N}{_N}"), word != "FRAG") for word in _TRANSPORT),
)


def parse_ss_summary(text: str) -> Parsed:
    """Table `sockets` of one or several ``ss -s``.

    Parameters
    ----------
    text : str
        Output of ``ss -s``, each snapshot perhaps after a line with its time.

    Returns
    -------
    Parsed
        One row for each whole snapshot; `time` is missing where no time was given, `fragments` where ss printed no
        ``FRAG`` row.  A snapshot that the end of the text cuts is left out, with a warning.

    Raises
    ------
    ParseError
        Where a line is not what ss prints, the counts do not add up, or there is no whole snapshot.

    Examples
    --------
    >>> text = '''1795214067.320213382
    ... Total: 32
    ... TCP:   11803 (estab 28, closed 11773, orphaned 0, timewait 11737)
    ...
    ... Transport Total     IP        IPv6
    ... RAW       0         0         0
    ... UDP       0         0         0
    ... TCP       30        30        0
    ... INET      30        30        0
    ... FRAG      0         0         0
    ... '''
    >>> parse_ss_summary(text).tables["sockets"][["established", "time_wait", "transport_tcp"]].values.tolist()
    [[28, 11737, 30]]
    """
    lines, cut, warnings = whole_lines(text)
    blocks: list[list[tuple[int, str]]] = []  # a snapshot each, with the line of its time before it
    timed = False
    for number, line in enumerate(lines, 1):
        is_time = instant(line, number) is not None
        if is_time or not blocks or (line.startswith("Total:") and not timed):
            blocks.append([])
        if line:
            blocks[-1].append((number, line))
            timed = is_time
    blocks = [block for block in blocks if block]
    rows: list[dict] = []
    for i, block in enumerate(blocks, 1):
        row = _summary_row(block, warnings)
        if row is None and i < len(blocks):
            raise ParseError(blocks[i][0][0], "the rest of the snapshot before", blocks[i][0][1])
        if row is None or ("fragments" not in row and i == len(blocks) and cut.startswith("F")):
            warnings.append(f"line {block[0][0]}: the snapshot from here on is cut by the end of the text, so left out")
        else:
            rows.append(row)
    if not rows:
        number, line = blocks[-1][-1] if blocks else (1, cut)
        raise ParseError(number, "a whole summary of ss -s", line)
    table = pd.DataFrame(rows)
    table["time"] = utc(table["time"])
    return Parsed("ss", {"sockets": table}, tuple(warnings))


def _summary_row(block: list[tuple[int, str]], warnings: list[str]) -> dict | None:
    """One snapshot as a row of `sockets`; None where the block ends too early."""
    time = instant(block[0][1], block[0][0])
    rest = block[time is not None :]
    counts: dict[str, list[int]] = {}
    for word, shape, always in _SUMMARY:
        if not rest:
            if always:
                return None
            continue
        number, line = rest[0]
        match = shape.fullmatch(line)
        if match is None:
            if always or line.startswith(word):
                raise ParseError(number, f"the line {word!r} of ss -s", line)
            continue
        counts[word] = [int(value) for value in match.groups()]
        if word in _TRANSPORT:
            _check_counts(counts, word, number, line)
        rest = rest[1:]
    if rest:
        raise ParseError(rest[0][0], "a time or the line 'Total:' of the next snapshot", rest[0][1])
    names = ("tcp", "established", "closed", "orphaned", "time_wait")
    row = {"time": time, "tool": "ss", "total": counts["Total:"][0], **dict(zip(names, counts["TCP:"], strict=True))}
    if row["closed"] < 0:
        warnings.append(
            f"line {block[0][0]}: 'closed {row['closed']}' is missing: ss subtracts counts that differ in scope"
        )
        row["closed"] = None
    row |= {"udp": counts["UDP"][0], "raw": counts["RAW"][0]}
    row |= {"fragments": counts["FRAG"][0]} if "FRAG" in counts else {}
    names = ("transport_tcp", "transport_tcp_ipv4", "transport_tcp_ipv6")
    return row | dict(zip(names, counts["TCP"], strict=True))


def _check_counts(counts: dict[str, list[int]], word: str, number: int, line: str) -> None:
    """Raise unless a row of the transport table adds up; INET also down its columns."""
    total, ipv4, ipv6 = counts[word]
    if total != ipv4 + ipv6:
        raise ParseError(number, f"a total of {ipv4} + {ipv6} = {ipv4 + ipv6}", line)
    if word == "INET":
        sums = [sum(column) for column in zip(counts["RAW"], counts["UDP"], counts["TCP"], strict=True)]
        if counts[word] != sums:
            raise ParseError(number, "RAW + UDP + TCP = {} {} {}".format(*sums), line)
