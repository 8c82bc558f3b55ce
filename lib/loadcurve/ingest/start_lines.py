"""The start and the name of runs whose reports print none, from lines that a script wrote around them.

Such as the output of ``date; echo "== c=64 run 2 =="; wrk …``.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from loadcurve.errors import ParseError
from loadcurve.ingest.parsed import Parsed, Tables

_MOST = 1_000_000  # characters; a report of a load generator is short
_LONGEST = 100  # characters of a line with a time
# No heading is longer than 200 characters, and a search in a longer line could take time in proportion to its square.
_HEADING = re.compile(
    r"^(?=.{1,200}$)"
    r"[ \t]*(?:={2,}|>{2,}|#{1,6}(?!\[)|([*-]{2,})(?=.*[*-]{2}[ \t]*$))[ \t]*([^\W_].*?)[ \t]*[=<#*-]*[ \t]*$",
    re.MULTILINE,
)
_COMMAND = r"^[ \t]*(?:[$#%>+][ \t]*)?(?:\S*/)?{tool}[ \t](?=.*(?:-|://))(.*)$"
_SCRIPT = re.compile(r"^[ \t]*script: ([^\s]+)$", re.MULTILINE)
_OVERLAP_S = 2.0  # `date` prints whole seconds, and so do the headings of some tools


def add_starts(parsed: Parsed, text: str, first: int, timezone: str = "UTC") -> Parsed:
    """Return what was parsed with the start of its runs, if the text has a time for each of them.

    A time is alone on its line, as `date` prints it or in ISO 8601.  There is one before each report; or one after
    each, which then is the end of the run; or one before and one after each.
    """
    if "runs" not in parsed.tables or len(text) > _MOST:
        return parsed
    runs = parsed.tables.rows("runs")
    if not isinstance(runs, Sequence) or not runs or any("started_at" in run for run in runs):
        return parsed
    times = _times(text, timezone)
    before = len(times) > 0 and times[0][0] < first
    durations = [float(run.get("duration_s") or "nan") for run in runs]
    if len(times) == len(runs):
        starts = [time - (0 if before else duration) for (_, time), duration in zip(times, durations, strict=True)]
    elif len(times) == 2 * len(runs) and before:
        starts = [time for _, time in times[::2]]
    else:
        return parsed
    ends = [start + duration - _OVERLAP_S for start, duration in zip(starts, durations, strict=True)]
    # False too where a duration is not known.
    if not all(end <= later for end, later in zip(ends, [*starts[1:], float("inf")], strict=True)):
        return parsed
    known = [{**run, "started_at": datetime.fromtimestamp(at, UTC)} for run, at in zip(runs, starts, strict=True)]
    others = {name: parsed.tables.rows(name) for name in parsed.tables}
    return replace(parsed, tables=Tables({**others, "runs": known}))


def add_labels(parsed: Parsed, text: str, first: int) -> Parsed:
    """Return what was parsed with a `label` for each run, if the text has a heading or a command before each report.

    The script that a report of k6 names is a label too; parameters are those of `add_starts`.
    """
    runs = parsed.tables.rows("runs") if "runs" in parsed.tables else ()
    if not isinstance(runs, Sequence) or not runs or len(text) > _MOST:
        return parsed
    labels = [""] * len(runs)
    for pattern in (_HEADING, re.compile(_COMMAND.format(tool=re.escape(parsed.tool)), re.MULTILINE), _SCRIPT):
        found = list(pattern.finditer(text))
        if len(found) == len(runs) and (found[0].start() < first or pattern is _SCRIPT):
            texts = (
                " ".join(word for word in match[match.lastindex or 0].split() if "://" not in word) for match in found
            )
            labels = [f"{label} {text}".strip() for label, text in zip(labels, texts, strict=True)]
    if not any(labels):
        return parsed
    named = [{**run, "label": label[:_LONGEST]} for run, label in zip(runs, labels, strict=True)]
    return replace(parsed, tables=Tables({**{n: parsed.tables.rows(n) for n in parsed.tables}, "runs": named}))


def _times(text: str, timezone: str) -> list[tuple[int, float]]:
    """Where each line that is a time begins, and the time in s since 1970 UTC."""
    found, at = [], 0
    for line in text.split("\n"):
        stripped = line.strip()
        if 8 <= len(stripped) <= _LONGEST and stripped.count(":") >= 2 and stripped[-1].isalnum():
            from loadcurve.ingest.snapshots import instant  # with NumPy and pandas, which most texts do not need

            try:
                time = instant(stripped, 0, timezone)
            except ParseError:
                time = None
            if time is not None and time == time:
                found.append((at, time.astype("datetime64[us]").astype(int) / 1e6))
        at += len(line) + 1
    return found
