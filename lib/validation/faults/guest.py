"""Record a fault of a kernel in a guest: ``python -m validation.faults.guest data/atlas/full_conntrack/guest.sh``.

The guest is a user-mode-linux, whose root is this machine's; its processors, memory, disk, sockets and settings are
its own.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from loadcurve.lab.hosts.process import guarded
from loadcurve.lab.hosts.tools import SEARCH_PATH
from loadcurve.lab.hosts.user_mode_linux import kernel_argv, module_paths

LIMIT_S = 60
_INIT = """\
#!/bin/sh
export PATH={path}
mount -t proc proc /proc
grep -q "User Mode Linux" /proc/cpuinfo || exit 1
mount -t tmpfs tmpfs /run
mount -t sysfs sysfs /sys
hostname guest
ip link set lo up
while read -r module; do
    perl -e 'open(my $file, "<", $ARGV[0]) or die; my $no = ""; syscall(313, fileno($file), $no, 0)' "$module"
done <{folder}/modules.txt
cd {raw} && sh -e {script} >{folder}/said.txt 2>&1
sync; echo o >/proc/sysrq-trigger; sleep 5
"""


def record(script: Path, folder: Path) -> str:
    """Run a script in a kernel, in the folder ``raw`` beside the script, and return what it said.

    Its comments name the ``modules``, the ``memory`` and the ``disk`` (/dev/ubda) of the kernel, the latter in MB.
    """
    asked = dict(re.findall(r"^# (modules|memory|disk): (.+)$", script.read_text("utf-8"), re.MULTILINE))
    raw = script.parent / "raw"
    raw.mkdir(exist_ok=True)
    (folder / "modules.txt").write_text("".join(f"{path}\n" for path in module_paths(asked.get("modules", "").split())))
    (folder / "init.sh").write_text(_INIT.format(path=SEARCH_PATH, folder=folder, raw=raw, script=script))
    (folder / "init.sh").chmod(0o755)
    kernel = kernel_argv(folder, "init.sh", int(asked.get("memory", "256")))
    if "disk" in asked:
        (folder / "disk").touch()
        os.truncate(folder / "disk", int(asked["disk"]) * 2**20)
        kernel = (*kernel, f"ubd0={folder}/disk")
    done = subprocess.run(
        guarded(kernel, LIMIT_S), stdin=subprocess.DEVNULL, capture_output=True, start_new_session=True, check=False,
        env={**os.environ, "PATH": SEARCH_PATH}, text=True, errors="replace",
    )  # fmt: skip
    said = folder / "said.txt"
    return (said.read_text("utf-8", "replace") if said.exists() else "") + done.stdout


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as work:
        print(record(Path(sys.argv[1]).resolve(), Path(work)))
