"""Limits with control groups of version 2, and as a root that may do everything: in user-mode-linux."""

import json
import os
import subprocess
import sys

import pytest
from private_services import need

from loadcurve.lab.hosts.process import guarded
from loadcurve.lab.hosts.tools import SEARCH_PATH
from loadcurve.lab.hosts.user_mode_linux import kernel_argv

pytestmark = pytest.mark.lab

INIT = """\
#!/bin/sh
export PATH={path}
cd "${{0%/*}}" || exit 1
exec >said.txt 2>&1
mount -t proc proc /proc
mount -t tmpfs tmpfs /run
mount -t sysfs sysfs /sys
mount -t cgroup2 cgroup2 /sys/fs/cgroup
{python} -B inner.py
echo o >/proc/sysrq-trigger
sleep 5
"""
INNER = """\
import json, subprocess, sys
from pathlib import Path
from loadcurve.lab.hosts.limits import Limits, limited, throttling, why_not
from loadcurve.lab.hosts.network import Ledger

limits, groups, told = Limits(30_000, 0.25), Path("/sys/fs/cgroup"), {}
told["before"] = why_not(limits)
(groups / "cgroup.subtree_control").write_text("+cpu")
told["after"] = why_not(limits)
(groups / "foreign").mkdir()
with Ledger(Path("ledgers")) as ledger, limited(limits, ledger, "S1") as prefix:
    for name, text in prefix.files.items():
        Path(name).write_text(text)
    burn = "import time; begun = time.monotonic()\\nwhile time.monotonic() - begun < 1: pass"
    burners = [subprocess.Popen((*prefix.argv, sys.executable, "-I", "-S", "-c", burn)) for _ in range(2)]
    told["codes"] = [burner.wait() for burner in burners]
    told["did"] = throttling(prefix)
    told["cpu.max"] = Path(prefix.group, "cpu.max").read_text()
    said = lambda *command: subprocess.run((*prefix.argv, *command), capture_output=True, text=True).stdout
    told["group"], told["tag"] = said("cat", "/proc/self/cgroup"), ledger.tag
    told["limits"] = said("grep", "open files", "/proc/self/limits")
    raising = subprocess.run((*prefix.argv, "prlimit", "--nofile=30001:30001", "true"), capture_output=True, text=True)
    told["raising"] = raising.stderr
    sleeper = subprocess.Popen((*prefix.argv, "sleep", "20"))
    while not Path(prefix.group, "cgroup.procs").read_text():
        pass
told["sleeper"] = sleeper.wait()
told["left"] = sorted(path.name for path in groups.iterdir() if path.is_dir())
Path("told.json").write_text(json.dumps(told))
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    need("linux.uml", "setpriv", "timeout", "prlimit")
    folder = tmp_path_factory.mktemp("version_2")
    (folder / "init.sh").write_text(INIT.format(path=SEARCH_PATH, python=sys.executable))
    (folder / "init.sh").chmod(0o755)
    (folder / "inner.py").write_text(INNER)
    with (folder / "kernel.txt").open("wb") as out:
        subprocess.run(
            guarded(kernel_argv(folder, "init.sh"), 60), stdin=subprocess.DEVNULL, stdout=out,
            stderr=subprocess.STDOUT, env={**os.environ, "PATH": SEARCH_PATH}, start_new_session=True, check=False,
        )  # fmt: skip
    said = "".join((folder / name).read_text("utf-8", "replace") for name in ("said.txt", "kernel.txt"))
    assert (folder / "told.json").exists(), said
    return json.loads((folder / "told.json").read_text())


def test_it_cannot_be_before_the_controller_is_handed_out(told):
    assert told["before"] == "no cgroup with a cpu controller is writable here"
    assert told["after"] == ""


def test_the_quota_holds(told):
    assert told["cpu.max"] == "25000 100000\n"
    assert told["codes"] == [0, 0]
    assert told["did"]["throttled"] > 0.5 * told["did"]["periods"] > 0
    assert told["did"]["throttled_s"] > 0.1
    assert told["group"].strip() == f"0::/{told['tag']}-S1"


def test_open_files_are_raised_once_and_then_no_more(told):
    assert told["limits"].split()[3:5] == ["30000", "30000"]
    assert "Operation not permitted" in told["raising"]


def test_its_processes_end_with_the_group_and_others_stay(told):
    assert told["sleeper"] == -9
    assert told["left"] == ["foreign"]
