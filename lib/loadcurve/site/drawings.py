"""Published drawings as inline SVG, which follows the colour scheme of the page."""

import re

from loadcurve.site import published
from loadcurve.site.literal import literal

# Matplotlib writes six decimals; a drawing is 389 units wide, so the second is below what a screen shows.
_PLACE = re.compile(r' (?:d|x|y|points)="[^"]*"')
_DECIMALS = re.compile(r"(\.\d\d)\d+")
# Markers of one series: each repeats the style, which they can inherit from a group.
_USE = r'<use href="#\w+" x="[^"]*" y="[^"]*" style="{}"/>\n'
_SERIES = re.compile(_USE.format(r'([^"]*)') + f"(?:{_USE.format(chr(92) + '1')})+")


def drawing_html(notebook: str, slug: str) -> str:
    """Return a published figure as inline SVG without fixed size; its alt text is its accessible name."""
    facts = published.read_facts(notebook, slug)
    drawing = (published.folder(notebook) / f"{slug}.svg").read_text("utf-8")
    drawing = drawing[drawing.index("<svg") :]
    drawing = re.sub(r"<metadata>.*?</metadata>", "", drawing, flags=re.DOTALL)
    head, rest = drawing.split(">", 1)
    head = re.sub(r' (?:width|height)="[^"]*"', "", head)
    rest = _PLACE.sub(lambda found: _DECIMALS.sub(r"\1", found[0]), _without_idle_ids(rest))
    drawing = f'{head} role="img" aria-label="{literal(facts["alt"])}">{rest}'.replace(" xlink:href=", " href=")
    drawing = "\n".join(filter(None, map(str.strip, drawing.split("\n"))))
    return _SERIES.sub(_grouped, drawing)


def _grouped(series: re.Match[str]) -> str:
    style = f' style="{series[1]}"'
    return f"<g{style}>\n{series[0].replace(style, '')}</g>\n"


def _without_idle_ids(drawing: str) -> str:
    """Return a drawing without unused ids, because they would be duplicates when a page has several drawings."""
    used = set(re.findall(r"(?:url\(#|href=\"#)([^)\"]+)", drawing))
    return re.sub(r' id="([^"]*)"', lambda m: m[0] if m[1] in used else "", drawing)
