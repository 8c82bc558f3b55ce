"""Faults that are planted in clean recorded runs, and which of them the audit finds, beside those of ``data/atlas``.

| module | holds |
|---|---|
| ``mutation`` | `Mutation`, and the pure functions that plant a fault in tables or in the text of wrk |
| ``load errors saturation physics statistics timelines clocks balance`` | the planted faults, by family |
| ``recall`` | what the audit reports about each fault, and about clean runs |
| ``figures`` | the figure and the finding with which the page of a rule shows its fault |
"""

from validation.faults.figures import illustrations, publish_illustrations
from validation.faults.mutation import Mutation
from validation.faults.recall import (
    MUTATIONS,
    Case,
    mutated_cases,
    recorded_cases,
    summarise_false_alarms,
    summarise_not_recorded,
    summarise_recall,
)

__all__ = [
    "MUTATIONS",
    "Case",
    "Mutation",
    "illustrations",
    "mutated_cases",
    "publish_illustrations",
    "recorded_cases",
    "summarise_false_alarms",
    "summarise_not_recorded",
    "summarise_recall",
]
