"""What `read_checked` takes can be arranged and described: no combination is refused later than there."""

from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from one_test import in_one_test

from loadcurve.errors import LoadcurveError
from loadcurve.lab import describe
from loadcurve.lab.hosts.capabilities import ASSUMED
from loadcurve.lab.run.obstacles import deployments
from loadcurve.lab.study_file import TopologySection, check_study
from loadcurve.study import Study


def machines(*names, address="10.0.0.{}"):
    return {"machines": {name: {"ssh": "", "address": address.format(at)} for at, name in enumerate(names, 1)}}


CHOICES = {
    "topology": [
        {}, {"recipe": "client_server"}, {"recipe": "client_server", "addresses": 3},
        {"recipe": "several_clients", "clients": 2, "servers": 2},
        {"recipe": "client_proxy_servers", "servers": 3, "addresses": 2},
        {"recipe": "client_l4_servers", "clients": 2}, machines("C1", "S1"), machines("C1", "LB", "S1", "S2"),
        machines("C1", "S1", address="127.0.0.1"),
    ],
    "server": [
        {"nginx": {}}, {"nginx": {}, "port": 8080}, {"nginx": {}, "port": 20_000},
        *({"nginx": {"layout": layout, "process": {"workers": 2}}} for layout in "ABCDE"),
        {"nginx": {"layout": "reuseport", "process": {"workers": 2}}},
        {"nginx": {"layout": "E", "process": {"workers": 2, "cpus": [0, 1]}}},
        {"nginx": {"response": {"delay": {"delay_ms": 1}}}}, {"nginx": {"response": {"status": {}}}},
        {"apache": {}}, {"lighttpd": {}, "port": 8080}, {"caddy": {}}, {"haproxy": {}}, {"php": {}},
        {"wordpress": {}}, {"url": "http://127.0.0.1:80/"},
    ],
    "balancer": [
        {}, {}, {"nginx_l7": {}}, {"nginx_l7": {"domains": {"count": 3, "pools": 2}}}, {"nginx_stream": {}},
        {"haproxy": {}}, {"haproxy": {"mode": "tcp"}}, {"haproxy": {"mode": "tcp", "domains": {"count": 3}}},
        {"haproxy": {"mode": "tcp", "keepalive": False}}, {"nft": {"services": 300}}, {"ipvs": {}},
        {"ipvs": {"forward": "dr"}}, {"ipvs": {"services": 300}}, {"ipvs": {"weights": [1, 2]}},
    ],
    "load": [
        {"connections": connections, "processes": processes, "threads": threads, **more}
        for connections in (4, 12)
        for processes in (1, 2, 3)
        for threads, more in (
            (1, {}), (2, {}), (2, {"tool": "wrk2", "rate_rps": 50}), (1, {"tool": "ab", "requests": 99}),
            (1, {"tool": "ab", "method": "POST", "body_bytes": 5}), (2, {"tool": "hey", "duration_s": 0.5}),
            (1, {"tool": "weighttp", "requests": 99}),
        )
    ],
    "monitors": [{"sar": 1}, {}, {"stub_status": 1}, {"counters": 1}, {"ss_connections": 1, "nstat": 1, "proc": 0.5}],
    "fault": [
        *({},) * 6, {"narrow_ports": 4}, {"few_descriptors": 64}, {"few_descriptors": 64, "host": "S1"},
        {"drop_syn": True}, {"drop_fin": True, "host": "S2"}, {"lose_packets": 0.1, "host": "C1"},
        {"delay_packets": 0.1}, {"kill_worker": True}, {"kill_worker": True, "host": "LB"}, {"stop_server": True},
        {"fill_accept_queue": 4}, {"fill_conntrack": 5}, {"cap_connections": 5},
    ],
    "hosts": [{}, {}, {"S": {"cpus": [0]}}, {"S1": {"open_files": 100}}, {"local": {"cpus": [0]}}],
    "links": [{}, {}, {"S1": {"delay_s": 0.1}}, {"back": {"mtu": 9000}}],
    "warm_up_s": [0.0, 0.0, 1.0],
}  # fmt: skip


ONLY_WITH = {"balancer": "LB", "fault": "S1", "links": "S1"}  # what most values need


def fitting(topology):
    """Choices of the other sections, most of which fit a topology."""
    names = tuple(topology["machines"]) if "machines" in topology else TopologySection(**topology).names
    kept = dict(CHOICES, topology=[topology])
    for section, host in ONLY_WITH.items():
        if host not in names and not (section == "balancer" and names == ("local",)):
            kept[section] = [{}]
    if "machines" in topology:
        kept |= {"fault": [{}], "links": [{}]}
    kept["hosts"] = [one for one in CHOICES["hosts"] if set(one) <= {*names, "S"}]
    return st.fixed_dictionaries({name: st.sampled_from(choices) for name, choices in kept.items()})


@examples(150, derandomize=True)
@given(values=st.sampled_from(CHOICES["topology"]).flatmap(fitting))
def test_what_is_taken_can_be_arranged(values):
    study = Study("s", "?", **values)
    try:
        check_study(study)
    except LoadcurveError:
        return
    assert list(deployments(study, ASSUMED)) and list(describe(study))


@in_one_test(
    ("root", "path", "asked"),
    [
        ("http://127.0.0.1", "/", "http://127.0.0.1/"), ("http://127.0.0.1/up", "/", "http://127.0.0.1/up"),
        ("http://127.0.0.1/a?b=/", "/", "http://127.0.0.1/a?b=/"), ("http://127.0.0.1/a/", "/b", "http://127.0.0.1/a/b"),
        ("http://127.0.0.1/a?b=/", "/c?d=e", "http://127.0.0.1/a/c?b=/&d=e"), ("http://127.0.0.1", "//c", "http://127.0.0.1//c"),
    ],
)  # fmt: skip
def test_a_server_that_runs_already_is_asked_for_its_url(root, path, asked):
    study = Study("s", "?", server={"url": root}, load={"path": path}, repeats=1)
    ((settings, deployment),) = deployments(study, ASSUMED)
    assert [deployment.loaders[0].url, settings.load.of(root).url] == [asked, asked]
