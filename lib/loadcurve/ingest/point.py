"""A run as a point of its study: its factors are those that `study.yml` asks for."""

import json
from collections.abc import Container
from pathlib import Path

import pandas as pd

from loadcurve.errors import ParseError
from loadcurve.paths import shown
from loadcurve.records import line_of
from loadcurve.study import SECTIONS, Run, Study, in_one_word, place_of, settled


def check_point(run: Run, folder: Path, study: Study) -> None:
    """See that a run is a point of its study: what `run.json` says of its factors is what `study.yml` asks for.

    Raises
    ------
    ParseError
        At the line of `run.json` that holds its factors.
    """
    variant = run.factors.get("variant")
    if not isinstance(variant, str) or variant not in study.variants:
        names = ", ".join(study.variants)
        raise wrong(folder, "factors", f"variant to be one of {names} as study.yml says", str(variant))
    adaptive = study.search is not None or study.stop is not None
    rules = {} if adaptive else {"repeat": (range(1, study.repeats + 1), f"1 to {study.repeats}")}
    rules |= _rules_of_levels(run, study) if "settings" in run.factors else _rules_of_recipe(study, variant)
    for name, (allowed, rule) in rules.items():
        value = run.factors.get(name)
        if name in run.factors and (value not in allowed or isinstance(value, bool)):
            raise wrong(folder, "factors", f"{name} to be {rule} as study.yml says", str(value))
    if "settings" in run.factors:
        _check_settings(run, folder, study)


def _rules_of_levels(run: Run, study: Study) -> dict[str, tuple[Container, str]]:
    """What a run's own factors must be, by its own settings."""
    load = run.factors["settings"].get("load", {})
    return {name: ([load[name]], str(load[name])) for name in ("connections",) if name in load}


def _rules_of_recipe(study: Study, variant: str) -> dict[str, tuple[Container, str]]:
    """The same for runs recorded before they had settings."""
    wanted = in_one_word(settled(study.sections(), study.variants[variant]))
    levels = study.factors.get("connections", ())
    return {
        "recipe": ([wanted["recipe"]], repr(wanted["recipe"])),
        "seconds": ([wanted["seconds"]], f"{wanted['seconds']:g}"),
        "connections": (levels, f"one of {', '.join(map(str, levels))}"),
    }


def _check_settings(run: Run, folder: Path, study: Study) -> None:
    """See that a run was made with the settings that the study has for its variant and levels."""
    levels = run.factors.get("levels")
    if not isinstance(levels, dict):
        raise wrong(folder, "factors", "levels as study.yml names them", str(levels))
    searched = {study.search.get("factor", "connections"), "load.duration_s"} if study.search else set()
    for name, level in levels.items():
        known = study.factors.get(name) or [point[name] for point in study.points if name in point]
        if name not in searched and level not in known:
            raise wrong(folder, "factors", f"level of {name} to be one of {known} as study.yml says", str(level))
    wanted = json.loads(json.dumps(settled(study.sections(), study.variants[run.factors["variant"]], levels)))
    held = run.factors["settings"]
    for section in SECTIONS:
        one, other = wanted.get(section), held.get(section)
        if study.search and section == "load":
            one, other = ({k: v for k, v in (load or {}).items() if k != "duration_s"} for load in (one, other))
        if one != other:
            raise wrong(folder, "factors", f"settings of {section} to be {one} as study.yml says", str(other))


def tables_of(run: Run, load_started: pd.Timestamp) -> dict[str, pd.DataFrame]:
    """What a record itself tells: levels of the factors, and what was done to the run on purpose."""
    levels = run.factors.get("levels", {})
    factors = [
        {
            "factor": ".".join(place_of(name)),
            "level": level if isinstance(level, str) else json.dumps(level),
            "number": float(level) if isinstance(level, int | float) and not isinstance(level, bool) else float("nan"),
        }
        for name, level in levels.items()
    ]
    events = [
        {
            "time": (at := pd.Timestamp(event["at"])),
            "elapsed_s": (at - load_started).total_seconds(),
            "host": event["host"],
            "tool": "loadcurve",
            "event": "fault",
            "text": event["what"],
        }
        for event in run.events
    ]
    return {name: pd.DataFrame(rows) for name, rows in (("factors", factors), ("events", events)) if rows}


def wrong(folder: Path, key: str, expected: str, got: str) -> ParseError:
    """Error at the line of a key of a folder's `run.json`."""
    return ParseError(line_of(key, folder / "run.json"), expected, got, shown(folder / "run.json"))
