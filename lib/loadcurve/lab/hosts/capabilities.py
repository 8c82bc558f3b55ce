"""Find programs and modules that have different names or paths on different distributions."""

import json
import os
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from loadcurve.errors import LabError
from loadcurve.lab.hosts.executor import Executor
from loadcurve.lab.hosts.tools import PackageFile, Tool, environment, version, version_in, which

# Runs on a remote host with Python 3.9 or newer; prints nginx's version and modules, PHP-FPM, and PHP's extensions.
_ASK = r"""
import glob, json, os, re, shutil, subprocess, sys
try:
    done = subprocess.run([sys.argv[1], "-V"], stdin=subprocess.DEVNULL, capture_output=True, timeout=10)
    printed = (done.stdout + done.stderr).decode("utf-8", "replace")
except (OSError, subprocess.TimeoutExpired):
    printed = ""
folder = re.search(r"--modules-path=(\S+)", printed)
modules = glob.glob(os.path.join(folder[1] if folder else "/usr/lib/nginx/modules", "*.so")) if printed else []
php = [shutil.which("php-fpm") or "", *sorted(glob.glob("/usr/sbin/php-fpm[0-9]*"))]
mysqli = sorted(glob.glob("/usr/lib/php/*/mysqli.so"))
print(json.dumps({
    "nginx": printed, "modules": modules, "php": php[0] or php[-1],
    "extensions": os.path.dirname(mysqli[-1]) if mysqli else "", "is_root": os.geteuid() == 0,
    "pages": " ".join(path for path in sys.argv[2:] if os.path.exists(path)),
}))
"""
_ASK_LIMIT_S = 20.0
ECHO_MODULE = PackageFile(
    "libnginx-mod-http-echo",
    "/usr/lib/nginx/modules/ngx_http_echo_module.so",
    "waits without using the processor",
    group="lab-tools",
)
STREAM_MODULE = PackageFile(
    "libnginx-mod-stream", "/usr/lib/nginx/modules/ngx_stream_module.so", "balances connections"
)
PAGES = PackageFile("wordpress", "/usr/share/wordpress/wp-load.php", "has the pages of WordPress")
THEME = PackageFile(
    "wordpress-theme-twentytwentyone",
    "/usr/share/wordpress/wp-content/themes/twentytwentyone",
    "has the theme of the front page",
)
NGINX = Tool("nginx", "server, proxy", "-v", "nginx", group="lab-tools")
_NO_PHP = "PHP is not installed: apt-get install php-fpm php-mysql"
_NO_PAGES = f"WordPress is not installed: apt-get install php-fpm php-mysql {PAGES.package} {THEME.package}"


@dataclass(frozen=True)
class Programs:
    """Programs and modules that a host has."""

    # File name of a module of nginx → its absolute path; raises LabError if the module is not installed.
    module: Callable[[str], str]
    # Returns the paths of PHP-FPM and of the folder with its extensions; raises LabError if they are not installed.
    php: Callable[[], tuple[str, str]]
    wordpress: Callable[[], None]  # Raises LabError if its pages and their theme are not installed
    # Name or path of an nginx → whether it supports the option `-e`, which nginx has had since 1.19.5.
    nginx_takes_early_errors: Callable[[str], bool]
    is_root: bool  # Whether commands on the host run as root

    ECHO = ECHO_MODULE.name
    STREAM = STREAM_MODULE.name


def here() -> Programs:
    """Return the programs of this machine; each is looked up when it is first needed."""
    return Programs(_module, _php, _wordpress, _takes_early_errors, os.geteuid() == 0)


def there(executor: Executor) -> Programs:
    """Return the programs of a remote host; they are looked up while the executor is open, once for each nginx.

    Raises LabError, which begins with the name of the host, when the lookup fails.
    """

    @cache
    def asked(nginx: str) -> dict[str, Any]:
        argv = ("python3", "-I", "-S", "-c", _ASK, nginx, PAGES.path, THEME.path)
        text = executor.check_output(argv, _ASK_LIMIT_S)
        try:
            found = json.loads(text)
            texts = {name: str(found[name]) for name in ("nginx", "php", "extensions", "pages")}
            return {**texts, "modules": list(map(str, found["modules"])), "is_root": found["is_root"] is True}
        except (ValueError, TypeError, KeyError):
            raise LabError(f"{executor.host.name}: its python3 does not say what programs are there") from None

    def module(name: str) -> str:
        for path in asked("nginx")["modules"]:
            if path.endswith(f"/{name}"):
                return str(path)
        raise LabError(f"{executor.host.name}: {_no_module(name)}")

    def php() -> tuple[str, str]:
        found = asked("nginx")
        if not found["php"] or not found["extensions"]:
            raise LabError(f"{executor.host.name}: {_NO_PHP}")
        return found["php"], found["extensions"]

    def wordpress() -> None:
        if asked("nginx")["pages"] != f"{PAGES.path} {THEME.path}":
            raise LabError(f"{executor.host.name}: {_NO_PAGES}")

    def takes_early_errors(nginx: str) -> bool:
        return _is_recent(version_in(asked(nginx)["nginx"]))

    return Programs(module, php, wordpress, takes_early_errors, asked("nginx")["is_root"])


ASSUMED = Programs(
    lambda name: f"/usr/lib/nginx/modules/{name}",
    lambda: ("php-fpm", "/usr/lib/php"),
    lambda: None,
    lambda _: True,
    is_root=True,
)
"""Assumed programs, with which a study is checked before any host is queried."""


@cache
def _module(name: str) -> str:
    """Return the path of a module in the folder that ``nginx -V`` reports."""
    if (path := which("nginx")) is not None:
        done = subprocess.run([path, "-V"], env=environment(), capture_output=True, text=True, timeout=10, check=False)
        found = re.search(r"--modules-path=(\S+)", done.stderr)
        module = Path(found[1] if found else "/usr/lib/nginx/modules") / name
        if module.exists():
            return str(module)
    raise LabError(_no_module(name))


def _no_module(name: str) -> str:
    module = next(one for one in (ECHO_MODULE, STREAM_MODULE) if one.name == name)
    return f"nginx has no {name}, which {module.use}: apt-get install {module.package}"


@cache
def _php() -> tuple[str, str]:
    program, extensions = which("php-fpm"), sorted(Path("/usr/lib/php").glob("*/mysqli.so"))
    if program is None or not extensions:
        raise LabError(_NO_PHP)
    return program, str(extensions[-1].parent)


def _wordpress() -> None:
    if not all(Path(file.path).exists() for file in (PAGES, THEME)):
        raise LabError(_NO_PAGES)


@cache
def _takes_early_errors(program: str) -> bool:
    return _is_recent(version(NGINX, "" if program == "nginx" else program))


def _is_recent(printed: str) -> bool:
    """Return whether a version is 1.19.5 or later; an unknown version counts as later."""
    numbers = tuple(int(part) for part in printed.split(".") if part.isdigit())
    return not numbers or numbers >= (1, 19, 5)
