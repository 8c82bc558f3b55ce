"""Rules that compare a report with physics and with itself: both sides of each threshold, and what is missing."""

import pandas as pd
import pytest

from loadcurve.audit.rules import (
    bytes_per_response,
    contradicting_numbers,
    packets_per_request,
    response_time_below_round_trip,
    super_linear_scale_out,
    throughput_above_link,
)
from loadcurve.tables import check

RUN = {"study": "s", "run_id": "r0", "status": "finished", "tool": "wrk", "host": "C1", "duration_s": 10.0}


def audited(rule, *runs, **tables):
    rows = [RUN | {"run_id": f"r{i}"} | run for i, run in enumerate(runs)]
    others = {name: check(name, pd.DataFrame([{"study": "s", "run_id": "r0"} | row for row in rows_]))
              for name, rows_ in tables.items()}  # fmt: skip
    return rule.audit({"runs": check("runs", pd.DataFrame(rows)), **others})


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
    found = audited(bytes_per_response.RULE, run, network=[sent(response)]).iloc[0]
    assert (found["severity"], found["observed"], found["expected"]) == (severity, response, 1114)
    assert f"{response:,}" in found["evidence"] and "1,048 bytes" in found["evidence"]


# 10,456 bytes make 8 segments: 10,984 bytes in frames, or 10,522 where the interface counts them as one packet.
@pytest.mark.parametrize(("response", "severity"), [(10984, "ok"), (10522, "ok"), (9995, "error"), (11610, "warning")])
def test_segmentation_offload_explains_missing_headers(response, severity):
    run = {"throughput_rps": 1000.0, "document_bytes": 10240.0, "header_bytes": 216.0}
    assert audited(bytes_per_response.RULE, run, network=[sent(response)]).iloc[0]["severity"] == severity


def test_bytes_that_the_generator_counted_replace_body_and_header():
    run = {"throughput_rps": 1000.0, "requests": 10000, "received_bytes": 850e4}
    traffic = {"host": "C1", "interface": "eth0", "received_bytes_per_s": 916e3}
    found = audited(bytes_per_response.RULE, run, network=[traffic]).iloc[0]
    assert (found["severity"], found["expected"]) == ("ok", 850 + 66)
    assert "Host C1 received 916.0 bytes" in found["evidence"]


# SYN-ACK 74, acknowledgement of the request 66, of the FIN 66, and FIN 66: 850 + 66 + 272 = 1188 bytes.
@pytest.mark.parametrize(("tool", "severity"), [("ab", "ok"), ("wrk", "warning")])
def test_ab_opens_a_connection_for_each_request(tool, severity):
    run = {"throughput_rps": 1000.0, "requests": 10000, "received_bytes": 850e4, "tool": tool, "connections": 10}
    traffic = {"host": "C1", "interface": "eth0", "received_bytes_per_s": 1188e3}
    assert audited(bytes_per_response.RULE, run, network=[traffic])["severity"].tolist() == [severity]


def test_a_host_is_compared_with_its_own_generator():
    run = {"run_id": "r0", "throughput_rps": 1000.0, "requests": 10000, "received_bytes": 850e4}
    traffic = {"host": "C1", "interface": "eth0", "received_bytes_per_s": 916e3}
    traffic |= {"received_pps": 1000.0, "transmitted_pps": 1000.0}
    for rule in (bytes_per_response.RULE, packets_per_request.RULE):
        for network in ([traffic], [traffic, traffic | {"host": "C2"}]):
            found = audited(rule, run, run | {"host": "C2"}, network=network)
            assert found["severity"].tolist() == ["ok"], found["evidence"].tolist()


def test_one_second_without_load_is_no_missing_byte():
    run = {"throughput_rps": 1000.0, "requests": 10000, "received_bytes": 850e4}
    seconds = [{"host": "C1", "interface": "eth0", "elapsed_s": at, "received_bytes_per_s": bytes_per_s}
               for at, bytes_per_s in [(4.0, 0.0), (5.0, 916e3), (6.0, 916e3), (9.5, 5e6)]]  # fmt: skip
    assert audited(bytes_per_response.RULE, run, network=seconds).iloc[0]["severity"] == "ok"


def test_two_seconds_are_no_mean_of_a_run():
    run = {"throughput_rps": 1000.0, "document_bytes": 832.0, "header_bytes": 216.0}
    seconds = [sent(500) | {"elapsed_s": at} for at in (2.0, 3.0, 4.0)]
    few = audited(bytes_per_response.RULE, run, network=seconds[:2]).iloc[0]
    assert few["severity"] == "unchecked" and "2 samples of the link" in few["evidence"]
    assert audited(bytes_per_response.RULE, run, network=seconds).iloc[0]["severity"] == "error"


