"""Rules that compare a report with physics and with itself: both sides of each threshold, and what is missing."""

import pandas as pd
import pytest
from examined import NAMES, case, examiner

from loadcurve.audit.rules import contradicting_numbers
from loadcurve.tables import check

audited = examiner(tool="wrk", host="C1", duration_s=10.0)


def sent(response, host="S1"):
    """What 1,000 requests/s send on average, at so many bytes for each response."""
    return {"host": host, "interface": "eth0", "transmitted_bytes_per_s": 1000.0 * response}


# 216 + 832 bytes make one segment: 1048 + 66 = 1114 bytes in frames; 5 % below are 1058.3.  An acknowledgement of the
# request (66) and other traffic (1) make 1181; 5 % above are 1240.05.
@pytest.mark.parametrize(
    ("response", "severity"),
    [(1114, "ok"), (1059, "ok"), (1058, "error"), (1240, "ok"), (1241, "warning"), (2000, "warning")],
)
def test_bytes_per_response_of_one_segment(response, severity):
    run = {"throughput_rps": 1000.0, "document_bytes": 832.0, "header_bytes": 216.0}
    found = audited("bytes-per-response", run, network=[sent(response)]).iloc[0]
    assert (found["severity"], found["observed"], found["expected"]) == (severity, response, 1114)
    assert f"{response:,}" in found["evidence"] and "1,048 bytes" in found["evidence"]


def test_bytes_that_the_generator_counted_replace_body_and_header():
    run = {"throughput_rps": 1000.0, "requests": 10000, "received_bytes": 850e4}
    traffic = {"host": "C1", "interface": "eth0", "received_bytes_per_s": 916e3}
    found = audited("bytes-per-response", run, network=[traffic]).iloc[0]
    assert (found["severity"], found["expected"]) == ("ok", 850 + 66)
    assert "Host C1 received 916.0 bytes" in found["evidence"]


def test_a_host_is_compared_with_its_own_generator():
    run = {"run_id": "r0", "throughput_rps": 1000.0, "requests": 10000, "received_bytes": 850e4}
    traffic = {"host": "C1", "interface": "eth0", "received_bytes_per_s": 916e3}
    traffic |= {"received_pps": 1000.0, "transmitted_pps": 1000.0}
    for rule in ("bytes-per-response", "packets-per-request"):
        for network in ([traffic], [traffic, traffic | {"host": "C2"}]):
            found = audited(rule, run, run | {"host": "C2"}, network=network)
            assert found["severity"].tolist() == ["ok"], found["evidence"].tolist()


def test_two_seconds_are_no_mean_of_a_run():
    run = {"throughput_rps": 1000.0, "document_bytes": 832.0, "header_bytes": 216.0}
    seconds = [sent(500) | {"elapsed_s": at} for at in (2.0, 3.0, 4.0)]
    few = audited("bytes-per-response", run, network=seconds[:2]).iloc[0]
    assert few["severity"] == "unchecked" and "2 samples of the link" in few["evidence"]
    assert audited("bytes-per-response", run, network=seconds).iloc[0]["severity"] == "error"


# 10,240 bytes less 5 % are 9,728.
@pytest.mark.parametrize(("received", "severity"), [(10456, "ok"), (9728, "ok"), (9727, "error")])
def test_a_rate_of_bytes_holds_the_bodies(received, severity):
    run = {"throughput_rps": 1000.0, "document_bytes": 10240.0, "received_bytes_per_s": 1000.0 * received}
    found = audited("bytes-per-response", run).iloc[0]
    assert (found["severity"], found["observed"], found["expected"]) == (severity, received, 10240)


# 1,448 bytes take 1,538 on the medium: 10 Gbit/s carry 812,744 of them in a second (RFC 5180, appendix A.1).
@pytest.mark.parametrize(
    ("rate", "severity"), [(731_400, "ok"), (731_500, "warning"), (820_800, "warning"), (820_900, "error")]
)
def test_throughput_above_link(rate, severity):
    run = {"throughput_rps": float(rate), "document_bytes": 1232.0, "header_bytes": 216.0, "link_bps": 10e9}
    found = audited("throughput-above-link", run).iloc[0]
    assert found["severity"] == severity and found["observed"] == pytest.approx(rate / 812_744, rel=1e-5)


