"""What this machine lacks for a study, and how to get it; and where its tools are."""

import os
import platform
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pandas as pd

from loadcurve.lab.nginx import needs_echo_module
from loadcurve.study import Study

# Daemons are outside the PATH of ordinary users on Debian.
SEARCH_PATH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/local/sbin", "/usr/sbin", "/sbin"])

_PACKAGE = {
    "wrk": "wrk",
    "nginx": "nginx",
    "sar": "sysstat",
    "ss": "iproute2",
    "setpriv": "util-linux",
    "taskset": "util-linux",
    "timeout": "coreutils",
}
_VERSION_FLAG = {"wrk": "-v", "nginx": "-v", "sar": "-V", "ss": "-V"}
ECHO_MODULE = "ngx_http_echo_module.so"


def find_obstacles(study: Study) -> pd.DataFrame:
    """What keeps `study` from being launched on this machine: ``obstacle``, ``remedy``; empty when nothing does."""
    if platform.system() != "Linux":
        return pd.DataFrame(
            [
                {
                    "obstacle": f"the laboratory needs Linux, this is {platform.system()}",
                    "remedy": "use a Linux machine; the recorded data can be analysed anywhere",
                }
            ]
        )
    private = [recipe for recipe in study.variants.values() if "://" not in recipe]
    needed = ["wrk", "sar", "ss", "setpriv", "timeout"] + (["nginx"] if private else [])
    missing = [(f"{tool} is not installed", _PACKAGE[tool]) for tool in needed if which(tool) is None]
    if private and which("nginx") and any(map(needs_echo_module, private)) and echo_module() is None:
        missing.append(
            (f"nginx lacks {ECHO_MODULE}, which waits without using the processor", "libnginx-mod-http-echo")
        )
    return pd.DataFrame(
        [{"obstacle": what, "remedy": f"apt-get install {package}"} for what, package in missing],
        columns=["obstacle", "remedy"],
    )


def which(tool: str) -> str | None:
    """Path of a tool, also where ordinary users do not look; None when it is not installed."""
    return shutil.which(tool, path=SEARCH_PATH)


@cache
def version(tool: str) -> str:
    """Version as the tool itself prints it: the first number with a dot in its own answer."""
    path = which(tool)
    if path is None or tool not in _VERSION_FLAG:
        return ""
    done = subprocess.run([path, _VERSION_FLAG[tool]], capture_output=True, text=True, timeout=10, check=False)
    found = re.search(r"\d+(?:\.\d+)+", done.stdout + done.stderr)
    return found[0] if found else ""


@cache
def echo_module() -> str | None:
    """Path of nginx's echo module, where nginx itself says its modules are; None when it is not there."""
    path = which("nginx")
    if path is None:
        return None
    done = subprocess.run([path, "-V"], capture_output=True, text=True, timeout=10, check=False)
    found = re.search(r"--modules-path=(\S+)", done.stderr)
    module = Path(found[1] if found else "/usr/lib/nginx/modules") / ECHO_MODULE
    return str(module) if module.exists() else None
