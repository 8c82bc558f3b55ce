"""The hosts of a run, created and connected: an executor for servers and generators, and one for monitors, on each."""

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from loadcurve.lab.hosts import network, ssh
from loadcurve.lab.hosts.executor import Executor, LocalExecutor
from loadcurve.lab.hosts.host import LOCAL, Host
from loadcurve.lab.hosts.limits import Limits, Prefix, limited, throttling
from loadcurve.lab.hosts.network import Ledger
from loadcurve.lab.hosts.network.conditions import Invocation
from loadcurve.lab.run.deployment import Deployment, links_with, section_of, settings_with
from loadcurve.lab.study_file import StudyFile, TopologySection


@dataclass(frozen=True)
class Environment:
    """The hosts of one run, for as long as it lasts."""

    # `work` and `watch`: name of each host → the executor of its servers and generators, which applies the limits of
    # the host, and the executor of its monitors.
    work: Mapping[str, Executor]
    watch: Mapping[str, Executor]
    own: tuple[str, ...] = ()  # Address blocks of the networks that the laboratory created
    limits: Mapping[str, Prefix] = field(default_factory=dict)  # Name of each limited host → the prefix of its commands
    setup_log: network.SetupLog = field(default_factory=network.SetupLog)  # Commands that created the hosts

    def remote_clocks(self) -> dict[str, tuple[float, float]]:
        """Wall clock and monotonic clock, in s, of each host that is not this machine."""
        return {name: executor.clocks() for name, executor in self.watch.items() if not executor.is_here}

    def facts(self) -> dict[str, Any]:
        """Facts of each host that affect its results: network, clock, throttling by its limits."""
        found: dict[str, Any] = {}
        local = {name: executor.host for name, executor in self.watch.items() if executor.is_here}
        if self.own:
            found |= network.network_facts(local)
        found |= {name: executor.facts() for name, executor in self.watch.items() if name not in local}
        for name, prefix in self.limits.items():
            found[name] = found.get(name, {}) | {"throttling": throttling(prefix)}
        return found


@contextlib.contextmanager
def log_in(topologies: Iterable[TopologySection]) -> Iterator[dict[str, ssh.Connection]]:
    """Log in to the remote hosts of topologies, once for a launch; yield ssh URL → connection."""
    urls = [machine.ssh for topology in topologies for machine in topology.machines.values() if machine.ssh]
    with contextlib.ExitStack() as stack:
        yield {url: stack.enter_context(ssh.connected(url)) for url in dict.fromkeys(urls)}


@contextlib.contextmanager
def prepared(
    settings: StudyFile, deployment: Deployment, folder: Path, logins: Mapping[str, ssh.Connection]
) -> Iterator[Environment]:
    """Create the hosts of a run, and remove them at the end; `logins` are as `log_in` yields them."""
    with contextlib.ExitStack() as stack:
        recipe = settings.topology.recipe
        ledger, setup_log = None, network.SetupLog()
        if recipe != "loopback" or any(host.cpu_quota for host in settings.hosts.values()):
            ledger = stack.enter_context(Ledger())
        if settings.topology.machines:
            watch = _machines(settings, folder, logins, stack)
        elif recipe == "loopback":
            watch = {"local": LocalExecutor(LOCAL, folder)}
        else:
            watch = _namespaces(settings, deployment, folder, ledger, stack, setup_log)
        work, limits = dict(watch), {}
        for name, executor in watch.items():
            section = section_of(settings, name)
            if section.open_files is None and section.cpu_quota is None:
                continue
            bounds = Limits(section.open_files, section.cpu_quota)
            limits[name] = stack.enter_context(limited(bounds, ledger, name, "python3"))
            executor.put(limits[name].files)
            if group := limits[name].group:
                setup_log.note([Invocation(("mkdir", group))])
                setup_log.after.append(Invocation(("rmdir", group)))
            host = replace(executor.host, prefix=(*limits[name].argv, *executor.host.prefix))
            work[name] = executor.with_host(host)
        own = (_block(deployment),) if recipe != "loopback" else ()
        yield Environment(work, watch, own, limits, setup_log)


def _block(deployment: Deployment) -> str:
    first = next(iter(deployment.slots.values())).addresses[0]
    return f"{'.'.join(first.split('.')[:2])}.0.0/16"


def _namespaces(
    settings: StudyFile,
    deployment: Deployment,
    folder: Path,
    ledger: Ledger | None,
    stack: contextlib.ExitStack,
    setup_log: network.SetupLog,
) -> dict[str, Executor]:
    if ledger is None:
        raise ValueError("namespaces need a ledger")
    topology = settings.topology.topology(block=_block(deployment))
    fault, faulty = deployment.fault, deployment.faulty
    hosts = {
        node.name: settings_with(fault, faulty, node.name, section_of(settings, node.name)) for node in topology.nodes
    }
    links = links_with(fault, faulty, settings.links, topology)
    built = stack.enter_context(network.build(topology, ledger, links, hosts, setup_log))
    return {name: LocalExecutor(host, folder) for name, host in built.items()}


def _machines(
    settings: StudyFile, folder: Path, logins: Mapping[str, ssh.Connection], stack: contextlib.ExitStack
) -> dict[str, Executor]:
    executors: dict[str, Executor] = {}
    for name, machine in settings.topology.machines.items():
        host = Host(name, machine.address)
        executor = ssh.open_executor(logins[machine.ssh], host, folder) if machine.ssh else LocalExecutor(host, folder)
        stack.callback(executor.close)
        executors[name] = executor
    return executors