# 1,000 requests/s are at least 2,000 packets/s; the limit leaves a tenth.
@pytest.mark.parametrize(("packets", "severity"), [(2000, "ok"), (1800, "ok"), (1799, "error")])
def test_packets_per_request(packets, severity):
    traffic = {"interface": "eth0", "received_pps": packets / 2, "transmitted_pps": packets / 2}
    found = audited("packets-per-request", {"throughput_rps": 1000.0}, network=[traffic | {"host": "C1"}]).iloc[0]
    assert (found["severity"], found["observed"]) == (severity, packets / 1000)
    elsewhere = audited("packets-per-request", {"throughput_rps": 1000.0}, network=[traffic | {"host": "S1"}])
    assert elsewhere["severity"].tolist() == ["unchecked"], "packets of another host say nothing"


def test_a_burst_in_the_first_second_crossed_the_link_too():
    """100 Mbit/s after a burst: 2,100 requests/s on average, and 1,160 in each second but the first."""
    rates = [(0.9, 60e6), (1.9, 12e6), (2.9, 12e6), (3.9, 12e6), (4.9, 12e6), (5.9, 12e6)]
    network = [{"host": "C1", "interface": "eth0", "elapsed_s": at, "received_bytes_per_s": rate,
                "received_pps": rate / 10_000, "transmitted_pps": rate / 5_000} for at, rate in rates]  # fmt: skip
    run = {"throughput_rps": 2100.0, "document_bytes": 10_000.0, "header_bytes": 240.0, "duration_s": 6.0}
    for rule in ("packets-per-request", "bytes-per-response"):
        assert audited(rule, run, network=network).iloc[0]["severity"] == "ok"
        assert audited(rule, run, network=network[1:]).iloc[0]["severity"] == "error"


@pytest.mark.parametrize(
    ("stated", "severity"), [(100.0, "ok"), (101.9, "ok"), (103.0, "warning"), (120.0, "error"), (50.0, "error")]
)
def test_contradicting_numbers(stated, severity):
    found = audited("contradicting-numbers", {"requests": 1000, "throughput_rps": stated}).iloc[0]
    assert (found["severity"], found["expected"]) == (severity, 100.0)


def test_the_evidence_of_an_error_is_named_also_if_its_limit_is_the_lower():
    counted = {"status": "finished", "duration_s": 10.0, "requests": 1000, "throughput_rps": 120.0}
    runs = check("runs", pd.DataFrame([NAMES | counted]))
    found = contradicting_numbers.RULE.audit({"runs": runs}, {"warning": 0.9, "error": 0.1}).iloc[0]
    assert found["severity"] == "error" and found["evidence"].startswith("Throughput 120.00 requests/s")


def test_the_identities_that_fail_are_in_the_evidence_the_worst_first():
    run = {"requests": 1000, "throughput_rps": 100.0, "received_bytes": 10000.0, "received_bytes_per_s": 2000.0}
    run |= {"connections": 5, "latency_mean_s": 0.05, "latency_origin": "derived (N/X)"}
    found = audited("contradicting-numbers", run).iloc[0]
    assert found["severity"] == "error"
    assert found["evidence"] == "Transfer rate 2,000 bytes/s, bytes / duration = 1,000 bytes/s (−50.00 %)."
    found = audited("contradicting-numbers", run | {"throughput_rps": 80.0, "latency_mean_s": 0.0625}).iloc[0]
    assert found["evidence"] == (
        "Transfer rate 2,000 bytes/s, bytes / duration = 1,000 bytes/s (−50.00 %); "
        "throughput 80.00 requests/s, requests / duration = 100.00 requests/s (+25.00 %)."
    )


def test_a_measured_mean_is_not_connections_over_throughput():
    run = {"requests": 1000, "throughput_rps": 100.0, "connections": 5, "latency_mean_s": 0.01}
    assert "time per request" not in audited("contradicting-numbers", run)["evidence"][0]


