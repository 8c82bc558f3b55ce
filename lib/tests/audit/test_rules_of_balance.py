"""Rules about what a balancer did: from numbers computed by hand, and from what ipvsadm and haproxy printed."""

import itertools

import numpy as np
import pandas as pd
import pytest
from conftest import ROOT

from loadcurve.audit.rules import errors_by_server, hash_with_few_sources, slow_server, uneven_balance
from loadcurve.ingest.registry import form_of
from loadcurve.tables import check

DATA = ROOT / "lib" / "tests" / "data"
RUN = {"study": "s", "run_id": "r0", "status": "finished"}


NAMES = {"study": "s", "run_id": "r0"}


def audited(rule, **tables):
    """Findings of a rule about one run with some rows of tables."""
    named = {
        name: check(name, pd.DataFrame(rows).assign(study="s", run_id="r0"), extra=True)
        for name, rows in tables.items()
    }
    return rule.audit({"runs": check("runs", pd.DataFrame([RUN])), **named})


def counted(*counts, weight=None, **columns):
    rows = [{"kind": "server", "service": "web", "server": f"s{i}", "connections": n} for i, n in enumerate(counts)]
    weights = weight or [1] * len(rows)
    return [row | {"weight": w} | {name: each[i] for name, each in columns.items()}
            for i, (row, w) in enumerate(zip(rows, weights, strict=True))]  # fmt: skip


def printed(tool, file):
    """Table `balancer` or `flows` of a recorded output."""
    name = "flows" if file == "connections" else "balancer"
    return form_of(tool, "").parse((DATA / tool / f"{file}.txt").read_text("utf-8")).tables[name]


# Cohen's w by hand: 60 : 40 of 1000 is χ² = 40, w = sqrt(40 / 1000) = 0.2; 80 : 20 gives w = 0.6.
@pytest.mark.parametrize(
    ("counts", "severity", "effect"),
    [((500, 500), "ok", 0), ((520, 480), "ok", 0), ((600, 400), "warning", 0.2), ((800, 200), "error", 0.6)],
)
def test_uneven_balance(counts, severity, effect):
    found = audited(uneven_balance.RULE, balancer=counted(*counts)).iloc[0]
    assert found["severity"] == severity and found["observed"] == pytest.approx(effect)


def test_the_balance_follows_the_weights_and_what_the_run_added():
    assert audited(uneven_balance.RULE, balancer=counted(600, 300, weight=[2, 1])).iloc[0]["severity"] == "ok"
    before, after = counted(10000, 10), counted(10500, 510)
    assert audited(uneven_balance.RULE, balancer=[*before, *after]).iloc[0]["severity"] == "ok"


def test_two_balancers_are_counted_apart():
    rows = [
        row | {"host": host} for host, counts in (("D1", (500, 500)), ("D2", (90, 110))) for row in counted(*counts)
    ]
    found = audited(uneven_balance.RULE, balancer=rows).iloc[0]
    assert found["severity"] == "ok", "the counts of D2 are no later sample of those of D1"


def test_requests_on_few_connections_are_no_independent_choices():
    """haproxy in mode tcp assigned 5 and 3 connections; that their requests differ by thousands is chance."""
    rows = counted(5, 3, requests=[6000, 3000], protocol=["tcp", "tcp"])
    assert audited(uneven_balance.RULE, balancer=rows).iloc[0]["severity"] == "ok"
    rows = counted(5, 3, requests=[6000, 3000], protocol=["http", "http"])
    assert audited(uneven_balance.RULE, balancer=rows).iloc[0]["severity"] == "error"


def test_random_assignment_is_seldom_uneven():
    """A thousand runs of 40 connections on four servers, drawn at random: p < 0.001 leaves about one."""
    draws = np.random.default_rng(1).multinomial(40, [0.25] * 4, size=1000)
    runs = check("runs", pd.DataFrame([RUN | {"run_id": f"r{i}"} for i in range(len(draws))]))
    rows = [row | {"study": "s", "run_id": f"r{i}"} for i, draw in enumerate(draws) for row in counted(*draw)]
    found = uneven_balance.RULE.audit({"runs": runs, "balancer": check("balancer", pd.DataFrame(rows))})
    assert found["severity"].ne("ok").sum() <= 5


def test_recorded_round_robin_is_even():
    rows = printed("ipvsadm", "stats")
    even = rows[rows["virtual_port"].eq("80") & rows["virtual_address"].eq("198.18.0.9")]
    assert (
        audited(uneven_balance.RULE, balancer=even)
        .iloc[0]["evidence"]
        .startswith("Server 198.18.0.4:80 got 50.0 % of 5060")
    )


