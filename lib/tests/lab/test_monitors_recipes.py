"""Monitors as data: every form is one that ingestion reads, every value is checked, no word becomes an option."""

import itertools
import json

import pytest

from loadcurve.errors import ValueRuleError
from loadcurve.ingest.registry import form_of
from loadcurve.lab.hosts.capabilities import ASSUMED
from loadcurve.lab.tools.balancers import BALANCERS
from loadcurve.lab.tools.balancers.balancer import BalancerHost
from loadcurve.lab.tools.monitors import kinds
from loadcurve.lab.tools.monitors.monitor import Monitor, watchers
from loadcurve.lab.tools.servers.settings import Endpoint


def _counting(name):
    """Tool and command of a balancer's kinds.counters."""
    ports = itertools.count(8080)
    servers = (Endpoint("10.99.64.1", 80),)
    host = BalancerHost("10.99.0.1", lambda: Endpoint("10.99.0.1", next(ports)), servers, {"10.99.0.2": 8}, ASSUMED)
    return BALANCERS[name].start(BALANCERS[name].section(), host, 1).counting


ALL = (
    kinds.sar(),
    kinds.mpstat(),
    kinds.pidstat(),
    kinds.ss_summary(),
    kinds.ss_connections((80,)),
    kinds.ss_details((80,)),
    kinds.nstat(),
    kinds.proc(),
    kinds.conntrack(),
    kinds.stub_status(Endpoint("127.0.0.1", 8080), "/status"),
    *(kinds.counters(*_counting(name)) for name, balancer in BALANCERS.items() if balancer.counts),
)


@pytest.mark.parametrize("monitor", ALL, ids=lambda monitor: monitor.name)
def test_ingestion_knows_the_form(monitor):
    form = form_of(*monitor.form)
    assert (form.tool, form.variant) == monitor.form


def test_one_process_takes_all_snapshots():
    alone, *others = watchers(ALL, "S1", "python3")
    assert [w.tool for w in (alone, *others)] == ["sar", "mpstat", "pidstat", "sampler"]
    sampler = others[-1]
    plan = json.loads(sampler.files["S1.sampler.json"])
    assert [series["file"] for series in plan] == list(sampler.outputs.values())
    assert sampler.argv == ("python3", "-I", "-S", "S1.sampler.py", "S1.sampler.json")
    files = [f for w in (alone, *others) for f in (*w.outputs.values(), *w.files, w.stderr)]
    assert len(set(files)) == len(files), "no file is written twice"
    assert all(f.startswith("S1.") for f in files)


def test_without_snapshots_there_is_no_sampler():
    assert [w.tool for w in watchers([kinds.mpstat()])] == ["mpstat"]
    assert watchers([]) == ()


def test_ports_are_words_of_a_filter():
    assert kinds.ss_connections((80, 8080)).argv == (
        *("ss", "-tan", "(", "sport", "=", ":80", "or", "dport", "=", ":80"),
        *("or", "sport", "=", ":8080", "or", "dport", "=", ":8080", ")"),
    )
    assert kinds.ss_details(()).argv == ("ss", "-tin")


@pytest.mark.parametrize(
    "make",
    [
        lambda: kinds.ss_connections(["80 )"]),
        lambda: kinds.ss_connections([0]),
        lambda: kinds.stub_status(Endpoint("127.0.0.1", 80), "/a HTTP/1.0\r\nX: y"),
        lambda: kinds.stub_status(Endpoint("127.0.0.1", 80), "status"),
        lambda: Monitor("../x", "ss", argv=("ss",)),
        lambda: Monitor("x", "ss", "a.b", argv=("ss",)),
        lambda: Monitor("x", "ss"),
        lambda: Monitor("x", "ss", argv=("ss",), paths=("/proc/stat",)),
        lambda: kinds.ss_summary(0.01),
        lambda: kinds.ss_summary(float("nan")),
        lambda: kinds.ss_summary(True),
        lambda: kinds.sar(0.5),
        lambda: watchers([kinds.nstat(), kinds.nstat()]),
    ],
)
def test_refused(make):
    with pytest.raises(ValueRuleError):
        make()
