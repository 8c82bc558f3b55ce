"""The audit of the five published reports: every finding, with numbers that were recomputed by hand.

The wire model, by hand: F + H bytes in P = ceil((F + H) / 1448) segments are F + H + 66 P in frames and 24 P more on
the medium; H = 1448 − 1232 = 216.  Each number below is arithmetic on what the report prints.
"""

import re

import pytest

from loadcurve import audit, read

PROXY = "test 5, proxy by size: "
pytestmark = pytest.mark.slow

EXPECTED = {
    "nginx_10gbe": {
        # 481752515 / 586296 = 821.7 bytes, where 832 in one segment take 832 + 66 = 898
        ("bytes-per-response", "test 2, response size: 616"): (
            "error",
            "821.7 bytes for each response; .* 898 in frames",
        ),
        # 2806 bytes in two segments take 2986 on the medium; · 8 · 418226 / 10^10
        ("throughput-above-link", "test 2, response size: 2590"): ("warning", "× 2,986 bytes .* 99.9 % of 10.0 Gbit/s"),
        # the same size at other interrupt limits: 418216, 417989 and 404330 requests/s
        ("throughput-above-link", "test 2, interrupt rate, 2590 bytes: 5000"): ("warning", "99.9 %"),
        ("throughput-above-link", "test 2, interrupt rate, 2590 bytes: 10000"): ("warning", "99.8 %"),
        ("throughput-above-link", "test 2, interrupt rate, 2590 bytes: 15000"): ("warning", "96.6 %"),
        # 10456 bytes in 8 segments take 11176 on the medium; · 8 · 118163 / 10^10, and · 8 · 118033 / 10^10
        ("throughput-above-link", f"{PROXY}ITR1500+10KBytes"): ("error", "118,163 requests/s × 11,176 .* 105.6 %"),
        ("throughput-above-link", f"{PROXY}ITR15000+10KBytes"): ("error", "118,033 requests/s × 11,176 .* 105.5 %"),
        # 102616 bytes in 71 segments take 109006 on the medium; · 8 · 11388 / 10^10
        ("throughput-above-link", f"{PROXY}ITR15000+100KBytes"): ("warning", "99.3 %"),
        # 173209027 / 392406 = 441.4 = 282 + 159: the request to the server leaves the proxy by the same port
        ("bytes-per-response", f"{PROXY}ITR1500+0Byte"): ("warning", "441.4 .*, 159 more .* 282 in frames"),
        # the same port with larger bodies: 1668.9, 3175.0, 1664.9 and 3166.5 bytes against 1514 and 2938
        ("bytes-per-response", f"{PROXY}ITR1500+1232Bytes"): ("warning", "1,668.9 .*, 155 more .* 1,514 in frames"),
        ("bytes-per-response", f"{PROXY}ITR1500+2590Bytes"): ("warning", "3,175.0 .*, 237 more .* 2,938 in frames"),
        ("bytes-per-response", f"{PROXY}ITR15000+1232Bytes"): ("warning", "1,664.9 .*, 151 more"),
        ("bytes-per-response", f"{PROXY}ITR15000+2590Bytes"): ("warning", "3,166.5 .*, 228 more"),
        # the proxy with domains, whose requests have longer headers, and with a connection for each request
        ("bytes-per-response", "test 6, domains: one domain"): ("warning", "499.8 .*, 218 more"),
        ("bytes-per-response", "test 6, domains: several domains"): ("warning", "506.2 .*, 224 more"),
        ("bytes-per-response", "test 6, domains: no keep-alive"): ("warning", "851.1 .*, 569 more"),
        # each row of a table is one run of its own setting
        ("few-repeats", None): ("warning", "fewer than 3 runs"),
    },
    "rt_qps_threads": {
        # 8000 − 6980 = 1020 connections; 20260.6 · 0.04994 = 1011.8
        ("effective-concurrency", "8000 connections"): ("error", r"1011\.8 in flight; .* 6980 failed .* 1020"),
        ("connections-opened", "8000 connections"): ("error", "6980 of 8000"),
        # 1288.65 · 0.51529 = 664.0; ss -s shows 7959 established
        ("effective-concurrency", "30000 connections"): ("error", r"664\.0 in flight; .*\b7959 established"),
        # (298852 + 16 + 3115) / (39021 + 298852 + 16) = 89.4 %
        ("failed-requests", "30000 connections"): ("error", "89.4 %"),
        # 3115 / 39021 = 7.98 %
        ("timeouts", "30000 connections"): ("error", "3115 timeouts beside 39021 responses .7.98 %"),
        # its output is the heading alone: no number can be used
        ("unfinished-run", "FIN dropped"): ("error", "unknown"),
        ("few-repeats", None): ("warning", "fewer than 3 runs"),
    },
    "bottleneck_listeners": {("few-repeats", None): ("warning", "fewer than 3 runs")},
    "scale_out_lvs": {
        # (33.2 + 32.7) / (2 · 30) = 1.098, because “30+” is a lower bound
        ("super-linear-scale-out", "both"): ("warning", r"659,000 / \(2 × 300,000\) .* = 1\.10; .* lower bound"),
    },
    "lvs_acceptance": {
        ("few-repeats", None): ("warning", "fewer than 3 runs"),
        # the only times printed are N / X
        **{
            ("missing-latencies", name): ("warning", "no response time that was measured")
            for name in ("no rules", "with rules", "with LVS", "without LVS")
        },
    },
}
FOUND_NOTHING = {
    "nginx_10gbe": {
        # 196511531 / 691614, 878859780 / 579103, 810366796 / 513099, 1230776566 / 418226 and 1225670001 / 11388 bytes
        ("bytes-per-response", "test 2, interrupt rate, empty body: 1500"): "284.1 bytes .* 282 in frames",
        ("bytes-per-response", "test 2, response size: 1232"): "1,517.6 bytes .* 1,514 in frames",
        ("bytes-per-response", "test 2, response size: 1233"): "1,579.4 bytes .* 1,581 in frames",
        ("bytes-per-response", "test 2, response size: 2590"): "2,942.9 bytes .* 2,938 in frames",
        ("bytes-per-response", f"{PROXY}ITR15000+100KBytes"): "107,628.2 bytes .* 107,302 in frames",
        ("throughput-above-link", "test 2, interrupt rate, empty body: 1500"): "16.9 %",
        ("throughput-above-link", "test 2, response size: 616"): r"43\.\d %",
        ("throughput-above-link", "test 2, response size: 1232"): "71.3 %",
        ("throughput-above-link", "test 2, response size: 1233"): "66.9 %",
    },
    "rt_qps_threads": {
        # 22.23 · 0.04500 = 1.0004
        ("effective-concurrency", "one connection"): r"22\.2\d? × 45\.00 ms = 1\.0",
    },
    "lvs_acceptance": {
        # 10000 / 9040.98 = 1.10608 s, printed 1106.074 ms; 42149180 / 5.530, printed 7442.78 KiB/s = 7621407 bytes/s
        ("contradicting-numbers", "no rules"): r"7,621,407 bytes/s, .* = 7,621,913 .* 1\.106074 s, .* = 1\.106075 s",
    },
}


