"""Thousands separators, which no tool prints: people, spreadsheets and ``printf "%'d"`` put them in.

The one rule for all tools, before any parser reads a number: ``1,234,567``, ``1'234'567`` and ``1_234_567``, perhaps
with decimals, are that number without the separators, with a warning.  Left as they are: ``0,035`` and ``98,51``
(decimal commas), ``1.234`` (a decimal point) and digits inside a longer word, such as an address or a URL.
"""

import re

# One pattern for each separator, which it begins with: a search for one character is many times faster than others.
_SOME = {separator: re.compile(rf"{separator}(?<=[0-9].)[0-9]{{3}}") for separator in ",'’_"}
_GROUPED = re.compile(
    r"(?<![^\s(])((?:[A-Za-z][A-Za-z_/-]{0,30}[=:])?)"  # bytes=, (Connect:
    r"([1-9][0-9]{0,2}(?:(?:,[0-9]{3})+|(?:['’][0-9]{3})+|(?:_[0-9]{3})+)(?:\.[0-9]+)?)"
    r"(?=(?:[A-Za-zµμ%]{1,6}(?:/s)?)?[),;:]?(?:\s|$))"
)
_NAMED = 3  # lines that are named; the others are counted


def without_separators(text: str) -> tuple[str, list[str]]:
    r"""Return a text whose numbers have no thousands separators, and a warning where they had.

    Examples
    --------
    >>> text, warnings = without_separators("Active connections: 1,234 \nrtt:0,035 http://h/1,234 packets=5'678")
    >>> text
    'Active connections: 1234 \nrtt:0,035 http://h/1,234 packets=5678'
    >>> warnings
    ["line 1: thousands separators are taken off, as in '1,234'; also in line 2"]
    """
    if not _has_some(text):
        return text, []
    lines = text.split("\n")
    first, changed = "", []
    for at, line in enumerate(lines):
        if not _has_some(line):
            continue
        if found := _GROUPED.search(line):
            first = first or found[2]
            changed.append(at + 1)
            lines[at] = _GROUPED.sub(lambda match: match[1] + re.sub("[,'’_]", "", match[2]), line)
    if not changed:
        return text, []
    more = ", ".join(map(str, changed[1 : _NAMED + 1]))
    others = len(changed) - 1 - _NAMED
    also = f"; also in line{'s' * (len(changed) > 2)} {more}" if more else ""
    also += f" and {others} more" if others > 0 else ""
    return "\n".join(lines), [f"line {changed[0]}: thousands separators are taken off, as in {first!r}{also}"]


def _has_some(text: str) -> bool:
    """Whether a digit, a separator and three digits follow each other anywhere."""
    return any(separator in text and pattern.search(text) for separator, pattern in _SOME.items())
