"""Facts of the machine that decide what a number means."""

import os
import platform
import resource
from pathlib import Path
from typing import Any

import psutil


def facts() -> dict[str, Any]:
    """Kernel, processors, memory and the TCP settings that change results; `not known` where the system hides one."""
    return {
        "system": platform.system(),
        "kernel": platform.release(),
        "distribution": _distribution(),
        "architecture": platform.machine(),
        "cpu_model": _cpuinfo("model name"),
        "cpus": len(os.sched_getaffinity(0)),
        "virtual_machine": _is_virtual(),
        "memory_bytes": psutil.virtual_memory().total,
        "tcp_congestion_control": _sysctl("net/ipv4/tcp_congestion_control"),
        "somaxconn": _sysctl("net/core/somaxconn"),
        "ip_local_port_range": " ".join(_sysctl("net/ipv4/ip_local_port_range").split()),
        "open_files_limit": resource.getrlimit(resource.RLIMIT_NOFILE)[0],
    }


def _read(path: str) -> str:
    try:
        return Path(path).read_text("utf-8", "replace")
    except OSError:
        return ""


def _sysctl(name: str) -> str:
    return _read(f"/proc/sys/{name}").strip() or "not known"


def _cpuinfo(key: str) -> str:
    for line in _read("/proc/cpuinfo").splitlines():
        if line.partition(":")[0].strip() == key:
            return line.partition(":")[2].strip()
    return "not known"


def _is_virtual() -> bool | str:
    flags = _cpuinfo("flags").split()
    return "hypervisor" in flags if len(flags) > 2 else "not known"


def _distribution() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        return "not known"
