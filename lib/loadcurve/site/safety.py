"""Data on pages: escaped, so that measured values, names and user input appear exactly as they are.

Active content is removed from outputs of notebooks, and each page gets its content security policy.
"""

import base64
import hashlib
import html
import re
from xml.etree import ElementTree

from bs4 import BeautifulSoup
from bs4.element import NavigableString
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


# Elements that pandas, matplotlib and nbconvert write into an output.
_TAGS = re.compile(
    "a|b|br|caption|code|col|colgroup|dd|div|dl|dt|em|h[1-6]|hr|i|img|li|ol|p|pre|small|span|strong|sub|sup"
    "|table|tbody|td|tfoot|th|thead|tr|ul"
)
_ATTRIBUTES = {"alt", "class", "colspan", "rowspan", "href", "scope", "src", "title"}
# Elements that run code, fetch resources, or change the rest of the page.
_NEVER = "script, iframe, frame, object, embed, applet, base, meta, link, form, animate, set, foreignobject, noscript"
_LINKS = {"href", "src", "xlink:href", "action", "data", "poster", "background", "cite"}
_RUNS = {"srcdoc", "srcset", "formaction", "ping"}
_WRITTEN_LINK = re.compile(r"<[^>]*?\s(?:href|src|action)\s*=\s*(\"[^\"]*\"|'[^']*'|[^\s>]+)", re.IGNORECASE)

# Chromium and Firefox: `self` is the site where it is served, `file:` the site where it is opened from disk.
_HERE = "'self' file:"
_POLICY = (
    "default-src 'none'; script-src {here} {hashes}; style-src {here} 'unsafe-inline'; img-src {here} data:;"
    " font-src {here} data:; connect-src {here}; worker-src {here} blob:; frame-src {here}; base-uri 'none';"
    " object-src 'none'; form-action 'none'"
)
_META = '<meta http-equiv="Content-Security-Policy" content="{}">'
_WRITTEN_POLICY = re.compile("<head[^>]*>" + _META.format('([^"]+)'))
# A script without a type, or with one that browsers execute; data blocks are not scripts.
_SCRIPT = re.compile(r"<script(?![^>]*\s(?:src|type=\"application/json\"))[^>]*>(.*?)</script>", re.DOTALL)


def clean_output(soup: BeautifulSoup) -> str:
    """Return an output of a notebook with only text, tables and images; other elements become text."""
    for style in soup.find_all("style"):
        style.decompose()
    for tag in soup.find_all(True):
        if not _TAGS.fullmatch(tag.name):
            tag.replace_with(NavigableString(str(tag)))
        else:
            tag.attrs = {name: value for name, value in tag.attrs.items() if name in _ATTRIBUTES}
    for tag in soup.find_all("th"):
        if not tag.get_text(strip=True):  # pandas writes one above the index: a heading without text
            tag.name = "td"
    for tag in soup.find_all("table"):
        tag.attrs.pop("class", None)  # the theme styles tables without a class
    remove_active(soup)
    return str(soup)


def remove_active(soup: BeautifulSoup) -> None:
    """Remove scripts, external resources, event handlers, and links that could run code."""
    for tag in soup.select(_NEVER):
        tag.decompose()
    for tag in soup.find_all(True):
        for name in list(tag.attrs):
            picture = tag.name == "img" and re.match(r"data:image/(png|jpeg|gif|webp);base64,", str(tag[name]))
            runs = name.lower().startswith("on") or name.lower() in _RUNS
            if runs or (name.lower() in _LINKS and not picture and leads_elsewhere(str(tag[name]))):
                del tag[name]


def check_links(page: str, written: str) -> None:
    """Stop the build if a link of a page has a scheme other than http, https and mailto.

    Raises LoadcurveError when there is such a link; the message names the page and the link.
    """
    for link in _WRITTEN_LINK.findall(written):
        if leads_elsewhere(link.strip("\"'")) and not link.strip("\"'").startswith("data:image/"):
            raise LoadcurveError(f"handbook/{page}: link must be http, https or relative, got {html.unescape(link)}")


def with_policy(output: str, content: str) -> str:
    """Return a page with its content security policy, which allows only the theme's scripts."""
    frame = output.replace(content, "", 1)
    if content and frame == output:
        raise LoadcurveError("page must hold its content unchanged, got another one from the theme")
    hashes = " ".join(map(hash_of, dict.fromkeys(_SCRIPT.findall(frame))))
    policy = _POLICY.format(here=_HERE, hashes=hashes)
    return re.sub(r"<head[^>]*>", lambda head: f"{head[0]}{_META.format(policy)}", output, count=1)


def hash_of(script: str) -> str:
    """Return the source expression by which a policy allows an inline script."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def policy_of(page: str) -> str:
    """Return the policy that `with_policy` wrote into a page; for any other file, one that allows no inline script.

    Examples
    --------
    >>> "sha256" in policy_of(with_policy("<head></head><script>1</script>", "")), "sha256" in policy_of("")
    (True, False)
    """
    found = _WRITTEN_POLICY.search(page)
    return found[1] if found else _POLICY.format(here=_HERE, hashes="")
