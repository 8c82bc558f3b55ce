"""Regular expressions that are compiled when they are first used.

The parsers of all tools have 500 of them.  Compiling them on import would take longer than reading one report, which
needs the expressions of its own tool only.
"""

import re
from typing import Any, cast


class LazyRegex:
    """Stands for a compiled pattern, and has its attributes from the first use on."""

    def __init__(self, text: str, flags: int) -> None:
        self._compiled_from = text, flags

    def __getattr__(self, name: str) -> Any:
        # Called for unknown attributes only, so that the second use is as fast as that of a compiled pattern.
        if name.startswith("__"):
            raise AttributeError(name)
        compiled = re.compile(*self._compiled_from)
        self.__dict__ |= {known: getattr(compiled, known) for known in dir(compiled) if not known.startswith("__")}
        return getattr(compiled, name)


def lazy_regex(text: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern that is compiled when it is first used; the functions of ``re`` do not accept it.

    Examples
    --------
    >>> word = lazy_regex(r"([a-z]+)")
    >>> word.match("abc 12")[1], word.groups
    ('abc', 1)
    """
    return cast("re.Pattern[str]", LazyRegex(text, flags))
