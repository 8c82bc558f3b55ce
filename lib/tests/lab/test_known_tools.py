"""Packages to install: `lab/packages.py` reads from the source which tools and files the laboratory needs."""

import subprocess
import sys

import pytest
from listed import constants_of

import loadcurve.lab
from loadcurve.lab.hosts.tools import PackageFile
from loadcurve.lab.known_tools import TOOLS


@pytest.mark.parametrize("group", ["lab-tools", "lab-test"])
def test_the_script_reads_every_tool_with_the_standard_library_alone(root, group):
    argv = [sys.executable, "-I", "-S", str(root / "lib/loadcurve/lab/packages.py"), group]
    said = subprocess.run(argv, capture_output=True, text=True, check=True).stdout.splitlines()
    wanted = {f"{one.package} {one.name}" for one in TOOLS.values() if one.group == group and one.package}
    wanted |= {f"{one.package} {one.path}" for one in constants_of(loadcurve.lab, PackageFile) if one.group == group}
    assert said == sorted(wanted) and len(said) > 3


def test_every_tool_can_be_had(root):
    assert [tool.name for tool in TOOLS.values() if not tool.remedy] == []
    assert all(tool.group in ("lab-tools", "lab-test", "") for tool in TOOLS.values())
    assert {"ip", "tc", "setpriv"} <= set(TOOLS)
