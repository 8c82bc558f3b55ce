"""What all sections of a study file have in common: strict fields, and sections in which one key is chosen."""

from collections.abc import Callable
from dataclasses import fields
from typing import Any, TypeVar

from pydantic import with_config

from loadcurve.errors import ValueRuleError
from loadcurve.study import STRICT

T = TypeVar("T")


def strict(kind: type[T]) -> type[T]:
    """Let a dataclass be read from a study file: unknown keys and values of another type are faults."""
    return with_config(STRICT)(kind)


def chosen(section: Any) -> tuple[str, Any]:
    """The one key of a section that is there, and its value; ``("", None)`` where none is."""
    there = [(one.name, value) for one in fields(section) if (value := getattr(section, one.name)) is not None]
    return there[0] if there else ("", None)


def check_one(what: str, section: Any, *names: str, least: int = 1) -> None:
    """See that one of the keys is there.

    Raises
    ------
    ValueRuleError
        When there are more, or none where one is needed.
    """
    there = [name for name in names if getattr(section, name) is not None]
    if not least <= len(there) <= 1:
        raise ValueRuleError(what, f"one of {', '.join(names)}", ", ".join(there) or "none")


def check_range(name: str, value: float | None, rule: str, right: Callable[[float], bool]) -> None:
    """See that a number that is there is right.

    Raises
    ------
    ValueRuleError
        When it is not; NaN never is.
    """
    if value is not None and not right(value):
        raise ValueRuleError(name, rule, value)
