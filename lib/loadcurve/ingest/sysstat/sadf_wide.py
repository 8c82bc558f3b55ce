"""Read the wide rows of ``sadf -dh``: all sections of an instant in one line, some repeated for each item."""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice

from loadcurve.errors import ParseError
from loadcurve.ingest.sysstat.sadf_rows import number_of
from loadcurve.ingest.sysstat.sections import ITEMS, SECTIONS

_WHOLE = re.compile(r"-?[0-9]+")
_NAMED = frozenset({"CPU", "TTY", "INTR", "FAN", "TEMP", "IN", "BAT", "BUS"})  # items that may look like numbers
_TEXTS = frozenset(name for section in SECTIONS for name in section.texts)
_SHAPES = {
    "DEV": re.compile(r"(?:[hsv]d[a-z]|xvd|nvme|mmcblk|dm-|dev[0-9]|loop[0-9]|sr[0-9]|md[0-9]|z?ram[0-9])"),
    "IFACE": re.compile(r"(?:lo$|eth|en[opsx]|wl|br-?|vir|veth|docker|bond|team|tun|tap|vlan|ib[0-9]|cali|flannel)"),
    "CPU": re.compile(r"-1$"),
    "FILESYSTEM": re.compile(r"/"),
    "MOUNTPOINT": re.compile(r"/"),
}
_MOST = 1000  # ways
MANY = "[...]"


_USB = ("BUS", "idvendor", "idprod", "maxpower", "manufact", "product")


def in_order(columns: list[str]) -> list[str]:
    """Return the columns of a header in the order of its values: from 12.6 on that of USB devices names them first.

    Examples
    --------
    >>> in_order(["%idle", "manufact", "product", "BUS", "idvendor", "idprod", "maxpower[...]"])[1:4]
    ['BUS', 'idvendor', 'idprod']
    """
    bare = [column.removesuffix(MANY) for column in columns]
    for i in range(len(bare) - len(_USB) + 1):
        part = bare[i : i + len(_USB)]
        if set(part) == set(_USB):
            many = MANY if columns[i + len(_USB) - 1].endswith(MANY) else ""
            return [*columns[:i], *_USB[:-1], _USB[-1] + many, *columns[i + len(_USB) :]]
    return columns


def sections_of(columns: list[str]) -> list[list[str]]:
    """Return the columns of each section of a header, the last of a repeated one with its ``[...]``.

    Examples
    --------
    >>> sections_of(["CPU", "%user", "%idle[...]", "proc/s", "cswch/s", "INTR", "CPU*[...]"])
    [['CPU', '%user', '%idle[...]'], ['proc/s', 'cswch/s'], ['INTR', 'CPU*[...]']]
    """
    return [list(section) for section in _sections_of(tuple(columns))]


