"""local-ports: sockets of either end, of known and unknown hosts, rates of connections, and errors that say it all."""

from pathlib import Path

import pytest
from examined import examiner

import loadcurve
from loadcurve.audit.rules.local_ports import RULE

DATA = Path(__file__).parents[1] / "data"
of_run = examiner(tool="wrk", duration_s=10.0, host="C1", url="http://198.18.0.3/616.txt")


def audited(run=None, **tables):
    return of_run("local-ports", run or {}, **tables).iloc[0]


def towards(number, port="80", state="TIME-WAIT"):
    row = {"state": state, "local_address": "198.18.0.1", "peer_address": "198.18.0.3", "peer_port": port}
    return [row | {"local_port": str(1024 + i)} for i in range(number)]


def setting(name, value, host="C1"):
    return {"host": host, "tool": "sysctl", "setting": f"net.ipv4.{name}", "value": value}


RANGE = setting("ip_local_port_range", "40000 40199")


@pytest.mark.parametrize(("used", "severity"), [(100, "ok"), (101, "warning"), (190, "warning"), (191, "error")])
def test_snapshots_against_the_range_of_the_host(used, severity):
    found = audited(connections=towards(used), settings=[RANGE])
    assert (found["severity"], found["observed"]) == (severity, used / 200)
    assert "200 local ports" in found["evidence"]


def test_the_default_range_is_named_as_such():
    assert "28232 local ports by default" in audited(connections=towards(3))["evidence"]


def test_the_servers_end_takes_no_local_port():
    """133 sockets in TIME-WAIT at the server's port 80, as recorded by ss -tanH state time-wait."""
    sockets = loadcurve.read(DATA / "samples/ss/ss-tanH-tw.txt").tables["connections"]
    rows = sockets[["local_address", "local_port", "peer_address", "peer_port"]].assign(state="TIME-WAIT")
    assert len(rows) == 133
    found = audited(connections=rows.to_dict("records"), settings=[RANGE])
    assert found["severity"] == "unchecked", "and its ports are not the generator's"


# The recorded sockstat after a run of ab: tw 14087 of 28232 is 0.499.
@pytest.mark.parametrize(("waiting", "severity"), [(14087, "ok"), (14200, "warning"), (26900, "error")])
def test_counts_of_the_generators_host(waiting, severity):
    found = audited(sockets=[{"host": "C1", "time_wait": waiting}])
    assert found["severity"] == severity and found["observed"] == pytest.approx(waiting / 28232)


def test_counts_of_another_or_an_unknown_host_are_not_taken():
    for host in ("S1", None):
        found = audited(sockets=[{"host": host, "time_wait": 28000}])
        assert found["severity"] == "unchecked" and "ss -tan" in found["advice"]
    assert audited({"host": None}, sockets=[{"time_wait": 28000}])["severity"] == "unchecked"
    loopback = {"url": "http://127.0.0.1:8080/", "host": None}
    kept = {"tool": "sysctl", "setting": "net.ipv4.tcp_tw_reuse", "value": "0"}
    found = audited(loopback, sockets=[{"time_wait": 28000}], settings=[kept])
    assert found["severity"] == "error", "on the loopback interface every host is the generator's"


@pytest.mark.parametrize(
    ("url", "reuse", "severity"),
    [("http://198.18.0.3/", "1", "ok"), ("http://198.18.0.3/", "2", "error"), ("http://198.18.0.3/", "0", "error"),
     ("http://127.0.0.1/", "2", "ok"), ("http://127.0.0.1/", "0", "error")],
)  # fmt: skip
def test_ports_that_are_reused_are_not_used_up(url, reuse, severity):
    sockets, settings = [{"host": "C1", "time_wait": 28000}], [setting("tcp_tw_reuse", reuse)]
    assert audited({"url": url}, sockets=sockets, settings=settings)["severity"] == severity


