"""Access logs of nginx with a JSON object in each line (``log_format … escape=json``) into the table `requests`.

Seen: logs in public repositories whose keys are the variables' names, or usual short ones (``agent``).  A key that is
neither goes to `other`.
"""

import json
import re

from loadcurve.errors import ParseError
from loadcurve.ingest.access_columns import Reader
from loadcurve.ingest.access_layout import Layout, field_named
from loadcurve.ingest.access_rows import OddLines, Parts
from loadcurve.ingest.parsed import Parsed

_DECODER = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str)  # numbers stay as they were written
_MOST_KEYS = 60
_LONGEST = 1 << 16


def parse_access_json(text: str) -> Parsed:
    r"""Table `requests` of an access log with a JSON object in each line.

    Parameters
    ----------
    text : str
        The log.

    Returns
    -------
    Parsed
        A row for each line, in their order.  Lines that are odd are left out: a warning names the first ones.

    Raises
    ------
    ParseError
        Where no line is such an object.

    Examples
    --------
    >>> line = '{"time_iso8601":"2026-11-20T22:34:32+00:00","status":"200","request_time":"0.003"}\n'
    >>> parse_access_json(line).tables["requests"][["status", "latency_s"]].values.tolist()
    [[200.0, 0.003]]
    """
    odd = OddLines()
    by_layout: dict[tuple[str, ...], tuple[list[tuple[str, ...]], list[int]]] = {}
    patterns: dict[tuple[str, ...], list[re.Pattern[str]]] = {}
    for number, line in enumerate(text.split("\n"), 1):
        line = line.strip().removesuffix(",")
        found = _object(line)
        if found is None:
            odd.note(line, number)
            continue
        keys = tuple(found)
        if keys not in patterns:
            fields = [field_named(key) for key in keys]
            patterns[keys] = [re.compile(field.pattern or r"[\s\S]*") for field in fields]
        values = tuple(found.values())
        wrong = next((k for k, v, p in zip(keys, values, patterns[keys], strict=True) if not p.fullmatch(v)), None)
        if wrong is not None:
            odd.note(f"{wrong}: {found[wrong]}", number)
            continue
        rows, numbers = by_layout.setdefault(keys, ([], []))
        rows.append(values)
        numbers.append(number)
    parts = Parts()
    for keys, (rows, numbers) in by_layout.items():
        layout = Layout(tuple(field_named(key) for key in keys), ("",) * (len(keys) + 1))
        parts.add(Reader(layout).read(rows), numbers, odd)
    if not parts.rows:
        number, line = next(((i, s) for i, s in enumerate(text.split("\n"), 1) if s.strip()), (1, ""))
        raise ParseError(number, "a line of an access log in JSON", line.strip())
    return Parsed("nginx", {"requests": parts.table().assign(tool="nginx")}, odd.warnings())


def _object(line: str) -> dict[str, str] | None:
    """Keys and texts of a line with one flat object; None for any other line."""
    if not line.startswith("{") or not line.endswith("}") or len(line) > _LONGEST:
        return None
    try:
        found = _DECODER.decode(line)
    except (ValueError, RecursionError):
        return None
    if not found or len(found) > _MOST_KEYS or any(isinstance(value, dict | list) for value in found.values()):
        return None
    texts = {key: "" if value is None else str(value) for key, value in found.items()}
    return texts if any(field_named(key).kind != "other" for key in texts) else None
