"""Read the files that `publish` wrote: values, tables and drawings, as inline SVG in the colours of the page.

What weakens the numbers that a page quotes is shown with them: their warnings as footnotes, and no sentence on too few
repeats.
"""

import html as entities
import json
import re
from pathlib import Path
from typing import Any

import pandas as pd

from loadcurve.errors import LoadcurveError
from loadcurve.files import paths
from loadcurve.site.safety import literal
from loadcurve.tables.stored import as_read
from loadcurve.units import FEWEST_REPEATS


def folder(notebook: str) -> Path:
    """Return the folder of a notebook's published figures."""
    return paths.build() / "figures" / notebook


def read_value(notebook: str, name: str) -> dict[str, Any]:
    """Return a published value: ``text``, and for an estimate ``interval level method warnings``.

    Raises LoadcurveError when the notebook did not publish the value.
    """
    values = _json(folder(notebook) / "values.json")
    if name not in values:
        raise LoadcurveError(f"value {name!r} must be one that {notebook} publishes ({', '.join(values)})")
    found: dict[str, Any] = values[name]
    return found


def read_facts(notebook: str, slug: str) -> dict[str, Any]:
    """Return caption, alt text and provenance of a published figure or table."""
    return _json(folder(notebook) / f"{slug}.json")


def read_rows(notebook: str, slug: str) -> pd.DataFrame:
    """Return a published table; empty cells are NaN."""
    read_facts(notebook, f"{slug}.table")
    frame = pd.read_csv(folder(notebook) / f"{slug}.table.csv", keep_default_na=False, na_values=[""])
    return frame.map(as_read).rename(columns=as_read)


def _json(path: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(path.read_text("utf-8"))
        return found
    except FileNotFoundError:
        raise LoadcurveError(f"{paths.shown(path)}: expected what a notebook publishes, got no file") from None


# A drawing is 389 units wide, so on the page a tenth is a sixth of a pixel.  Shapes of markers keep a second decimal.
_NUMBER = re.compile(r"-?\d+\.\d+")
_SHAPE = 1000  # letters of a marker's path at most; longer ones are areas
_ATTRIBUTE = re.compile(r'(<path id="[^"]*")?( (?:d|x|y|width|height|points|transform)=")([^"]*)"')
# What Matplotlib repeats in each text and at each tick is written once, in assets/handbook.css.
_REPEATED = {
    "font-size: 10px; font-family": "font-family",
    "font-family: 'DejaVu Sans', sans-serif; ": "",
    "text-anchor: start; ": "",
    "stroke-dashoffset: 0; ": "",
    "; fill: currentColor\" x=": '" x=',
    ' style="fill: currentColor" x=': " x=",
    ' style="fill: none; stroke: #888888; stroke-opacity: 0.25; stroke-width: 0.8; stroke-linecap: square"':
        ' class="lc-grid"',
    ' style="fill: currentColor; stroke: currentColor; stroke-width: 0.8"': ' class="lc-tick"',
    ' style="fill: none; stroke: currentColor; stroke-width: 0.8; stroke-linejoin: miter; stroke-linecap: square"':
        ' class="lc-axis"',
}  # fmt: skip
_IDLE = (
    re.compile(r"<metadata>.*?</metadata>|<defs>\s*<style.*?</style>\s*</defs>", re.DOTALL),
    re.compile(r'<path d="[^"]*"(?: clip-path="[^"]*")? style="fill: none"/>'),
    re.compile(r' transform="rotate\(-0 [^"]*"'),
    re.compile(r' clip-path="[^"]*"(?= style="fill: none; stroke: #888888;)'),  # no line of the grid leaves the axes
)
_WORDS = re.compile(r' role="img" aria-label="[^"]*"|<text.*?</text>', re.DOTALL)
_GROUP = re.compile(r"<g>\n((?:(?!</?g\b).*\n)*)</g>\n")
# Markers of one series: each repeats the style, which they can inherit from a group.
_USE = r'<use href="#\w+" x="[^"]*" y="[^"]*" style="{}"/>\n'
_SERIES = re.compile(_USE.format(r'([^"]*)') + f"(?:{_USE.format(chr(92) + '1')})+")


def drawings_html(notebook: str, slug: str) -> str:
    """Return a published figure for a page: wide and, beside it, narrow for a phone; the style sheet shows one."""
    is_narrow_too = (folder(notebook) / f"{slug}.narrow.svg").is_file()
    return drawing_html(notebook, slug) + (drawing_html(notebook, slug, ".narrow") if is_narrow_too else "")


def drawing_html(notebook: str, slug: str, width: str = "") -> str:
    """Return a published figure as inline SVG without fixed size; its alt text is its accessible name."""
    facts = read_facts(notebook, slug)
    drawing = (folder(notebook) / f"{slug}{width}.svg").read_text("utf-8")
    if width:
        drawing = drawing.replace("font-size: 8.33px; ", "")  # of nearly all its text, see assets/handbook.css
    head, rest = drawing[drawing.index("<svg") :].split(">", 1)
    head = re.sub(r' (?:width|height|version|xmlns(?::xlink)?)="[^"]*"', "", head)
    head = f'{head} role="img" aria-label="{literal(facts["alt"])}">'
    # Unused ids would be duplicates when a page has several drawings.
    used = set(re.findall(r"(?:url\(#|href=\"#)([^)\"]+)", rest))
    return head + _smaller(re.sub(r' id="([^"]*)"', lambda m: m[0] if m[1] in used else "", rest))


def picture_html(notebook: str, slug: str) -> str:
    """Return a published figure as a small picture without words, for a link that says what it shows."""
    drawing = re.sub(r"( id=\"|href=\"#|url\(#)", rf"\g<1>{notebook}-{slug}-", drawing_html(notebook, slug))
    return f'<span class="lc-picture" aria-hidden="true">{_WORDS.sub("", drawing)}</span>'


def _smaller(drawing: str) -> str:
    """Return a drawing without what shows nothing, and without what a style sheet can say once for all drawings."""
    for idle in _IDLE:
        drawing = idle.sub("", drawing)
    drawing = _ATTRIBUTE.sub(_rounded, drawing.replace(" xlink:href=", " href="))
    drawing = "\n".join(filter(None, map(str.strip, drawing.split("\n"))))
    for words, short in _REPEATED.items():
        drawing = drawing.replace(words, short)
    drawing = _SERIES.sub(_grouped, drawing)
    while (flatter := _GROUP.sub(r"\1", drawing)) != drawing:
        drawing = flatter
    return drawing


def _rounded(found: re.Match[str]) -> str:
    path, name, text = found.groups()
    digits = 2 if path and len(text) < _SHAPE else 1
    text = _NUMBER.sub(lambda number: f"{round(float(number[0]), digits):g}", text)
    if name.startswith(" d="):
        text = re.sub(r"\s*([A-Za-z])\s*", r"\1", text).strip()
    return f'{path or ""}{name}{text}"'


def _grouped(series: re.Match[str]) -> str:
    style = f' style="{series[1]}"'
    return f"<g{style}>\n{series[0].replace(style, '')}</g>\n"


_BLOCK = '<div class="lc-weak"></div>'
_QUOTED = re.compile(r'(<span class="lc-value" [^>]*?) data-weak="([0-9a-f]*)">(.*?)</span>|' + _BLOCK, re.DOTALL)
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
    for found in _QUOTED.finditer(html):
        parts.append(html[at : found.start()])
        at = found.end()
        if found[2]:
            name, warnings, few = json.loads(bytes.fromhex(found[2]))
            if few is not None and _CELL.findall(html[: found.start()])[-1:] != [""]:  # not in a table
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
