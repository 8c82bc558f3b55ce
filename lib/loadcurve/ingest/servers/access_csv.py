"""Lines of an access log as CSV with blanks between the values, which Arrow splits ten times as fast as a pattern.

A layout fits if its literals separate the values by blanks, as in the formats that nginx and Apache define.  Lines that
are not all alike are left to the pattern of the layout.
"""

import re
from dataclasses import dataclass
from functools import cache

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from loadcurve.ingest.servers.access_layout import Layout

_SMALLEST = 1 << 16  # characters; a pattern is as fast for less
_TEXT = pa.dictionary(pa.int32(), pa.string())


@dataclass
class _Word:
    """What is between two blanks of a layout: at most one field, and literals around it."""

    before: str = ""
    field: int = -1
    after: str = ""
    tokens: int = 1


def columns_of(part: str, layout: Layout) -> list[pa.DictionaryArray] | None:
    """Return the texts of each field of a layout in a part of a log; None unless all lines certainly fit."""
    if len(part) < _SMALLEST or not part.endswith("\n") or not (first := layout.pattern().match(part)):
        return None
    words = _words(layout, first.groups())
    rows, quoted = part.count("\n"), sum(word.before == word.after == '"' for word in words)
    if any('"' in word.before + word.after for word in words if not word.before == word.after == '"'):
        return None
    if part.count('"') != 2 * quoted * rows or any(word.field < 0 and word.after for word in words):
        return None
    names = [str(i) for i in range(sum(word.tokens for word in words))]
    raw = part.encode()
    try:
        table = csv.read_csv(
            pa.BufferReader(raw),
            csv.ReadOptions(column_names=names, block_size=len(raw) + 1, use_threads=False),
            csv.ParseOptions(delimiter=" ", double_quote=False),
            csv.ConvertOptions(column_types=dict.fromkeys(names, _TEXT), null_values=[]),
        )
    except pa.ArrowInvalid:
        return None
    if len(table) != rows:
        return None
    found: dict[int, pa.DictionaryArray] = {}
    at, bodies = 0, layout.bodies()
    for word in words:
        texts = _joined([table.column(i).combine_chunks() for i in range(at, at + word.tokens)])
        at += word.tokens
        values = _values(texts.dictionary, word, bodies[word.field] if word.field >= 0 else "")
        if values is None:
            return None
        found[word.field] = pa.DictionaryArray.from_arrays(texts.indices, values)
    return [found[i] for i in range(len(bodies))]


def _words(layout: Layout, values: tuple[str, ...]) -> list[_Word]:
    """Words of a layout; a value without quotes has as many tokens as in the line with these `values`."""
    words = [_Word()]
    for i, literal in enumerate(layout.literals):
        head, *others = literal.split(" ")
        words[-1].after += head
        words += [_Word(before=text) for text in others]
        if i < len(values):
            if words[-1].field >= 0:  # two fields without a blank in between
                return [_Word('"', 0)]
            words[-1].field, words[-1].before = i, words[-1].before + words[-1].after
            words[-1].after = ""
            words[-1].tokens += 0 if words[-1].before == '"' else values[i].count(" ")
    return words


def _joined(columns: list[pa.DictionaryArray]) -> pa.DictionaryArray:
    """Tokens of a value with the blanks between them."""
    if len(columns) == 1:
        return columns[0]
    return pc.binary_join_element_wise(*(c.cast(pa.string()) for c in columns), " ").dictionary_encode()


def _values(texts: pa.StringArray, word: _Word, body: str) -> pa.StringArray | None:
    """Values of words without the literals around them; None if one does not fit."""
    before, after = ("", "") if word.before == '"' else (word.before, word.after)
    found = texts.to_pylist()
    if not _whole(before, body, after).fullmatch("\n".join([*found, ""])):
        return None
    if not before and not after:
        return texts
    return pa.array([text[len(before) : len(text) - len(after)] for text in found], pa.string())


@cache
def _whole(before: str, body: str, after: str) -> re.Pattern[str]:
    """Lines with one value each."""
    return re.compile(rf"(?:{re.escape(before)}(?:{body}){re.escape(after)}\n)*+")
