"""Conditions of links and hosts: what is accepted, and what becomes of it."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadcurve.errors import LabError, ValueRuleError
from loadcurve.lab.hosts.network import HostSettings, LinkConditions
from loadcurve.lab.hosts.network.conditions import SYSCTLS, ethtool_argv, loss_rules, tc_lines
from loadcurve.lab.hosts.network.topology import (
    client_l4_servers,
    client_server,
    host_lines,
    resolve,
    sysctl_words,
    veth_lines,
)

conditions = st.builds(
    LinkConditions,
    mtu=st.integers(68, 65521),
    rate_bps=st.one_of(st.just(math.inf), st.floats(8000, 1e12)),
    delay_s=st.floats(0, 10),
    loss_ratio=st.floats(0, 1),
    offloads=st.dictionaries(st.sampled_from(["tso", "gso", "gro"]), st.booleans()),
)


@pytest.mark.parametrize(
    "wrong",
    [
        {"mtu": 67}, {"mtu": 65522}, {"mtu": "1500"}, {"mtu": 1500.0}, {"mtu": True},
        {"rate_bps": 0}, {"rate_bps": -1}, {"rate_bps": math.nan}, {"rate_bps": "100mbit"}, {"rate_bps": True},
        {"delay_s": -0.1}, {"delay_s": 11}, {"delay_s": math.nan}, {"delay_s": "10ms loss 5%"},
        {"loss_ratio": -0.01}, {"loss_ratio": 1.01}, {"loss_ratio": math.nan}, {"loss_ratio": "0.1; drop"},
        {"offloads": {"tso": "off"}}, {"offloads": {"-K": True}}, {"offloads": {"tso off; reboot": True}},
    ],
)  # fmt: skip
def test_a_link_refuses_what_is_no_condition(wrong):
    with pytest.raises(ValueRuleError, match=rf"^{next(iter(wrong))} must be"):
        LinkConditions(**wrong)


@pytest.mark.parametrize(
    "wrong",
    [
        {"congestion_control": "reno\nlink del lo"}, {"congestion_control": "-x"}, {"congestion_control": ""},
        {"congestion_control": None},
        {"sysctls": {"kernel.panic": "1"}}, {"sysctls": {"net.ipv4.tcp_mem": "1 2 3"}}, {"sysctls": {"-p": "1"}},
        {"sysctls": {"net.core.somaxconn": "1 -p /etc/x"}}, {"sysctls": {"net.core.somaxconn": "1\n2"}},
        {"sysctls": {"net.core.somaxconn": ""}}, {"sysctls": {"net.core.somaxconn": "reno"}},
        {"sysctls": {"net.core.somaxconn": True}},
        {"sysctls": {"net/../kernel/panic": "1"}},
    ],
)  # fmt: skip
def test_a_host_refuses_what_is_no_setting(wrong):
    with pytest.raises(ValueRuleError):
        HostSettings(**wrong)


def test_only_settings_of_namespaces_are_known():
    # These are the whole machine's, whoever sets them (Documentation/networking/ip-sysctl.rst, and lab measurements).
    whole_machine = {"net.ipv4.tcp_mem", "net.ipv4.tcp_max_orphans", "net.core.netdev_max_backlog", "net.core.rmem_max"}
    assert all(name.startswith("net.") for name in SYSCTLS)
    assert not SYSCTLS & whole_machine


@given(conditions, st.booleans())
def test_queues_are_those_of_the_conditions(link, netem):
    lines = tc_lines("eth0", link, netem).splitlines()
    assert len(lines) == (link.delay_s > 0 and netem) + math.isfinite(link.rate_bps)
    assert sum(" root " in line for line in lines) == bool(lines), "one of them is the root"
    assert all(line.startswith("qdisc add dev eth0 ") for line in lines)
    for line in lines:
        if " tbf " in line:
            words = line.split()
            # A bucket smaller than a frame lets nothing through (tc-tbf(8), burst).
            assert int(words[words.index("burst") + 1].removesuffix("b")) >= link.mtu + 14
            assert int(words[words.index("rate") + 1].removesuffix("bit")) == pytest.approx(link.rate_bps, rel=1e-3)


def test_delay_and_rate_nest_as_the_manual_of_netem_shows():
    assert tc_lines("eth0", LinkConditions(delay_s=0.01, rate_bps=1e6), netem=True).splitlines() == [
        "qdisc add dev eth0 root handle 1: netem delay 10000us limit 100000",
        "qdisc add dev eth0 parent 1:1 handle 10: tbf rate 1000000bit burst 3028b latency 50ms",
    ]


def test_loss_has_a_chain_for_each_device():
    text = loss_rules({"eth0": 0.25, "eth1": 1.0})
    assert text.count("chain ") == 2
    assert "mod 1000000 < 250000 counter drop" in text
    assert "mod 1000000 < 1000000 counter drop" in text


def test_offloads_of_the_study_come_last():
    assert ethtool_argv("eth0", LinkConditions()) == ()
    asked = ethtool_argv("eth0", LinkConditions(loss_ratio=0.1, offloads={"gro": False, "tso": True}))
    assert " ".join(asked) == "ethtool -K eth0 tso on gso off gro off"


def test_conditions_go_to_the_links_that_they_name():
    slow = LinkConditions(rate_bps=1e6)
    links = resolve(client_l4_servers(), {"LB.back": slow, "S1": slow})
    assert {link for link, condition in links.items() if condition == slow} == {("LB", "back"), ("S1", "back")}
    links = resolve(client_l4_servers(), {"back": slow})
    assert {link for link, condition in links.items() if condition == slow} == {
        ("LB", "back"), ("S1", "back"), ("S2", "back"),
    }  # fmt: skip
    with pytest.raises(LabError, match="LB to back has conditions twice"):
        resolve(client_l4_servers(), {"LB": slow, "LB.back": slow})
    with pytest.raises(LabError, match="no host 'C1; reboot'"):
        resolve(client_server(), {"C1; reboot": slow})


def test_a_network_has_one_mtu():
    with pytest.raises(LabError, match="links of network back must have one MTU, got 1500, 9000"):
        resolve(client_l4_servers(), {"S1": LinkConditions(mtu=9000)})
    assert resolve(client_l4_servers(), {"back": LinkConditions(mtu=9000)})["LB", "front"].mtu == 1500


def test_reno_is_the_namespaces_own_and_others_come_by_the_routes():
    topology = client_l4_servers()
    links, server = resolve(topology, {}), topology.node("S1")
    assert "congctl" not in host_lines(server, links, HostSettings(), ipv6=True)
    assert host_lines(server, links, HostSettings("cubic"), ipv6=False).splitlines() == [
        "link set dev lo up",
        "address add 10.99.65.1/18 dev eth0",
        "link set dev eth0 mtu 1500 txqueuelen 10000 up",
        "route change 10.99.64.0/18 dev eth0 proto kernel scope link src 10.99.65.1 congctl cubic",
        "route add default via 10.99.64.1 congctl cubic",
    ]
    assert "net.ipv4.tcp_congestion_control=reno" in sysctl_words(server, HostSettings("cubic"))


def test_a_studys_settings_win_over_the_laboratorys():
    balancer = client_l4_servers().node("LB")
    assert "net.ipv4.ip_forward=1" in sysctl_words(balancer, HostSettings())
    assert "net.ipv4.ip_forward=0" in sysctl_words(balancer, HostSettings(sysctls={"net.ipv4.ip_forward": "0"}))


def test_a_link_that_a_delay_line_makes_has_no_veth_pair():
    topology = client_server()
    assert veth_lines(topology, "lc000000", frozenset({("S1", "lan")})).splitlines() == [
        "link add name eth0 netns lc000000-C1 type veth peer name C1-lan netns lc000000-net"
    ]
