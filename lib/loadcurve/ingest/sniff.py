"""Recognise which tool printed a text, by the text alone, never by the file's name.

The start and the name of a run whose report prints none come from lines that a script wrote around it, such as those of
``date; echo "== c=64 run 2 =="; wrk …``.
"""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from loadcurve.errors import LoadcurveError, ParseError, check_type
from loadcurve.ingest.clean import clean, pattern_of, rejoined, strip_prefix, without_markup
from loadcurve.ingest.form import Form, without_separators
from loadcurve.ingest.load_options import add_options
from loadcurve.ingest.merge import merge, without_fragments
from loadcurve.ingest.parsed import Parsed, Tables
from loadcurve.ingest.registry import FORMS, forms_of
from loadcurve.ingest.report_text import is_noise, nothing_in
from loadcurve.ingest.signatures import form_starts, prefixes

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


_MANY_LINES = 1_000_000
_SAMPLE = 1 << 12  # characters
_SHORTEST_MEAN = 8  # characters of a line on average, newline included; whole files of every tool have 20 and more
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1a\x7f-\x9f]")
_HEADING_LINES = 10  # prompts, times and empty lines between two parts
_HEAD = 1 << 18  # characters; only prompts and banners come before the first signature
_LEAST = 3  # lines with the prefix of a collector; one alone may be a sentence that quotes a tool
_MOST_STREAMS = 100  # hosts or containers in one text


def parse(text: str, tool: str | None = None, timezone: str = "UTC", log_format: str = "") -> Parsed:
    """Tables of what a tool printed.

    Where a text holds the output of several tools, such as a copied terminal session, each part is parsed by its own
    parser.  The tables are joined, `tool` is that of the first part, and a warning names the line of each other part.

    Parameters
    ----------
    text : str
        Verbatim output, with prompts, colours, prefixes of each line or Markdown around it.
    tool : str, optional
        ``TOOL`` or ``TOOL:VARIANT`` as in `loadcurve.ingest.registry`; recognised by the text when it is not given.
        When it is given, parts of other tools are left out, with a warning.
    timezone : str
        IANA name of the zone of local times in the text; most tools do not print it.
    log_format : str
        Format of access logs, as nginx's `log_format` or Apache's `LogFormat` gives it.  A text that begins with such
        a line is one, and a text of no known tool must be.

    Raises
    ------
    ParseError
        Where the text is not what the tool prints, where no tool prints such a text, and where it is made of millions
        of empty lines.
    LoadcurveError
        When there is no such tool, or `log_format` is no format or not of this tool.

    Examples
    --------
    >>> parse("Hello")
    Traceback (most recent call last):
    loadcurve.errors.ParseError: <text>:1: expected output of a tool that loadcurve reads, got 'Hello'
    """
    check_type("text", text, str, "the text of a report (loadcurve.read takes a path)")
    text = without_markup(clean(text))
    _check_lines(text)
    named = forms_of(tool) if tool else FORMS
    if not named:
        raise LoadcurveError(f"tool must be one of {', '.join(sorted({f.tool for f in FORMS}))}, got {tool!r}")
    if log_format and (log := _log_of(text, tool, named, log_format)):
        return log.parse(text, log_format=log_format)
    try:
        return _parse(text, tool, timezone, named)
    except ParseError as refused:
        for whole, lines in rejoined(text) if len(text) <= _HEAD and _is_report(text, named) else ():
            try:
                parsed = _parse(whole, tool, timezone, named)
            except ParseError:
                continue
            more = f"; so are {len(lines) - 1} more" * (len(lines) > 1)
            joined = f"line {lines[0]}: wrapped, and joined with the line below{more}"
            return replace(parsed, warnings=(joined, *parsed.warnings))
        raise refused from None


def _is_report(text: str, forms: tuple[Form, ...]) -> bool:
    """Whether all that begins in a text are reports of load generators, made of lines."""
    found = [form for _, found in _streams(text, forms) for form, _ in found]
    return bool(found) and all(form.parsed_by.startswith("load.") and not form.commas for form in found)


def _parse(text: str, tool: str | None, timezone: str, named: tuple[Form, ...]) -> Parsed:
    """Tables of a clean text."""
    # A line that two tools print belongs to the tool that was named.
    forms = named + tuple(form for form in FORMS if form not in named) if tool else FORMS
    streams, separated = _streams(text, forms), list[str]()
    if not streams:  # thousands separators may hide a signature
        plain, separated = without_separators(text)
        streams = _streams(plain, forms) if separated else []
    parts = [part for stream in streams for part in _parts(*stream)]
    selected = [part for part in parts if part[0] in named]
    if not selected:
        if tool:
            return named[0].parse(text, timezone=timezone)  # its error names what it expected
        if _CONTROLS.search(text[:_SAMPLE]):
            raise ParseError(0, "output of a tool that loadcurve reads", "binary data")
        if not text[:_HEAD].strip():
            raise ParseError(0, "output of a tool that loadcurve reads", "an empty file")
        raise nothing_in(text[:_HEAD], "output of a tool that loadcurve reads")
    parsed = without_fragments(
        merge([(form, form.parse(part, timezone=timezone), line) for form, part, line in selected])
    )
    left = [f"line {line}: output of {form.name} begins here and is left out" for form, _, line in parts
            if form not in named]  # fmt: skip
    parsed = replace(parsed, warnings=(*separated, *parsed.warnings, *left))
    if len(parts) > 1:
        return parsed
    text, ((_, first),) = streams[0]
    return add_labels(add_options(add_starts(parsed, text, first, timezone), text), text, first)