@lru_cache(512)
def _sections_of(columns: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    if not any(column.endswith(MANY) for column in columns):
        return (columns,)
    found: list[list[str]] = [[]]
    for column in columns:
        before = found[-1]
        ended = before and before[-1].endswith(MANY)
        begun = before and column.removesuffix(MANY) in ITEMS
        if ended or begun or (before and before[0] not in ITEMS and not _together(before, column)):
            found.append([])
        found[-1].append(column)
    return tuple(tuple(section) for section in found)


def _together(before: list[str], column: str) -> bool:
    """Whether one section without items has all these columns."""
    names = {*before, column}
    return any(not section.items and names <= section.columns.keys() for section in SECTIONS)


def groups_of(sections: list[list[str]], cells: list[str], number: int) -> list[tuple[list[str], list[str]]]:
    """Return each section's columns and values, once for each item.

    Raises ParseError if the values do not fit the columns.
    """
    if len(sections) == 1 and not sections[0][-1].endswith(MANY):
        columns = sections[0]
        if columns == ["INTR", "CPU*"]:
            if len(cells) < 2:
                raise ParseError(number, "an interrupt and a value for each processor", ";".join(cells))
        elif len(cells) != len(columns):
            raise ParseError(number, f"{len(columns)} values ({' '.join(columns)})", ";".join(cells))
        return [(columns, cells)]
    counts = _likeliest(list(islice(_counts(sections, cells), _MOST)), sections, cells, number)
    groups, at = [], 0
    for section, (repeats, width) in zip(sections, counts, strict=True):
        columns = [column.removesuffix(MANY) for column in section]
        for _ in range(repeats):
            groups.append((columns, cells[at : at + width]))
            at += width
    return groups


def _likeliest(found: list[list[tuple[int, int]]], sections: list[list[str]], cells: list[str], number: int) -> list:
    """Return the most plausible of all ways in which the cells fit: each section has items of the expected names.

    A disk and an interface have rows of the same width: vda, lo and eth0 could be three disks.  Raises ParseError if
    the cells fit in no way, or in several equally plausible ways.
    """
    scored = sorted(((_score(counts, sections, cells), i) for i, counts in enumerate(found)), reverse=True)
    if not scored or len(found) == _MOST or (len(scored) > 1 and scored[0][0] == scored[1][0]):
        expected = "that can be distinguished" if scored else "that fit the header"
        raise ParseError(number, f"values of sadf -dh {expected} (sadf -d prints them apart)", ";".join(cells))
    return found[scored[0][1]]


def _score(counts: list[tuple[int, int]], sections: list[list[str]], cells: list[str]) -> int:
    """Return the numbers of non-empty sections, of items with a known name, and of sections with the same items."""
    score, at = 0, 0
    items: dict[str, list[str]] = {}
    for section, (repeats, width) in zip(sections, counts, strict=True):
        named = cells[at : at + repeats * width : width]
        at += repeats * width
        if section[0] in ITEMS:
            shape = _SHAPES.get(section[0])
            score += (repeats > 0) + sum(shape is not None and shape.match(name) is not None for name in named)
            score += section[0] in items and items[section[0]] == named
            items[section[0]] = named
    return score


def _counts(sections: list[list[str]], cells: list[str]) -> Iterator[list[tuple[int, int]]]:
    """Yield how often each section comes and how many cells it takes, in every way that uses all cells."""
    chosen: list[tuple[int, int]] = []
    starts = [0]
    has_rows = [False]
    open_choices = [_choices(sections[0], cells, 0)]
    dead: set[tuple[int, int]] = set()  # starts from which no assignment reaches the end
    while open_choices:
        if not open_choices[-1]:
            open_choices.pop()
            at, led = starts.pop(), has_rows.pop()
            if not led:
                dead.add((len(open_choices), at))
            if chosen:
                chosen.pop()
                has_rows[-1] |= led
            continue
        repeats, width = open_choices[-1].pop()
        at = starts[-1] + repeats * width
        if len(open_choices) == len(sections):
            if at == len(cells):
                has_rows[-1] = True
                yield [*chosen, (repeats, width)]
        elif (len(open_choices), at) not in dead:
            chosen.append((repeats, width))
            starts.append(at)
            has_rows.append(False)
            open_choices.append(_choices(sections[len(chosen)], cells, at))


def _choices(section: list[str], cells: list[str], at: int) -> list[tuple[int, int]]:
    """Repetitions of a section that its cells allow, the longest last."""
    if section[0] == "INTR" and section[-1].startswith("CPU*"):
        width = next((i for i in range(1, len(cells) - at) if not _is_rate(cells[at + i])), len(cells) - at)
    else:
        width = len(section)
    if not section[-1].endswith(MANY):
        return [(1, width)] if _fits(section, cells[at : at + width], width) else []
    items: set[str] = set()
    group = cells[at : at + width]
    while _fits(section, group, width) and group[0] not in items:
        items.add(group[0])
        group = cells[at + len(items) * width : at + (len(items) + 1) * width]
    return [(repeats, width) for repeats in range(len(items) + 1)]


def _is_rate(cell: str) -> bool:
    return number_of(cell) is not None and not _WHOLE.fullmatch(cell)


def _fits(section: list[str], cells: list[str], width: int) -> bool:
    if len(cells) < width or width < 2 - (len(section) == 1):
        return False
    item = section[0] in ITEMS
    if item and (_is_rate(cells[0]) or (section[0] == "CPU" and not _WHOLE.fullmatch(cells[0]))):
        return False
    if item and section[0] not in _NAMED and number_of(cells[0]) is not None:
        return False
    if section[-1].startswith("CPU*"):
        return all(_is_rate(cell) for cell in cells[1:])
    values = zip(section[item:], cells[item:], strict=True)
    return all(number_of(cell) is not None or name.removesuffix(MANY) in _TEXTS for name, cell in values)
