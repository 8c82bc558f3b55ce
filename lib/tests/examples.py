"""How many examples a property is tried with."""

from hypothesis import settings


def examples(count: int, **others: bool) -> settings:
    """Settings of a property that takes `count` examples in `make test`, a quarter of them in `make check`.

    Properties without a count of their own take 100.
    """
    return settings(max_examples=max(5, count * settings.default.max_examples // 100), **others)
