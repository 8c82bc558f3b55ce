"""One form of a tool's output: which tool prints it, how it is recognised, which function reads it.

Three rules hold for all tools and forms:

- Before any parser reads a number, ``1,234,567``, ``1'234'567`` and ``1_234_567``, perhaps with decimals, lose their
  thousands separators, with a warning.  Left as they are: ``0,035`` and ``98,51`` (decimal commas), ``1.234`` (a
  decimal point) and digits inside a longer word, such as an address or a URL.
- A killed collector, a full disk or a copied terminal leave only the first part of a text.  The parser reads that part
  correctly, but the missing part must not look as if the tool had printed nothing there (`Ending`).
- A report of a load generator that was edited, damaged or printed by a tool with a defect is kept and warned of; wrk2
  does print means over the maximum.  Only response times where there was no response are left out: tools print 0 for
  them, or the time until a connection failed.
"""

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from inspect import signature
from typing import Any

from loadcurve.ingest.parsed import Parsed, Tables
from loadcurve.units import format_quantity

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


# Numbers of one report are rounded apart: wrk's two decimals are within 0.6 % (`units`), HdrHistogram's bins 0.1 %.
_ROUNDED = 0.01
_WHOLE_MS = 0.002  # ab prints minima and maxima in whole milliseconds, deviations with a decimal
_TWO_DIGITS = 1.05  # Locust rounds its quantiles to two digits or whole ms, and not its maximum
# Tools print times and rates with two decimals or more, and may leave out a warm-up of a few per cent.
_RATE_SLACK, _LEAST_S = 0.1, 0.1
_RATE = re.compile(r"/sec|/s\b|per second")
_PREFIXES = {"runs": "latency_", "phases": ""}  # of the columns with times
_ORDER = (("min", "mean"), ("min", "median"), ("min", "max"), ("mean", "max"), ("median", "max"))
_OF_RESPONSES = {"runs", "latency", "histogram"}
_TIMES = {"latency_s", *(f"latency_{name}_s" for name in ("mean", "stdev", "min", "max"))}
_NAMES = {"min": "minimum", "mean": "mean", "median": "median", "max": "maximum", "stdev": "standard deviation"}


def without_times_of_no_response(parsed: Parsed) -> tuple[Parsed, list[str]]:
    """Return what was parsed without the response times of reports without a response, and a warning for each of them.

    Examples
    --------
    >>> row = {"generator": 0, "requests": 0, "latency_mean_s": 0.0}
    >>> parsed, warnings = without_times_of_no_response(Parsed("k6", {"runs": [row]}))
    >>> parsed.tables.rows("runs"), len(warnings)
    ([{'generator': 0, 'requests': 0}], 1)
    """
    silent = {row.get("generator", 0) for row in parsed.tables.records("runs") if row.get("requests") == 0}
    tables = {name: parsed.tables.records(name) for name in _OF_RESPONSES & parsed.tables.keys()} if silent else {}
    timed = {row.get("generator", 0) for rows in tables.values() for row in rows if _is_timed(row)} & silent
    if not timed:
        return parsed, []
    kept = {name: parsed.tables.rows(name) for name in parsed.tables}
    for name, rows in tables.items():
        if name == "runs":
            kept[name] = [_untimed(row) if row.get("requests") == 0 else row for row in rows]
        else:
            kept[name] = [row for row in rows if row.get("generator", 0) not in timed]
    return replace(parsed, tables=Tables(kept)), [
        f"report {int(generator) + 1}: no request had a response, so its response times are left out: check the "
        "address and that the server listens, and repeat the run"
        for generator in sorted(timed)
    ]


def _untimed(row: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key not in _TIMES}


def _is_timed(row: dict[str, Any]) -> bool:
    return "lower_s" in row or any(not math.isnan(_time(row, column)) for column in _TIMES)


def contradictions(parsed: Parsed) -> list[str]:
    """Return a warning for each contradiction in the response times of what was parsed."""
    return [*_of_runs(parsed), *_of_quantiles(parsed), *_of_rates(parsed)]


def _time(row: dict[str, Any], column: str) -> float:
    value = row.get(column, math.nan)
    return value if isinstance(value, (float, int)) else math.nan


def _over(less: float, more: float) -> bool:
    """Whether a number that should be the smaller one is not, beyond rounding; never where one is missing."""
    return less > more * (1 + _ROUNDED) + 1e-9


def _sentence(row: dict[str, Any], what: str, less: float, limit: str, more: float) -> str:
    low, high = format_quantity(less, "s"), format_quantity(more, "s")
    report = f"report {int(row.get('generator') or 0) + 1}"
    return f"{report}: {what} of {low} is over {limit} of {high}, which cannot be: check the file"


def _of_runs(parsed: Parsed) -> Iterator[str]:
    for table, prefix in _PREFIXES.items():
        for row in parsed.tables.records(table):
            times = {name: _time(row, f"{prefix}{name}_s") for name in _NAMES}
            if row.get("latency_origin", "measured") != "measured":
                times["mean"] = math.nan  # of another origin than the minimum and the maximum
            where = f" of the phase {row['phase']}" if "phase" in row else " response time"
            for less, more in _ORDER:
                if _over(times[less], times[more]):
                    yield _sentence(row, f"the {_NAMES[less]}{where}", times[less], f"the {_NAMES[more]}", times[more])
                    break  # one wrong number contradicts several
            else:
                spread = times["max"] - times["min"]
                if _over(times["stdev"], spread + _WHOLE_MS):
                    yield _sentence(row, f"the standard deviation{where}", times["stdev"], "the whole range", spread)


