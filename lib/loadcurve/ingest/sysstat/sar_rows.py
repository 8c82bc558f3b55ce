"""Convert sar's rows below one header to numbers: one line at a time, or millions of bytes at once.

Reading line by line is the reference: it reports each error with its line.  Reading in bulk returns the same numbers
for long texts; if it finds an unusual cell, the lines are read one by one.

Output of sysstat (12.6, ``common.c``): ``cprintf_f`` prints ``%9.2f`` (``--dec=0`` none), ``cprintf_u64``
whole numbers; with ``--human`` ``cprintf_unit`` prints one decimal and a 1024-based prefix, from bytes on, and
``cprintf_pc`` a percent sign.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from loadcurve.errors import ParseError
from loadcurve.ingest.sysstat.columns import Column
from loadcurve.ingest.sysstat.sar_lines import Lines
from loadcurve.ingest.sysstat.sar_scan import LONGEST, Header

if TYPE_CHECKING:
    import pyarrow as pa

_NUMBER = re.compile(r"([+-]?[0-9]{1,25})(?:[.,]([0-9]{1,2}))?([%sBkMGTP]?)")
_MISSING = ("nan", "-nan", "N/A")  # N/A: a line or an interrupt that is new, up to version 7
_HUMAN = {letter: 1024.0**power for power, letter in enumerate("BkMGTP")}
_CPU = re.compile(r"all|[0-9]{1,7}")
_LEAST, _MOST = 1 << 12, 1 << 24  # bytes from which bulk reading pays off, and bytes read at once
_MARK = 0x1F  # `sar` never prints it; a text that has it is read line by line


class Rows(NamedTuple):
    """Rows of one header."""

    header: Header
    lines: np.ndarray  # Number of the line of each row, from 0
    items: np.ndarray  # Item of each row, as an index into `names`; -1 for none
    names: list[str]  # Name of each item once
    # One array of floats for each of `Header.places`, as printed; NaN if a row has no such number.
    numbers: list[np.ndarray]


def read_rows(header: Header, lines: Lines) -> list[Rows]:
    """Return all rows below a header's rows."""
    blocks = header.blocks
    if _size(blocks, lines) < _LEAST or header.section.texts:
        return [_by_line(header, lines, blocks)]
    return [part for batch in _batches(blocks, lines) for part in _at_once(header, lines, batch)]


def read_cells(header: Header, text: str, line: int, average: bool = False) -> tuple[str, list[float]]:
    """Item and numbers of one row, without its time; `line` counts from 1.

    An average may end before its last cells: then there are fewer numbers.

    Examples
    --------
    >>> from loadcurve.ingest.sysstat.sections import section_of
    >>> columns = ("IFACE", "rxpck/s", "rxkB/s")
    >>> read_cells(Header(columns, section_of(columns), False, "", 1, 0), "eth0 1,50 2.0M", 2)
    ('eth0', [1.5, 2048.0])
    """
    section, columns = header.section, header.columns
    if len(text) > LONGEST:
        raise ParseError(line, f"{len(columns)} columns ({' '.join(columns)[:200]})", text)
    first = next((i for i, c in enumerate(columns) if c in ("DEVICE", "manufact", "status")), len(columns))
    tail = header.item == len(columns) - 1 or first < len(columns)
    cells = text.split(None, min(first, len(columns) - 1)) if tail else text.split()
    values = header.places
    cut = 0 < len(cells) < len(columns)
    if not (len(cells) == len(columns) or (cut and (average or section.table == "interrupts" or len(cells) >= first))):
        raise ParseError(line, f"{len(columns)} columns ({' '.join(columns)[:200]})", text)
    item = cells[header.item].strip() if 0 <= header.item < len(cells) else ""
    if columns[header.item : header.item + 1] == ("CPU",) and item and not _CPU.fullmatch(item):
        raise ParseError(line, "'all' or a processor number", item)
    words = [cells[i].strip() for i, name in enumerate(columns) if name in section.texts and i < len(cells)]
    if section.texts and "status" not in columns:
        item = " ".join(" ".join((item, *words)).split())
    return item, [_number(cells[i], section.column(columns[i]), columns[i], line) for i in values if i < len(cells)]