def _check_lines(text: str) -> None:
    """Refuse more than a million lines with fewer than eight characters on average: parsers would warn of each."""
    if len(text) <= _MANY_LINES:
        return
    # A sixteenth of the text shows whether it is worth counting.
    sampled = sum(text.count("\n", at, at + _SAMPLE) for at in range(0, len(text), 16 * _SAMPLE))
    if 2 * _SHORTEST_MEAN * 16 * sampled < len(text):
        return
    lines = text.count("\n")
    if lines > _MANY_LINES and len(text) < _SHORTEST_MEAN * lines:
        expected = f"lines of at least {_SHORTEST_MEAN} characters on average"
        raise ParseError(0, expected, f"{lines:,} lines in {len(text):,} characters")


def _log_of(text: str, tool: str | None, named: tuple[Form, ...], log_format: str) -> Form | None:
    """Return the form of the access log that a text is; None where another tool printed it."""
    from loadcurve.ingest.servers.access_layout import layout_of_format

    pattern = layout_of_format(log_format).pattern()
    if tool:
        if form := next((form for form in named if "log_format" in form.takes), None):
            return form
        raise LoadcurveError(f"tool must be nginx:access or apache:access where a log format is named, got {tool!r}")
    name = "apache:access" if "%" in log_format and "$" not in log_format else "nginx:access"
    first = next((line for line in text[:_HEAD].split("\n") if line.strip()), "")
    if not pattern.fullmatch(first) and (streams := _streams(text, FORMS)):
        return forms_of(name)[0] if "log_format" in streams[0][1][0][0].takes else None
    return forms_of(name)[0]


def sniff(text: str) -> Form | None:
    """Return the form whose signature is found first in a text; None where there is none."""
    streams = _streams(without_markup(clean(text)), FORMS)
    return streams[0][1][0][0] if streams else None


_Found = list[tuple[Form, int]]
"""Forms, and where in a text the output of each begins."""


def _streams(text: str, forms: tuple[Form, ...]) -> list[tuple[str, _Found]]:
    """Return a text, or the lines that a collector wrote of each host or container, with what begins in them."""
    for part in (text[:_HEAD], text)[: 1 + (len(text) > _HEAD)]:
        if found := list(_beginnings(part, forms)):
            return [(text, found)]
    own = _collectors(text[:_HEAD], forms)
    plain = (strip_prefix(text, each, [other for other in own if other != each]) for each in own)
    return [(lines, found) for lines in plain if (found := list(_beginnings(lines, forms)))]


def _collectors(text: str, forms: tuple[Form, ...]) -> list[re.Pattern[str]]:
    """Return patterns of the texts before signatures that begin other lines too."""
    found: dict[str, re.Pattern[str]] = {}
    lines = [line for line in text.split("\n") if line.strip()]
    # The second line of a signature has the prefix too, which hides it.
    common = os.path.commonprefix(lines)  # noqa: RUF071 - of characters
    before = prefixes(text, forms) or [common[: len(common.rstrip()) + 1]] * bool(common.strip())
    for prefix in sorted(before, key=len):  # a line that the tool indents has one more blank
        found.setdefault(pattern_of(prefix.rstrip()).pattern, pattern_of(prefix))
    of = {
        own: {at: match.end() for at, line in enumerate(lines) if (match := own.match(line))}
        for own in list(found.values())[:_MOST_STREAMS]
    }
    kept: list[re.Pattern[str]] = []
    for own in sorted(of, key=lambda own: (len(of[own]), sum(of[own].values())), reverse=True):
        if len(of[own]) >= max(min(_LEAST, len(lines)), 2) and not any(of[own].keys() & of[other] for other in kept):
            kept.append(own)
    return sorted(kept, key=lambda own: min(of[own]))


def _beginnings(text: str, forms: tuple[Form, ...]) -> Iterator[tuple[Form, int]]:
    parser = ""
    for form, start in form_starts(text, forms):
        if form.parsed_by != parser:
            parser = form.parsed_by
            yield form, start
            if form.signature[0].startswith(r"\A"):
                return  # one tool prints a whole document


def _with_heading(text: str, start: int) -> int:
    """Index where a part begins, including the prompt or the time before its first line."""
    for _ in range(_HEADING_LINES):
        before = text.rfind("\n", 0, max(start - 1, 0)) + 1
        line = text[before:start].strip()
        if before == start or not (is_noise(line) or _is_instant(line)):
            break
        start = before
    return start


def _is_instant(line: str) -> bool:
    from loadcurve.ingest.snapshots import instant  # with NumPy and pandas, which most texts do not need

    try:
        return instant(line, 0) is not None
    except ParseError:
        return False


def _parts(text: str, found: _Found) -> Iterator[tuple[Form, str, int]]:
    """Yield each form, its part of the text after empty lines that keep line numbers, and the line it begins at."""
    starts = [0, *(_with_heading(text, start) for _, start in found[1:]), len(text)]
    for (form, signature), start, end in zip(found, starts[:-1], starts[1:], strict=True):
        part = "\n" * text.count("\n", 0, start) + text[start:end] if start or end < len(text) else text
        yield form, part, text.count("\n", 0, signature) + 1
