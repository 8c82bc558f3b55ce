"""Find the obstacles to a launch on this machine, each with its remedy."""

import os
import platform
import random
import re
import subprocess
from collections.abc import Iterator, Mapping
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import pandas as pd

from loadcurve.errors import LabError, LoadcurveError, MissingExtraError, ValueRuleError, printable
from loadcurve.lab.hosts import capabilities, limits
from loadcurve.lab.hosts.capabilities import Programs
from loadcurve.lab.hosts.host import Host
from loadcurve.lab.hosts.limits import Limits
from loadcurve.lab.hosts.network.topology import BLOCKS
from loadcurve.lab.hosts.tools import which
from loadcurve.lab.known_tools import tool_named
from loadcurve.lab.run.deployment import Deployment, HostSlot, argvs, deploy, host_slots, section_of, with_role
from loadcurve.lab.schedule.points import Point, block
from loadcurve.lab.study_file import StudyFile
from loadcurve.lab.study_file.study_file import settings_of_point
from loadcurve.lab.tools.balancers import BALANCERS
from loadcurve.lab.tools.balancers.functions import FunctionTest, missing
from loadcurve.lab.tools.faults.inject import why_not
from loadcurve.lab.tools.servers import SERVERS
from loadcurve.lab.tools.servers.nginx import NginxSection
from loadcurve.study import Study

_ALWAYS = ("setpriv", "timeout", "python3")
# A temporary namespace for the checks: it has the same kernel features as the hosts of a run.
_PROBE = Host("probe", "127.0.0.1", ("unshare", "--net"))
_OF_NETWORKS = ("ip", "tc", "sysctl", "ethtool", "nft")


def list_obstacles(study: Study) -> pd.DataFrame:
    """Return what prevents a launch of `study` on this machine: ``obstacle``, ``remedy``; empty if nothing does.

    Raises
    ------
    LoadcurveError
        When a point of the study cannot run on any machine, see `deployments`.

    Examples
    --------
    >>> list(list_obstacles(Study("s", "?")))
    ['obstacle', 'remedy']
    """
    if platform.system() != "Linux":
        obstacle = f"the laboratory needs Linux, this is {platform.system()}"
        remedy = "use a Linux machine; the recorded data can be analysed anywhere"
        return pd.DataFrame([[obstacle, remedy]], columns=["obstacle", "remedy"])
    found: dict[str, str] = {}
    if find_spec("psutil") is None:
        obstacle, _, remedy = str(MissingExtraError("a launch", "lab")).partition(": ")
        found[obstacle] = remedy
    for settings, deployment in deployments(study, capabilities.ASSUMED):
        for obstacle, remedy in _missing(settings, deployment):
            found.setdefault(obstacle, remedy)
    return pd.DataFrame(list(found.items()), columns=["obstacle", "remedy"])


_INSTALL = "apt-get install "
_PACKAGE = re.compile("[a-z0-9][a-z0-9+.-]+")


def packages_of(obstacles: pd.DataFrame) -> list[str]:
    """Return the packages of Debian that remove some obstacles.

    Examples
    --------
    >>> packages_of(pd.DataFrame({"remedy": ["apt-get install nginx", "launch as root", "apt-get install wrk"]}))
    ['nginx', 'wrk']
    """
    install = [text.removeprefix(_INSTALL) for text in obstacles["remedy"] if text.startswith(_INSTALL)]
    # A name of Debian's, so no word is an option of apt.
    return sorted({package for text in install for package in text.split() if _PACKAGE.fullmatch(package)})


def install(packages: list[str]) -> int:
    """Install packages of Debian, which starts no service; return the exit code.

    Examples
    --------
    >>> install(["nghttp2-client"])  # doctest: +SKIP
    0
    """
    # The script of this package, never one of the folder in which the command is called.
    argv = ["sh", str(Path(__file__).parents[1] / "system.sh"), "install", "packages", *packages]
    return subprocess.run(argv, env={**os.environ, "SYSTEM": "yes"}, check=False).returncode


def deployments(
    study: Study, known: Programs, remote: Mapping[str, Programs] | None = None
) -> Iterator[tuple[StudyFile, Deployment]]:
    """Yield the sections and the deployment of every point of a study, each point once.

    `known` and `remote` are as for `deploy`.  Raises LoadcurveError, which names the point, when its sections do not
    fit its hosts, and LabError when a program or a module is missing on a host.
    """
    for point in first_points(study):
        settings = settings_of_point(study, dict(point.settings))
        try:
            yield settings, deploy(settings, host_slots(settings, BLOCKS[0]), known, remote)
        except ValueRuleError as error:
            raise LoadcurveError(f"{study.study}/study.yml: in {point.run_id}: {error}") from None


def first_points(study: Study) -> list[Point]:
    """Return the points of the first block, in the order of the study."""
    return sorted(block(study, 1, random.Random(study.seed), 0), key=lambda point: point.run_id)