def test_open_connections_keep_their_ports_where_time_wait_is_reused():
    settings = [RANGE, setting("tcp_tw_reuse", "1")]
    assert audited(connections=towards(199, state="ESTAB"), settings=settings)["severity"] == "error"
    both = [*towards(20, state="ESTAB"), *towards(179)]
    assert audited(connections=both, settings=settings)["observed"] == 0.1


def test_a_list_without_time_wait_proves_no_free_ports():
    assert audited(connections=towards(3, state="ESTAB"), settings=[RANGE])["severity"] == "unchecked"
    listed = [*towards(3, state="ESTAB"), {"state": "LISTEN", "local_port": "22"}]
    assert audited(connections=listed, settings=[RANGE])["severity"] == "ok"


def test_ports_are_soon_used_up_while_time_wait_grows():
    growing = [{"host": "C1", "time_wait": 500 * second, "elapsed_s": float(second)} for second in range(11)]
    found = audited(sockets=growing)
    assert found["severity"] == "warning" and "30000 will be in use after 60 s" in found["evidence"]
    slower = [row | {"time_wait": row["time_wait"] * 9 // 10} for row in growing]
    assert audited(sockets=slower)["severity"] == "ok", "450 / s · 60 s = 27000"


@pytest.mark.parametrize(("rate", "severity"), [(1411, "ok"), (1412, "warning")])
def test_the_rate_of_sar_where_time_wait_was_not_recorded(rate, severity):
    """In 10 s, 1,411.6 connections/s are half of 28,232."""
    found = audited(tcp=[{"host": "C1", "active_opens_per_s": float(rate)}])
    assert found["severity"] == severity
    if severity == "warning":
        assert "20.0 s if this host closes them first" in found["evidence"]


def test_the_recorded_report_of_ab_without_k_opens_a_connection_for_each_request():
    """5000 connections in 0.186 s: 17.7 % of the ports, at a rate that a longer run could not keep up."""
    runs = loadcurve.read(DATA / "samples/ports/ab-nokeep-lowc.out").tables["runs"]
    short = RULE.audit({"runs": runs}).iloc[0]
    assert short["severity"] == "ok" and short["observed"] == pytest.approx(5000 / 28232, rel=1e-3)
    longer = RULE.audit({"runs": runs.assign(requests=20000, duration_s=3.0)}).iloc[0]
    assert longer["severity"] == "warning" and "6667 connections/s" in longer["evidence"]
    # 50,000 connections in 5.53 s, as in the published report "LVS acceptance": the server closed them, without errors.
    more = RULE.audit({"runs": runs.assign(requests=50000, duration_s=5.53)}).iloc[0]
    assert more["severity"] == "ok" and "so TIME_WAIT kept none" in more["evidence"]
    kept = loadcurve.read(DATA / "samples/ab/keepalive.out").tables["runs"]
    assert RULE.audit({"runs": kept.assign(duration_s=60.0)}).iloc[0]["severity"] == "ok"


@pytest.mark.parametrize("sample", ["ab-nokeep-300c-r.err", "ab-nokeep-lowc.err", "wrk-close-100c.err"])
def test_a_tool_that_found_no_port(sample):
    runs = loadcurve.read(DATA / "samples/ports" / sample).tables["runs"]
    found = RULE.audit({"runs": runs}).iloc[0]
    no_port = "annot assign requested address" in (DATA / "samples/ports" / sample).read_text("utf-8")
    assert (found["severity"] == "error") == no_port and ("No local port was left" in found["evidence"]) == no_port


def test_a_proxy_that_found_no_port():
    text = "connect() to 198.18.0.4:80 failed (99: Cannot assign requested address) while connecting to upstream"
    found = audited(events=[{"tool": "nginx", "event": "crit", "text": text}] * 2)
    assert found["severity"] == "error" and "(2 times)" in found["evidence"]


def test_what_is_missing_is_named():
    found = audited()
    assert found["severity"] == "unchecked" and "Record `ss -tan`" in found["advice"]
