"""Many cases in one test: as an item of its own, a case that takes a millisecond takes five more in every worker."""

import inspect
import traceback
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

LONG = 500_000
"""Characters of a line that must not hang: half of their square, at ten nanoseconds a step of `re`, is 20 minutes.

Tests allow a minute, and linear time takes milliseconds; more characters would show nothing else.
"""


def in_one_test(names: str | Sequence[str], cases: Iterable[Any], ids: Callable[[Any], str] = str) -> Callable:
    """Give a test its cases as `pytest.mark.parametrize` does, but in one test, whose message names each that fails.

    Parameters
    ----------
    names : str or sequence of str
        Argument, or arguments, of the test that are a case.  The others are fixtures, which all cases share.
    cases : iterable
        One value, or one value for each name.
    ids : callable
        Name of a case in the message.
    """
    arguments, cases = [names] if isinstance(names, str) else list(names), list(cases)

    def of_all(test: Callable) -> Callable:
        def each(**fixtures: Any) -> None:
            failed = []
            for case in cases:
                try:
                    test(**dict(zip(arguments, [case] if isinstance(names, str) else case, strict=True)), **fixtures)
                except (Exception, pytest.fail.Exception) as error:
                    line = traceback.extract_tb(error.__traceback__)[:2][-1].lineno
                    failed.append(f"[{ids(case)}] line {line}: {type(error).__name__}: {error}")
            if failed or not cases:
                pytest.fail("\n".join([f"{len(failed)} of {len(cases)} cases:", *failed]), pytrace=False)

        for attribute in ("__name__", "__qualname__", "__module__", "__doc__"):
            setattr(each, attribute, getattr(test, attribute))
        each.__dict__.update(vars(test))  # its marks
        left = [one for name, one in inspect.signature(test).parameters.items() if name not in arguments]
        each.__signature__ = inspect.Signature(left)
        return each

    return of_all
