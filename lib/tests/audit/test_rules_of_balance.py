"""Rules about what a balancer did: from numbers computed by hand, and from what ipvsadm and haproxy printed."""

import itertools

import numpy as np
import pandas as pd
import pytest
from conftest import ROOT
from examined import case, examiner

from loadcurve.audit.rules import hash_with_few_sources, uneven_balance
from loadcurve.ingest.registry import form_of
from loadcurve.tables import check

DATA = ROOT / "lib" / "tests" / "data"
RULES = ("uneven-balance", "errors-by-server", "slow-server", "hash-with-few-sources")
audited = examiner()


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
    found = audited("uneven-balance", balancer=counted(*counts)).iloc[0]
    assert found["severity"] == severity and found["observed"] == pytest.approx(effect)


def test_random_assignment_is_seldom_uneven():
    """A thousand runs of 40 connections on four servers, drawn at random: p < 0.001 leaves about one."""
    draws = np.random.default_rng(1).multinomial(40, [0.25] * 4, size=1000)
    runs = check(
        "runs", pd.DataFrame([{"study": "s", "run_id": f"r{i}", "status": "finished"} for i in range(len(draws))])
    )
    rows = [row | {"study": "s", "run_id": f"r{i}"} for i, draw in enumerate(draws) for row in counted(*draw)]
    found = uneven_balance.RULE.audit({"runs": runs, "balancer": check("balancer", pd.DataFrame(rows))})
    assert found["severity"].ne("ok").sum() <= 5


@pytest.mark.parametrize(("sources", "servers"), [(1, 2), (3, 2), (4, 3), (5, 3)])
def test_expected_largest_share(sources, servers):
    """All assignments one by one."""
    every = itertools.product(range(servers), repeat=sources)
    largest = [max(map(one.count, range(servers))) for one in every]
    expected = sum(largest) / len(largest) / sources
    assert hash_with_few_sources.expected_largest_share(sources, (1 / servers,) * servers) == pytest.approx(expected)


def of(rule, severity, *rows, says="", **tables):
    return case(
        rule, severity, balancer=rows[0] if isinstance(rows[0], pd.DataFrame) else list(rows), says=says, **tables
    )


STATS, LISTED, FLOWS = printed("ipvsadm", "stats"), printed("ipvsadm", "list"), printed("ipvsadm", "connections")
HASHED = printed("ipvsadm", "persistent").query("scheduler == 'sh'")
CLIENTS = pd.concat([FLOWS.assign(client_address=f"10.0.0.{i}") for i in range(100)], ignore_index=True)
HOSTS = [{"generator": i, "host": f"C{i}", "run_id": "r0"} for i in range(3)]
BY_SOURCE = counted(5, 10, scheduler=["source", "source"])
CASES = [
    *[case(rule, "") for rule in RULES],  # without a balancer nothing is asked
    *[of(rule, "ok", printed("haproxy", "stats")) for rule in RULES[:3]],
    of("uneven-balance", "ok", *counted(600, 300, weight=[2, 1])),
    of("uneven-balance", "ok", *counted(10000, 10), *counted(10500, 510)),  # the run added 500 to each
    # The counts of D2 are no later sample of those of D1.
    of("uneven-balance", "ok", *[row | {"host": "D1"} for row in counted(500, 500)],
       *[row | {"host": "D2"} for row in counted(90, 110)]),
    # haproxy in mode tcp assigned 5 and 3 connections; that their requests differ by thousands is chance.
    of("uneven-balance", "ok", *counted(5, 3, requests=[6000, 3000], protocol=["tcp", "tcp"])),
    of("uneven-balance", "error", *counted(5, 3, requests=[6000, 3000], protocol=["http", "http"])),
    of("uneven-balance", "ok", STATS[STATS["virtual_port"].eq("80") & STATS["virtual_address"].eq("198.18.0.9")],
       says="Server 198.18.0.4:80 got 50.0 % of 5060"),
    # 1 % of 2,000 is 20; the other server fails 0.5 %.  Equally many errors are of no server.
    *[of("errors-by-server", severity, *counted(2000, 2000, responses_5xx=failed, errors_response=[0, 0]))
      for failed, severity in (((21, 8), "ok"), ((200, 10), "warning"), ((20, 0), "ok"), ((21, 0), "warning"),
                               ((500, 480), "ok"))],
    of("errors-by-server", "", *counted(10, 10)),  # which counts no errors
    *[of("slow-server", severity, *counted(*[100] * len(times), latency_mean_s=times))
      for times, severity in (((0.010, 0.015, 0.010), "ok"), ((0.010, 0.016, 0.010), "warning"),
                              ((0.001, 0.002), "ok"))],
    # IPVS sent all connections of 198.18.0.1 through the scheduler sh to one of two servers.
    of("hash-with-few-sources", "warning", HASHED, flows=FLOWS,
       says="Scheduler sh saw 1 client address for 2 servers: the expected largest share"),
    of("hash-with-few-sources", "ok", HASHED, flows=CLIENTS),
    of("hash-with-few-sources", "unchecked", HASHED, says="ipvsadm -Lnc"),
    of("hash-with-few-sources", "", LISTED[LISTED["scheduler"].isin(["rr", "wrr"])], flows=FLOWS),
    # Three hosts with one address each, as recorded: the expected largest share of two servers is 3/4.
    case("hash-with-few-sources", "warning", *HOSTS, balancer=BY_SOURCE,
         settings=[{"host": f"C{i}", "setting": "addresses", "value": "10.0.0.2"} for i in range(3)],
         says="3 client addresses for 2 servers: the expected largest share is 75 %"),
    case("hash-with-few-sources", "unchecked", *HOSTS, balancer=BY_SOURCE),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_severities_and_words(case):
    case.check(audited)
