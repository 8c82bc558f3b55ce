"""Shared by all tests: where the checkout is, a short study, whether network namespaces can be made here."""

import fcntl
import os
import shutil
import signal
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from loadcurve.cli import main
from loadcurve.ingest import files
from loadcurve.lab.hosts.network import TOPOLOGIES, Ledger, build, clean
from loadcurve.lab.hosts.tools import which
from loadcurve.lab.schedule import background_warnings
from loadcurve.study import Study
from loadcurve.study.archive import opened
from loadcurve.study.manifest import list_run, read_manifest

# Optional for jsonschema, which nbformat imports: compiling its 38 grammars takes each process a second.
sys.modules["rfc3987_syntax"] = None

ROOT = Path(__file__).resolve().parents[2]

NETWORK_TOOLS = ("ip", "tc", "sysctl", "ping", "ethtool", "nft", "setpriv", "timeout", "unshare")

# A busy machine is no fault of what is tested: timings are measured by `make bench` alone.
settings.register_profile("loadcurve", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("quick", settings.get_profile("loadcurve"), max_examples=25)  # `make check`
settings.load_profile("loadcurve")


# A function with one of these markers takes seconds, others milliseconds.
LONG = {"lab", "real", "site", "slow"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start the longest files first, so that no worker ends long after the others."""
    long: dict[Path, set[str]] = defaultdict(set)
    for item in items:
        if any(mark.name in LONG for mark in item.iter_markers()):
            long[item.path].add(getattr(item, "originalname", item.name))
    items.sort(key=lambda item: (-len(long[item.path]), item.path))


@pytest.fixture(autouse=True)
def turn_of_a_lab_test(request, tmp_path_factory):
    """Lab tests run beside each other; one marked `alone` waits until the others have ended, and holds up the next."""
    if "PYTEST_XDIST_WORKER" not in os.environ or not request.node.get_closest_marker("lab"):
        yield
        return
    folder = tmp_path_factory.getbasetemp().parent  # shared by the workers
    with (folder / "queue.lock").open("w") as queue, (folder / "lab.lock").open("w") as lab:
        fcntl.flock(queue, fcntl.LOCK_EX)  # who waits for the lab is next
        fcntl.flock(lab, fcntl.LOCK_EX if request.node.get_closest_marker("alone") else fcntl.LOCK_SH)
        fcntl.flock(queue, fcntl.LOCK_UN)
        yield


@pytest.fixture(scope="session", autouse=True)
def own_state(tmp_path_factory):
    """What tests trust is not trusted afterwards."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture(scope="module")
def no_tool_is_started():
    """Ingestion alone starts no tool, so it refuses binary recordings, also where `loadcurve.reading` was imported."""
    before, files.text_of_recording = files.text_of_recording, None
    yield
    files.text_of_recording = before


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


RECORDED = ROOT / "data" / "studies" / "connections_on_loopback"


def copy_runs(target: Path, *runs: str, listed: bool = False) -> Path:
    """Copy recorded runs into a new folder of their study, as plain folders; `listed` in a manifest too."""
    source = opened(RECORDED)
    target.mkdir(parents=True, exist_ok=True)
    shutil.copy(source / "study.yml", target)
    for run in runs:
        shutil.copytree(source / run, target / run)
        if listed:
            list_run(target, run, read_manifest(source)[run])
    return target


@pytest.fixture(autouse=True)
def a_busy_machine_is_not_warned_of(monkeypatch):
    """What others take of the processors is no fault of what is tested."""
    monkeypatch.setattr(background_warnings, "BUSY_RATIO", 1.0)


@pytest.fixture
def default_signals():
    """Python's own handlers, also where the tests run in a shell's background or under nohup, which ignore signals."""
    defaults = {signal.SIGINT: signal.default_int_handler, signal.SIGHUP: signal.SIG_DFL}
    before = {number: signal.signal(number, handler) for number, handler in defaults.items()}
    yield
    for number, handler in defaults.items():
        assert signal.signal(number, before[number]) is handler


@pytest.fixture
def checkout(tmp_path, monkeypatch) -> Path:
    """An empty checkout: its own data and build, nothing of the real one is written."""
    (tmp_path / "data" / "studies").mkdir(parents=True)
    monkeypatch.setenv("LOADCURVE_ROOT", str(tmp_path))
    return tmp_path


@pytest.fixture
def called(monkeypatch, capsys):
    """Runs a command in this process, where starting one is not what is tested: exit code, stdout, stderr."""

    def call(*argv):
        monkeypatch.setattr(sys, "argv", ["loadcurve", *map(str, argv)])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code, *capsys.readouterr()

    return call


@pytest.fixture(scope="session")
def small_study() -> Study:
    return Study(
        study="small",
        question="Does the laboratory work?",
        variants={"cpu": {}, "delay": {"server.nginx.response": {"delay": {"delay_ms": 10}}}},
        load={"duration_s": 1},
        factors={"connections": (1, 4)},
        repeats=1,
        seed=7,
    )


@pytest.fixture(scope="session")
def network_tools():
    """Skips where namespaces cannot be made."""
    if os.geteuid() != 0:
        pytest.skip("network namespaces need root")
    if missing := [tool for tool in NETWORK_TOOLS if which(tool) is None]:
        pytest.skip(f"not installed: {', '.join(missing)} (sh lib/loadcurve/lab/system.sh install lab-test)")
    asked = subprocess.run(["unshare", "--net", "--mount", "true"], capture_output=True, text=True, check=False)
    if asked.returncode:
        pytest.skip(f"no network namespaces here: {asked.stderr.strip()}")


@pytest.fixture(scope="session")
def ssh_tools():
    """Skips where there is no OpenSSH."""
    from ssh_hosts import have_ssh  # beside the tests that use it

    have_ssh()


@pytest.fixture
def ledger(tmp_path, network_tools):
    """A ledger in the test's own folder; nothing of it may be left when the test is over."""
    with Ledger(tmp_path / "ledgers") as own:
        yield own
    assert clean(tmp_path / "ledgers") == ()
    assert list((tmp_path / "ledgers").iterdir()) == []


@pytest.fixture
def hosts(ledger):
    """A client and a server in network namespaces, by their names."""
    with build(TOPOLOGIES["client_server"](), ledger) as made:
        yield made