def test_a_baseline_at_fewer_connections_is_the_most_that_it_had():
    """200 and 400 requests/s of one unit with 4 and 8 connections; two units had 8 and 16."""
    served = {(1, 4): 200.0, (1, 8): 400.0, (2, 8): 400.0, (2, 16): 1200.0}
    runs = [{"server_units": n, "connections": c, "throughput_rps": rate} for (n, c), rate in served.items()]
    found = audited("super-linear-scale-out", *runs)
    assert found[["run_id", "severity", "observed"]].to_numpy().tolist() == [["r2", "ok", 0.5], ["r3", "warning", 1.5]]
    assert "1 unit had 8 connections, not 16" in found["evidence"].iloc[1]


@pytest.mark.parametrize(
    ("p99_s", "severity"), [(0.00189, "ok"), (0.00192, "ok"), (0.00195, "warning"), (0.00255, "error")]
)
def test_a_percentile_above_the_maximum_is_of_other_responses(p99_s, severity):
    run = {"requests": 1000, "throughput_rps": 100.0, "latency_max_s": 0.00189}
    latency = [{"quantile": 0.5, "latency_s": 0.001}, {"quantile": 0.99, "latency_s": p99_s}]
    found = audited("contradicting-numbers", run, latency=latency).iloc[0]
    assert found["severity"] == severity and ("maximum" in found["evidence"]) == (p99_s > 0.00189)


SIZES = {"throughput_rps": 1000.0, "document_bytes": 832.0, "header_bytes": 216.0}
LARGE = SIZES | {"document_bytes": 10240.0}
RECEIVED = {"throughput_rps": 1000.0, "requests": 10000, "received_bytes": 850e4}
ON_10G = {"document_bytes": 1232.0, "header_bytes": 216.0, "link_bps": 10e9}
SOCKET = {"host": "C1", "state": "ESTAB", "peer_port": "8080", "min_rtt_s": 0.020}
SOCKETS = [SOCKET, SOCKET | {"min_rtt_s": 0.025}, SOCKET | {"peer_port": "22", "min_rtt_s": 1.0}]


def received(rate, interface="eth0", **more):
    return {"host": "C1", "interface": interface, "received_bytes_per_s": rate} | more


def bytes_of(severity, run, *network, says=""):
    return case("bytes-per-response", severity, run, network=network, says=says)


def scaled(severities, *rows, observed=None):
    names = ("run_id", "variant", "generator", "server_units", "connections", "throughput_rps")
    runs = [{"repeat": 1} | dict(zip(names, row, strict=True)) for row in rows]
    return case("super-linear-scale-out", severities, *runs, observed=observed)