def test_loopback_carries_requests_too():
    run = {"throughput_rps": 1000.0, "requests": 10000, "received_bytes": 850e4}
    lo = {"host": "C1", "interface": "lo", "received_bytes_per_s": 1030e3}
    assert audited(bytes_per_response.RULE, run, network=[lo]).iloc[0]["severity"] == "ok"


def test_records_of_tls_are_not_counted():
    run = {"throughput_rps": 1000.0, "requests": 10000, "received_bytes": 850e4, "url": "https://10.0.0.1/"}
    traffic = {"host": "C1", "interface": "eth0", "received_bytes_per_s": 1200e3}
    assert audited(bytes_per_response.RULE, run, network=[traffic]).iloc[0]["severity"] == "ok"


@pytest.mark.parametrize(
    ("run", "network", "words"),
    [
        ({}, [sent(1114)], "needs the bytes received"),
        ({"document_bytes": 832.0}, [sent(1114)], "needs the bytes received"),
        ({"document_bytes": 832.0, "header_bytes": 216.0}, [], "needs the bytes that the interfaces count"),
        ({"document_bytes": 832.0, "header_bytes": 216.0}, [sent(1), sent(1, "S2")], "not known which host"),
        ({"document_bytes": 832.0, "header_bytes": 216.0, "host": None}, [sent(1)], "not known which host"),
    ],
)
def test_bytes_per_response_needs_sizes_and_hosts(run, network, words):
    found = audited(bytes_per_response.RULE, {"throughput_rps": 1000.0} | run, network=network or [{"host": None}])
    assert found["severity"].tolist() == ["unchecked"] and words in found["evidence"][0]


# 10,240 bytes less 5 % are 9,728.
@pytest.mark.parametrize(("received", "severity"), [(10456, "ok"), (9728, "ok"), (9727, "error")])
def test_a_rate_of_bytes_holds_the_bodies(received, severity):
    run = {"throughput_rps": 1000.0, "document_bytes": 10240.0, "received_bytes_per_s": 1000.0 * received}
    found = audited(bytes_per_response.RULE, run).iloc[0]
    assert (found["severity"], found["observed"], found["expected"]) == (severity, received, 10240)


# 1,448 bytes take 1,538 on the medium: 10 Gbit/s carry 812,744 of them in a second (RFC 5180, appendix A.1).
@pytest.mark.parametrize(
    ("rate", "severity"), [(731_400, "ok"), (731_500, "warning"), (820_800, "warning"), (820_900, "error")]
)
def test_throughput_above_link(rate, severity):
    run = {"throughput_rps": float(rate), "document_bytes": 1232.0, "header_bytes": 216.0, "link_bps": 10e9}
    found = audited(throughput_above_link.RULE, run).iloc[0]
    assert found["severity"] == severity and found["observed"] == pytest.approx(rate / 812_744, rel=1e-5)


# 10 KB of the report on 10 GbE, read as 10,000 bytes: 10,216 + 90 · 8 = 10,936 bytes on the medium, 103 % of the link.
def test_a_peak_above_the_link_in_either_reading():
    run = {"throughput_rps": 118163.0, "document_bytes": 10000.0, "header_bytes": 216.0, "link_bps": 10e9}
    found = audited(throughput_above_link.RULE, run).iloc[0]
    assert found["severity"] == "error" and "103.4 % of 10.0 Gbit/s" in found["evidence"]


def test_the_link_is_used_by_all_generators_of_a_run():
    half = {"run_id": "r0", "throughput_rps": 380_000.0, "document_bytes": 1232.0, "header_bytes": 216.0}
    half |= {"link_bps": 10e9}
    assert audited(throughput_above_link.RULE, half).iloc[0]["severity"] == "ok"
    assert audited(throughput_above_link.RULE, half, half).iloc[0]["severity"] == "warning"


@pytest.mark.parametrize(
    ("run", "words"), [({"link_bps": 1e9}, "bytes received"), ({"document_bytes": 1.0, "header_bytes": 9.0}, "speed")]
)
def test_throughput_above_link_needs_sizes_and_a_speed(run, words):
    found = audited(throughput_above_link.RULE, {"throughput_rps": 1.0} | run).iloc[0]
    assert found["severity"] == "unchecked" and words in found["evidence"]


# 1,000 requests/s are at least 2,000 packets/s; the limit leaves a tenth.
@pytest.mark.parametrize(("packets", "severity"), [(2000, "ok"), (1800, "ok"), (1799, "error")])
def test_packets_per_request(packets, severity):
    traffic = {"interface": "eth0", "received_pps": packets / 2, "transmitted_pps": packets / 2}
    found = audited(packets_per_request.RULE, {"throughput_rps": 1000.0}, network=[traffic | {"host": "C1"}]).iloc[0]
    assert (found["severity"], found["observed"]) == (severity, packets / 1000)
    elsewhere = audited(packets_per_request.RULE, {"throughput_rps": 1000.0}, network=[traffic | {"host": "S1"}])
    assert elsewhere["severity"].tolist() == ["unchecked"], "packets of another host say nothing"


