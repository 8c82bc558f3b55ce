"""Debian's user-mode-linux: a kernel as an ordinary process, whose root is this machine's."""

import sys
from pathlib import Path


def kernel_argv(folder: Path, init: str, memory_mb: int = 256) -> tuple[str, ...]:
    """Command of a kernel whose first process is `init` of a folder, where it also keeps its own files."""
    kernel = ("linux.uml", f"mem={memory_mb}M", "rootfstype=hostfs", "rootflags=/", "rw", f"init={folder}/{init}",
              "quiet", "con=null", "con0=null,fd:1", f"uml_dir={folder}/uml")  # fmt: skip
    if "amx_tile" not in Path("/proc/cpuinfo").read_text():
        return kernel
    # What stands on its command line is in the environment of all programs there: they are to use SSE alone.
    avoided = ("AVX2", "AVX512F", "AVX512VL", "AVX512BW", "AVX", "XSAVEC", "XSAVE", "AVX_Fast_Unaligned_Load",
               "Prefer_No_VZEROUPPER", "ERMS", "FSRM")  # fmt: skip
    simple = (f"GLIBC_TUNABLES=glibc.cpu.hwcaps={','.join(f'-{name}' for name in avoided)}", "OPENSSL_ia32cap=0:0")
    return (sys.executable, str(Path(__file__).with_name("small_registers.py")), *kernel, *simple)
