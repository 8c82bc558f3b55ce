"""What a parser makes of a text that was cut: every value kept, lost, changed, with a warning or without."""

import random
import time
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from loadcurve.errors import ParseError
from loadcurve.ingest.files import parse_bytes
from loadcurve.ingest.form import AFTERWARDS
from loadcurve.ingest.packed import unpack
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.sniff import sniff

DATA = Path(__file__).parents[1] / "data"
MAX_BYTES = 300_000  # of a file; what a parser does to a thousand rows it does to a million
# That a report broke off is what the cut text itself says; these columns say so.
_TOLD = frozenset({"status", "reason"})


@dataclass
class Tally:
    """Outcome of the cuts of the files of one tool."""

    # `cuts` and `inside`: cuts of these files, and those of the cuts that are inside a line.
    files: int = 0
    cuts: int = 0
    inside: int = 0
    # `refused` and `warned`: cuts that end in an error with its line, and cuts with a warning that the whole text does
    # not give.
    refused: int = 0
    warned: int = 0
    # `silent` and `silent_rows`: cuts inside a line, and cuts between two lines, after which a value is missing without
    # either.
    silent: int = 0
    silent_rows: int = 0
    wrong: int = 0  # Cuts that give a value which the whole text does not have, without either
    crashed: int = 0  # Cuts that end in any other exception
    # `alarmed` and `short`: whole files without their last newline of which a warning is given, and of which a value is
    # missing.
    alarmed: int = 0
    short: int = 0
    slowest_s: float = 0.0  # Longest time that one cut took
    examples: list[str] = field(default_factory=list)  # `FILE:BYTE: what` of silent, wrong and crashed cuts


def real_files(folders: list[Path]) -> Iterator[tuple[Path, str, Parsed, bytes]]:
    """Every file of some folders, or named itself, that is read whole: its tool, its tables and its bytes."""
    found = (path for folder in folders for path in ([folder] if folder.is_file() else folder.rglob("*")))
    for path in sorted(path for path in found if path.is_file()):
        try:
            raw = unpack(path.read_bytes())[0]
            if 0 < len(raw) <= MAX_BYTES:
                whole = parse_bytes(raw, path.name)
                yield path, whole.tool, whole, raw
        except ParseError:
            continue


def places(raw: bytes, count: int, seed: str) -> list[int]:
    """Bytes at which a file is cut: the same on every machine, all where it has no more, never at its end."""
    end = len(raw.rstrip())
    if end <= count:
        return list(range(1, end))
    return sorted(random.Random(zlib.crc32(seed.encode())).sample(range(1, end), count))


def values_of(parsed: Parsed) -> Counter:
    """How often each value stands in each column."""
    found: Counter = Counter()
    for name, frame in parsed.tables.items():
        for column in frame:
            if column not in _TOLD:
                found.update((name, column, value) for value in frame[column].dropna().tolist())
    return found


def _parsed(tally: Tally, name: str, raw: bytes, at: int) -> Parsed | None:
    tally.cuts += 1
    begun = time.perf_counter()
    try:
        return parse_bytes(raw, name)
    except ParseError:
        tally.refused += 1
    except Exception as error:
        tally.crashed += 1
        tally.examples.append(f"{name}:{at}: crashed: {type(error).__name__}: {error}")
    finally:
        tally.slowest_s = max(tally.slowest_s, time.perf_counter() - begun)
    return None


def try_cut(tally: Tally, name: str, raw: bytes, at: int, whole: Parsed, values: Counter) -> None:
    """Cut a file before a byte, parse what is left of it, and count what came of it."""
    rest = raw[at:].partition(b"\n")[0]
    line = raw[:at].rpartition(b"\n")[2].decode(errors="replace")
    # Behind a prompt a copied session may end as well as go on.
    inside = raw[at - 1 : at] != b"\n" and bool(rest.strip()) and not AFTERWARDS.fullmatch(line)
    tally.inside += inside
    if (found := _parsed(tally, name, raw[:at], at)) is None:
        return
    warned = bool(Counter(found.warnings) - Counter(whole.warnings))
    tally.warned += warned
    if warned:
        return
    kept = values_of(found)
    end = raw[max(0, at - 30) : at].decode(errors="replace")
    wrong = [key for key in kept - values if key[0] not in _totals(raw)]
    if wrong:
        tally.wrong += 1
        tally.examples.append(f"{name}:{at}: wrong {wrong[0]} after {end!r}")
    elif lost := values - kept:
        tally.silent += inside
        tally.silent_rows += not inside
        if inside:
            tally.examples.append(f"{name}:{at}: lost {len(lost)} of {len(values)} after {end!r}")


def _totals(raw: bytes) -> tuple[str, ...]:
    """Tables whose values are totals over the rows of a file, so that a shorter file has others."""
    form = sniff(raw.decode(errors="replace"))
    return form.totals if form else ()


def without_newline(tally: Tally, name: str, raw: bytes, whole: Parsed, values: Counter) -> None:
    """Take off the newline of a whole file: what is then warned of, or missing, is a false alarm."""
    try:
        found = parse_bytes(raw.rstrip(b"\r\n"), name)
    except ParseError:
        tally.alarmed, tally.short = tally.alarmed + 1, tally.short + 1
        return
    tally.alarmed += bool(Counter(found.warnings) - Counter(whole.warnings))
    tally.short += values_of(found) != values
    if not Counter(found.warnings) - Counter(whole.warnings) and values_of(found) != values:
        tally.examples.append(f"{name}: whole but for its newline: lost without a warning")


def numbers_of(parsed: Parsed) -> Counter:
    """How often each number stands in each column."""
    return Counter({key: n for key, n in values_of(parsed).items() if isinstance(key[2], int | float)})


def try_garbled(tally: Tally, name: str, raw: bytes, at: int, whole: Parsed, numbers: Counter) -> None:
    """Put a letter in the place of a digit, parse it, and count what came of it."""
    if (found := _parsed(tally, name, raw[:at] + b"x" + raw[at + 1 :], at)) is None:
        return
    if Counter(found.warnings) - Counter(whole.warnings):
        tally.warned += 1
        return
    kept, line = (
        numbers_of(found),
        raw[raw.rfind(b"\n", 0, at) + 1 : at + 20].partition(b"\n")[0].decode(errors="replace"),
    )
    if wrong := kept - numbers:
        tally.wrong += 1
        tally.examples.append(f"{name}:{at}: wrong {next(iter(wrong))} in {line!r}")
    elif lost := numbers - kept:
        tally.silent += 1
        tally.examples.append(f"{name}:{at}: lost {next(iter(lost))} in {line!r}")
