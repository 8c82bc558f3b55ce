"""Every shared sample is read as what it is, or refused with its line; what the tools' own text says is found again.

The expectations stand in rules by folder and name, written from what the files are; the numbers are looked up in the
text by a pattern of this test, not by the parsers.
"""

import re
from fnmatch import fnmatch
from pathlib import Path

import pytest

from loadcurve import tables
from loadcurve.errors import ParseError
from loadcurve.ingest.files import parse_bytes

SAMPLES = Path(__file__).resolve().parents[4] / "shared" / "samples"
FILES = sorted(p.relative_to(SAMPLES).as_posix() for p in SAMPLES.rglob("*") if p.is_file())

# First match counts.  "tool: tables that have rows", "refused" where it is no output of a tool that is read.
RULES = {
    "README.md": "refused",
    "*/cmd-*.txt": "refused",  # the command and its exit code, as the sampler noted them
    "*/tunrelay-*": "refused",
    "*/*.lua": "refused",
    "*/siege.err": "refused",
    "sar/sadf-l.txt": "refused",
    "sar/sadf-r.txt": "refused",
    "sar/sadf.svg": "refused",
    "sar/srv1.sa": "refused",  # binary: read with the help of sadf, in test_reading
    "ss/*.err": "refused",
    "ab/*.csv": "ab: latency",
    "ab/*.tsv": "ab: requests",
    "ab/*": "ab: runs",
    "*/ab-*": "ab: runs",
    "*/wrk-*": "wrk: runs",
    "wrk/*": "wrk: runs",
    "wrk2/*": "wrk2: runs latency",
    "weighttp/*": "weighttp: runs",
    "ipvs/ipvsadm-L-timeout.txt": "ipvsadm: counters",
    "ipvs/ipvsadm-Lcn.txt": "ipvsadm: flows",
    "ipvs/ipvsadm-*": "ipvsadm: balancer",
    "ipvs/proc-net-ip_vs.txt": "proc: balancer",
    "ipvs/proc-net-ip_vs_conn.txt": "proc: flows",
    "ipvs/proc-net-*": "proc: counters",
    "misc/ethtool*": "ethtool: counters",
    "misc/ip-*": "ip: counters",
    "misc/netstat-s.txt": "netstat: counters",
    "misc/nstat*": "nstat: counters",
    "misc/*sockstat*": "proc: sockets counters",
    "misc/*softirqs*": "proc: interrupts",
    "misc/proc-interrupts.txt": "proc: interrupts",
    "misc/proc-net-tcp-head.txt": "proc: connections",
    "misc/*": "proc: counters",
    "nft/conntrack-L.txt": "conntrack: flows",
    "nft/conntrack-S.txt": "conntrack: counters",
    "nft/iptables*": "iptables: counters",
    "nft/numgen.nft": "nft: ",
    "nft/ruleset*": "nft: counters balancer",
    "nginx/*access.log": "nginx: requests",
    "nginx/lb-err-ports.txt": "nginx: events",
    "nginx/stub_status.txt": "nginx: server",
    "other/apache*": "apache: server counters",
    "other/h2load*": "h2load: runs phases",
    "other/haproxy*": "haproxy: balancer",
    "other/hey.csv": "hey: requests",
    "other/hey*": "hey: runs phases",
    "other/httperf.txt": "httperf: runs phases",
    "other/siege*": "siege: runs",
    "sar/iostat.json": "iostat: cpu",
    "sar/mpstat.json": "mpstat: cpu",
    "sar/mpstat-I.txt": "mpstat: interrupts",
    "sar/mpstat*": "mpstat: cpu averages hosts",
    "sar/pidstat*": "pidstat: processes hosts",
    "sar/vmstat.txt": "vmstat: cpu memory load counters",
    "sar/sadf-H.txt": "sadf: hosts",
    "sar/sadf-d-DEV.csv": "sadf: network",
    "sar/sadf-d-*TCP.csv": "sadf: tcp",
    "sar/sadf-d-SOCK.csv": "sadf: sockets",
    "sar/sadf*": "sadf: cpu",
    "sar/*": "sar: hosts averages",
    "ss/ss-s*": "ss: sockets",
    "ss/ss-uan*": "ss: ",  # nothing but the header
    "ss/*": "ss: connections",
}
# What the test itself finds in a text: table, column, pattern, factor.  Each match is a row, in order.
FOUND_AGAIN = {
    "wrk": [
        ("runs", "throughput_rps", r"^Requests/sec: +([0-9.]+)$", 1.0),
        ("runs", "requests", r"^ +([0-9]+) requests in ", 1.0),
        ("runs", "connections", r"threads and ([0-9]+) connections$", 1.0),
    ],
    "wrk2": [("runs", "throughput_rps", r"^Requests/sec: +([0-9.]+)$", 1.0)],
    "ab": [
        ("runs", "throughput_rps", r"^Requests per second: +([0-9.]+) ", 1.0),
        ("runs", "connections", r"^Concurrency Level: +([0-9]+)$", 1.0),
        ("runs", "received_bytes", r"^Total transferred: +([0-9]+) bytes$", 1.0),
        ("latency", "latency_s", r"^ +[0-9]+% +([0-9]+)", 1e-3),
        ("requests", "latency_s", r"^.* 2026\t[0-9]+\t[0-9]+\t[0-9]+\t([0-9]+)\t[0-9]+$", 1e-3),
    ],
    "h2load": [("runs", "throughput_rps", r", ([0-9.]+) req/s, ", 1.0)],
    "hey": [("runs", "throughput_rps", r"Requests/sec:\t([0-9.]+)$", 1.0)],
    "ss": [
        ("sockets", "total", r"^Total: ([0-9]+)", 1.0),
        ("sockets", "time_wait", r"timewait ([0-9]+)", 1.0),
        ("connections", "send_queue", r"^(?:tcp|udp|u_\w+|nl)? *(?:[A-Z][A-Z0-9-]+)? +[0-9]+ +([0-9]+) +\S*:", 1.0),
    ],
    "ipvsadm": [("balancer", "active", r"^  -> .* (?:Route|Masq|Local|Tunnel) +[0-9]+ +([0-9]+) +[0-9]+ *$", 1.0)],
    "nginx": [
        ("requests", "status", r'^.*" ([0-9]{3}) ', 1.0),
        ("server", "requests", r"^ [0-9]+ [0-9]+ ([0-9]+)", 1.0),
    ],
}


