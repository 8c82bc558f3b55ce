"""Compare the products of two builds: ``python lib/validation/same_products.py build OTHER/build``.

Compared are the tidy tables of all studies, the numbers and the data of all figures, and the answers that
``same_products.py --answers BUILD PATH...`` wrote before into BUILD/answers: what `loadcurve analyse` and `loadcurve
audit` print of each path as JSON.  Each difference is one line with the file, the place and both values; the exit code
is then 1.  Commits may differ, and so may what the build measures on its own machine.
"""

import json
import math
import sys
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pandas as pd

PATTERNS = ("tidy/*/*.parquet", "figures/*/*.csv", "figures/*/*.json", "answers/*.json")
MEASURED_HERE = ("tidy/this_machine+", "tidy/given+", "figures/10_run_study/")
"""Runs of the build itself: a short study on this machine, and temporary folders that notebooks make."""
MAY_DIFFER = frozenset({"commit", "version", "created", "seconds"})
"""Keys of JSON files about the build, not about its results."""
MOST_LINES = 20
"""Differences that are printed of one file."""

_NOTHING = object()


def compare(first: Path, second: Path) -> Iterator[str]:
    """Yield a line for each difference between two folders `build`."""
    names = sorted(_products(first) | _products(second))
    if not names:
        yield f"{first}: expected tables and figures, got none: build first"
    for name in names:
        pair = [build / name for build in (first, second)]
        if missing := [str(file) for file in pair if not file.is_file()]:
            yield f"{missing[0]}: missing, but the other build has it"
            continue
        if pair[0].read_bytes() == pair[1].read_bytes():
            continue
        lines = [f"{name}: {line}" for line in _differences(*map(_content, pair))]
        yield from lines[:MOST_LINES]
        if len(lines) > MOST_LINES:
            yield f"{name}: and {len(lines) - MOST_LINES} more differences"


def _products(build: Path) -> set[str]:
    found = (file.relative_to(build).as_posix() for pattern in PATTERNS for file in build.glob(pattern))
    return {name for name in found if not name.startswith(MEASURED_HERE)}


def _content(file: Path) -> Any:
    if file.suffix == ".json":
        return json.loads(file.read_text("utf-8"))
    if file.suffix == ".csv":
        return pd.read_csv(file, dtype=str, keep_default_na=False)
    return pd.read_parquet(file)


def _differences(old: Any, new: Any, place: str = "") -> Iterator[str]:
    """Yield the places at which two values differ: keys of mappings, positions in lists, columns and rows of tables."""
    if isinstance(old, pd.DataFrame):
        yield from _of_tables(old, new)
    elif isinstance(old, dict) and isinstance(new, dict):
        for key in sorted((old.keys() | new.keys()) - MAY_DIFFER):
            yield from _differences(old.get(key, _NOTHING), new.get(key, _NOTHING), f"{place}/{key}")
    elif isinstance(old, list) and isinstance(new, list):
        for at, pair in enumerate(zip_longest(old, new, fillvalue=_NOTHING)):
            yield from _differences(*pair, place=f"{place}/{at}")
    elif not _is_same(old, new):
        yield f"{place}: {_shown(old)} became {_shown(new)}"


def _of_tables(old: pd.DataFrame, new: pd.DataFrame) -> Iterator[str]:
    for name in [*old.columns, *new.columns.difference(old.columns)]:
        if name not in old or name not in new:
            yield f"column {name}: only in the {'first' if name in old else 'second'} build"
        elif old[name].dtype != new[name].dtype:
            yield f"column {name}: {old[name].dtype} became {new[name].dtype}"
        else:
            for row, pair in enumerate(zip_longest(old[name], new[name], fillvalue=_NOTHING)):
                yield from _differences(*pair, place=f"column {name}, row {row}")


def _is_same(old: Any, new: Any) -> bool:
    if old is _NOTHING or new is _NOTHING:
        return False
    if isinstance(old, float) and isinstance(new, float) and math.isnan(old) and math.isnan(new):
        return True
    return (old is new) or (type(old) is type(new) and bool(old == new))


def _shown(value: Any) -> str:
    text = "nothing" if value is _NOTHING else repr(value)
    return text if len(text) <= 80 else f"{text[:77]}…"


def write_answers(build: Path, names: list[str]) -> None:
    """Write what `loadcurve analyse` and `loadcurve audit` print of each path, as JSON, into the folder `answers`."""
    import subprocess

    folder = build / "answers"
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        for verb, options in (("analyse", ()), ("audit", ("--fail-on", "never"))):
            file = folder / f"{verb}.{name.strip('/').replace('/', '+')}.json"
            command = (sys.executable, "-m", "loadcurve", verb, name, *options, "-o", str(file))
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if not file.is_file():
                file.write_text(json.dumps([done.returncode, done.stdout, done.stderr]), "utf-8")


def main(words: list[str]) -> int:
    """Compare two builds, or write answers; return the exit code."""
    if words[:1] == ["--answers"] and len(words) > 2:
        write_answers(Path(words[1]), words[2:])
        return 0
    if len(words) != 2:
        print("usage: same_products.py BUILD BUILD, or same_products.py --answers BUILD PATH...", file=sys.stderr)
        return 2
    lines = list(compare(*map(Path, words)))
    print(*lines, sep="\n", end="\n" if lines else "")
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
