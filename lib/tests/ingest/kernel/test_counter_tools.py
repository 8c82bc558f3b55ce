"""nstat, netstat -s, ethtool -S and ip -s link: versions, drivers, what is cut off, what is not there."""

import json
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refused import refused_line

from loadcurve import tables
from loadcurve.errors import ParseError
from loadcurve.ingest.kernel.ethtool import parse_ethtool
from loadcurve.ingest.kernel.ip_link import parse_ip_link, parse_ip_link_json
from loadcurve.ingest.kernel.netstat import parse_netstat
from loadcurve.ingest.kernel.nstat import parse_nstat, parse_nstat_json
from loadcurve.ingest.sniff import parse, sniff

NSTAT = """#kernel
IpInReceives                    58147499           0.0
TcpExtListenOverflows           17                 0.0
"""
LINK = (Path(__file__).parents[2] / "data/ip/link-old.txt").read_text()
NIC = "NIC statistics:\n     rx_packets: 7\n     rx_bytes: 900\n"


def values(parsed):
    frame = tables.check("counters", parsed.tables["counters"])
    return {row.counter: row.value for row in frame.itertuples()}


def test_nstat_in_a_series():
    parsed = parse(f"1795214067\n{NSTAT}1795214068\n{NSTAT}")
    assert parsed.tables["counters"]["time"].tolist() == list(
        pd.to_datetime([1795214067] * 2 + [1795214068] * 2, unit="s", utc=True)
    )
    assert parsed.tables["counters"]["group"].tolist() == ["Ip", "TcpExt"] * 2


def test_nstat_without_its_heading():
    assert sniff(NSTAT.split("\n", 1)[1]).name == "nstat"


def test_nstat_counts_rates_of_its_daemon_only():
    daemon = NSTAT.replace("#kernel", "#1234.567 sampling_interval=1 time_const=60").replace("   0.0", "  17.5")
    rates = parse_nstat(daemon).tables["counters"].query("unit == 'per_s'")
    assert rates["value"].tolist() == [17.5, 17.5]
    assert len(parse_nstat(NSTAT).tables["counters"]) == 2


def test_nstat_json_of_32_bits():
    text = json.dumps({"kernel": {"IpExtInOctets": 761229397}})
    assert "lower 32 bits" in parse(text).warnings[0]
    assert parse(json.dumps({"kernel": {"IpExtInOctets": 2**40}})).warnings == ()


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "7", '{"kernel":7}', '{"kernel":{"A":-1}}', '{"kernel":{"A":1.5}}', '{"kernel":{"A":true}}']
)
def test_no_json_of_nstat(text):
    with pytest.raises(ParseError):
        parse_nstat_json(text)


@pytest.mark.slow
@given(st.dictionaries(st.from_regex(r"TcpExt[A-Z][A-Za-z]{2,40}", fullmatch=True), st.integers(0, 2**53), min_size=1))
def test_what_nstat_can_write_is_read(counts):
    text = "#kernel\n" + "".join(f"{name:<32s}{count:<16d}{0.0:6.1f}\n" for name, count in counts.items())
    assert values(parse_nstat(text)) == counts


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("5 total packets received", "total packets received"),
        ("OutTransmits: 5", "OutTransmits"),
        ("Quick ack mode was activated 5 times", "Quick ack mode was activated N times"),
        ("5 bad segments received.", "bad segments received."),
        (
            "Ran 5 times out of system memory during packet output",
            "Ran N times out of system memory during packet output",
        ),
        ("5 empfangene Pakete insgesamt", "empfangene Pakete insgesamt"),
        ("InECT0Pkts: 5", "InECT0Pkts"),
        ("reçus 5 segments", "reçus N segments"),
    ],
)
def test_sentences_of_netstat(line, name):
    parsed = parse_netstat(f"Tcp:\n    {line}\n")
    assert values(parsed) == {name: 5}
    assert parsed.warnings == ()


