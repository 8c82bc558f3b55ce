"""What this machine lacks for a study, and how to get it."""

import platform
import re
import subprocess
from functools import cache
from pathlib import Path

import pandas as pd

from loadcurve.lab.nginx import needs_echo_module
from loadcurve.lab.tools import TOOLS, which
from loadcurve.study import Study

_PACKAGE = {name: tool.package for name, tool in TOOLS.items()} | {
    "setpriv": "util-linux",
    "taskset": "util-linux",
    "timeout": "coreutils",
    "python3": "python3",
}
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
    needed = ["wrk", "sar", "ss", "setpriv", "timeout", "python3"] + (["nginx"] if private else [])
    missing = [(f"{tool} is not installed", _PACKAGE[tool]) for tool in needed if which(tool) is None]
    if private and which("nginx") and any(map(needs_echo_module, private)) and echo_module() is None:
        missing.append(
            (f"nginx lacks {ECHO_MODULE}, which waits without using the processor", "libnginx-mod-http-echo")
        )
    return pd.DataFrame(
        [{"obstacle": what, "remedy": f"apt-get install {package}"} for what, package in missing],
        columns=["obstacle", "remedy"],
    )


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
