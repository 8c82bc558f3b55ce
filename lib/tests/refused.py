"""Where a parser refuses a text."""

from collections.abc import Callable

import pytest

from loadcurve.errors import ParseError


def refused_line(parse: Callable[..., object], *arguments: str) -> int:
    """Line of a text at which a parser refuses it; fails if the parser reads the text."""
    with pytest.raises(ParseError) as raised:
        parse(*arguments)
    return raised.value.line
