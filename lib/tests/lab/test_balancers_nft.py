"""nft as a balancer, in namespaces: a client, the balancer's host and three servers told apart by what they answer."""

import contextlib
import json
import subprocess
from collections import Counter

import numpy as np
import pytest
from events import HANG_S
from private_services import ask, need, running

from loadcurve.errors import ValueRuleError
from loadcurve.ingest.balancers.nft import parse_nft
from loadcurve.lab.hosts.network import build, unused_block
from loadcurve.lab.hosts.network.topology import client_l4_servers
from loadcurve.lab.tools.balancers.kernel import NftSection, nft_rules
from loadcurve.lab.tools.balancers.shares import nft_server
from loadcurve.lab.tools.servers.nginx import Nginx, nginx_service
from loadcurve.lab.tools.servers.responses import Text
from loadcurve.lab.tools.servers.settings import Endpoint

SERVERS = 3


@pytest.fixture
def site(tmp_path, ledger):
    """Hosts, and what balances among three servers when it is loaded."""
    need("nginx", "curl", "nft")
    topology = client_l4_servers(servers=SERVERS, block=unused_block())
    front = topology.node("LB").addresses[0]
    ends = tuple(Endpoint(topology.node(f"S{i + 1}").addresses[0], 8080) for i in range(SERVERS))
    with build(topology, ledger) as hosts, contextlib.ExitStack() as stack:
        for i, end in enumerate(ends):
            service = nginx_service(Nginx(f"S{i + 1}", (end,), Text(101 + i)))
            stack.enter_context(running(tmp_path / service.name, service, host=hosts[f"S{i + 1}"]))
        yield hosts, front, ends


def do(host, argv, folder):
    done = subprocess.run(host.argv(argv), cwd=folder, capture_output=True, text=True, check=False, timeout=HANG_S)
    assert done.returncode == 0, done.stderr
    return done.stdout


def loaded(site, folder, listens=(), seed=1, **settings):
    """The rules of a balancer, with one service where none is given, loaded."""
    hosts, front, ends = site
    rules = nft_rules(NftSection(**settings), listens or (Endpoint(front, 80),), ends, seed, "LB-1")
    for name, text in rules.files.items():
        (folder / name).write_text(text)
    do(hosts["LB"], rules.load, folder)
    return rules


def addresses(host):
    listed = subprocess.run(host.argv(("ip", "-4", "-j", "address")), capture_output=True, check=True).stdout
    return [address["local"] for link in json.loads(listed) for address in link["addr_info"]]


def asked(site, times, port=80):
    hosts, front, _ = site
    found = Counter(len(ask(f"http://{front}:{port}/", host=hosts["C1"]).body) for _ in range(times))
    assert set(found) <= {101, 102, 103}, "each request must be answered by a server"
    return [found[101 + i] for i in range(SERVERS)]


@pytest.mark.lab
def test_servers_take_turns_and_are_counted(site, tmp_path):
    rules = loaded(site, tmp_path)
    assert asked(site, 9) == [3, 3, 3]
    rows = parse_nft(do(site[0]["LB"], rules.counters, tmp_path)).tables["balancer"]
    assert dict(zip(rows["server_address"], rows["connections"], strict=True)) == {end.address: 3 for end in site[2]}


@pytest.mark.lab
def test_servers_at_random(site, tmp_path):
    loaded(site, tmp_path, scheduler="random")
    # Chi-square with two degrees of freedom passes 27.6 once in a million (NIST/SEMATECH e-Handbook, 1.3.6.7.4).
    assert sum((n - 15) ** 2 / 15 for n in asked(site, 45)) < 27.6


@pytest.mark.lab
def test_a_client_keeps_its_server_by_hash(site, tmp_path):
    (client,) = (address for address in addresses(site[0]["C1"]) if not address.startswith("127."))
    for seed in (1, 2, 3, 0x10ADC0DE):
        rules = loaded(site, tmp_path, scheduler="hash", seed=seed)
        expected = [0] * SERVERS
        expected[nft_server(client, SERVERS, np.array([seed]))[0]] = 6
        assert asked(site, 6) == expected
        do(site[0]["LB"], rules.remove, tmp_path)


@pytest.mark.lab
def test_what_is_exported_can_be_imported(site, tmp_path):
    rules, balancer = loaded(site, tmp_path), site[0]["LB"]
    exported = do(balancer, rules.export, tmp_path)
    do(balancer, rules.remove, tmp_path)
    assert do(balancer, ("nft", "list", "ruleset"), tmp_path) == "", "nothing is left"
    assert ask(f"http://{site[1]}/", host=site[0]["C1"]).status == 0
    (file,) = rules.files
    (tmp_path / file).write_text(exported)
    do(balancer, rules.load, tmp_path)
    assert do(balancer, rules.export, tmp_path) == exported
    assert asked(site, 3) == [1, 1, 1]


@pytest.mark.lab
@pytest.mark.parametrize("lookup", ["map", "rules"])
def test_ten_thousand_services(site, tmp_path, lookup):
    front = site[1]
    rules = loaded(site, tmp_path, listens=tuple(Endpoint(front, 10_000 + i) for i in range(10_000)), lookup=lookup)
    assert asked(site, 3, port=10_000) == [1, 1, 1]
    assert asked(site, 3, port=19_999) == [1, 1, 1]
    do(site[0]["LB"], rules.load, tmp_path)  # again: it takes the place of itself
    exported = do(site[0]["LB"], rules.export, tmp_path)
    assert exported.count("goto balance") == 10_000
    do(site[0]["LB"], rules.remove, tmp_path)


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"name": "LB; flush ruleset"}, "name must be"),
        ({"name": "LB\nflush ruleset"}, "name must be"),
        ({"name": "-f"}, "name must be"),
        ({"listens": ()}, "listens must be 1 to 10000 endpoints"),
        ({"listens": ("10.0.0.1:80",)}, "listens must be 1 to 10000 endpoints"),
        ({"servers": ()}, "servers must be 1 to 256 endpoints"),
        ({"scheduler": "rr } ; flush ruleset"}, "scheduler must be one of rr, random, hash"),
        ({"lookup": "none"}, "lookup must be one of map, rules"),
    ],
)
def test_a_setting_out_of_its_rule_is_refused(settings, text):
    own = {key: settings.pop(key) for key in ("scheduler", "lookup") if key in settings}
    settings = {"listens": (Endpoint("10.99.0.1", 80),), "servers": (Endpoint("10.99.64.2", 80),)} | settings
    with pytest.raises(ValueRuleError, match=text):
        nft_rules(NftSection(**own), **settings)