@pytest.fixture(scope="module")
def findings(root):
    """By source: severity and evidence of each rule and run."""
    found = {source: audit.audit(read(root / "data" / "published" / source)) for source in EXPECTED}
    return {source: {(row.rule, row.run_id if isinstance(row.run_id, str) else None): (row.severity, row.evidence)
                     for row in table.itertuples()} for source, table in found.items()}  # fmt: skip


@pytest.mark.parametrize("source", EXPECTED)
def test_warnings_and_errors_are_those_computed_by_hand_and_no_others(findings, source):
    counted = {place: found for place, found in findings[source].items() if found[0] in ("warning", "error")}
    assert set(counted) == set(EXPECTED[source])
    for place, (severity, words) in EXPECTED[source].items():
        assert counted[place][0] == severity, place
        assert re.search(words, counted[place][1]), counted[place]


@pytest.mark.parametrize("source", FOUND_NOTHING)
def test_what_agrees_is_reported_with_its_numbers(findings, source):
    for place, words in FOUND_NOTHING[source].items():
        severity, evidence = findings[source][place]
        assert re.search(words, evidence) and (severity == "ok" or place in EXPECTED[source]), (place, evidence)


def test_no_rule_failed(findings):
    assert not [text for found in findings.values() for _, text in found.values() if "internal error" in text]
