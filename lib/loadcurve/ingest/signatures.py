"""Where in a text the output of which tool begins.

A hundred patterns tried on every line of a report would take longer than parsing it.  So each alternative of each
signature is first asked for its longest literal, which is a search for a substring; only those whose literal stands in
the text become one pattern.
"""

import re
from collections.abc import Iterator
from functools import cache, lru_cache

from loadcurve.ingest.form import Form
from loadcurve.ingest.registry import FORMS

_LITERAL_ESCAPES = frozenset("()[]{}.*+?|^$\\/#-\"' ,;:<>=&~@!%")
_OPTIONAL = frozenset("?*{")
_SHORTEST = 3  # characters of a literal that is worth a search


def beginnings(text: str, forms: tuple[Form, ...] = FORMS) -> Iterator[tuple[Form, int]]:
    r"""Each form whose signature stands in a text, where it does; in order, the first of `forms` where two begin.

    Examples
    --------
    >>> [(form.name, start) for form, start in beginnings("$ ss -s\nTotal: 192\n")]
    [('ss:summary', 8)]
    """
    alternatives = _alternatives(forms)
    present = tuple(i for i, (_, literal, _) in enumerate(alternatives) if literal in text)
    pattern = _pattern(forms, present)
    for match in pattern.finditer(text) if pattern else ():
        yield forms[int(match.lastgroup[1:])], match.start()


@cache
def _alternatives(forms: tuple[Form, ...]) -> tuple[tuple[int, str, str], ...]:
    """Index of the form, required literal and pattern of every alternative."""
    return tuple((i, longest_literal(pattern), pattern) for i, form in enumerate(forms) for pattern in form.signature)


@lru_cache(256)
def _pattern(forms: tuple[Form, ...], present: tuple[int, ...]) -> re.Pattern[str] | None:
    """One pattern of some alternatives; the group that matched, ``fN``, is form N."""
    whole: dict[int, list[str]] = {}
    lines: dict[int, list[str]] = {}
    for form, _, pattern in (_alternatives(forms)[i] for i in present):
        (whole if pattern.startswith(r"\A") else lines).setdefault(form, []).append(pattern)
    parts = [f"(?P<f{form}>{'|'.join(patterns)})" for form, patterns in whole.items()]
    if lines:
        named = "|".join(f"(?P<f{form}>{'|'.join(patterns)})" for form, patterns in lines.items())
        # Possessive: five megabytes of blanks are passed over once.
        parts.append(rf"^[ \t]*+(?:{named})")
    return re.compile("|".join(parts), re.MULTILINE) if parts else None


def longest_literal(alternative: str) -> str:
    r"""Longest text that every match of an alternative holds, as far as it stands outside of groups; else empty.

    Examples
    --------
    >>> longest_literal(r"Running \S+ test @"), longest_literal(r"(?:abc|b)c*"), longest_literal(r"x\(s?\)abc?")
    ('Running ', '', ')ab')
    """
    runs, run, depth, at = [], "", 0, 0
    while at < len(alternative):
        char, following = alternative[at], alternative[at + 1 : at + 2]
        plain = ""
        if char == "\\":
            at += 1
            plain = following if following in _LITERAL_ESCAPES else {"n": "\n", "t": "\t"}.get(following, "")
        elif char == "[":
            at = _class_end(alternative, at)
        elif char in "()":
            depth += (char == "(") - (char == ")")
        elif char == "{":
            at = alternative.index("}", at)
        elif char not in ".^$?*+|":
            plain = char
        quantifier = alternative[at + 1 : at + 2]
        if plain and depth == 0 and quantifier not in _OPTIONAL:
            run += plain
            if quantifier != "+":
                at += 1
                continue
        runs.append(run)
        run = ""
        at += 1
    longest = max((*runs, run), key=len)
    return longest if len(longest) >= _SHORTEST else ""


def _class_end(pattern: str, at: int) -> int:
    """Index of the bracket that ends the class which begins at an index."""
    at += 1
    at += pattern[at] == "^"
    at += pattern[at] == "]"
    while pattern[at] != "]":
        at += 1 + (pattern[at] == "\\")
    return at