def _of_rates(parsed: Parsed) -> Iterator[str]:
    """Rates that are not requests over duration; the parsers of most tools check that more closely."""
    if any(_RATE.search(warning) for warning in parsed.warnings):
        return
    for row in parsed.tables.records("runs"):
        requests, duration, rate = (_time(row, name) for name in ("requests", "duration_s", "throughput_rps"))
        if duration >= _LEAST_S and abs(rate * duration - requests) > _RATE_SLACK * requests + 2:
            shown = f"{format_quantity(rate, 'rps')} over {format_quantity(duration, 's')}"
            report = f"report {int(row.get('generator') or 0) + 1}"
            yield f"{report}: {shown} is not the {format_quantity(requests)} requests, which cannot be: check the file"


def _highest_quantile(row: dict[str, Any]) -> float:
    """Largest time that a quantile of a run may have: its maximum, as coarsely as the tool rounds quantiles."""
    most = _time(row, "latency_max_s")
    return most * _TWO_DIGITS + _WHOLE_MS if row.get("tool") == "locust" else most


def _of_quantiles(parsed: Parsed) -> Iterator[str]:
    most = {row.get("generator", 0): _highest_quantile(row) for row in parsed.tables.records("runs")}
    before: dict[tuple[Any, ...], tuple[float, float]] = {}
    warned: set[tuple[Any, ...]] = set()
    for row in sorted(parsed.tables.records("latency"), key=lambda row: _time(row, "quantile")):
        key = (row.get("generator", 0), row.get("corrected"))
        quantile, latency = _time(row, "quantile"), _time(row, "latency_s")
        if math.isnan(latency) or key in warned:
            continue
        rank, highest = before.get(key, (0.0, 0.0))
        before[key] = (quantile, latency)
        if _over(highest, latency):
            warned.add(key)
            yield _sentence(row, f"the quantile {rank:g}", highest, f"the quantile {quantile:g}", latency)
        elif _over(latency, most.get(key[0], math.nan)):
            warned.add(key)
            yield _sentence(row, f"the quantile {quantile:g}", latency, "the maximum", most[key[0]])


@dataclass(frozen=True, eq=False)  # compared by identity, because forms are dictionary keys for every file
class Form:
    r"""One form of a tool's output, one line of `loadcurve.ingest.registry`."""

    # `tool` and `variant`: as `run.json` names them, and on the command line `TOOL` or `TOOL:VARIANT`.
    tool: str
    variant: str
    # Module below `loadcurve.ingest`, and the function in it that takes the text and returns `Parsed`; the first line
    # of its docstring is the form's line in the handbook.
    parsed_by: str
    # Patterns without groups that capture.  The output begins at a line that matches one of them, after indentation.
    # The patterns of a whole document (JSON, XML) begin with `\A`.
    signature: tuple[str, ...]
    commas: bool = False  # Whether a comma between digits is part of what is printed: a list, CSV, a log of words
    # How a whole text ends; by default its last line ends with a newline, which is all that is known.
    ending: Ending = NEWLINE
    # Whether its parser converts whole columns at once, so that a text may be larger than others
    # (`loadcurve.ingest.packed`).
    large: bool = False
    # Tables with totals over the rows of the text, which the parser computes or the tool prints again and again: a text
    # that is cut between two rows has smaller totals.
    totals: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """``TOOL`` or ``TOOL:VARIANT``."""
        return f"{self.tool}:{self.variant}" if self.variant else self.tool

    @cached_property
    def parser(self) -> Callable[..., Parsed]:
        """The function that reads this form; its module is imported when it is first asked for."""
        module, function = self.parsed_by.split(":")
        parser: Callable[..., Parsed] = getattr(import_module(f"loadcurve.ingest.{module}"), function)
        return parser

    @cached_property
    def takes(self) -> frozenset[str]:
        """Further arguments of the parser: ``timezone`` where the text holds local times, ``log_format``."""
        return frozenset(signature(self.parser).parameters) - {"text"}

    def parse(self, text: str, **known: str) -> Parsed:
        """Parse a text of this form after `clean`; of the known facts, the parser gets those that it takes.

        Adds a warning where the text may have been cut and the parser did not warn, and where response times
        contradict each other; removes those of a run without a response.
        """
        text, separated = (text, []) if self.commas or self.ending is JSON else without_separators(text)
        parsed = self.parser(text, **{name: value for name, value in known.items() if name in self.takes})
        cut = warning_of(text, self.ending, parsed.warnings)
        parsed, untimed = without_times_of_no_response(parsed)
        more = [*separated, *untimed, *contradictions(parsed), *([cut] if cut else [])]
        return replace(parsed, warnings=(*parsed.warnings, *more)) if more else parsed
