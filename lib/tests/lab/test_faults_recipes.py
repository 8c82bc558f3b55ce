"""Faults as data: what each one is, and values that are refused."""

import os
import subprocess
import sys
import time
from functools import partial

import psutil
import pytest
from events import HANG_S
from one_test import in_one_test
from private_services import need

from loadcurve.errors import LabError, ValueRuleError
from loadcurve.lab.hosts.host import LOCAL, Host
from loadcurve.lab.hosts.network import TOPOLOGIES, LinkConditions
from loadcurve.lab.hosts.network.topology import resolve
from loadcurve.lab.run.deployment import links_with
from loadcurve.lab.study_file.sections import FaultSection
from loadcurve.lab.tools import faults
from loadcurve.lab.tools.faults.fault import Fault, FaultTarget, Send, Sysctl, Table
from loadcurve.lab.tools.faults.inject import injected

NAN = float("nan")
VALUES = {
    "narrow_ports": 10, "few_descriptors": 256, "lose_packets": 0.1, "delay_packets": 0.01, "fill_accept_queue": 8,
    "fill_conntrack": 16, "cap_connections": 16, "slow_link": 1e6, "kill_generator": 2.5, "busy_processors": 2,
    "limit_packets": 20_000, "steer_packets": 1, "other_transfer": 1000,
}  # fmt: skip


def fault(name, value=None, **target):
    return faults.FAULTS[name].make(VALUES.get(name, True) if value is None else value, FaultTarget(**target))


ALL = [fault(name) for name in faults.FAULTS]


def test_each_name_is_that_of_its_recipe():
    assert [one.name for one in ALL] == list(faults.FAULTS)


def test_what_they_are():
    assert fault("narrow_ports").begin == (Sysctl("net.ipv4.ip_local_port_range", "40000 40009"),)
    assert fault("few_descriptors").wrap == ("prlimit", "--nofile=256:256")
    assert fault("lose_packets").link == LinkConditions(loss_ratio=0.1)
    assert fault("delay_packets").link == LinkConditions(delay_s=0.01)
    # After a worker's end its master starts another.
    assert (fault("kill_server").ends, fault("kill_worker").ends) == ({"S1"}, frozenset())
    assert fault("kill_generator").wrap[-2:] == ("--signal=KILL", "2.5")
    shaped = fault("slow_link").begin[0].text
    assert shaped == "qdisc add dev eth0 root tbf rate 1000000bit burst 3028b latency 50ms\n"
    assert fault("stop_server").end == (Send("S1", "CONT"),)
    assert fault("fill_accept_queue").sysctls == {"net.core.somaxconn": "8"}
    assert [fault("steer_packets", processor).begin[0].mask for processor in (0, 3, 5)] == ["1", "8", "20"]
    download = fault("other_transfer", address="10.99.0.2", port=8080).begin[0].argv
    assert download[-1] == "http://10.99.0.2:8080/1000.bin"
    assert "limit rate over 20000/second burst 2000 packets counter drop\n" in fault("limit_packets").begin[0].text
    assert "ct count over 16 counter drop\n" in fault("cap_connections").begin[0].text
    (table,) = fault("drop_syn", port=8080).begin
    assert "tcp dport 8080 tcp flags & (syn | ack) == syn counter drop\n" in table.text


WRONG = {
    "narrow_ports": (0, "10; x"), "few_descriptors": (True, "--all"), "drop_syn": ("80 drop",),
    "lose_packets": (0.0, NAN),
    "delay_packets": (-1,), "kill_worker": ("-1",), "fill_accept_queue": (0,), "fill_conntrack": (0,),
    "cap_connections": (0,), "slow_link": (7999, "1e6 burst 1b"), "kill_generator": (0,), "busy_processors": (0,),
    "limit_packets": (9, "20000/second"), "steer_packets": (32,), "other_transfer": (0,),
}  # fmt: skip
REFUSED = [
    *(
        (lambda value, name=name: FaultSection(**{name: value}), [(value,) for value in wrong])
        for name, wrong in WRONG.items()
    ),
    (lambda port: fault("drop_syn", port=port), [("80 drop",), (0,)]),
    (lambda service: fault("stop_server", service=service), [("../S1",)]),
    (lambda address: fault("other_transfer", address=address), [("-d",)]),
    (Sysctl, [("kernel.panic", "1"), ("net.core.somaxconn", "1 -w x=1")]),
    (Table, [("filter", "input", ()), ("fault_x", "forward", ()), ("fault_x", "input", ("drop; }",))]),
    (Send, [("S1", "TERM"), ("S1", "KILL", "everybody")]),
    (partial(Fault, "x"), [("nobody",)]),
    (partial(Fault, "x", sysctls={"vm.swappiness": "1"}), [("S",)]),
]


