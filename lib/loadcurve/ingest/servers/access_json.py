"""Access logs of nginx with a JSON object in each line (``log_format … escape=json``) into the table `requests`.

Seen: logs in public repositories whose keys are the variables' names, or usual short ones (``agent``).  A key that is
neither goes to `other`.
"""

import re

from loadcurve.ingest.json_text import Decoder
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.report_text import nothing_in
from loadcurve.ingest.servers.access_columns import Parts, Reader, UnreadLines, encoded
from loadcurve.ingest.servers.access_layout import Layout
from loadcurve.ingest.servers.access_variables import TIME_KEYS, clock_of, field_named

_AS_WRITTEN = {"parse_int": str, "parse_float": str, "parse_constant": str}  # numbers stay as they were written
_MAX_KEYS = 60
_LONGEST = 1 << 16


def parse_access_json(text: str) -> Parsed:
    """Table `requests` of an access log with a JSON object in each line.

    A row for each line, in their order.  Lines in another form are left out, and a warning names the first of them.
    """
    unread_lines = UnreadLines()
    decoder = Decoder(**_AS_WRITTEN)
    by_layout: dict[Layout, tuple[list[tuple[str, ...]], list[int]]] = {}
    patterns: dict[Layout, list[re.Pattern[str]]] = {}
    layouts: dict[tuple[str, ...], Layout] = {}  # by the keys, and which clocks their times are of
    for number, line in enumerate(text.split("\n"), 1):
        line = line.strip().removesuffix(",")
        found = _object(line, decoder)
        for repeated in decoder.warnings(number):
            unread_lines.warn(repeated)
        if found is None:
            unread_lines.note(line, number)
            continue
        shape = (*found, *(clock_of(found[key]) for key in found if key in TIME_KEYS))
        if shape not in layouts:
            layouts[shape] = Layout(tuple(map(field_named, found, found.values())), ("",) * (len(found) + 1))
        layout = layouts[shape]
        if not any(field.kind in ("status", "request") for field in layout.fields):
            unread_lines.note(line, number)  # an object of another program
            continue
        if layout not in patterns:
            patterns[layout] = [re.compile(field.pattern or r"[\s\S]*") for field in layout.fields]
        values = tuple(found.values())
        wrong = next((k for k, v, p in zip(found, values, patterns[layout], strict=True) if not p.fullmatch(v)), None)
        if wrong is not None:
            unread_lines.note(f"{wrong}: {found[wrong]}", number)
            continue
        if unread := next((f for f in layout.fields if f.name in TIME_KEYS and f.kind == "other"), None):
            unread_lines.warn(f"line {number}: {unread.name!r} holds no time that is read")
        rows, numbers = by_layout.setdefault(layout, ([], []))
        rows.append(values)
        numbers.append(number)
    parts = Parts()
    for layout, (rows, numbers) in by_layout.items():
        parts.add(Reader(layout).read(encoded(rows)), numbers, unread_lines)
    if not parts.rows:
        raise nothing_in(text, "a line of an access log in JSON")
    return Parsed("nginx", {"requests": parts.table("nginx")}, unread_lines.warnings())


def _object(line: str, decoder: Decoder) -> dict[str, str] | None:
    """Keys and texts of a line with one flat object; None for any other line."""
    if not line.startswith("{") or not line.endswith("}") or len(line) > _LONGEST:
        return None
    try:
        found = decoder.decode(line)
    except (ValueError, RecursionError):
        return None
    if isinstance(found, dict) and len(found) == 1 and isinstance(inner := next(iter(found.values())), dict):
        found = inner  # {"nginx": {…}}
    if not isinstance(found, dict) or not 0 < len(found) <= _MAX_KEYS:
        return None
    if any(isinstance(value, dict | list) for value in found.values()):
        return None
    return {key: "" if value is None else str(value) for key, value in found.items()}
