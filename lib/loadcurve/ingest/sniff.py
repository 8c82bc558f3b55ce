"""Recognise which tool printed a text, by the text alone, never by the file's name."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from loadcurve.errors import LoadcurveError, ParseError, check_type
from loadcurve.ingest.clean import PREFIXES, clean, strip_prefix
from loadcurve.ingest.form import Form
from loadcurve.ingest.lazy_regex import lazy_regex
from loadcurve.ingest.load_options import add_options
from loadcurve.ingest.merge import merge
from loadcurve.ingest.noise import is_noise
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.registry import FORMS, forms_of
from loadcurve.ingest.report_text import nothing_in
from loadcurve.ingest.separators import without_separators
from loadcurve.ingest.signatures import beginnings
from loadcurve.ingest.start_lines import add_labels, add_starts

_MANY_LINES = 1_000_000
_SAMPLE = 1 << 12  # characters
_SHORTEST_MEAN = 8  # characters of a line on average, newline included; whole files of every tool have 20 and more
_CONTROLS = lazy_regex(r"[\x00-\x08\x0e-\x1a\x7f-\x9f]")
_HEADING_LINES = 10  # prompts, times and empty lines between two parts
_HEAD = 1 << 18  # characters; only prompts and banners come before the first signature


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
    text = clean(text)
    _check_lines(text)
    named = forms_of(tool) if tool else FORMS
    if not named:
        raise LoadcurveError(f"tool must be one of {', '.join(sorted({f.tool for f in FORMS}))}, got {tool!r}")
    if log_format and (log := _log_of(text, tool, named, log_format)):
        return log.parse(text, log_format=log_format)
    # A line that two tools print belongs to the tool that was named.
    forms = named + tuple(form for form in FORMS if form not in named) if tool else FORMS
    found, text = _find(text, forms)
    separated: list[str] = []
    if not found:  # thousands separators may hide a signature
        plain, separated = without_separators(text)
        found, plain = _find(plain, forms) if separated else ([], text)
        text = plain if found else text
    selected = [part for part in _parts(text, found) if part[0] in named]
    if not selected:
        if tool:
            return named[0].parse(text, timezone=timezone)  # its error names what it expected
        if _CONTROLS.search(text[:_SAMPLE]):
            raise ParseError(0, "output of a tool that loadcurve reads", "binary data")
        if not text[:_HEAD].strip():
            raise ParseError(0, "output of a tool that loadcurve reads", "an empty file")
        raise nothing_in(text[:_HEAD], "output of a tool that loadcurve reads")
    parsed = merge([(form, form.parse(part, timezone=timezone), line) for form, part, line in selected])
    parsed = replace(parsed, warnings=(*separated, *parsed.warnings))
    if len(found) == 1:
        first = found[0][1]
        parsed = add_labels(add_options(add_starts(parsed, text, first, timezone), text), text, first)
    if len(selected) == len(found):
        return parsed
    left = [f"line {line}: output of {form.name} begins here and is left out" for form, _, line in
            _parts(text, found) if form not in named]  # fmt: skip
    return Parsed(parsed.tool, parsed.tables, (*parsed.warnings, *left), parsed.version)


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
    if not pattern.fullmatch(next((line for line in text[:_HEAD].split("\n") if line.strip()), "")):
        found, _ = _find(text, FORMS)
        if found:
            return forms_of(name)[0] if "log_format" in found[0][0].takes else None
    return forms_of(name)[0]


def sniff(text: str) -> Form | None:
    """Return the form whose signature is found first in a text; None where there is none."""
    found, _ = _find(clean(text), FORMS)
    return found[0][0] if found else None


def _find(text: str, forms: tuple[Form, ...]) -> tuple[list[tuple[Form, int]], str]:
    """Return forms and where the output of each begins, and the text in which it does (lines without prefix)."""
    for part in (text[:_HEAD], text)[: 1 + (len(text) > _HEAD)]:
        if found := list(_beginnings(part, forms)):
            return found, text
        for prefix, pattern in PREFIXES.items():
            if re.search(rf"^[ \t]*{pattern}", part[:_HEAD], re.MULTILINE):
                stripped = strip_prefix(part, prefix)
                if found := list(_beginnings(stripped, forms)):
                    return found, stripped if len(part) == len(text) else strip_prefix(text, prefix)
    return [], text


def _beginnings(text: str, forms: tuple[Form, ...]) -> Iterator[tuple[Form, int]]:
    parser: Callable[..., Parsed] | None = None
    for form, start in beginnings(text, forms):
        if form.parser != parser:
            parser = form.parser
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


def _parts(text: str, found: list[tuple[Form, int]]) -> Iterator[tuple[Form, str, int]]:
    """Yield each form, its part of the text after empty lines that keep line numbers, and the line it begins at."""
    if not found:
        return
    starts = [0, *(_with_heading(text, start) for _, start in found[1:]), len(text)]
    for (form, signature), start, end in zip(found, starts[:-1], starts[1:], strict=True):
        part = "\n" * text.count("\n", 0, start) + text[start:end] if start or end < len(text) else text
        yield form, part, text.count("\n", 0, signature) + 1
