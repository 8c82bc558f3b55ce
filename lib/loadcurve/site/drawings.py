"""Published drawings as inline SVG, which follows the colour scheme of the page."""

import re

from loadcurve.site import published
from loadcurve.site.literal import literal

# A drawing is 389 units wide, so on the page a tenth is a sixth of a pixel.  Shapes of markers keep a second decimal.
_NUMBER = re.compile(r"-?\d+\.\d+")
_ATTRIBUTE = re.compile(r'(<path id="[^"]*")?( (?:d|x|y|points|transform)=")([^"]*)"')
# What Matplotlib repeats in each text and at each tick is written once, in assets/handbook.css.
_REPEATED = {
    "font-size: 10px; font-family: 'DejaVu Sans', sans-serif; ": "",
    "; fill: currentColor\" x=": '" x=',
    ' style="fill: none; stroke: #888888; stroke-opacity: 0.25; stroke-width: 0.8; stroke-linecap: square"':
        ' class="lc-grid"',
    ' style="fill: currentColor; stroke: currentColor; stroke-width: 0.8"': ' class="lc-tick"',
}  # fmt: skip
_IDLE = (
    re.compile(r"<metadata>.*?</metadata>|<defs>\s*<style.*?</style>\s*</defs>", re.DOTALL),
    re.compile(r'<path d="[^"]*"(?: clip-path="[^"]*")? style="fill: none"/>'),
    re.compile(r' transform="rotate\(-0 [^"]*"'),
    re.compile(r' clip-path="[^"]*"(?= style="fill: none; stroke: #888888;)'),  # no line of the grid leaves the axes
)
_GROUP = re.compile(r"<g>\n((?:(?!</?g\b).*\n)*)</g>\n")
# Markers of one series: each repeats the style, which they can inherit from a group.
_USE = r'<use href="#\w+" x="[^"]*" y="[^"]*" style="{}"/>\n'
_SERIES = re.compile(_USE.format(r'([^"]*)') + f"(?:{_USE.format(chr(92) + '1')})+")


def drawing_html(notebook: str, slug: str) -> str:
    """Return a published figure as inline SVG without fixed size; its alt text is its accessible name."""
    facts = published.read_facts(notebook, slug)
    drawing = (published.folder(notebook) / f"{slug}.svg").read_text("utf-8")
    head, rest = drawing[drawing.index("<svg") :].split(">", 1)
    head = re.sub(r' (?:width|height|version|xmlns:xlink)="[^"]*"', "", head)
    head = f'{head} role="img" aria-label="{literal(facts["alt"])}">'
    return head + _smaller(_without_idle_ids(rest))


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
    digits = 2 if path else 1
    text = _NUMBER.sub(lambda number: f"{round(float(number[0]), digits):g}", text)
    if name.startswith(" d="):
        text = re.sub(r"\s*([A-Za-z])\s*", r"\1", text).strip()
    return f'{path or ""}{name}{text}"'


def _grouped(series: re.Match[str]) -> str:
    style = f' style="{series[1]}"'
    return f"<g{style}>\n{series[0].replace(style, '')}</g>\n"


def _without_idle_ids(drawing: str) -> str:
    """Return a drawing without unused ids, because they would be duplicates when a page has several drawings."""
    used = set(re.findall(r"(?:url\(#|href=\"#)([^)\"]+)", drawing))
    return re.sub(r' id="([^"]*)"', lambda m: m[0] if m[1] in used else "", drawing)
