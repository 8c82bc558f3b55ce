"""Studies and runs as files: `study.yml`, `run.json` and `runs.json`, read into frozen dataclasses and checked.

The laboratory writes run folders and ingestion reads them; this package is their only interface::

    data/studies/<study>/study.yml                                  study, settings
    data/studies/<study>/runs.json                                  manifest
    data/studies/<study>/<run_id>/run.json                          run; records read and write it
    data/studies/<study>/<run_id>/<host>.<tool>[.<variant>].<ext>   verbatim output
"""

from loadcurve.study.run import Command, Run, background_ratios
from loadcurve.study.study import (
    BUSY_RATIO,
    MONITORS,
    NAME,
    ONLY_VARIANT,
    PLACE,
    SECTIONS,
    Study,
    StudyKeys,
    differences,
    in_one_word,
    is_place,
    place_of,
    settled,
)

__all__ = [
    "BUSY_RATIO",
    "MONITORS",
    "NAME",
    "ONLY_VARIANT",
    "PLACE",
    "SECTIONS",
    "Command",
    "Run",
    "Study",
    "StudyKeys",
    "background_ratios",
    "differences",
    "in_one_word",
    "is_place",
    "place_of",
    "settled",
]