def _missing(settings: StudyFile, deployment: Deployment) -> Iterator[tuple[str, str]]:
    """Yield each obstacle of a point with its remedy."""
    if deployment.functions is not None:
        yield from _missing_for_functions(deployment.functions)
        return
    namespaces = settings.topology.recipe != "loopback"
    # Programs on remote hosts are checked there: modules before the first run, see `runner`; programs when they start.
    here = {name: site for name, site in deployment.slots.items() if not settings.topology.ssh_of(name)}
    tools = _needed_tools(deployment, here, namespaces)
    yield from ((f"{tool} is not installed", _remedy(tool)) for tool in sorted(tools) if which(tool) is None)
    for on, service in deployment.services:
        if (user := service.user) is not None and not user.can_run(service.program):
            remedy = f"install it for all users, or say in hosts.{on}.as_root why it needs root"
            yield f"{printable(service.program)} cannot be run by {user.name}", remedy
    if namespaces and os.geteuid() != 0:
        yield "network namespaces need root", "launch as root, or choose the topology loopback"
    elif deployment.fault and which("nft") and (reason := why_not(deployment.fault, _PROBE)):
        yield f"fault {deployment.fault.name}: {reason}", "choose another fault, such as cap_connections"
    if settings.balancer.kind and (missing := BALANCERS[settings.balancer.kind].missing_in_kernel()):
        yield missing
    names = {*here, *(name.rstrip("0123456789") for name in here)}
    for name, host in settings.hosts.items():
        if name in names and (reason := limits.why_not(Limits(host.open_files, host.cpu_quota))):
            yield f"hosts.{name}: {reason}", "leave the limit out, or launch where it can be set"
    yield from _cpus(settings, here)
    yield from _modules(settings, here)


def _needed_tools(deployment: Deployment, here: Mapping[str, HostSlot], namespaces: bool) -> set[str]:
    """Return the programs that this machine needs to run a point."""
    tools = {tool for host, _, argv in argvs(deployment) if host in here for tool in _programs(argv)}
    watching = (monitor for host, chosen in deployment.monitors.items() if host in here for monitor in chosen)
    tools |= set(_ALWAYS) | {monitor.argv[0] for monitor in watching if monitor.argv}  # also those of the sampler
    tools -= {capabilities.ASSUMED.php()[0]}  # PHP-FPM has another name on each distribution, see `_modules`
    tools |= set(_OF_NETWORKS) if namespaces else {"taskset"} if here else set()
    tools |= {"ssh"} if len(here) < len(deployment.slots) else set()
    tools |= set(deployment.fault.wrap[:1]) if deployment.fault else set()
    return tools


def _missing_for_functions(test: FunctionTest) -> Iterator[tuple[str, str]]:
    yield from missing(test)
    if os.geteuid() != 0:
        yield "network namespaces need root", "launch as root, or leave the functional tests out"


def _cpus(settings: StudyFile, hosts: Mapping[str, HostSlot]) -> Iterator[tuple[str, str]]:
    """Yield the CPUs that the study names and this machine does not have."""
    online = set(range(os.cpu_count() or 1)) | os.sched_getaffinity(0)
    named = {f"hosts.{name}.cpus": section_of(settings, name).cpus for name in hosts}
    server = settings.server.chosen[1]
    if isinstance(server, NginxSection) and with_role(hosts, "S"):
        named["server.nginx.process.cpus"] = server.process.cpus
    for place, cpus in named.items():
        if missing := sorted(set(cpus) - online):
            listed = ", ".join(map(str, missing))
            yield f"{place}: this machine has no CPU {listed}", f"name CPUs from 0 to {max(online)}"


def _modules(settings: StudyFile, hosts: Mapping[str, HostSlot]) -> Iterator[tuple[str, str]]:
    """Yield missing modules and files that the programs on this machine need."""
    server, balancer = settings.server.kind, settings.balancer.kind
    asked = []
    if server in SERVERS and with_role(hosts, "S"):
        asked.append(partial(SERVERS[server].require, settings.server.chosen[1]))
    if balancer and with_role(hosts, "LB"):
        asked.append(partial(BALANCERS[balancer].require, settings.balancer.chosen[1]))
    for require in asked:
        try:
            require(capabilities.here())
        except LabError as error:
            obstacle, _, remedy = str(error).rpartition(": ")
            yield obstacle, remedy


def _programs(argv: tuple[str, ...]) -> tuple[str, ...]:
    """Return the program of a command, and the program that starts it, if that is a different program."""
    if argv[0] not in ("unshare", "setpriv"):
        return argv[:1]
    return (argv[0], next(word for word in argv[1:] if not word.startswith("-")))


def _remedy(name: str) -> str:
    tool = tool_named(name)
    return f"{_INSTALL}{tool.package}" if tool.package else tool.source
