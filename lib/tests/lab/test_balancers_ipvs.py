"""IPVS: its rules as text, and what a kernel does with them: this one, or the one of user-mode-linux."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from private_services import need

from loadcurve.errors import ValueRuleError
from loadcurve.ingest.balancers.ipvsadm import parse_ipvsadm
from loadcurve.lab.hosts.process import guarded
from loadcurve.lab.hosts.tools import SEARCH_PATH
from loadcurve.lab.hosts.user_mode_linux import kernel_argv, module_paths, why_no_kernel
from loadcurve.lab.tools.balancers.kernel import IpvsSection, direct_routing_argvs, has_ipvs, ipvs_rules
from loadcurve.lab.tools.servers.nginx import Nginx, nginx_service
from loadcurve.lab.tools.servers.responses import Text
from loadcurve.lab.tools.servers.settings import Endpoint

HERE = Endpoint("10.99.0.1", 80)
THERE = tuple(Endpoint(f"10.99.64.1{i + 1}", 80) for i in range(3))
MODULES = ("veth", "bridge", "ip_vs", "ip_vs_rr", "ip_vs_wrr", "ip_vs_wlc", "ip_vs_sh", "ip_vs_mh")
LIMIT_S = 240  # a kernel in user space boots slowly on a busy machine


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """The folder in which `ipvs.sh` has told what a kernel did."""
    need("nginx", "curl", "ipvsadm", "ip", "sysctl")
    if os.geteuid() != 0:
        pytest.skip("network namespaces need root")
    folder = tmp_path_factory.mktemp("ipvs")
    if has_ipvs():
        kernel = ("unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", f"{folder}/ipvs.sh", "here")
    elif not why_no_kernel():
        kernel = _user_mode_linux(folder)
    else:
        pytest.skip("no IPVS in this kernel, and no user-mode-linux")
    shutil.copy(Path(__file__).with_name("ipvs.sh"), folder)
    _write_inputs(folder)
    with (folder / "console.txt").open("wb") as console:
        subprocess.run(
            guarded(kernel, LIMIT_S),
            stdin=subprocess.DEVNULL,
            stdout=console,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PATH": SEARCH_PATH},
            check=False,
        )
    said = "".join((folder / name).read_text() for name in ("console.txt", "errors.txt") if (folder / name).exists())
    assert (folder / "end.txt").exists(), said
    return folder


def _write_inputs(folder):
    for scheduler, weights in (("rr", ()), ("wrr", (1, 2, 3)), ("wlc", ()), ("sh", ()), ("mh", ())):
        rules = ipvs_rules(IpvsSection(scheduler, weights=weights), (HERE,), THERE, scheduler)
        assert (rules.load, rules.stdin) == (("ipvsadm", "-R"), f"{scheduler}.ipvs"), "as the script has it"
        (folder / rules.stdin).write_text(rules.files[rules.stdin])
    many = tuple(Endpoint(HERE.address, 10_000 + i) for i in range(10_000))
    for rules in (
        ipvs_rules(IpvsSection(), many, THERE[:1], "many"),
        ipvs_rules(IpvsSection(forward="dr"), (HERE,), THERE, "dr"),
    ):
        (folder / rules.stdin).write_text(rules.files[rules.stdin])
    (folder / "direct_routing.txt").write_text("".join(f"{' '.join(a)}\n" for a in direct_routing_argvs(HERE.address)))
    for i, end in enumerate(THERE):
        # A server of direct routing answers from the balancer's address too: it listens on all of them.
        service = nginx_service(Nginx(f"S{i + 1}", (end,), Text(101 + i), wildcard=True))
        (folder / f"S{i + 1}.conf").write_text(service.files[f"S{i + 1}.conf"])
        (folder / f"S{i + 1}.work").mkdir()


def _user_mode_linux(folder):
    """Command of a kernel with IPVS as an ordinary process, and the list of its modules with what they need."""
    (folder / "modules.txt").write_text("".join(f"{path}\n" for path in module_paths(MODULES)))
    return kernel_argv(folder, "ipvs.sh")


def asked(told, name):
    """How often each of the servers answered."""
    lengths = (told / f"{name}.txt").read_text().split()
    assert set(lengths) <= {"101", "102", "103"}, (told / "errors.txt").read_text()
    return [lengths.count(str(101 + i)) for i in range(3)]


@pytest.mark.lab
@pytest.mark.parametrize(("scheduler", "counts"), [("rr", [4, 4, 4]), ("wrr", [2, 4, 6]), ("dr", [4, 4, 4])])
def test_servers_take_turns(told, scheduler, counts):
    assert asked(told, scheduler) == counts, "by weight under wrr: 1, 2, 3"


@pytest.mark.lab
@pytest.mark.parametrize("scheduler", ["sh", "mh"])
def test_one_client_keeps_its_server_by_hash(told, scheduler):
    assert sorted(asked(told, scheduler)) == [0, 0, 12]


@pytest.mark.lab
def test_the_fewest_connections(told):
    """Answered connections count a little too, so that the turns are not exact (ip_vs_wlc.c, overhead)."""
    counts = asked(told, "wlc")
    assert sum(counts) == 12 and min(counts) >= 1


@pytest.mark.lab
def test_servers_are_counted(told):
    rows = parse_ipvsadm((told / "counters.txt").read_text()).tables["balancer"]
    servers = rows[rows["kind"] == "server"].set_index("server_address")["connections"]
    assert [servers[end.address] for end in THERE] == asked(told, "wrr") == [2, 4, 6]


@pytest.mark.lab
def test_what_is_exported_can_be_imported(told):
    assert (told / "left.txt").read_text() == ""
    assert (told / "imported.txt").read_text() == (told / "exported.txt").read_text() != ""


@pytest.mark.lab
def test_ten_thousand_services(told):
    assert (told / "many.txt").read_text() == "10000\n"
    assert asked(told, "many_asked") == [3, 0, 0]


def test_rules_are_those_that_ipvsadm_saves():
    rules = ipvs_rules(IpvsSection("wrr", weights=(1, 2, 0)), (HERE,), THERE)
    text = rules.files["LB.ipvs"].removeprefix("-C\n")
    rows = parse_ipvsadm(text).tables["balancer"]
    servers = rows[rows["kind"] == "server"]
    assert servers["server_address"].tolist() == [end.address for end in THERE]
    assert servers["weight"].tolist() == [1, 2, 0] and set(servers["forward"]) == {"Masq"}
    assert rows.loc[rows["kind"] == "service", "scheduler"].tolist() == ["wrr"]


def test_ten_thousand_services_are_as_many_lines():
    many = tuple(Endpoint("10.99.0.1", 10_000 + i) for i in range(10_000))
    text = ipvs_rules(IpvsSection(), many, THERE).files["LB.ipvs"]
    assert len(text.splitlines()) == 1 + 10_000 * (1 + len(THERE))


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
        own = {key: settings.pop(key) for key in ("scheduler", "forward", "weights") if key in settings}
        ipvs_rules(IpvsSection(**own), **{"listens": (HERE,), "servers": THERE} | settings)


@pytest.mark.parametrize("address", ["10.99.0.1/8", "-6", "0.0.0.0", "10.99.0.1 dev eth0"])
def test_an_address_to_share_is_one_address(address):
    with pytest.raises(ValueRuleError, match="address must be"):
        direct_routing_argvs(address)
