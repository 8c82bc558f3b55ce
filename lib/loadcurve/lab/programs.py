"""Where programs and modules are that distributions name in ways of their own."""

import os
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from loadcurve.errors import LabError
from loadcurve.lab.tools import version, which


@dataclass(frozen=True)
class Programs:
    """What a host has.

    Attributes
    ----------
    module : callable
        File name of a module of nginx → its absolute path; raises LabError where it is not there.
    php : callable
        Path of PHP-FPM, and of the folder with its extensions; raises LabError where they are not there.
    nginx_takes_early_errors : callable
        Name or path of an nginx → whether it knows ``-e``, as it does from 1.19.5 on.
    is_root : bool
        Whether its commands are root's.
    """

    module: Callable[[str], str]
    php: Callable[[], tuple[str, str]]
    nginx_takes_early_errors: Callable[[str], bool]
    is_root: bool

    ECHO = "ngx_http_echo_module.so"
    STREAM = "ngx_stream_module.so"


def here() -> Programs:
    """Return what this machine has, each asked for when it is needed."""
    return Programs(_module, _php, _takes_early_errors, os.geteuid() == 0)


ASSUMED = Programs(
    lambda name: f"/usr/lib/nginx/modules/{name}", lambda: ("php-fpm", "/usr/lib/php"), lambda _: True, True
)
"""What a study is checked with before anybody asks the machine."""


@cache
def _module(name: str) -> str:
    """Where nginx itself says its modules are."""
    if (path := which("nginx")) is not None:
        done = subprocess.run([path, "-V"], capture_output=True, text=True, timeout=10, check=False)
        found = re.search(r"--modules-path=(\S+)", done.stderr)
        module = Path(found[1] if found else "/usr/lib/nginx/modules") / name
        if module.exists():
            return str(module)
    package = {Programs.ECHO: "libnginx-mod-http-echo", Programs.STREAM: "libnginx-mod-stream"}[name]
    use = {Programs.ECHO: "waits without using the processor", Programs.STREAM: "balances connections"}[name]
    raise LabError(f"nginx lacks {name}, which {use}: apt-get install {package}")


@cache
def _php() -> tuple[str, str]:
    program, extensions = which("php-fpm"), sorted(Path("/usr/lib/php").glob("*/mysqli.so"))
    if program is None or not extensions:
        raise LabError("PHP is not installed: apt-get install php-fpm php-mysql")
    return program, str(extensions[-1].parent)


@cache
def _takes_early_errors(program: str) -> bool:
    said = version("nginx", "" if program == "nginx" else program)
    numbers = tuple(int(part) for part in said.split(".") if part.isdigit())
    return not numbers or numbers >= (1, 19, 5)
