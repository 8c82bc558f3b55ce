"""Debian's user-mode-linux: another kernel as an ordinary process, whose root file system is this machine's.

It has modules that this kernel may lack, such as IPVS.  It runs on one processor and handles every system call of its
programs by ptrace, so it shows what a kernel does, and not how fast.
"""

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from loadcurve.errors import LabError
from loadcurve.lab.hosts import small_registers
from loadcurve.lab.hosts.tools import Tool, which

TOOL = Tool("linux.uml", "kernel as a process", "--version", "user-mode-linux")
MODULES = Path("/usr/lib/uml/modules")
_REMEDY = f"apt-get install --no-install-recommends {TOOL.package}"


def why_no_kernel() -> str:
    """Return why user-mode-linux cannot be used here; empty if it can."""
    return "" if which(TOOL.name) and MODULES.is_dir() else f"user-mode-linux is not installed: {_REMEDY}"


def kernel_argv(
    folder: Path,
    init: str,
    memory_mb: int = 256,
    registers: tuple[str, str] = (sys.executable, small_registers.__file__),
) -> tuple[str, ...]:
    """Return the command of a kernel whose first process is the program `init` of a folder, given by its absolute path.

    The kernel keeps its own files there too (``uml``).  `registers` are Python and the file of
    `loadcurve.lab.hosts.small_registers`, which a processor with AMX needs.

    Examples
    --------
    >>> "init=/run/x/functions.sh" in kernel_argv(Path("/run/x"), "functions.sh")
    True
    """
    kernel = ("linux.uml", f"mem={memory_mb}M", "rootfstype=hostfs", "rootflags=/", "rw", f"init={folder}/{init}",
              "quiet", "con=null", "con0=null,fd:1", f"uml_dir={folder}/uml")  # fmt: skip
    if "amx_tile" not in Path("/proc/cpuinfo").read_text():
        return kernel
    # The environment of all programs contains what is on the kernel's command line: they must use SSE alone.
    avoided = ("AVX2", "AVX512F", "AVX512VL", "AVX512BW", "AVX", "XSAVEC", "XSAVE", "AVX_Fast_Unaligned_Load",
               "Prefer_No_VZEROUPPER", "ERMS", "FSRM")  # fmt: skip
    simple = (f"GLIBC_TUNABLES=glibc.cpu.hwcaps={','.join(f'-{name}' for name in avoided)}", "OPENSSL_ia32cap=0:0")
    python, program = registers
    return (python, "-I", "-S", program, *kernel, *simple)


def module_paths(names: Iterable[str], modules: Path = MODULES) -> tuple[str, ...]:
    """Return the paths of kernel modules in the order in which they must be loaded; modules built in are left out.

    `modules` has one folder for the kernel's release, with a ``modules.dep``; without it, LabError is raised.
    """
    releases: Sequence[Path] = sorted(path for path in modules.glob("*") if (path / "modules.dep").exists())
    if not releases:
        raise LabError(f"no kernel modules in {modules}: {_REMEDY}")
    needs = dict(line.split(":") for line in (releases[-1] / "modules.dep").read_text("utf-8").splitlines())
    paths = {Path(path).stem: path for path in needs}
    wanted = [path for name in names if name in paths for path in (*reversed(needs[paths[name]].split()), paths[name])]
    return tuple(f"{releases[-1] / path}" for path in dict.fromkeys(wanted))
