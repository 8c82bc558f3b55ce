"""Checks of a run's record: whether it agrees with itself, and where `study.yml` was edited since.

`study.yml` is written by people, also after a launch; `run.json` is what was launched.  A run keeps its own facts, so
an edited study loses no run, and what differs is reported.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from loadcurve.errors import ParseError
from loadcurve.files.paths import shown
from loadcurve.study import SECTIONS, Run, Study, differences, in_one_word, settled
from loadcurve.study.records import line_of


def check_factors(run: Run, folder: Path) -> None:
    """Raise unless the factors in a `run.json` are complete and agree with each other."""
    factors = run.factors
    for name in ("variant", *(["levels"] if "settings" in factors else [])):
        if name not in factors:
            raise wrong(folder, "factors", f"the key {name}", "none")
    loaded = factors.get("settings", {}).get("load", {}).get("connections")
    if loaded is not None and "connections" in factors and loaded != factors["connections"]:
        raise wrong(folder, "factors", f"connections to be {loaded} as in its settings", str(factors["connections"]))


def edits_of(run: Run, study: Study) -> Iterator[str]:
    """Find differences between `study.yml` and the settings that a run was launched with."""
    factors, adaptive = run.factors, study.search is not None or study.stop is not None
    variant = factors["variant"]
    if variant not in study.variants:
        yield f"variant {variant} then, {_listed(study.variants)} now"
        return
    if not adaptive and factors.get("repeat", 1) > study.repeats:
        yield f"repeat {factors['repeat']} then, {study.repeats} repeats now"
    if "settings" in factors:
        yield from _edited_settings(factors, study)
    else:
        yield from _edited_recipe(factors, study)


def _edited_settings(factors: dict[str, Any], study: Study) -> Iterator[str]:
    levels = factors["levels"]
    searched = {study.search.get("factor", "connections"), "load.duration_s"} if study.search else set()
    for name, level in levels.items():
        known = study.factors.get(name) or [point[name] for point in study.points if name in point]
        if name not in searched and level not in known:
            yield f"{name} {level} then, {_listed(known)} now"
    now = json.loads(json.dumps(settled(study.sections(), study.variants[factors["variant"]], levels)))
    for place, then, declared in differences({name: factors["settings"].get(name, {}) for name in SECTIONS}, now):
        if not (study.search and place == "load.duration_s"):
            yield f"{place} {_value_text(then)} then, {_value_text(declared)} now"


def _edited_recipe(factors: dict[str, Any], study: Study) -> Iterator[str]:
    """The same for runs recorded before they had settings."""
    declared = in_one_word(settled(study.sections(), study.variants[factors["variant"]]))
    known = study.factors.get("connections", ())
    for name in ("recipe", "seconds"):
        if name in factors and factors[name] != declared[name]:
            yield f"{name} {factors[name]} then, {declared[name]} now"
    if "connections" in factors and factors["connections"] not in known:
        yield f"connections {factors['connections']} then, {_listed(known)} now"


def _value_text(value: object) -> str:
    return "not set" if value is None else str(value)


def _listed(known: Iterable[object]) -> str:
    return ", ".join(map(str, known)) or "none"


def wrong(folder: Path, key: str, expected: str, got: str) -> ParseError:
    """Error at the line of a key of a folder's `run.json`."""
    return ParseError(line_of(key, folder / "run.json"), expected, got, shown(folder / "run.json"))
