"""Facts of the machine that affect results.

Remote hosts run this file by ``python3 -I -S`` (3.9 or newer) without the package, and it prints the facts as JSON.  So
it imports only the standard library.
"""

import json
import os
import platform
import resource
import shlex
from pathlib import Path
from typing import Any


def facts() -> dict[str, Any]:
    """Return kernel, processors, memory and TCP settings; `not known` where the system does not show one."""
    return {
        "system": platform.system(),
        "kernel": platform.release(),
        "distribution": _distribution(),
        "architecture": platform.machine(),
        "cpu_model": _cpuinfo("model name"),
        "cpus": len(os.sched_getaffinity(0)),
        "virtual_machine": _is_virtual(),
        "memory_bytes": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
        "tcp_congestion_control": _sysctl("net/ipv4/tcp_congestion_control"),
        "somaxconn": _sysctl("net/core/somaxconn"),
        "ip_local_port_range": " ".join(_sysctl("net/ipv4/ip_local_port_range").split()),
        "tcp_tw_reuse": _sysctl("net/ipv4/tcp_tw_reuse"),
        "tcp_max_orphans": _sysctl("net/ipv4/tcp_max_orphans"),
        "open_files_limit": resource.getrlimit(resource.RLIMIT_NOFILE)[0],
        "cpu_governor": _governors(),
        "cpu_mitigations": _mitigations(),
    }


def _read(path: str) -> str:
    try:
        return Path(path).read_text("utf-8", "replace")
    except OSError:
        return ""


def _sysctl(name: str) -> str:
    return _read(f"/proc/sys/{name}").strip() or "not known"


def _cpuinfo(key: str) -> str:
    lines = (line.partition(":") for line in _read("/proc/cpuinfo").splitlines())
    return next((value.strip() for name, _, value in lines if name.strip() == key), "not known")


def _governors() -> str:
    """Return the governors of the processors' frequency; most virtual machines have none."""
    files = Path("/sys/devices/system/cpu").glob("cpu[0-9]*/cpufreq/scaling_governor")
    return " ".join(sorted({_read(str(file)).strip() for file in files})) or "not known"


def _mitigations() -> str:
    """Return how the kernel treats each fault that affects the processors."""
    files = sorted(Path("/sys/devices/system/cpu/vulnerabilities").glob("*"))
    states = {file.name: _read(str(file)).strip() for file in files}
    treated = [f"{name}: {state}" for name, state in states.items() if state != "Not affected"]
    return ". ".join(treated) or ("none affects" if states else "not known")


def _is_virtual() -> Any:
    flags = _cpuinfo("flags").split()
    return "hypervisor" in flags if len(flags) > 2 else "not known"


def _distribution() -> str:
    # `platform.freedesktop_os_release` is of Python 3.10.
    for line in (_read("/etc/os-release") or _read("/usr/lib/os-release")).splitlines():
        if line.startswith("PRETTY_NAME="):
            return " ".join(shlex.split(line.partition("=")[2]))
    return "not known"


if __name__ == "__main__":
    print(json.dumps(facts()))
