"""What weakens the numbers that a page quotes: their warnings as footnotes, and no sentence on too few repeats."""

import html as entities
import json
import re

from loadcurve.errors import LoadcurveError
from loadcurve.units import FEWEST_REPEATS

_BLOCK = '<div class="lc-weak"></div>'
_NUMBER = re.compile(r'(<span class="lc-value" [^>]*?) data-weak="([0-9a-f]*)">(.*?)</span>|' + _BLOCK, re.DOTALL)
_CELL = re.compile(r"<(/?)td\b")


def weak_points_html() -> str:
    """Return the place of the block that lists the warnings of all numbers since the previous block of the page."""
    return _BLOCK


def mark(name: str, warnings: list[str], repeats: int | None) -> str:
    """Return the attribute that carries what weakens a number to `with_weak_points`; empty where nothing does."""
    few = repeats if repeats is not None and repeats < FEWEST_REPEATS else None
    weak = json.dumps([name, warnings, few]).encode().hex()
    return f' data-weak="{weak}"' if warnings or few is not None else ""


def with_weak_points(path: str, html: str) -> str:
    """Return a page with a footnote on each number that has warnings, and in tables the number of few repeats.

    A number with a warning needs a block of footnotes below it, a block needs such a number above it, and a sentence
    may not quote a number that rests on fewer than `FEWEST_REPEATS` repeats; an error names page and number.
    """
    parts, at, numbered = [], 0, 0
    name, notes = "", dict[str, int]()
    for found in _NUMBER.finditer(html):
        parts.append(html[at : found.start()])
        at = found.end()
        if found[2]:
            name, warnings, few = json.loads(bytes.fromhex(found[2]))
            if few is not None and not _in_table(html[: found.start()]):
                expected = f"expected at least {FEWEST_REPEATS} repeats of a number in a sentence"
                raise LoadcurveError(f"handbook/{path}: {expected}, got {few} of {name}: show it in a table")
            for warning in warnings:
                numbered += warning not in notes
                notes.setdefault(warning, numbered)
            links = ", ".join(f'<a href="#weak-{notes[one]}">{notes[one]}</a>' for one in warnings)
            count = "" if few is None else f" (n = {few})"
            parts.append(f"{found[1]}>{found[3]}</span>{count}" + (f'<sup class="lc-note">{links}</sup>' * bool(links)))
            continue
        if not notes:
            raise LoadcurveError(f"handbook/{path}: expected a number with a warning before weak_points(), got none")
        items = "".join(f'<li id="weak-{n}" value="{n}">{entities.escape(one)}</li>' for one, n in notes.items())
        parts.append(f'<div class="lc-weak"><p>What weakens these numbers:</p><ol>{items}</ol></div>')
        notes = {}
    if notes:
        expected = f"expected the warnings of {name} on the page"
        raise LoadcurveError(f"handbook/{path}: {expected}, got none: add {{{{ weak_points() }}}} below the number")
    return "".join([*parts, html[at:]])


def _in_table(html: str) -> bool:
    return _CELL.findall(html)[-1:] == [""]
