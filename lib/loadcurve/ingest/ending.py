r"""Whether a text may have been cut: judged by its last line, and by the section that ends a whole report.

A killed collector, a full disk or a copied terminal leave only the first part of a text.  The parser reads that part
correctly, but the missing part must not look as if the tool had printed nothing there.
"""

import re
from dataclasses import dataclass

_TAIL = 1 << 18  # characters; no report is as long
_LONGEST = 4000  # characters of a last line that are looked at
# May follow the output without a newline: the end of a Markdown block, the next prompt.
AFTERWARDS = re.compile(r"[ \t]*(?:```|~~~|\[?[\w.-]+@[\w.-]+[^\n#$%>]{0,200}[#$%>][ \t]*(?:exit|logout)?)[ \t]*")


@dataclass(frozen=True)
class Ending:
    r"""How a whole text of a form ends."""

    # Pattern of the last line of a whole text, without blanks at its ends: a last line that matches is whole even
    # without a newline.  Empty where any last line may continue, such as one that ends in a whole number.
    line: str = ""
    # Pattern of a line that every whole report has as, or after, its last line with numbers; empty where the form has
    # none.
    section: str = ""
    after: str = ""  # Pattern of a line before it from which on the report is known to be one that has this section
    name: str = ""  # Name of the section in a warning


# Most forms: every line of a whole text ends with a newline, and nothing else is known.
NEWLINE = Ending()
# The parser refuses a document that is cut inside a bracket.
JSON = Ending(r".*[}\]]")
# The tools of sysstat print two decimals; a parser finds a row with too few columns by itself.
TWO_DECIMALS = Ending(r".*[0-9][.,][0-9]{2}")


def warning_of(text: str, ending: Ending, warnings: tuple[str, ...]) -> str:
    r"""Return a warning that a text may be cut; empty where it is known to be whole, or `warnings` already says so.

    Examples
    --------
    >>> wrk = Ending(r"Transfer/sec:.*B", r"Transfer/sec:", r"Requests/sec:", "'Transfer/sec:'")
    >>> warning_of("Requests/sec:  9.00\nTransfer/sec:  1.2", wrk, ())
    "line 2: the text ends inside a line, so what follows may be missing: 'Transfer/sec:  1.2'"
    >>> warning_of("Requests/sec:  9.00\nTransfer/sec:  1.25KB", wrk, ())
    ''
    >>> warning_of("Requests/sec:  9.00\n", wrk, ())
    "line 2: the text ends before 'Transfer/sec:', so it may be cut"
    """
    if any("the text ends" in warning or "cut off" in warning for warning in warnings):
        return ""
    if not text.endswith("\n") and text and not _is_whole(last := _last_line(text), ending):
        number = text.count("\n") + 1
        return f"line {number}: the text ends inside a line, so what follows may be missing: {last.strip()[-60:]!r}"
    if not ending.section:
        return ""
    tail = text[-_TAIL:]
    begun = _last(ending.after, tail)
    if begun < 0 or _last(ending.section, tail) > begun:
        return ""
    return f"line {text.count(chr(10)) + 1}: the text ends before {ending.name}, so it may be cut"


def _last_line(text: str) -> str:
    """Return the last line, or the one before where the last one is blank."""
    end = len(text)
    while True:
        start = text.rfind("\n", 0, end) + 1
        if start == 0 or text[start:end].strip():
            return text[start:end]
        end = start - 1


def _is_whole(last: str, ending: Ending) -> bool:
    if len(last) > _LONGEST:
        last = last[-_LONGEST:]
    if AFTERWARDS.fullmatch(last):
        return True
    return bool(ending.line) and re.fullmatch(rf"[ \t]*+(?:{ending.line})[ \t]*", last) is not None


def _last(pattern: str, text: str) -> int:
    """Index of the last line that begins with a pattern, after blanks; -1 where there is none."""
    found = -1
    for match in re.finditer(rf"^[^\S\n]*+(?:{pattern})", text, re.MULTILINE):
        found = match.start()
    return found