def test_sentences_without_one_number():
    parsed = parse_netstat("Ip:\n    Forwarding is enabled\n    5 forwarded\n    5 of 7 lost\n    5x delivered\n")
    assert values(parsed) == {"forwarded": 5}
    assert [w.split(":")[0] for w in parsed.warnings] == ["line 4"]  # the stretch from there on


def test_a_cut_sentence_is_no_name():
    parsed = parse_netstat("Tcp:\n    5 resets sent\n    6 segments rece")
    assert values(parsed) == {"resets sent": 5}
    assert "line 3" in parsed.warnings[0]


def test_ethtool_knows_the_interface_from_its_command():
    assert parse("[root@h ~]# ethtool -S eth0\n" + NIC).tables["counters"]["item"].tolist() == ["eth0"] * 2
    assert "item" not in parse(NIC).tables["counters"]
    text = "ethtool -S eth0 | grep -v ': 0'\n" + NIC + "ethtool --statistics ens1f0\n" + NIC
    assert parse_ethtool(text).tables["counters"]["item"].tolist() == ["eth0"] * 2 + ["ens1f0"] * 2


def test_an_interface_without_statistics():
    parsed = parse("$ ethtool -S lo\nno stats available\n")
    assert len(parsed.tables["counters"]) == 0
    assert parsed.warnings == ("line 2: ethtool has no statistics of lo: no stats available",)


@pytest.mark.parametrize(
    ("text", "line"), [("", 1), (NIC.replace("900", "9o0"), 3), (NIC.replace("7", "9" * 21), 2), ("hello\n", 1)]
)
def test_ethtool_refuses(text, line):
    assert refused_line(parse_ethtool, text) == line


def test_ip_with_addresses_details_and_functions():
    text = LINK.replace("    RX:", "    vf 0     link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff\n    RX:", 1)
    assert set(parse(text).tables["counters"]["item"]) == {"eth0 vf 0"}
    text = LINK.replace(
        "    RX:", "    altname enp0s3\n    inet 10.0.0.1/24 scope global eth0\n       valid_lft forever\n    RX:", 1
    )
    assert parse(text).warnings == ()
    assert values(parse(text))["TX packets"] == 4


def test_ip_short_numbers():
    parsed = parse(LINK.replace("100        2 ", "5.87G      58.2M "))
    assert values(parsed)["RX bytes"] == pytest.approx(5.87e9)
    assert values(parsed)["RX packets"] == pytest.approx(58.2e6)
    assert "line 4: numbers are abbreviated" in parsed.warnings[0]
    assert values(parse(LINK.replace("100        2 ", "1Ki        2 ")))["RX bytes"] == 1024


def test_ip_without_statistics_is_left_to_others():
    assert sniff("\n".join(LINK.split("\n")[:2]) + "\n") is None


def test_a_cut_of_ip():
    parsed = parse_ip_link(LINK.rstrip())
    assert "TX collsns" not in values(parsed)
    assert "line 6" in parsed.warnings[0]


@pytest.mark.parametrize(
    ("text", "line"),
    [("", 1), (LINK.replace("100  ", "1x0  "), 4), (LINK.replace("    100        2 ", "    100  "), 4)],
)
def test_ip_refuses(text, line):
    assert refused_line(parse_ip_link, text) == line


def test_json_of_ip():
    link = {"ifindex": 2, "ifname": "eth0", "stats64": {"rx": {"bytes": 7}, "tx": {"bytes": 8}}}
    link["vfinfo_list"] = [{"vf": 3, "stats": {"rx": {"bytes": 9}}}, "odd"]
    frame = parse(json.dumps([link, {}])).tables["counters"]
    assert frame[["item", "counter", "value"]].to_numpy().tolist() == [
        ["eth0", "RX bytes", 7], ["eth0", "TX bytes", 8], ["eth0 vf 3", "RX bytes", 9]
    ]  # fmt: skip
    for wrong in ('[{"ifname":"a","stats64":{"rx":{"bytes":-1}}}]', "[7]", '[{"ifname":"a"}]', '[{"ifname":7}]'):
        with pytest.raises(ParseError):
            parse_ip_link_json(wrong)
