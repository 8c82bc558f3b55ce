"""IPVS: its rules as text, and what the kernel does with them where it has IPVS."""

import pytest
from ipvs_exercise import SERVERS, exercise
from private_services import need

from loadcurve.errors import ValueRuleError
from loadcurve.ingest.balancers.ipvsadm import parse_ipvsadm
from loadcurve.lab.balancers import IpvsBalancer, direct_routing_argvs, has_ipvs, ipvs_rules
from loadcurve.lab.servers import Endpoint

HERE = Endpoint("10.99.0.1", 80)
THERE = tuple(Endpoint(f"10.99.{65 + i}.1", 80) for i in range(SERVERS))


def check(told):
    """What a kernel did is what ipvsadm(8) says of each scheduler."""
    assert "error" not in told, told["error"]
    assert told["rr"] == [4, 4, 4]
    assert told["wrr"] == [2, 4, 6], "weights 1, 2, 3"
    assert told["wlc"] == [4, 4, 4] or sum(told["wlc"]) == 12
    assert sorted(told["sh"]) == sorted(told["mh"]) == [0, 0, 12], "one client, one server"
    assert told["dr"] == [4, 4, 4]
    rows = parse_ipvsadm(told["counters"]).tables["balancer"]
    assert rows.loc[rows["kind"] == "server", "connections"].tolist() == [4, 4, 4]
    assert told["left"] == "" and told["imported"]
    assert told["services"] == 10_000 and told["last"] == [2, 0, 0]


@pytest.mark.lab
def test_the_kernel_balances(tmp_path, network_tools):
    need("ipvsadm", "nginx")
    if not has_ipvs():
        pytest.skip("no IPVS in this kernel")
    check(exercise(tmp_path))


def test_rules_are_those_that_ipvsadm_saves():
    rules = ipvs_rules(IpvsBalancer("LB", (HERE,), THERE, "wrr", weights=(1, 2, 0)))
    text = rules.files["LB.ipvs"].removeprefix("-C\n")
    rows = parse_ipvsadm(text).tables["balancer"]
    servers = rows[rows["kind"] == "server"]
    assert servers["server_address"].tolist() == [end.address for end in THERE]
    assert servers["weight"].tolist() == [1, 2, 0] and set(servers["forward"]) == {"Masq"}
    assert rows.loc[rows["kind"] == "service", "scheduler"].tolist() == ["wrr"]


def test_ten_thousand_services_are_as_many_lines():
    many = tuple(Endpoint("10.99.0.1", 10_000 + i) for i in range(10_000))
    text = ipvs_rules(IpvsBalancer("LB", many, THERE, forward="nat")).files["LB.ipvs"]
    assert len(text.splitlines()) == 1 + 10_000 * (1 + SERVERS)


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"name": "LB\n-C"}, "name must be"),
        ({"name": "-C"}, "name must be"),
        ({"listens": ()}, "listens must be 1 to 10000 endpoints"),
        ({"servers": ("10.99.65.1:80 -w 9",)}, "servers must be 1 to 256 endpoints"),
        ({"scheduler": "rr\n-C"}, "scheduler must be one of rr, wrr, wlc, sh, mh"),
        ({"forward": "-g"}, "forward must be one of nat, dr"),
        ({"weights": (1,)}, "weights must be one for each of 3 servers"),
        ({"weights": (1, 2, "3\n-C")}, "weights must be a whole number of 0 to 65535"),
        ({"forward": "dr", "listens": (Endpoint("10.99.0.1", 8080),)}, "servers must be of the services' only port"),
    ],
)
def test_a_setting_out_of_its_rule_is_refused(settings, text):
    with pytest.raises(ValueRuleError, match=text):
        IpvsBalancer(**{"name": "LB", "listens": (HERE,), "servers": THERE} | settings)


@pytest.mark.parametrize("address", ["10.99.0.1/8", "-6", "0.0.0.0", "10.99.0.1 dev eth0"])
def test_an_address_to_share_is_one_address(address):
    with pytest.raises(ValueRuleError, match="address must be"):
        direct_routing_argvs(address)