def _number(cell: str, column: Column, name: str, line: int) -> float:
    """Return the value of a cell, as the column would print it without --human."""
    found = _NUMBER.fullmatch(cell)
    if found is None:
        if cell in _MISSING:
            return float("nan")
        raise ParseError(line, f"a number such as 12.34 for {name}", cell)
    whole, decimals, letter = found.groups()
    if column.whole and (decimals or letter or whole[0] in "+-"):
        raise ParseError(line, f"a whole number for {name}", cell)
    value = float(f"{whole}.{decimals or 0}")
    if letter in ("", "%"):
        if letter and column.unit != "ratio" and not name.startswith("%"):
            raise ParseError(line, f"a number without a percent sign for {name}", cell)
        return value
    if column.unit not in ("bytes", "bytes_per_s") or letter not in _HUMAN:
        raise ParseError(line, f"a number without a unit for {name}", cell)
    return value * _HUMAN[letter] * column.per / column.times


def _by_line(header: Header, lines: Lines, blocks: np.ndarray) -> Rows:
    names: dict[str, int] = {}
    numbers, items, found = [], [], []
    width = len(header.places)
    before = 8 + 3 * header.half
    for a, b in blocks.tolist():
        for number in range(a, b):
            text = lines.text(number)
            if lines.seconds[number] < 0 or (lines.halves[number] > 0) != header.half:
                raise ParseError(number + 1, f"a time such as 10:33:25{' PM' * header.half}", text[:24])
            cells = text[before:].strip(" ")
            if header.zone:
                cells = cells.partition(" ")[2]
            item, values = read_cells(header, cells, number + 1)
            numbers.append(number)
            items.append(names.setdefault(item, len(names)) if item else -1)
            found.append(values + [float("nan")] * (width - len(values)))
    matrix = np.array(found, float).reshape(len(found), width)
    return Rows(header, np.array(numbers, np.int64), np.array(items, np.int64), list(names), list(matrix.T))


def _size(blocks: np.ndarray, lines: Lines) -> int:
    return int((lines.ends[blocks[:, 1] - 1] - lines.starts[blocks[:, 0]]).sum())


_AFTER_A_NUMBER = np.zeros(256, bool)
_AFTER_A_NUMBER[[_MARK, *b" \n"]] = True


