"""Damage to a text, for the tests of sysstat's tools: whatever is done, tables come out or a ParseError."""

from hypothesis import strategies as st

from loadcurve import tables
from loadcurve.errors import ParseError
from loadcurve.ingest.clean import clean

LONG = 2_000_000
_INSERTED = ["9" * 40, "nan", "1e999", "null", "\0", "<a>", "{}", "|__"]


@st.composite
def damaged(draw, text):
    """One cut, one line dropped, doubled or swapped, or one character changed."""
    lines = text.split("\n")
    kind = draw(st.sampled_from(["cut", "drop", "double", "swap", "garble", "insert"]))
    at = draw(st.integers(0, len(text) - 1))
    first, second = (draw(st.integers(0, len(lines) - 1)) for _ in range(2))
    if kind == "cut":
        return text[:at]
    if kind == "garble":
        return text[:at] + draw(st.sampled_from('x9-.,;:\0"<{ \n%é')) + text[at + 1 :]
    if kind == "insert":
        return text[:at] + draw(st.sampled_from(_INSERTED)) + text[at:]
    if kind == "drop":
        del lines[first]
    elif kind == "double":
        lines.insert(second, lines[first])
    else:
        lines[first], lines[second] = lines[second], lines[first]
    return "\n".join(lines)


def survives(parse, text):
    """Parse; a ParseError is an answer, anything else is not, and tables that come out are valid."""
    try:
        parsed = parse(clean(text))
    except ParseError:
        return
    for name in parsed.tables:
        tables.check(name, parsed.tables[name])


def long_lines(*beginnings):
    """Texts of one line of megabytes."""
    return [" " * LONG, "7" * LONG, "a " * (LONG // 2), *(head * (LONG // len(head)) for head in beginnings)]
