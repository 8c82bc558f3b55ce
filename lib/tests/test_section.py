"""A key of a section is declared once: its type, range and description reach every check, message and page."""

import math
from dataclasses import dataclass
from typing import Annotated, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadcurve.errors import ValueRuleError
from loadcurve.lab.study_file.json_schema import keys
from loadcurve.study.section import Choice, Range, Section, with_keys


@dataclass(frozen=True)
class Toy(Section):
    """A section for this test."""

    count: Annotated[int, Range(1, 8)]
    """How many ``toys``."""

    share: Annotated[float | None, Range(gt=0, lt=1)] = None
    """Share of broken toys."""

    sizes: Annotated[tuple[int, ...], Range(ge=0)] = ()
    """Size of each toy."""

    colour: Literal["red", "blue"] = "red"
    """Colour of all toys."""

    loud: bool = False
    """Whether they make a noise."""


def broken(**values):
    with pytest.raises(ValueRuleError) as caught:
        Toy(**values)
    return [str(error) for error in (caught.value, *caught.value.others)]


def test_all_broken_rules_are_reported_together():
    assert broken(count=True, share=1.0, sizes=(0, -1), colour="green", loud=1) == [
        "count must be a whole number of 1 to 8, got True",
        "share must be 0 < share < 1, got 1.0",
        "sizes must be a whole number >= 0, got -1",
        "colour must be one of red, blue, got 'green'",
        "loud must be true or false, got 1",
    ]
    assert broken(count=None) == ["count must be a whole number of 1 to 8, got None"], "only an optional key is None"


def test_the_reference_page_has_the_declared_words():
    count, share, *_ = keys(Toy)
    assert (count.meaning, count.range, count.required) == ("How many `toys`.", "1 to 8", True)
    assert (share.meaning, share.range, share.required) == ("Share of broken toys.", "0 < share < 1", False)


def test_a_choice_takes_keys_that_others_register():
    @dataclass(frozen=True)
    @with_keys({"wind": (Annotated[int, Range(1, 12)], "Strength of the wind."), "rain": (Literal[True], "It rains.")})
    class WeatherSection(Choice):
        """What the weather is."""

        lasts_s: float = 0.0
        """How long it lasts."""

    assert [key.meaning for key in keys(WeatherSection)] == ["Strength of the wind.", "It rains.", "How long it lasts."]
    assert WeatherSection(wind=3).chosen == ("wind", 3) and WeatherSection().chosen == ("", None)
    for values, message in (
        ({"wind": 13}, "wind must be a whole number of 1 to 12, got 13"),
        ({"wind": 1, "rain": True}, "weather must be one of wind, rain, got 'wind, rain'"),
    ):
        with pytest.raises(ValueRuleError, match=message):
            WeatherSection(**values)


@given(st.floats(), st.floats(-9, 0), st.floats(1, 9), st.booleans())
def test_a_range_is_the_interval_of_its_ends(value, low, high, closed):
    span = Range(low, high) if closed else Range(gt=low, lt=high)
    assert (value in span) == (low <= value <= high if closed else low < value < high)


@pytest.mark.parametrize(
    ("span", "words", "inside", "outside"),
    [
        (Range(0, 3600, unit="s"), "0 to 3600 s", (0, 3600), (-1e-9, 3601, math.nan)),
        (Range(gt=0, le=1), "0 < x <= 1", (1, 1e-9), (0, math.nan)),
        (Range(ge=8000, finite=False), ">= 8000", (8000, math.inf), (7999, -math.inf)),
        (Range(gt=0), "> 0", (1e300,), (0, math.inf)),
        (Range(le=5), "<= 5", (-1e300, 5), (5.1, -math.inf)),
        (Range(1, 60, unit="s", multiple_of=1), "a multiple of 1 s, 1 to 60 s", (1, 2.0), (1.5, 0, 61)),
        (Range(0, 10**12), "0 to 1000000000000", (10**12,), (10**12 + 1,)),
    ],
)
def test_words_of_a_range(span, words, inside, outside):
    assert span.span("x") == words
    assert all(value in span for value in inside) and not any(value in span for value in outside)
