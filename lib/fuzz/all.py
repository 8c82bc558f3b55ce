"""Fuzz every form for the same time, as many at once as there are processors; say how each went.

``python fuzz/all.py SECONDS [TOOL[:VARIANT] …]``: seeds are the fixtures of the tests; findings stay in `build/fuzz`.
"""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from loadcurve.files import paths
from loadcurve.ingest.registry import FORMS
from loadcurve.ingest.sniff import sniff

FIXTURES = Path(__file__).parents[1] / "tests" / "data"
LIMITS = ("-timeout=20", "-rss_limit_mb=3000", "-max_len=30000", "-print_final_stats=1", "-verbosity=0")


def seeds() -> dict[str, list[Path]]:
    """Fixtures by the name of their form; all of them for ``any``."""
    found: dict[str, list[Path]] = {"any": []}
    for path in sorted(FIXTURES.glob("*/*.txt")):
        form = sniff(path.read_text("utf-8"))
        if form is not None and path.stat().st_size < 30_000:
            found.setdefault(form.name, []).append(path)
            found["any"].append(path)
    return found


def fuzz(name: str, seconds: int, fixtures: list[Path]) -> tuple[str, bool]:
    """Fuzz one form; return the line that says how it went, and whether it went well."""
    place = paths.build() / "fuzz" / name.replace(":", "-")
    corpus = place / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    for path in fixtures:
        (corpus / f"{path.parent.name}-{path.stem}").write_bytes(path.read_bytes())
    argv = [sys.executable, str(Path(__file__).with_name("form.py")), name, str(corpus), *LIMITS]
    argv += [f"-max_total_time={seconds}", f"-artifact_prefix={place}/"]
    done = subprocess.run(argv, capture_output=True, text=True, errors="replace", check=False)
    said = done.stdout + done.stderr
    (place / "log.txt").write_text(said, "utf-8")
    runs = re.search(r"stat::number_of_executed_units: (\d+)", said)
    memory = re.search(r"stat::peak_rss_mb:\s+(\d+)", said)
    facts = f"{runs[1] if runs else '?':>9} inputs, {memory[1] if memory else '?':>5} MB at most"
    verdict = "clean" if done.returncode == 0 else f"FOUND: see {paths.shown(place)}/log.txt"
    return f"{name:<22} {seconds} s, {len(fixtures):>3} seeds, {facts}, {verdict}", done.returncode == 0


def main() -> None:
    """Fuzz what the command line names; exit with 1 where anything was found."""
    seconds, *names = sys.argv[1:]
    known = seeds()
    names = names or ["any", *dict.fromkeys(form.name for form in FORMS)]
    fine = True
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for line, clean in pool.map(lambda name: fuzz(name, int(seconds), known.get(name, [])), names):
            print(line, flush=True)
            fine &= clean
    sys.exit(not fine)


if __name__ == "__main__":
    main()
