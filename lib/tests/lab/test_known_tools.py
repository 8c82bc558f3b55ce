"""Packages to install: `lib/packages.py` reads from the source what the modules of the laboratory register."""

import subprocess
import sys
from dataclasses import MISSING, fields

import pytest

from loadcurve.discovery import registered
from loadcurve.lab import hosts
from loadcurve.lab.hosts.tools import PackageFile, Tool
from loadcurve.lab.known_tools import PACKAGES, TOOLS


@pytest.fixture
def packages(monkeypatch, root):
    monkeypatch.syspath_prepend(str(root / "lib"))
    import packages

    return packages


@pytest.mark.parametrize("kind", [Tool, PackageFile])
def test_the_script_knows_the_arguments_of_a_registration(packages, kind):
    declared = {one.name: "" if one.default is MISSING else one.default for one in fields(kind)}
    assert list(packages.PARAMETERS[kind.__name__].items()) == list(declared.items())


@pytest.mark.parametrize("group", ["lab-tools", "lab-test"])
def test_the_script_reads_every_registration(packages, group):
    files = [file for package in PACKAGES for file in registered(package, PackageFile)]
    wanted = {(one.package, one.name) for one in TOOLS.values() if one.group == group and one.package}
    wanted |= {(one.package, one.path) for one in files if one.group == group}
    assert packages.needs(group) == sorted(wanted)


def test_the_script_needs_the_standard_library_only(root):
    argv = [sys.executable, "-I", "-S", str(root / "lib" / "packages.py"), "lab-tools"]
    said = subprocess.run(argv, capture_output=True, text=True, check=True).stdout.splitlines()
    assert {"wrk wrk", "nginx nginx", "sysstat sar"} <= set(said)


def test_every_tool_can_be_had(root):
    assert [tool.name for tool in TOOLS.values() if not tool.remedy] == []
    assert all(tool.group in ("lab-tools", "lab-test", "") for tool in TOOLS.values())
    assert {"ip", "tc", "setpriv"} <= {tool.name for tool in registered(hosts, Tool)}