def test_a_burst_in_the_first_second_crossed_the_link_too():
    """100 Mbit/s after a burst: 2,100 requests/s on average, and 1,160 in each second but the first."""
    rates = [(0.9, 60e6), (1.9, 12e6), (2.9, 12e6), (3.9, 12e6), (4.9, 12e6), (5.9, 12e6)]
    network = [{"host": "C1", "interface": "eth0", "elapsed_s": at, "received_bytes_per_s": rate,
                "received_pps": rate / 10_000, "transmitted_pps": rate / 5_000} for at, rate in rates]  # fmt: skip
    run = {"throughput_rps": 2100.0, "document_bytes": 10_000.0, "header_bytes": 240.0, "duration_s": 6.0}
    for rule in (packets_per_request.RULE, bytes_per_response.RULE):
        assert audited(rule, run, network=network).iloc[0]["severity"] == "ok"
        assert audited(rule, run, network=network[1:]).iloc[0]["severity"] == "error"


def test_http_2_shares_packets():
    assert audited(packets_per_request.RULE, {"throughput_rps": 1.0, "tool": "h2load"}).empty


@pytest.mark.parametrize(
    ("mean_s", "severity"), [(0.0201, "ok"), (0.0181, "ok"), (0.0179, "error"), (0.0, "unchecked")]
)
def test_response_time_below_round_trip(mean_s, severity):
    socket = {"host": "C1", "state": "ESTAB", "peer_port": "8080"}
    sockets = [
        socket | {"min_rtt_s": 0.020},
        socket | {"min_rtt_s": 0.025},
        socket | {"peer_port": "22", "min_rtt_s": 1.0},
    ]
    run = {"latency_mean_s": mean_s, "url": "http://10.0.0.2:8080/"}
    assert audited(response_time_below_round_trip.RULE, run, connections=sockets)["severity"].tolist() == [severity]


@pytest.mark.parametrize("change", [{"min_rtt_s": None}, {"host": "S1"}, {"peer_port": "22"}])
def test_round_trips_of_other_connections_do_not_count(change):
    socket = {"host": "C1", "state": "ESTAB", "peer_port": "80", "min_rtt_s": 1.0} | change
    run = {"latency_mean_s": 0.001, "url": "http://10.0.0.2/"}
    found = audited(response_time_below_round_trip.RULE, run, connections=[socket]).iloc[0]
    assert found["severity"] == "unchecked" and "ss -tin" in found["advice"]


@pytest.mark.parametrize(
    ("stated", "severity"), [(100.0, "ok"), (101.9, "ok"), (103.0, "warning"), (120.0, "error"), (50.0, "error")]
)
def test_contradicting_numbers(stated, severity):
    found = audited(contradicting_numbers.RULE, {"requests": 1000, "throughput_rps": stated}).iloc[0]
    assert (found["severity"], found["expected"]) == (severity, 100.0)


def test_the_evidence_of_an_error_is_named_also_if_its_limit_is_the_lower():
    runs = check("runs", pd.DataFrame([RUN | {"requests": 1000, "throughput_rps": 120.0}]))
    found = contradicting_numbers.RULE.audit({"runs": runs}, {"warning": 0.9, "error": 0.1}).iloc[0]
    assert found["severity"] == "error" and found["evidence"].startswith("Throughput 120.00 requests/s")


def test_the_identities_that_fail_are_in_the_evidence_the_worst_first():
    run = {"requests": 1000, "throughput_rps": 100.0, "received_bytes": 10000.0, "received_bytes_per_s": 2000.0}
    run |= {"connections": 5, "latency_mean_s": 0.05, "latency_origin": "derived (N/X)"}
    found = audited(contradicting_numbers.RULE, run).iloc[0]
    assert found["severity"] == "error"
    assert found["evidence"] == "Transfer rate 2,000 bytes/s, bytes / duration = 1,000 bytes/s (−50.00 %)."
    found = audited(contradicting_numbers.RULE, run | {"throughput_rps": 80.0, "latency_mean_s": 0.0625}).iloc[0]
    assert found["evidence"] == (
        "Transfer rate 2,000 bytes/s, bytes / duration = 1,000 bytes/s (−50.00 %); "
        "throughput 80.00 requests/s, requests / duration = 100.00 requests/s (+25.00 %)."
    )


def test_a_measured_mean_is_not_connections_over_throughput():
    run = {"requests": 1000, "throughput_rps": 100.0, "connections": 5, "latency_mean_s": 0.01}
    assert "time per request" not in audited(contradicting_numbers.RULE, run)["evidence"][0]


