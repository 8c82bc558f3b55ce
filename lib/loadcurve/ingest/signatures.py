"""Find where in a text the output of each tool begins.

Trying a hundred patterns on every line of a report would take longer than parsing it.  So literals are derived from
each alternative of each signature, one of which every match contains.  Only the alternatives with a literal that
occurs in the text become part of the search pattern.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from itertools import chain, pairwise

from loadcurve.ingest.form import Form
from loadcurve.ingest.registry import FORMS

_LITERAL_ESCAPES = frozenset("()[]{}.*+?|^$\\/#-\"' ,;:<>=&~@!%")
_SPACES = {"n": "\n", "t": "\t"}
_QUANTIFIER = re.compile(r"(?P<least>[?*+]|\{(?P<count>[0-9]*)[0-9,]*\})?[?+]?")
_GROUP = re.compile(r"\((?:\?(?:[:=!>]|<[=!]|P<\w+>))?")
_SHORTEST = 3  # characters of a literal that is worth a search
_LARGE = 1 << 15  # characters from which one pass for all literals is faster than a search for each
_PIECE = 1 << 20  # characters per pass: each needs twelve bytes of memory
_NONE: frozenset[str] = frozenset()
_START = r"\n[ \t]*+"  # possessive, so that five megabytes of blanks are scanned once
_LONGEST_PREFIX = 120  # characters


def form_starts(text: str, forms: tuple[Form, ...] = FORMS) -> Iterator[tuple[Form, int]]:
    r"""Yield each form whose signature matches in a text, and where, in order; of two at one place the first.

    Examples
    --------
    >>> [(form.name, start) for form, start in form_starts("$ ss -s\nTotal: 192\n")]
    [('ss:summary', 8)]
    """
    document, line = _patterns(forms, _present(text, forms))
    end = 0
    if document and (whole := document.match(text)):
        yield forms[int(str(whole.lastgroup)[1:])], 0
        end = whole.end()
    text = "\n" + text  # so that every line follows a newline, for which `re` searches ten times as fast as for ^
    while line and (match := line.search(text, end)):
        yield forms[int(str(match.lastgroup)[1:])], match.start()
        end = match.end() - 1  # perhaps the newline before the next line


def prefixes(text: str, forms: tuple[Form, ...] = FORMS) -> list[str]:
    r"""Return the texts before signatures inside lines, each once, in order: a collector writes one before each line.

    Examples
    --------
    >>> prefixes("[host1] Total: 192\n[host1] TCP: 3\n[host2] Total: 5\n")
    ['[host1] ', '[host2] ']
    """
    _, line = _patterns(forms, _present(text, forms))
    if line is None:
        return []
    inside = re.compile(
        rf"\n([^\n]{{0,{_LONGEST_PREFIX}}}?[^\w\n])(?:{line.pattern.removeprefix(_START)})", re.MULTILINE
    )
    found = (match[1] for match in inside.finditer("\n" + text))
    return list(dict.fromkeys(prefix[: len(prefix.rstrip()) + 1] for prefix in found if prefix.strip()))


def _present(text: str, forms: tuple[Form, ...]) -> frozenset[int]:
    """Alternatives that may match, as a literal of theirs occurs in a text."""
    by_literal, always = _literals(forms)
    likely = _likely(text, by_literal) if len(text) > _LARGE else _likely_in_small(text, forms)
    return always.union(*[by_literal[literal] for literal in likely if literal in text])


@cache
def _alternatives(forms: tuple[Form, ...]) -> tuple[tuple[int, str], ...]:
    """Index of the form, and pattern, of every alternative."""
    return tuple((i, pattern) for i, form in enumerate(forms) for pattern in form.signature)


@cache
def _literals(forms: tuple[Form, ...]) -> tuple[dict[str, frozenset[int]], frozenset[int]]:
    """Alternatives by literal, and the alternatives without one."""
    by_literal: dict[str, set[int]] = {}
    always: set[int] = set()
    for i, (_, pattern) in enumerate(_alternatives(forms)):
        literals = literals_of(pattern)
        for literal in literals:
            by_literal.setdefault(literal, set()).add(i)
        if not literals:
            always.add(i)
    return {literal: frozenset(found) for literal, found in by_literal.items()}, frozenset(always)


def _likely(text: str, literals: Iterable[str]) -> list[str]:
    """Literals whose every three bytes occur in a text: one pass over it instead of one for each literal."""
    import numpy as np  # which small texts do not need

    present = np.zeros(1 << 24, bool)
    for start in range(0, len(text), _PIECE):  # with two more characters
        piece = text[start : start + _PIECE + 2].encode("utf-8", "surrogatepass")
        raw = np.frombuffer(piece, np.uint8).astype(np.uint32)
        present[raw[:-2] | raw[1:-1] << 8 | raw[2:] << 16] = True
    return [literal for literal in literals if present[list(_trigrams(literal))].all()]


def _likely_in_small(text: str, forms: tuple[Form, ...]) -> Iterator[str]:
    """Literals whose rarest pair of characters occurs in a text."""
    by_pair = _by_pair(forms)
    for pair in by_pair.keys() & pairwise(text):
        yield from by_pair[pair]


@cache
def _by_pair(forms: tuple[Form, ...]) -> dict[tuple[str, str], list[str]]:
    """Literals by the pair of adjacent characters that the fewest literals have."""
    pairs = {literal: list(pairwise(literal)) for literal in _literals(forms)[0]}
    counts = Counter(chain.from_iterable(map(set, pairs.values())))
    by_pair: dict[tuple[str, str], list[str]] = {}
    for literal, own in pairs.items():
        by_pair.setdefault(min(own, key=counts.__getitem__), []).append(literal)
    return by_pair


@cache
def _trigrams(literal: str) -> tuple[int, ...]:
    raw = literal.encode()
    return tuple(int.from_bytes(raw[i : i + 3], "little") for i in range(len(raw) - 2))


@lru_cache(256)
def _patterns(
    forms: tuple[Form, ...], present: frozenset[int]
) -> tuple[re.Pattern[str] | None, re.Pattern[str] | None]:
    """Patterns of some alternatives: of a whole document, and of a newline and a line; group ``fN`` is form N."""
    whole: dict[int, list[str]] = {}
    lines: dict[int, list[str]] = {}
    for form, pattern in (_alternatives(forms)[i] for i in sorted(present)):
        (whole if pattern.startswith(r"\A") else lines).setdefault(form, []).append(pattern)
    document, line = (
        "|".join(f"(?P<f{form}>{'|'.join(patterns)})" for form, patterns in of_form.items())
        for of_form in (whole, lines)
    )
    return (
        re.compile(document, re.MULTILINE) if document else None,
        re.compile(rf"{_START}(?:{line})", re.MULTILINE) if line else None,
    )


def literals_of(pattern: str) -> frozenset[str]:
    r"""Return literals of which every match of a pattern contains one; none where that cannot be derived.

    Examples
    --------
    >>> sorted(literals_of(r"Running \S+ test @"))
    ['Running ']
    >>> sorted(literals_of(r"[0-9]+ (?:requests?|errors)(?!:)")), sorted(literals_of(r"(?:abc|b)c*"))
    (['errors', 'request'], [])
    """
    return _branches(pattern, 0)[0]


def _branches(pattern: str, at: int) -> tuple[frozenset[str], int]:
    """Literals of the alternatives that begin at an index, and the index of the bracket or the end behind them."""
    branches: list[frozenset[str]] = []
    while True:
        literals, at = _sequence(pattern, at)
        branches.append(literals)
        if pattern[at : at + 1] != "|":
            return (frozenset().union(*branches) if all(branches) else _NONE), at
        at += 1


def _sequence(pattern: str, at: int) -> tuple[frozenset[str], int]:
    """Best literals of the pattern from an index up to the next ``|`` or ``)``, and the index of that."""
    found: list[frozenset[str]] = []
    run = ""
    while pattern[at : at + 1] not in ("", "|", ")"):
        plain, inner, at = _atom(pattern, at)
        quantifier = _QUANTIFIER.match(pattern, at)
        assert quantifier is not None, "it matches nothing too"
        at = quantifier.end()
        least = quantifier["least"] or ""
        optional = least in ("?", "*") or (least[:1] == "{" and int(quantifier["count"] or 0) == 0)
        if inner and not optional:
            found.append(inner)
        if plain and not least:
            run += plain
            continue
        found.append(frozenset({run + ("" if optional else plain)}))
        run = ""
    found.append(frozenset({run}))
    best = max(found, key=lambda literals: (min(map(len, literals)), -len(literals)))
    return (best if min(map(len, best)) >= _SHORTEST else _NONE), at


def _atom(pattern: str, at: int) -> tuple[str, frozenset[str], int]:
    """One atom: its character, or the literals of a group, and the index behind it."""
    char, following = pattern[at], pattern[at + 1 : at + 2]
    if char == "\\":
        return (following if following in _LITERAL_ESCAPES else _SPACES.get(following, "")), _NONE, at + 2
    if char == "[":
        return "", _NONE, _class_end(pattern, at) + 1
    if char == "(":
        opening = _GROUP.match(pattern, at)
        assert opening is not None, "it matches any bracket"
        literals, at = _branches(pattern, opening.end())
        # Lookbehinds and negative lookaheads are not part of the match.
        return "", _NONE if opening[0][2:] in ("!", "<!", "<=") else literals, at + 1
    return ("" if char in ".^$" else char), _NONE, at + 1


def _class_end(pattern: str, at: int) -> int:
    """Index of the bracket that ends the class which begins at an index."""
    at += 1
    at += pattern[at] == "^"
    at += pattern[at] == "]"
    while pattern[at] != "]":
        at += 1 + (pattern[at] == "\\")
    return at
