"""Faults that are planted in clean recorded runs, and which of them the audit finds, beside those of ``data/atlas``.

| module | holds |
|---|---|
| ``mutation`` | `Mutation`, and the pure functions that plant a fault in tables or in the text of wrk |
| ``load errors saturation physics statistics balance`` | the planted faults, by family |
| ``recall`` | what the audit reports about each fault, and about clean runs |
"""

from validation.faults.mutation import Mutation
from validation.faults.recall import (
    MUTATIONS,
    Case,
    mutated_cases,
    recorded_cases,
    summarise_false_alarms,
    summarise_recall,
)

__all__ = [
    "MUTATIONS",
    "Case",
    "Mutation",
    "mutated_cases",
    "recorded_cases",
    "summarise_false_alarms",
    "summarise_recall",
]
