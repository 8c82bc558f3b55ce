"""Sections of study.yml: dataclasses whose types define which values each key takes.

A key is declared once, as a field with its type, its range and its description::

    @dataclass(frozen=True)
    class Process(Section):
        workers: Annotated[int, Range(1, 256)] = 1
        "Worker processes."

`Section` checks the types' rules whenever an instance is made, by a study file or by code; the JSON schema, the
reference page and the messages are derived from the same declaration.
"""

import math
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cache, partial
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import ConfigDict, GetJsonSchemaHandler
from pydantic_core import CoreSchema

from loadcurve.errors import ValueRuleError, raise_all

T = TypeVar("T")
# The word 5 is not a number, and an unknown key is a typing error.
_STRICT = ConfigDict(extra="forbid", strict=True)


@dataclass(frozen=True)
class Range:
    """Range of a number, or of each number of a list, for `Annotated`.

    Examples
    --------
    >>> Range(1, 256).rule("workers", whole=True), Range(gt=0, lt=1).rule("quantile")
    ('a whole number of 1 to 256', '0 < quantile < 1')
    """

    # `ge` and `le`: ends that belong to the range.
    ge: float = -math.inf
    le: float = math.inf
    # `gt` and `lt`: ends that do not.
    gt: float = -math.inf
    lt: float = math.inf
    unit: str = ""  # Unit of the number, for messages
    multiple_of: float = 0.0  # Of which the number must be a multiple; 0 for any number
    finite: bool = True  # Whether infinity is outside the range

    def __contains__(self, value: float) -> bool:
        if value == math.inf:
            return not self.finite
        inside = self.ge <= value <= self.le and self.gt < value < self.lt
        return inside and not (self.multiple_of and value % self.multiple_of)

    def span(self, name: str) -> str:
        """Return the range in words: ``0 to 3600 s``, ``0 < name < 1``, ``>= 8000``."""
        low, high = max(self.ge, self.gt), min(self.le, self.lt)
        above, below = "<=" if self.ge > self.gt else "<", "<=" if self.le < self.lt else "<"
        if high == math.inf:
            words = f"{above.replace('<', '>')} {_plain(low)}"
        elif low == -math.inf:
            words = f"{below} {_plain(high)}"
        else:
            words = f"{_plain(low)} {above} {name} {below} {_plain(high)}".replace(f"<= {name} <=", "to")
        words += f" {self.unit}" if self.unit else ""
        return f"a multiple of {_plain(self.multiple_of)} {self.unit}, {words}" if self.multiple_of else words

    def rule(self, name: str, whole: bool = False) -> str:
        """Return what the value of `name` must be; `whole` for an integer."""
        span = self.span(name)
        return f"a whole number{' of' if ' to ' in span else ''} {span}" if whole else span

    def check(self, name: str, value: Any, whole: bool = False) -> None:
        """Check that a value is a number of the range, and an integer if `whole`."""
        if not isinstance(value, int if whole else int | float) or isinstance(value, bool) or value not in self:
            raise ValueRuleError(name, self.rule(name, whole), value)

    def __get_pydantic_json_schema__(self, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Return the JSON schema of the annotated type, with the limits at each of its numbers."""
        part = handler(core_schema)
        limits = {"minimum": self.ge, "maximum": self.le, "exclusiveMinimum": self.gt, "exclusiveMaximum": self.lt}
        limits = {key: _number(end) for key, end in limits.items() if math.isfinite(end)}
        if self.multiple_of:
            limits["multipleOf"] = _number(self.multiple_of)
        for number in _numbers(part):
            number |= limits
        return part


@dataclass(frozen=True)
class Check:
    """A function that checks a value, or each value of a list, for `Annotated`: name, value → `ValueRuleError`."""

    check: Callable[[str, Any], object]


class Section:
    """Base of every section: an unknown key, a value of another type and a value that its type forbids are faults.

    Raises `ValueRuleError` when a rule is broken; each further fault is in its `others`.
    """

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    def __post_init__(self) -> None:
        raise_all([*self._broken_choice(), *self._broken_types(), *self._broken_rules()])

    def _broken_choice(self) -> Iterable[ValueRuleError]:
        return ()

    def _broken_types(self) -> Iterator[ValueRuleError]:
        section: Any = type(self)  # mypy takes no class for a hashable value
        for name, optional, check in _checks(section):
            value = getattr(self, name)
            for one in value if isinstance(value, tuple | list) else (value,):
                if one is not None or not optional:
                    yield from broken_by(partial(check, name, one))

    def _broken_rules(self) -> Iterable[ValueRuleError]:
        """Yield every rule that no type can state and that does not hold."""
        return ()


class Choice(Section):
    """A section in which at most one of several keys is set: those whose default is None."""

    required: ClassVar[bool] = False
    """Whether one of them must be set."""

    @classmethod
    def alternatives(cls) -> tuple[str, ...]:
        """Names of these keys."""
        return tuple(one.name for one in fields(typing.cast(Any, cls)) if one.default is None)

    @property
    def chosen(self) -> tuple[str, Any]:
        """The key that is set, and its value; ``("", None)`` where none is."""
        return next(self._set(), ("", None))

    @property
    def kind(self) -> str:
        """Name of the key that is set; empty where none is."""
        return self.chosen[0]

    def _set(self) -> Iterator[tuple[str, Any]]:
        return ((name, value) for name in self.alternatives() if (value := getattr(self, name)) is not None)

    def _broken_choice(self) -> Iterator[ValueRuleError]:
        names = [name for name, _ in self._set()]
        if len(names) > 1 or (self.required and not names):
            what = type(self).__name__.removesuffix("Section").lower()
            yield ValueRuleError(what, f"one of {', '.join(self.alternatives())}", ", ".join(names) or "none")


def broken_by(check: Callable[[], object]) -> Iterator[ValueRuleError]:
    """Yield the errors that a check raises, where it does."""
    try:
        check()
    except ValueRuleError as error:
        yield from (error, *error.others)


def with_keys(keys: Mapping[str, tuple[Any, str]]) -> Callable[[type[T]], type[T]]:
    """Return a class decorator, to be put below `dataclass`, that declares optional keys before those of the class."""

    def declare(section: type[T]) -> type[T]:
        section.__annotations__ = {name: hint | None for name, (hint, _) in keys.items()} | section.__annotations__
        for name, (_, description) in keys.items():
            setattr(section, name, field(default=None, metadata={"description": description}))
        return section

    return declare


_NESTED = (Annotated, typing.Union, types.UnionType, tuple)


@cache
def _checks(section: Any) -> list[tuple[str, bool, Callable[[str, Any], object]]]:
    """Name of each field with rules, whether None is right for it, and the check of its value or of each in a list."""
    hints = typing.get_type_hints(section, include_extras=True)
    return [
        (one.name, types.NoneType in _parts(hints[one.name]), check)
        for one in fields(section)
        for check in _checks_of(hints[one.name])
    ]


def _checks_of(hint: Any) -> Iterator[Callable[[str, Any], object]]:
    """Return the checks of a type, from its annotations and words."""
    for part in _parts(hint):
        inner = typing.get_args(part)
        if typing.get_origin(part) is Annotated:
            whole = float not in _parts(inner[0])
            yield from (partial(meta.check, whole=whole) for meta in inner[1:] if isinstance(meta, Range))
            yield from (meta.check for meta in inner[1:] if isinstance(meta, Check))
        elif typing.get_origin(part) is Literal:
            yield partial(check_word, words=inner)
        elif part is bool:
            yield check_flag


def check_word(name: str, value: Any, words: tuple[Any, ...]) -> None:
    """Check that a value is one of some words."""
    if value not in words:
        raise ValueRuleError(name, f"one of {', '.join(map(str, words))}", value)


def check_flag(name: str, value: Any) -> None:
    """Check that a value is True or False."""
    if not isinstance(value, bool):
        raise ValueRuleError(name, "true or false", value)


def _parts(hint: Any) -> list[Any]:
    """A type, and the types of which it is a union, a list or an annotation; a mapping's values have no rules here."""
    inner = typing.get_args(hint) if typing.get_origin(hint) in _NESTED else ()
    return [hint, *(part for one in inner for part in _parts(one))]


def _numbers(part: dict[str, Any]) -> list[dict[str, Any]]:
    """Parts of a JSON schema that are numbers: itself, one of several, or those of a list."""
    if part.get("type") in ("integer", "number"):
        return [part]
    inner = [*part.get("anyOf", ()), part.get("items", {})]
    return [number for one in inner if one for number in _numbers(one)]


def _number(value: float) -> float:
    return int(value) if float(value).is_integer() else value


def _plain(value: float) -> str:
    return str(_number(value)) if math.isfinite(value) else f"{value:g}"
