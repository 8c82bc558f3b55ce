"""What weakens the numbers that a page quotes: their warnings as footnotes, and no sentence on too few repeats."""

import html as entities
import json
import re

from loadcurve.errors import LoadcurveError
from loadcurve.wording import FEWEST_REPEATS

BLOCK = '<div class="lc-weak"></div>'
"""Where the footnotes of the numbers before it are listed; the macro ``weak_points`` writes it."""

_VALUE = re.compile(r'(<span class="lc-value" [^>]*?) data-weak="([^"]*)">(.*?)</span>|' + re.escape(BLOCK), re.DOTALL)
_OPEN_CELL = re.compile(r"<(/?)td\b")


def weak_points_html() -> str:
    """Return the block that lists the warnings of all numbers since the previous block of the page."""
    return BLOCK


def mark(name: str, warnings: list[str], repeats: int | None) -> str:
    """Return the attribute that carries what weakens a number to `with_weak_points`; empty where nothing does."""
    few = repeats is not None and repeats < FEWEST_REPEATS
    if not warnings and not few:
        return ""
    facts = json.dumps([name, warnings, repeats if few else None])
    return f' data-weak="{facts.encode().hex()}"'


def with_weak_points(path: str, html: str) -> str:
    """Return a page with a footnote on each number that has warnings, and the number of repeats in tables.

    Raises
    ------
    LoadcurveError
        When a number with a warning has no block of footnotes after it, a block has no such number before it, or a
        sentence quotes a number that rests on fewer than `FEWEST_REPEATS` repeats; the text names page and number.
    """
    parts, at, number = [], 0, 0
    notes: dict[str, int] = {}
    name = ""
    for found in _VALUE.finditer(html):
        before, at = html[at : found.start()], found.end()
        if not found[2]:
            if not notes:
                raise LoadcurveError(f"handbook/{path}: expected a number with a warning before weak_points(), got none")
            items = "".join(f'<li id="weak-{n}" value="{n}">{entities.escape(one)}</li>' for one, n in notes.items())
            parts += [before, f'<div class="lc-weak"><p>What weakens these numbers:</p><ol>{items}</ol></div>']
            notes = {}
            continue
        name, warnings, repeats = json.loads(bytes.fromhex(found[2]))
        if repeats is not None and not _in_table(html[: found.start()]):
            raise LoadcurveError(
                f"handbook/{path}: expected at least {FEWEST_REPEATS} repeats of a number in a sentence, got {repeats} "
                f"of {name}: show it in a table, or record more repeats"
            )
        for one in warnings:
            if one not in notes:
                number += 1
                notes[one] = number
        links = ", ".join(f'<a href="#weak-{notes[one]}">{notes[one]}</a>' for one in warnings)
        count = f" (n = {repeats})" if repeats is not None else ""
        note = f'<sup class="lc-note">{links}</sup>' if links else ""
        parts += [before, f"{found[1]}>{found[3]}</span>{count}{note}"]
    if notes:
        raise LoadcurveError(
            f"handbook/{path}: expected the warnings of {name} on the page, got none: add {{{{ weak_points() }}}} below it"
        )
    return "".join([*parts, html[at:]])


def _in_table(html: str) -> bool:
    cells = _OPEN_CELL.findall(html)
    return bool(cells) and not cells[-1]
