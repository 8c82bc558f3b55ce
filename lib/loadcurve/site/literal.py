"""Escape data for pages, so that measured values, names and user input appear exactly as they are."""

import html
import re
from xml.etree import ElementTree

from latex2mathml.converter import convert_to_element

from loadcurve.errors import LoadcurveError

# Characters with a meaning in Markdown, its extensions, formulas, Jinja or HTML.  Letters, digits, spaces and the
# remaining punctuation have no special meaning within a line.
_MEANS_SOMETHING = re.compile(r"[\\`*_{}\[\]()<>#$&\"'|~^!:=@]")
# Control characters, line separators, and characters that change the direction of the following text.
_INVISIBLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]+")
_SCHEMES = ("http", "https", "mailto")
_SCHEME = re.compile(r"\s*([a-z][a-z0-9+.-]*)\s*:", re.IGNORECASE)


def literal(text: object) -> str:
    """Return `text` escaped so that a page shows it unchanged in Markdown, in raw HTML and in attributes.

    Special characters become numeric entities; control characters, including line ends, become one space.

    Examples
    --------
    >>> literal("[x](javascript:1) costs $5$")
    '&#91;x&#93;&#40;javascript&#58;1&#41; costs &#36;5&#36;'
    """
    return _MEANS_SOMETHING.sub(lambda m: f"&#{ord(m[0])};", _INVISIBLE.sub(" ", str(text)))


def fenced(text: str, language: str) -> str:
    """Return a text as a block of code, which no line of the text ends.

    Examples
    --------
    >>> fenced("```", "text").splitlines()
    ['````text', '```', '````']
    """
    fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", text))])
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def leads_elsewhere(link: str) -> bool:
    r"""Return whether a link has a scheme other than http, https and mailto, so that it may run code.

    Examples
    --------
    >>> leads_elsewhere("../index.html#a"), leads_elsewhere("java\nscript:alert(1)")
    (False, True)
    """
    scheme = _SCHEME.match(re.sub(r"[\x00-\x20]", "", html.unescape(link)))
    return scheme is not None and scheme[1].lower() not in _SCHEMES


def formula(latex: str, *, display: bool) -> str:
    r"""Return the MathML of a formula that an author wrote.

    The library does not escape text (``\text{<b>}`` would become an element) and adds the attributes and links that the
    LaTeX contains; this function escapes text, and removes links and event handlers.  Raises LoadcurveError for a
    command that the library does not support: it would be printed with its backslash.
    """
    root = convert_to_element(latex.strip(), display="block" if display else "inline")
    for element in root.iter():
        for name in [n for n in element.attrib if n == "href" or n == "id" or n.startswith("on")]:
            del element.attrib[name]
        # The library writes symbols as entities.
        element.text, element.tail = (html.unescape(part) if part else part for part in (element.text, element.tail))
        if unknown := re.search(r"\\[a-zA-Z]+", element.text or ""):
            raise LoadcurveError(f"formula must be of known commands, got {unknown[0]} in {latex.strip()}")
    return ElementTree.tostring(root, encoding="unicode", short_empty_elements=False)