@pytest.mark.parametrize("missing", ["requests", "throughput_rps", "duration_s"])
def test_contradicting_numbers_needs_a_total_and_a_rate(missing):
    run = {"requests": 1000, "throughput_rps": 100.0} | {missing: None}
    assert audited(contradicting_numbers.RULE, run)["severity"].tolist() == ["unchecked"]


@pytest.mark.parametrize(("both", "severity"), [(2000.0, "ok"), (2099.0, "ok"), (2101.0, "warning")])
def test_super_linear_scale_out(both, severity):
    one = {"server_units": 1, "throughput_rps": 1000.0}
    found = audited(super_linear_scale_out.RULE, one, one, {"server_units": 2, "throughput_rps": both})
    assert found[["run_id", "severity", "observed"]].to_numpy().tolist() == [["r2", severity, both / 2000]]


def test_a_baseline_at_fewer_connections_is_the_most_that_it_had():
    """200 and 400 requests/s of one unit with 4 and 8 connections; two units had 8 and 16."""
    served = {(1, 4): 200.0, (1, 8): 400.0, (2, 8): 400.0, (2, 16): 1200.0}
    runs = [{"server_units": n, "connections": c, "throughput_rps": rate} for (n, c), rate in served.items()]
    found = audited(super_linear_scale_out.RULE, *runs)
    assert found[["run_id", "severity", "observed"]].to_numpy().tolist() == [["r2", "ok", 0.5], ["r3", "warning", 1.5]]
    assert "1 unit had 8 connections, not 16" in found["evidence"].iloc[1]


def test_another_variant_is_a_baseline_only_at_the_same_load():
    """One unit: `few` 500 requests/s with 2 connections, `other` 1000 with 64; two units with 64: 2200."""
    rows = [("few", 1, 2, 500.0), ("full", 2, 64, 2200.0), ("other", 1, 64, 1000.0)]
    runs = [{"variant": v, "server_units": n, "connections": c, "throughput_rps": rate} for v, n, c, rate in rows]
    assert audited(super_linear_scale_out.RULE, *runs[:2]).empty
    assert audited(super_linear_scale_out.RULE, *runs)["observed"].tolist() == [1.1]


def test_generators_of_one_run_are_summed():
    rows = [("one", 0, 1, 500.0), ("one", 1, 1, 500.0), ("two", 0, 2, 1900.0)]
    runs = [{"run_id": run, "repeat": 1, "generator": g, "server_units": n, "connections": 8 * (1 + (g == 0 and n > 1)),
             "throughput_rps": rate} for run, g, n, rate in rows]  # fmt: skip
    assert audited(super_linear_scale_out.RULE, *runs)["observed"].tolist() == [0.95]


def test_units_that_no_record_counts_are_not_compared():
    assert audited(super_linear_scale_out.RULE, {"throughput_rps": 1.0}).empty, "no number of units"


@pytest.mark.parametrize(
    ("p99_s", "severity"), [(0.00189, "ok"), (0.00192, "ok"), (0.00195, "warning"), (0.00255, "error")]
)
def test_a_percentile_above_the_maximum_is_of_other_responses(p99_s, severity):
    run = {"requests": 1000, "throughput_rps": 100.0, "latency_max_s": 0.00189}
    latency = [{"quantile": 0.5, "latency_s": 0.001}, {"quantile": 0.99, "latency_s": p99_s}]
    found = audited(contradicting_numbers.RULE, run, latency=latency).iloc[0]
    assert found["severity"] == severity and ("maximum" in found["evidence"]) == (p99_s > 0.00189)


def test_percentiles_of_two_reports_in_one_file_are_not_mixed():
    run = {"run_id": None, "source": "two.txt", "requests": 1000, "throughput_rps": 100.0}
    latency = [{"run_id": None, "source": "two.txt", "quantile": 0.99, "latency_s": 0.9}]
    rows = [run | {"latency_max_s": 0.1}, run | {"latency_max_s": 1.0}]
    assert set(audited(contradicting_numbers.RULE, *rows, latency=latency)["severity"]) == {"ok"}


@pytest.mark.parametrize(("duration_s", "severity"), [(0.005, "ok"), (0.5, "warning")])
def test_ab_rounds_its_duration_to_milliseconds(duration_s, severity):
    """100 requests in 0.0053 s are 18868 requests/s, beside a printed duration of 0.005 s; 5.7 % off is within it."""
    run = {"tool": "ab", "requests": 100, "duration_s": duration_s, "throughput_rps": 100 / (duration_s * 1.06)}
    assert audited(contradicting_numbers.RULE, run).iloc[0]["severity"] == severity
