"""The commit of the checkout from which a notebook publishes."""

import subprocess

from loadcurve.errors import LoadcurveError
from loadcurve.files import paths


def commit() -> str:
    """Return the commit of the checkout, with ``-dirty`` if files differ from it; `not known` outside a git checkout.

    Examples
    --------
    >>> known = commit()  # such as 1a2b3c4d5e, or 1a2b3c4d5e-dirty
    >>> known == "not known" or len(known) >= 10
    True
    """
    try:
        done = subprocess.run(
            ["git", "describe", "--always", "--dirty", "--abbrev=10"],
            cwd=paths.root(),
            capture_output=True,
            text=True,
            timeout=30,
            check=True,
        )
    except (OSError, subprocess.SubprocessError, LoadcurveError):
        return "not known"
    return done.stdout.strip()