@pytest.mark.parametrize("rule", [uneven_balance, errors_by_server, slow_server, hash_with_few_sources])
def test_without_a_balancer_nothing_is_asked(rule):
    assert audited(rule.RULE).empty


# 1 % of 2,000 is 20; the other server fails 0.5 %.
@pytest.mark.parametrize(
    ("failed", "severity"), [((21, 8), "ok"), ((200, 10), "warning"), ((20, 0), "ok"), ((21, 0), "warning")]
)
def test_errors_by_server(failed, severity):
    rows = counted(2000, 2000, responses_5xx=failed, errors_response=[0, 0])
    assert audited(errors_by_server.RULE, balancer=rows).iloc[0]["severity"] == severity


def test_equally_many_errors_are_of_no_server():
    rows = counted(2000, 2000, responses_5xx=[500, 480], errors_response=[0, 0])
    assert audited(errors_by_server.RULE, balancer=rows).iloc[0]["severity"] == "ok"


def test_a_balancer_that_counts_no_errors_is_not_examined():
    assert audited(errors_by_server.RULE, balancer=counted(10, 10)).empty


@pytest.mark.parametrize(
    ("times", "severity"), [((0.010, 0.015, 0.010), "ok"), ((0.010, 0.016, 0.010), "warning"), ((0.001, 0.002), "ok")]
)
def test_slow_server(times, severity):
    rows = counted(*[100] * len(times), latency_mean_s=times)
    assert audited(slow_server.RULE, balancer=rows).iloc[0]["severity"] == severity


def test_recorded_servers_of_haproxy_are_alike():
    rows = printed("haproxy", "stats")
    for rule in (uneven_balance, errors_by_server, slow_server):
        assert audited(rule.RULE, balancer=rows)["severity"].tolist() == ["ok"]


@pytest.mark.parametrize(("sources", "servers"), [(1, 2), (3, 2), (4, 3), (5, 3)])
def test_expected_largest_share(sources, servers):
    """All assignments one by one."""
    every = itertools.product(range(servers), repeat=sources)
    largest = [max(map(one.count, range(servers))) for one in every]
    expected = sum(largest) / len(largest) / sources
    assert hash_with_few_sources.expected_largest_share(sources, (1 / servers,) * servers) == pytest.approx(expected)


def test_recorded_hash_of_one_client():
    """IPVS sent all connections of 198.18.0.1 through the scheduler sh to one of two servers."""
    rows, flows = (printed("ipvsadm", file) for file in ("persistent", "connections"))
    rows = rows[rows["scheduler"].eq("sh")]
    found = audited(hash_with_few_sources.RULE, balancer=rows, flows=flows).iloc[0]
    assert found["severity"] == "warning"
    assert found["evidence"].startswith("Scheduler sh saw 1 client address for 2 servers: the expected largest share")
    many = pd.concat([flows.assign(client_address=f"10.0.0.{i}") for i in range(100)], ignore_index=True)
    assert audited(hash_with_few_sources.RULE, balancer=rows, flows=many).iloc[0]["severity"] == "ok"
    unknown = audited(hash_with_few_sources.RULE, balancer=rows).iloc[0]
    assert unknown["severity"] == "unchecked" and "ipvsadm -Lnc" in unknown["advice"]


def test_round_robin_needs_no_sources():
    rows, flows = printed("ipvsadm", "list"), printed("ipvsadm", "connections")
    rows = rows[rows["scheduler"].isin(["rr", "wrr"])]
    assert audited(hash_with_few_sources.RULE, balancer=rows, flows=flows).empty


@pytest.mark.parametrize(("addresses", "severity"), [("10.0.0.2", "warning"), ("", "unchecked")])
def test_recorded_addresses_of_the_clients_count(addresses, severity):
    """Three hosts with one address each: the expected largest share of two servers is 3/4."""
    rows = counted(5, 10, scheduler=["source", "source"])
    settings = [{"host": f"C{i}", "setting": "addresses", "value": addresses} for i in range(3) if addresses]
    runs = pd.DataFrame([RUN | {"generator": i, "host": f"C{i}"} for i in range(3)])
    tables = {"runs": check("runs", runs), "balancer": check("balancer", pd.DataFrame(rows).assign(**NAMES))}
    if settings:
        tables["settings"] = check("settings", pd.DataFrame(settings).assign(**NAMES))
    found = hash_with_few_sources.RULE.audit(tables)
    assert found["severity"].tolist() == [severity]
    assert (
        severity == "unchecked"
        or "3 client addresses for 2 servers: the expected largest share is 75 %" in (found["evidence"][0])
    )
