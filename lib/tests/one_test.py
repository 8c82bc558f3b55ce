"""Many cases in one test: as an item of its own, a case that takes a millisecond takes five more in every worker."""

import inspect
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

LONG = 500_000
"""Characters of a line that must not hang: half of their square, at ten nanoseconds a step of `re`, is 20 minutes.

Tests allow a minute, and linear time takes milliseconds; more characters would show nothing else.
"""


def in_one_test(
    names: str | Sequence[str],
    cases: Iterable[Any],
    ids: Callable[[Any], str] = str,
    by: Callable[[Any], str] | None = None,
) -> Callable:
    """Give a test its cases as `pytest.mark.parametrize` does, but in one test, whose message names each that fails.

    Parameters
    ----------
    names : str or sequence of str
        Argument, or arguments, of the test that are a case.  The others are fixtures, which all cases share.
    cases : iterable
        One value, or one value for each name.
    ids : callable
        Name of a case in the message.
    by : callable, optional
        What a case belongs to, such as a tool: each has an item of its own, which ``pytest -k`` selects.
    """
    arguments, groups = [names] if isinstance(names, str) else list(names), defaultdict(list)
    for case in cases:
        groups[by(case) if by else ""].append(case)

    def of_all(test: Callable) -> Callable:
        def each(group: str = "", **fixtures: Any) -> None:
            failed = []
            for case in groups[group]:
                try:
                    test(**dict(zip(arguments, [case] if isinstance(names, str) else case, strict=True)), **fixtures)
                except (Exception, pytest.fail.Exception) as error:
                    line = traceback.extract_tb(error.__traceback__)[:2][-1].lineno
                    failed.append(f"[{ids(case)}] line {line}: {type(error).__name__}: {error}")
            if failed or not groups[group]:
                pytest.fail("\n".join([f"{len(failed)} of {len(groups[group])} cases:", *failed]), pytrace=False)

        for attribute in ("__name__", "__qualname__", "__module__", "__doc__"):
            setattr(each, attribute, getattr(test, attribute))
        each.__dict__.update(vars(test))  # its marks
        left = [one for name, one in inspect.signature(test).parameters.items() if name not in arguments]
        if by is None:
            each.__signature__ = inspect.Signature(left)
            return each
        each.__signature__ = inspect.Signature(
            [inspect.Parameter("group", inspect.Parameter.POSITIONAL_OR_KEYWORD), *left]
        )
        return pytest.mark.parametrize("group", sorted(groups))(each)

    return of_all