CASES = [
    # 10,456 bytes make 8 segments: 10,984 bytes in frames, or 10,522 where the interface counts them as one packet.
    *[bytes_of(severity, LARGE, sent(response))
      for response, severity in ((10984, "ok"), (10522, "ok"), (9995, "error"), (11610, "warning"))],
    # ab opens a connection for each request.  SYN-ACK 74, acknowledgement of the request 66, of the FIN 66, and FIN 66:
    # 850 + 66 + 272 = 1188 bytes.
    bytes_of("ok", RECEIVED | {"tool": "ab", "connections": 10}, received(1188e3)),
    bytes_of("warning", RECEIVED | {"tool": "wrk", "connections": 10}, received(1188e3)),
    # One second without load is no missing byte.
    bytes_of("ok", RECEIVED, *[received(rate, elapsed_s=at)
                               for at, rate in ((4.0, 0.0), (5.0, 916e3), (6.0, 916e3), (9.5, 5e6))]),
    bytes_of("ok", RECEIVED, received(1030e3, "lo")),
    bytes_of("ok", RECEIVED | {"url": "https://10.0.0.1/"}, received(1200e3)),  # records of TLS are not counted
    bytes_of("unchecked", {"throughput_rps": 1000.0}, sent(1114), says="needs the bytes received"),
    bytes_of("unchecked", SIZES | {"header_bytes": None}, sent(1114), says="needs the bytes received"),
    bytes_of("unchecked", SIZES, {"host": None}, says="needs the bytes that the interfaces count"),
    bytes_of("unchecked", SIZES, sent(1), sent(1, "S2"), says="not known which host"),
    bytes_of("unchecked", SIZES | {"host": None}, sent(1), says="not known which host"),
    # 10 KB of the report on 10 GbE, read as 10,000 bytes: 10,216 + 90 · 8 = 10,936 bytes on the medium.
    case("throughput-above-link", "error", ON_10G | {"throughput_rps": 118163.0, "document_bytes": 10000.0},
         says="103.4 % of 10.0 Gbit/s"),
    # The link is used by all generators of a run.
    *[case("throughput-above-link", severity, *[ON_10G | {"run_id": "r0", "throughput_rps": 380_000.0}] * number)
      for number, severity in ((1, "ok"), (2, "warning"))],
    case("throughput-above-link", "unchecked", {"throughput_rps": 1.0, "link_bps": 1e9}, says="bytes received"),
    case("throughput-above-link", "unchecked", {"throughput_rps": 1.0, "document_bytes": 1.0, "header_bytes": 9.0},
         says="speed"),
    case("packets-per-request", "", {"throughput_rps": 1.0, "tool": "h2load"}),  # HTTP/2 shares packets
    *[case("response-time-below-round-trip", severity, {"latency_mean_s": mean, "url": "http://10.0.0.2:8080/"},
           connections=SOCKETS)
      for mean, severity in ((0.0201, "ok"), (0.0181, "ok"), (0.0179, "error"), (0.0, "unchecked"))],
    # Round trips of other connections do not count.
    *[case("response-time-below-round-trip", "unchecked", {"latency_mean_s": 0.001, "url": "http://10.0.0.2:8080/"},
           connections=[SOCKET | {"min_rtt_s": 1.0} | change], says="ss -tin")
      for change in ({"min_rtt_s": None}, {"host": "S1"}, {"peer_port": "22"})],
    *[case("contradicting-numbers", "unchecked", {"requests": 1000, "throughput_rps": 100.0, missing: None})
      for missing in ("requests", "throughput_rps", "duration_s")],
    # Percentiles of two reports in one file are not mixed.
    case("contradicting-numbers", "ok ok", *[
        {"run_id": None, "source": "two.txt", "requests": 1000, "throughput_rps": 100.0, "latency_max_s": most}
        for most in (0.1, 1.0)
    ], latency=[{"run_id": None, "source": "two.txt", "quantile": 0.99, "latency_s": 0.9}]),
    # ab rounds its duration to milliseconds: 100 requests in 0.0053 s are 18868 requests/s beside 0.005 s.
    *[case("contradicting-numbers", severity,
           {"tool": "ab", "requests": 100, "duration_s": lasts, "throughput_rps": 100 / (lasts * 1.06)})
      for lasts, severity in ((0.005, "ok"), (0.5, "warning"))],
    *[scaled(severity, ("a", None, 0, 1, None, 1000.0), ("b", None, 0, 1, None, 1000.0), ("c", None, 0, 2, None, both),
             observed=both / 2000) for both, severity in ((2000.0, "ok"), (2099.0, "ok"), (2101.0, "warning"))],
    # Another variant is a baseline only at the same load.
    scaled("", ("a", "few", 0, 1, 2, 500.0), ("b", "full", 0, 2, 64, 2200.0)),
    scaled("warning", ("a", "few", 0, 1, 2, 500.0), ("b", "full", 0, 2, 64, 2200.0), ("c", "other", 0, 1, 64, 1000.0),
           observed=1.1),
    # Generators of one run are summed.
    scaled("ok", ("one", None, 0, 1, 8, 500.0), ("one", None, 1, 1, 8, 500.0), ("two", None, 0, 2, 16, 1900.0),
           observed=0.95),
    case("super-linear-scale-out", "", {"throughput_rps": 1.0}),  # no number of units
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_severities_and_words(case):
    case.check(audited)
