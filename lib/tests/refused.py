"""Where a parser refuses a text, and which calls break a rule."""

from collections.abc import Callable

import pytest

from loadcurve.errors import ParseError, ValueRuleError


def refused_line(parse: Callable[..., object], *arguments: str) -> int:
    """Line of a text at which a parser refuses it; fails if the parser reads the text."""
    with pytest.raises(ParseError) as raised:
        parse(*arguments)
    return raised.value.line


def refuses(*cases: tuple[Callable[[], object], str]) -> Callable[..., None]:
    """Return a test that each call breaks a rule, with its message."""

    @pytest.mark.parametrize(("call", "message"), cases)
    def test(call: Callable[[], object], message: str) -> None:
        with pytest.raises(ValueRuleError, match=message):
            call()

    return test
