"""Blocks of a notebook that were left out, because data of other people lack what they show."""

import contextlib
from collections.abc import Iterator

import matplotlib.pyplot as plt

from loadcurve.errors import LoadcurveError

_subjects: list[str] = []


@contextlib.contextmanager
def or_reason(subject: str) -> Iterator[None]:
    """Run a block of code; where its data were not measured, print why in one sentence, and go on after the block.

    A later block that uses a name from a block that was left out is left out too.

    Parameters
    ----------
    subject : str
        What the block shows, such as ``Figure cpu``.

    Examples
    --------
    >>> from loadcurve.errors import NotMeasuredError
    >>> with or_reason("Figure cpu"):
    ...     raise NotMeasuredError("No sample of a processor belongs to these runs", "record `sar -u 1`")
    Left out: Figure cpu. No sample of a processor belongs to these runs: record `sar -u 1`.
    """
    known = set(plt.get_fignums())
    try:
        yield
    except LoadcurveError as error:
        for number in set(plt.get_fignums()) - known:  # a notebook would show the unfinished figure
            plt.close(number)
        reason = str(error).rstrip(".")
        print(f"Left out: {subject}. {reason[:1].upper()}{reason[1:]}.")
        _subjects.append(subject)
    except NameError:
        if not _subjects:
            raise
        print(f"Left out: {subject}. It needs what is left out above: {', '.join(_subjects)}.")


def forget() -> None:
    """Forget what an earlier execution in this kernel left out."""
    _subjects.clear()