def _expected(name: str) -> str:
    return next(rule for pattern, rule in RULES.items() if fnmatch(name, pattern))


@pytest.mark.parametrize("name", FILES)
def test_sample(name):
    raw = (SAMPLES / name).read_bytes()
    expected = _expected(name)
    try:
        parsed = parse_bytes(raw, name)
    except ParseError as error:
        assert expected == "refused" or not raw.strip(), str(error)
        assert re.match(rf"{re.escape(name)}:[0-9]+: expected .+, got .+", str(error))
        return
    tool, _, wanted = expected.partition(": ")
    assert parsed.tool == tool
    filled = {table for table, frame in parsed.tables.items() if len(frame)}
    assert set(wanted.split()) <= filled
    for table, frame in parsed.tables.items():
        tables.check(table, frame)
    _found_again(raw.decode("utf-8"), parsed)
    if name.endswith(".err") and "runs" in filled:
        runs = parsed.tables["runs"]
        assert runs["reason"].notna().all() if "failed" in runs["status"].tolist() else parsed.warnings


def _found_again(text, parsed):
    for table, column, pattern, factor in FOUND_AGAIN.get(parsed.tool, []):
        stated = [float(m[1]) * factor for m in re.finditer(pattern, text, re.MULTILINE)]
        if table in parsed.tables and stated:
            if table == "runs" and "failed" in parsed.tables["runs"].get("status", []).tolist():
                continue  # what a failed run counted is not throughput
            found = parsed.tables[table][column].dropna().tolist()
            assert found == pytest.approx(stated), (table, column)


def test_the_samples_are_all_here():
    if not SAMPLES.exists():
        pytest.skip("no shared samples beside this checkout")
    assert len(FILES) > 500
