"""Standard output and standard error of one command, kept in two files, into one run."""

import functools
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from loadcurve.errors import LoadcurveError, ParseError
from loadcurve.ingest.files import Hints, content, parse_bytes
from loadcurve.ingest.on_disk import stored
from loadcurve.ingest.parsed import Parsed, Tables

Command = tuple[Path, Path | None]
"""File of a command's standard output, or of both streams, and file of its standard error."""
Outcome = tuple[Path, Parsed | None, str]
"""A file with its tables, or with the reason why it was refused, in one line."""

_OUTPUTS = {".err": (".out", ".stdout", ".txt", ".log"), ".stderr": (".stdout", ".out")}


def parse_each(
    files: Iterable[Path],
    hints: Hints | None = None,
    recording_text: Callable[[bytes], str] | None = None,
    name: Callable[[Path], str] = str,
    each: Callable[[Callable[[Command], list[Outcome]], Iterable[Command]], Iterable[list[Outcome]]] = map,
    store: Path | None = None,
    *,
    store_all: bool = False,
) -> Iterator[Outcome]:
    """Parse files one after the other; yield the tables of each, or the line that explains why it was refused.

    Two files of one command give one result, named by the file of its standard output; either of them may be empty.
    """
    keep = functools.partial(stored, folder=store, small=store_all) if store else _same
    parse = functools.partial(_parse_command, hints or Hints(), recording_text, name, keep)
    for outcomes in each(parse, paired(files)):
        yield from outcomes


def _parse_command(
    hints: Hints,
    recording_text: Callable[[bytes], str] | None,
    name: Callable[[Path], str],
    keep: Callable[[Parsed], Parsed],
    command: Command,
) -> list[Outcome]:
    """Parse the files of one command; depends on nothing else, so it may run in any process that sees the files."""

    def read(file: Path) -> Outcome:
        try:
            parsed = parse_bytes(content(file, hints.max_bytes), name(file), hints, recording_text)
            return file, keep(parsed), ""
        except LoadcurveError as error:
            return file, None, str(error)
        except MemoryError:
            return file, None, str(ParseError(0, "enough memory for its text and tables", "too little", name(file)))

    streams = [read(file) for file in command if file]
    parsed = [found for _, found, _ in streams if found]
    if len(parsed) == 2 and (both := joined(*parsed)):
        return [(command[0], both, "")]
    return [each for each in streams if len(streams) == 1 or each[1] or content(each[0], hints.max_bytes).strip()]


def _same(parsed: Parsed) -> Parsed:
    return parsed


def paired(files: Iterable[Path]) -> Iterator[Command]:
    """Yield each file with the file of its command's standard error, which is not yielded again.

    Examples
    --------
    >>> [(a.name, b and b.name) for a, b in paired([Path("a.err"), Path("a.out"), Path("b.err"), Path("c.txt")])]
    [('a.out', 'a.err'), ('b.err', None), ('c.txt', None)]
    """
    files = list(files)
    here = set(files)
    errors: dict[Path, Path] = {}
    for file in files:
        outputs = (file.with_suffix(suffix) for suffix in _OUTPUTS.get(file.suffix, ()))
        if output := next((path for path in outputs if path in here and path not in errors), None):
            errors[output] = file
    beside = set(errors.values())
    for file in files:
        if file not in beside:
            yield file, errors.get(file)


def joined(output: Parsed, error: Parsed) -> Parsed | None:
    """Join both streams of a command; None where they do not report the same runs of one tool.

    Facts come from the standard output; failures and their reasons come from the standard error.

    Examples
    --------
    >>> output = Parsed("ab", {"runs": [{"generator": 0, "tool_version": "2.3"}]})
    >>> error = Parsed("ab", {"runs": [{"generator": 0, "status": "failed", "reason": "timed out"}]})
    >>> joined(output, error).tables.rows("runs")
    [{'generator': 0, 'status': 'failed', 'reason': 'timed out', 'tool_version': '2.3'}]
    """
    runs, failures = (parsed.tables.rows("runs") if "runs" in parsed.tables else () for parsed in (output, error))
    others = [name for name in error.tables if name != "runs" and len(error.tables.rows(name))]
    alike = isinstance(runs, list) and isinstance(failures, list) and 0 < len(runs) == len(failures)
    if output.tool != error.tool or others or not alike:
        return None
    rows, warnings = [], list(output.warnings)
    for run, failure in zip(runs, failures, strict=True):
        failed = failure if failure.get("status") == "failed" else {}
        rows.append({**failure, **run, **{name: failed[name] for name in ("status", "reason") if name in failed}})
    if any(row.get("status") == "failed" for row in failures):
        warnings += [f"in its error output: {warning}" for warning in error.warnings]
    tables = {name: output.tables.rows(name) for name in output.tables}
    return Parsed(output.tool, Tables({**tables, "runs": rows}), tuple(warnings), output.version or error.version)
