"""The plan of a study: the argv that it prints are those that ran, and printing it starts and makes nothing."""

import re
import shlex
import subprocess
from itertools import chain

import pytest
from launched_runs import DELAYS, launched, short_study, tool_argv

from loadcurve.lab import describe, describe_obstacles
from loadcurve.lab.hosts.network import Ledger
from loadcurve.lab.tools.balancers.kernel import has_ipvs

pytestmark = pytest.mark.lab

STUDIES = {
    "loopback": {"server": DELAYS, "monitors": {"sar": 1.0, "ss_connections": 1.0}, "warm_up_s": 1.0},
    "several": {
        "topology": {"recipe": "several_clients"}, "load": {"connections": 4, "processes": 2},
        "monitors": {"ss_summary": 1.0, "ss_details": 1.0, "nstat": 1.0},
    },
    "proxy": {
        "topology": {"recipe": "client_proxy_servers"}, "balancer": {"haproxy": {}}, "monitors": {"counters": 1.0},
        "server": {"apache": {}}, "load": {"tool": "ab", "requests": 50, "connections": 2},
    },
    "rules": {
        "topology": {"recipe": "client_l4_servers"}, "balancer": {"nft": {"services": 3}},
        "hosts": {"S": {"open_files": 3000}}, "load": {"tool": "hey", "requests": 50, "connections": 2},
    },
    "fault": {
        "topology": {"recipe": "client_server"}, "fault": {"few_descriptors": 64}, "load": {"connections": 4},
        "variants": {"E": {"server.nginx": {"layout": "E", "process": {"workers": 2}}, "load.processes": 2}, "A": {}},
    },
}  # fmt: skip
_ROLES = {"server", "balancer", "collector", "warm_up", "generator"}


def planned(study):
    """Commands of each run in the plan: host, role, argv without pins."""
    runs, found = {}, None
    for line in list(describe(study))[2 if study.search else 1 :]:
        if not line.startswith(" "):
            found = runs.setdefault(f"{line}", [])
            continue
        host, role, *argv = shlex.split(line)
        if role in _ROLES:
            found.append((host, role, without_ports(argv[3:] if argv[0] == "taskset" else argv)))
    return runs


def ran(run):
    """The same of a run; a process that writes several texts once."""
    found = []
    for command in run.commands:
        argv = list(tool_argv(command))
        waits = next((at for at, word in enumerate(argv) if word.endswith(".at.py")), None)
        if waits is not None:  # for the instant of all generators
            del argv[waits - 3 : waits + 3]
        one = (command.host, command.role, without_ports(argv))
        if command.role != "collector" or one not in found:
            found.append(one)
    return found


def without_ports(argv):
    """Ports of loopback are others each time."""
    return tuple(re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:PORT", word) for word in argv)


@pytest.mark.parametrize("name", STUDIES)
def test_what_is_planned_is_what_runs(tmp_path, name):
    sections = STUDIES[name]
    plan = planned(short_study("s", **sections))
    made = launched(tmp_path / "s", **sections)
    assert set(plan) == set(made.runs)
    for run_id, commands in plan.items():
        assert sorted(commands) == sorted(ran(made.runs[run_id])), run_id


def test_a_plan_of_a_search_shows_a_run_that_it_makes():
    """Not the study's own level and duration, which no run of a search has."""
    search = {"factor": "connections", "capacity": {"lowest": 3, "highest": 64, "final_s": 2}}
    study = short_study("s", search=search, objective={"latency_s": 0.01}, factors={}, load={"duration_s": 5})
    head, trials, *_ = describe(study)
    assert head.startswith("s: at most ") and " runs of up to 2 s, " in head
    assert trials == "  each run sets connections from 3 to 64 and lasts 1 to 2 s: below are the longest at the lowest"
    (wrk,) = (argv for _, role, argv in chain(*planned(study).values()) if role == "generator")
    at = wrk.index("wrk")
    assert wrk[at + 2 : at + 4] == ("-c3", "-d2s")


def test_a_plan_starts_and_makes_nothing(tmp_path, monkeypatch):
    def never(*words, **named):
        raise AssertionError(f"started: {words}")

    monkeypatch.chdir(tmp_path)
    for module, name in ((subprocess, "Popen"), (subprocess, "run")):
        monkeypatch.setattr(module, name, never)
    monkeypatch.setattr(Ledger, "__init__", never)
    for name, sections in STUDIES.items():
        lines = list(describe(short_study(name, **sections)))
        assert len(lines) > 3 and lines[0].startswith(f"{name}: ")
    assert list(tmp_path.iterdir()) == []


def test_a_plan_of_a_search_says_how_long_it_may_take():
    sections = {
        "load": {"connections": 2}, "objective": {"latency_s": 1.0},
        "search": {"capacity": {"lowest": 1, "highest": 8, "final_s": 6.0, "most_trials": 20}},
    }  # fmt: skip
    head = next(iter(describe(short_study("s", **sections))))
    assert head.startswith("s: at most 20 runs of up to 6 s, at most 2 min ")


@pytest.mark.parametrize(
    ("sections", "said"),
    [
        (
            {"hosts": {"local": {"cpus": [0, 999]}}},
            "hosts.local.cpus: this machine has no CPU 999: name CPUs from 0 to",
        ),
        (
            {"server": {"nginx": {"process": {"cpus": [999]}}}},
            "server.nginx.process.cpus: this machine has no CPU 999: name CPUs from 0 to",
        ),
        ({"server": {"url": "http://192.0.2.1/"}}, "target must be loopback, got 192.0.2.1: if you may load this host"),
        (
            {"server": {"url": "http://8.8.8.8/"}, "allow_targets": ("8.8.8.8",)},
            "target must not be public, got 8.8.8.8",
        ),
    ],
)
def test_a_plan_names_what_keeps_it_from_being_launched(sections, said):
    study = short_study("s", **sections)
    assert list(describe(study))
    assert any(said in line for line in describe_obstacles(study))


def test_a_plan_names_a_kernel_without_ipvs():
    study = short_study("s", topology={"recipe": "client_l4_servers"}, balancer={"ipvs": {}})
    assert any("IPVS" in line for line in describe_obstacles(study)) is not has_ipvs()
