"""Find the programs that the laboratory starts, their versions, and how to install missing ones.

A module that starts a program describes it by a constant of class `Tool`; `loadcurve.lab.known_tools` lists them.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

# On Debian, daemons are not in the PATH of ordinary users.
SEARCH_PATH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/local/sbin", "/usr/sbin", "/sbin"])

PASSED = ("HOME", "LOGNAME", "USER", "TERM", "TMPDIR")
"""Variables, besides PATH, that a program gets as the launcher or the login on its host has them."""

FIXED = {"LC_ALL": "C"}
"""Variables that every program gets; a record lists them, so that a reader knows that it got no others."""

_PATIENCE_S = 10.0  # limit for a tool that waits for input instead of printing its version


@dataclass(frozen=True)
class Tool:
    """A program, and how to install it.  `lab/packages.py` reads its arguments from the source: use literals."""

    name: str  # Command of the program
    use: str  # Purpose, in a few words
    version_option: str  # Option that prints the version; empty if there is none
    package: str = ""  # Debian package; empty if there is none
    source: str = ""  # Other source of the program
    # Group of packages that a command installs: `lab-tools` (`make`), `lab-test` (`make lab-test`), or empty.
    group: str = "lab-test"

    @property
    def remedy(self) -> str:
        """How to install the program."""
        return f"apt-get install --no-install-recommends {self.package}" if self.package else self.source

    def __str__(self) -> str:
        path = which(self.name)
        found = f"{version(self) or 'prints no version':<18} {path}" if path else f"not here: {self.remedy}"
        return f"{self.name:<10} {self.use:<20} {found}"


@dataclass(frozen=True)
class PackageFile:
    """A file that a tool needs from another package, such as a module; use literals, as for `Tool`."""

    package: str  # Debian package
    path: str  # Absolute path of the file on Debian; a glob pattern
    use: str  # Purpose, in a few words
    group: str = "lab-test"  # Group of packages, as in `Tool`

    @property
    def name(self) -> str:
        """Name of the file."""
        return self.path.rpartition("/")[2]


def environment(own: Mapping[str, str] = FIXED) -> dict[str, str]:
    """Return the whole environment of a program that the laboratory starts, with the variables of its `own`.

    The launcher's may change what is measured and leave no trace in the record: a proxy (``http_proxy``), a library
    (``LD_PRELOAD``), options of one tool (``GODEBUG``, ``K6_VUS``), the format of numbers (``LC_NUMERIC``).
    """
    passed = {name: os.environ[name] for name in PASSED if name in os.environ}
    return {**passed, "PATH": SEARCH_PATH, **FIXED, **own}


def which(tool: str) -> str | None:
    """Return the path of a tool on `SEARCH_PATH`; None if it is not installed."""
    return shutil.which(tool, path=SEARCH_PATH) or (_newest_php() if tool == "php-fpm" else None)


def _newest_php() -> str | None:
    """Return the newest PHP-FPM, or None; Debian puts the version in the file name, so the newest sorts last."""
    programs = sorted(Path("/usr/sbin").glob("php-fpm[0-9]*"))
    return str(programs[-1]) if programs else None


@cache
def version(tool: Tool, program: str = "", prefix: tuple[str, ...] = ()) -> str:
    """Return the version that a tool prints: the first number with a dot in its output; empty if it prints none.

    `program` is the name or path of the program, if it differs from the tool's; `prefix` is what starts it.
    """
    path = which(program or tool.name)
    if path is None or not tool.version_option:
        return ""
    try:
        done = subprocess.run(
            [*prefix, path, tool.version_option],
            env=environment(),
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=_PATIENCE_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return version_in((done.stdout + done.stderr).decode("utf-8", "replace"))


def version_in(words: str) -> str:
    """Return the first number with a dot in the output of a tool; empty if there is none.

    Examples
    --------
    >>> version_in("nginx version: nginx/1.22.1")
    '1.22.1'
    """
    found = re.search(r"[0-9]+(?:\.[0-9]+)+", words)
    return found[0] if found else ""
