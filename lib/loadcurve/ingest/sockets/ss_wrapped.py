"""ss: rows and headers that mail has wrapped between their columns, joined again.

Details that mail wraps stay where they are: `ss_lines` reads them from any line.
"""

import re

from loadcurve.ingest.sockets import ss_rows

_STARTS = "|".join(map(re.escape, (*ss_rows.FAMILIES, *ss_rows.STATES)))
_ADDRESS = r"(?:\S{1,100}:(?:[\w*-]{1,30})|\*:\*)"
_QUEUES = rf"[ \t]*(?:(?:{_STARTS})[ \t]+){{0,2}}[0-9]{{1,12}}[ \t]+[0-9]{{1,12}}"
_HALF = re.compile(rf"{_QUEUES}(?:[ \t]+{_ADDRESS})?[ \t]*")  # no peer, perhaps no address at all
_REST = re.compile(rf"[ \t]*{_ADDRESS}(?:[ \t].*)?")
_HALF_HEADER = re.compile(r".*\bRecv-Q[ \t]+Send-Q(?:[ \t]+Local)?(?:[ \t]+Address:Port(?:[ \t]+Peer)?)?[ \t]*")
_REST_OF_HEADER = re.compile(r"[ \t]*(?:(?:Local[ \t]+)?Address:Port|Peer)\b.*")


def unwrapped(text: str) -> tuple[str, list[int]]:
    r"""Return a text whose wrapped rows are whole, as many lines as before, and the numbers of those lines, from 1.

    Examples
    --------
    >>> unwrapped("State Recv-Q Send-Q Local Address:Port Peer\nAddress:Port\nLISTEN 0 128 *:22\n*:* ino:5\n")
    ('State Recv-Q Send-Q Local Address:Port Peer Address:Port\n\nLISTEN 0 128 *:22 *:* ino:5\n\n', [1, 3])
    """
    lines = text.split("\n")
    changed: list[int] = []
    for at in range(len(lines) - 1):
        line = lines[at][:400]
        following, rest = at + 1, _REST if _HALF.fullmatch(line) else _REST_OF_HEADER
        if rest is _REST_OF_HEADER and not _HALF_HEADER.fullmatch(line):
            continue
        while following < len(lines) and following <= at + 2 and rest.match(lines[following]):
            lines[at], lines[following] = f"{lines[at].rstrip()} {lines[following].strip()}", ""
            changed += [at + 1] if at + 1 not in changed[-1:] else []
            following += 1
            if not (_HALF if rest is _REST else _HALF_HEADER).fullmatch(lines[at][:400]):
                break
    return "\n".join(lines), changed
