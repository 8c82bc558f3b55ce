"""Cut and garble every fixture, and every file of folders that are named; say how many values that loses in silence.

``python fuzz/damage.py TIMES [FOLDER …]``: each file is cut at so many places, or at all where it has no more, and so
many of its digits become a letter.  The tests do the same to a seeded sample (`tests/ingest/cuts.py`).
"""

import os
import random
import re
import sys
import zlib
from concurrent.futures import ProcessPoolExecutor
from dataclasses import fields
from functools import partial
from pathlib import Path

from loadcurve.files import paths

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "ingest"))
from cuts import DATA, Tally, numbers_of, places, real_files, try_cut, try_garbled, values_of, without_newline

_COUNTS = [field.name for field in fields(Tally) if field.type is int]


def damage(path: Path, times: int) -> tuple[str, Tally, Tally] | None:
    """Cut and garble one file; None where it is no output that is read."""
    for _, tool, whole, raw in real_files([path]):
        cut, garbled, name = Tally(files=1), Tally(files=1), f"{path.parent.name}/{path.name}"
        values, numbers = values_of(whole), numbers_of(whole)
        for at in places(raw, times, name):
            try_cut(cut, name, raw, at, whole, values)
        without_newline(cut, name, raw, whole, values)
        digits = [found.start() for found in re.finditer(rb"[0-9]", raw)]
        chosen = random.Random(zlib.crc32(name.encode())).sample(digits, min(times, len(digits)))
        for at in chosen:
            try_garbled(garbled, name, raw, at, whole, numbers)
        return tool, cut, garbled
    return None


def table(title: str, tallies: dict[str, Tally]) -> str:
    """Lines of a table: a row for each tool, and one for all."""
    total = Tally()
    lines = [f"{title:<10}" + "".join(f"{name:>11}" for name in _COUNTS) + f"{'slowest':>10}"]
    for tool, tally in [*sorted(tallies.items()), ("all", total)]:
        lines.append(
            f"{tool:<10}" + "".join(f"{getattr(tally, n):>11}" for n in _COUNTS) + f"{tally.slowest_s:>8.2f} s"
        )
        if tally is not total:
            add(total, tally)
    return "\n".join(lines)


def add(to: Tally, tally: Tally) -> None:
    """Add the counts of one tally to another."""
    for name in _COUNTS:
        setattr(to, name, getattr(to, name) + getattr(tally, name))
    to.slowest_s = max(to.slowest_s, tally.slowest_s)
    to.examples += tally.examples


def main() -> None:
    """Damage what the command line names; exit with 1 where a cut loses a value in silence or anything crashes."""
    times, folders = int(sys.argv[1]), [DATA, *map(Path, sys.argv[2:])]
    files = sorted(path for folder in folders for path in folder.rglob("*") if path.is_file())
    cuts: dict[str, Tally] = {}
    garbles: dict[str, Tally] = {}
    with ProcessPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for found in pool.map(partial(damage, times=times), files, chunksize=4):
            if found:
                add(cuts.setdefault(found[0], Tally()), found[1])
                add(garbles.setdefault(found[0], Tally()), found[2])
    print(table("cut", cuts), table("garbled", garbles), sep="\n\n", flush=True)
    place = paths.build() / "fuzz" / "damage.txt"
    place.parent.mkdir(parents=True, exist_ok=True)
    examples = [example for tally in (*cuts.values(), *garbles.values()) for example in tally.examples]
    place.write_text("\n".join(examples) + "\n", "utf-8")
    print(f"{len(examples)} examples in {paths.shown(place)}")
    bad = sum(tally.silent + tally.wrong + tally.crashed for tally in cuts.values())
    sys.exit(bool(bad + sum(tally.crashed for tally in garbles.values())))


if __name__ == "__main__":
    main()
