"""Programs that the laboratory starts: where they are on this machine, their versions, how to get missing ones.

A module that starts a program registers it by a constant of class `Tool`; `loadcurve.lab.known_tools` collects them.
"""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

# Daemons are outside the PATH of ordinary users on Debian.
SEARCH_PATH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/local/sbin", "/usr/sbin", "/sbin"])

_PATIENCE_S = 10.0  # for a tool that waits instead of printing its version


@dataclass(frozen=True)
class Tool:
    """A program, and where it comes from.  `lib/packages.py` reads its arguments from the source: use literals.

    Attributes
    ----------
    name : str
        Its command.
    use : str
        What it is used for, in a few words.
    version_option : str
        Option that makes it print its version; empty where there is none.
    package : str
        Debian's package; empty where there is none.
    source : str
        Where else to get it.
    group : str
        Who installs the package: ``lab-tools`` (`make`), ``lab-test`` (`make lab-test`), or empty for nobody.
    """

    name: str
    use: str
    version_option: str
    package: str = ""
    source: str = ""
    group: str = "lab-test"

    @property
    def remedy(self) -> str:
        """How to get it."""
        return f"apt-get install --no-install-recommends {self.package}" if self.package else self.source

    def __str__(self) -> str:
        path = which(self.name)
        found = f"{version(self) or 'prints no version':<18} {path}" if path else f"not here: {self.remedy}"
        return f"{self.name:<10} {self.use:<20} {found}"


@dataclass(frozen=True)
class PackageFile:
    """A file that a tool needs and another package installs, such as a module; literals, as for `Tool`.

    Attributes
    ----------
    package : str
        Debian's package.
    path : str
        Its absolute path there; a pattern of the shell.
    use : str
        What it does.
    group : str
        Who installs the package, as in `Tool`.
    """

    package: str
    path: str
    use: str
    group: str = "lab-test"

    @property
    def name(self) -> str:
        """Its file name."""
        return self.path.rpartition("/")[2]


def which(tool: str) -> str | None:
    """Path of a tool, also where ordinary users do not look; None when it is not installed."""
    return shutil.which(tool, path=SEARCH_PATH) or (_newest_php() if tool == "php-fpm" else None)


def _newest_php() -> str | None:
    """Debian's PHP-FPM has its version in its name; the newest one is the last."""
    programs = sorted(Path("/usr/sbin").glob("php-fpm[0-9]*"))
    return str(programs[-1]) if programs else None


@cache
def version(tool: Tool, program: str = "") -> str:
    """Return the version that a tool prints: the first number with a dot in its output; empty where it prints none.

    Parameters
    ----------
    tool : Tool
        Which one.
    program : str
        Name or path of the program, where it is not the usual one.
    """
    path = which(program or tool.name)
    if path is None or not tool.version_option:
        return ""
    try:
        done = subprocess.run(
            [path, tool.version_option], capture_output=True, stdin=subprocess.DEVNULL, timeout=_PATIENCE_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return version_in((done.stdout + done.stderr).decode("utf-8", "replace"))


def version_in(words: str) -> str:
    """Return the first number with a dot in what a tool prints; empty where there is none.

    Examples
    --------
    >>> version_in("nginx version: nginx/1.22.1")
    '1.22.1'
    """
    found = re.search(r"[0-9]+(?:\.[0-9]+)+", words)
    return found[0] if found else ""
