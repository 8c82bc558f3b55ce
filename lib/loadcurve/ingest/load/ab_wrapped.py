"""ab: rejoin lines that a mail program or a web page wrapped."""

import re

from loadcurve.ingest.load.ab_labels import LABELS, PHASES

_NUMBERS = re.compile(r"[-0-9.][-0-9. \t]*")


def rejoin_lines(text: str) -> tuple[str, list[int]]:
    r"""Return the text with its wrapped lines joined, keeping the number of lines, and the numbers of the joined lines.

    A line is wrapped if it ends inside a label, after a label, inside a row of five times, or before ``(mean)``.

    Examples
    --------
    >>> rejoin_lines("Server  \nPort:\n80\nConnect:   0\n29 106.1 0 553\n")
    ('Server Port: 80\n\n\nConnect: 0 29 106.1 0 553\n\n', [1, 4])
    """
    lines = [" ".join(line[:4000].split()) for line in text.split("\n")]
    changed: list[int] = []
    first = 0
    for at in range(1, len(lines)):
        line = lines[at]
        if not line:
            continue
        if _goes_on(lines[first], line):
            lines[first], lines[at] = f"{lines[first]} {line}", ""
            if first + 1 not in changed[-1:]:
                changed.append(first + 1)
        else:
            first = at
    return "\n".join(lines), changed


def _goes_on(line: str, following: str) -> bool:
    label, colon, value = line.partition(":")
    if following.partition(":")[0] in LABELS or (following.partition(":")[0] in PHASES):
        return False
    if not colon:
        return any(name.startswith(f"{line} ") for name in LABELS) and following.endswith(":")
    if label in PHASES:
        return len(value.split()) < 5 and _NUMBERS.fullmatch(following) is not None
    if label in LABELS:
        return not value or (label == "Time per request" and following.startswith("(mean"))
    return False
