"""Names of files that a run writes on a host."""

import re

from loadcurve.errors import ValueRuleError

_STEM = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,31}")


def check_stem(stem: str) -> str:
    """Return the name that the files of a generator, or of a limit, begin with."""
    if not (isinstance(stem, str) and _STEM.fullmatch(stem)):
        raise ValueRuleError("stem", "a letter, then up to 31 letters, digits and '-'", stem)
    return stem
