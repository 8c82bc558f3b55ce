"""For tests of the laboratory that make namespaces: whether this machine lets them, and a ledger of their own."""

import os
import subprocess

import pytest

from loadcurve.lab.network import Ledger, clean
from loadcurve.lab.tools import which

NETWORK_TOOLS = ("ip", "tc", "sysctl", "ping", "ethtool", "nft", "setpriv", "timeout", "unshare")


@pytest.fixture(scope="session")
def network_tools():
    """Skips where namespaces cannot be made."""
    if os.geteuid() != 0:
        pytest.skip("network namespaces need root")
    if missing := [tool for tool in NETWORK_TOOLS if which(tool) is None]:
        pytest.skip(f"not installed: {', '.join(missing)} (sh lib/system.sh install lab-test)")
    asked = subprocess.run(["unshare", "--net", "--mount", "true"], capture_output=True, text=True, check=False)
    if asked.returncode:
        pytest.skip(f"no network namespaces here: {asked.stderr.strip()}")


@pytest.fixture
def ledger(tmp_path, network_tools):
    """A ledger in the test's own folder; nothing of it may be left when the test is over."""
    with Ledger(tmp_path / "ledgers") as own:
        yield own
    assert clean(tmp_path / "ledgers") == ()
    assert list((tmp_path / "ledgers").iterdir()) == []