@in_one_test(("make", "values"), [(make, values) for make, wrong in REFUSED for values in wrong])
def test_refused(make, values):
    with pytest.raises(ValueRuleError):
        make(*values)


@pytest.mark.parametrize("times", [{"every_s": 2.0}, {"lasts_s": 2.0, "every_s": 2.0}])
def test_a_fault_that_begins_again_must_have_ended(times):
    with pytest.raises(ValueRuleError, match="every_s must be more than lasts_s"):
        FaultSection(**{"stop_server": True, **times})


@pytest.mark.parametrize("one", [one for one in ALL if one.begin], ids=lambda one: one.name)
def test_never_on_this_machine_itself(one):
    with pytest.raises(LabError, match="only in a namespace"), injected(one, LOCAL, {"S1": os.getpid()}):
        pass


def test_only_processes_that_this_one_started():
    host = Host("S1", "10.99.0.2", ("ip", "netns", "exec", "none"))
    with pytest.raises(LabError, match="no service 'S1'"), injected(fault("stop_server"), host):
        pass
    others = {"S1": os.getppid()}
    with (
        pytest.raises(LabError, match="not started by this process"),
        injected(fault("stop_server"), host, others),
    ):
        pass
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    with (
        pytest.raises(LabError, match="no process"),
        injected(fault("kill_worker"), host, {"S1": ended.pid}),
    ):
        pass


def test_a_guard_is_never_signalled_itself():
    need("timeout")
    host = Host("S1", "10.99.0.2", ("ip", "netns", "exec", "none"))
    guard = subprocess.Popen(["timeout", "10", "sleep", "9"], start_new_session=True)
    try:
        while not psutil.Process(guard.pid).children():
            time.sleep(0.01)
        (sleeper,) = psutil.Process(guard.pid).children()
        with injected(fault("stop_server"), host, {"S1": guard.pid}) as events:
            while sleeper.status() != psutil.STATUS_STOPPED:
                time.sleep(0.01)
            assert psutil.Process(guard.pid).status() != psutil.STATUS_STOPPED
        assert [event.what.split(":")[0] for event in events] == ["STOP sent to S1", "CONT sent to S1"]
        assert f" {guard.pid}" not in " ".join(event.what for event in events)
    finally:
        guard.terminate()
        guard.wait(HANG_S)


def test_a_fault_of_a_link_leaves_what_is_set_and_is_at_least_as_bad():
    """However a study names the links: of a network, of a host, of one link."""
    topology = TOPOLOGIES["client_l4_servers"]()
    back = topology.node("LB").interfaces[1].network
    for set_already in (
        {back: LinkConditions(delay_s=0.002, mtu=1400)},
        {"LB": LinkConditions(loss_ratio=0.2)},
        {f"LB.{back}": LinkConditions(delay_s=0.5)},
        {},
    ):
        before = resolve(topology, set_already)
        after = resolve(topology, links_with(fault("delay_packets"), "LB", set_already, topology))
        assert set(after) == set(before)
        for (host, network), was in before.items():
            now = after[host, network]
            assert (now.loss_ratio, now.mtu) == (was.loss_ratio, was.mtu)
            assert now.delay_s == (max(was.delay_s, 0.01) if host == "LB" else was.delay_s)
    assert links_with(None, "LB", {"LB": LinkConditions()}, topology) == {"LB": LinkConditions()}
    assert links_with(fault("drop_fin"), "LB", {}, topology) == {}