def _batches(blocks: np.ndarray, lines: Lines) -> Iterator[np.ndarray]:
    """Blocks together as long as they are not too many bytes, and long blocks in parts."""
    sizes = lines.ends[blocks[:, 1] - 1] - lines.starts[blocks[:, 0]]
    cuts = np.flatnonzero(np.diff(np.cumsum(sizes) // _MOST)) + 1
    for batch in np.split(blocks, cuts):
        if len(batch) > 1 or _size(batch, lines) <= _MOST:
            yield batch
            continue
        a, b = batch[0].tolist()
        places = np.searchsorted(lines.starts, np.arange(lines.starts[a], lines.ends[b - 1], _MOST))
        places = np.unique(np.append(places, b))
        yield from (np.array([pair]) for pair in pairwise(places))


def _at_once(header: Header, lines: Lines, blocks: np.ndarray) -> list[Rows]:
    """Read rows of blocks at once; if that fails, read each half separately."""
    if (rows := _fast(header, lines, blocks)) is not None:
        return [rows]
    a, b = blocks[0].tolist()
    if _size(blocks, lines) < _LEAST or (len(blocks) == 1 and b == a + 1):
        return [_by_line(header, lines, blocks)]
    middle = (a + b) // 2
    halves = np.array_split(blocks, 2) if len(blocks) > 1 else (np.array([[a, middle]]), np.array([[middle, b]]))
    return [rows for half in halves for rows in _at_once(header, lines, half)]


def _fast(header: Header, lines: Lines, blocks: np.ndarray) -> Rows | None:
    """Return rows of blocks if every cell is a plain number; otherwise None."""
    counts = blocks[:, 1] - blocks[:, 0]
    numbers = np.arange(counts.sum()) + np.repeat(blocks[:, 0] - np.cumsum(counts) + counts, counts)
    if (lines.seconds[numbers] < 0).any() or ((lines.halves[numbers] > 0) != header.half).any():
        return None
    point = b"," if "," in lines.text(int(blocks[0, 0])) else b"."
    joined = _marked(lines, blocks, point)
    table = _split(joined, header, point) if joined else None
    if table is None or table.num_rows != len(numbers):
        return None
    values = [table.column(f"c{place}").to_numpy() for place in header.places]
    if not all(_is_plain(v, header, i) for v, i in zip(values, header.places, strict=True)):
        return None
    items, found = np.full(len(numbers), -1, np.int64), []
    letters = 0
    if header.item >= 0:
        column = table.column(f"c{header.item}").combine_chunks()
        found = [name.strip(" ") for name in column.dictionary.to_pylist()]
        items = column.indices.to_numpy().astype(np.int64)
        times = np.bincount(items, minlength=len(found))
        letters = sum(int(n) * (name.count("e") + name.count("E")) for n, name in zip(times, found, strict=True))
        if header.columns[header.item] == "CPU" and not all(_CPU.fullmatch(name) for name in found):
            return None
        unique = {name: i for i, name in enumerate(dict.fromkeys(found))}
        items, found = np.array([unique[name] for name in found], np.int64)[items], list(unique)
    if not header.zone and joined.count(b"e") + joined.count(b"E") != letters:
        return None  # 1e5 is a number to Arrow
    return Rows(header, numbers, items, found, values)


def _marked(lines: Lines, blocks: np.ndarray, point: bytes) -> bytearray:
    """Text of blocks with `_MARK` before each cell; empty if Arrow might take for a number other text."""
    starts, ends = lines.starts[blocks[:, 0]].tolist(), (lines.ends[blocks[:, 1] - 1] + 1).tolist()
    joined = bytearray(b"".join([lines.data[a:b] for a, b in zip(starts, ends, strict=True)]))
    if _MARK in joined:
        return bytearray()
    marked = np.frombuffer(joined, np.uint8)
    marked[marked == 9] = 32
    blank = marked == 32
    marked[:-1][blank[:-1] & ~blank[1:] & (marked[1:] != 10)] = _MARK
    points = np.flatnonzero(marked[:-1] == ord(point))
    odd = (marked[points - 1] == _MARK).any() or _AFTER_A_NUMBER[marked[points + 1]].any()
    return bytearray() if odd else joined


def _split(joined: bytearray, header: Header, point: bytes) -> "pa.Table | None":
    """Columns of marked text, each named by its place in the header; None if a cell is no number."""
    import pyarrow as pa  # only long texts need it
    from pyarrow import csv

    before = 1 + header.half + bool(header.zone)
    names = [f"c{i - before}" for i in range(before + len(header.columns))]
    types: dict[str, pa.DataType] = {f"c{place}": pa.float64() for place in header.places}
    if header.item >= 0:
        types[f"c{header.item}"] = pa.dictionary(pa.int32(), pa.string())
    try:
        return csv.read_csv(
            pa.BufferReader(pa.py_buffer(joined)),
            csv.ReadOptions(use_threads=False, column_names=names, block_size=len(joined)),
            csv.ParseOptions(delimiter=chr(_MARK), quote_char=False),
            csv.ConvertOptions(
                column_types=types, include_columns=list(types), null_values=[], decimal_point=point.decode()
            ),
        )
    except pa.ArrowInvalid:
        return None


def _is_plain(values: np.ndarray, header: Header, place: int) -> bool:
    """Whether all are finite and have at most two decimals, and whole numbers have none."""
    with np.errstate(invalid="ignore", over="ignore"):
        hundredths = np.rint(values * 100)
        plain = bool((np.abs(values) < 1e13).all()) and bool((hundredths / 100 == values).all())
    if plain and header.section.column(header.columns[place]).whole:
        return bool(((values >= 0) & (values == np.rint(values))).all())
    return plain
