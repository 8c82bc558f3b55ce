"""Texts that a parser refuses at a line: fixtures damaged in one place, and what 'make fuzz' found."""

import json
from pathlib import Path

import pytest
from one_test import in_one_test
from refused import refused_line

from loadcurve.errors import ParseError
from loadcurve.ingest.clean import clean
from loadcurve.ingest.registry import FORMS, form_of, forms_of
from loadcurve.ingest.sniff import parse

DATA = Path(__file__).parents[1] / "data"
# Fixture → what is printed, what stands there instead, line of the error; None in documents, whose lines say nothing.
REFUSED = {
    "ab/sleep": [
        ('200\nFailed', '20O\nFailed', 17),
        ('25200 bytes', '25 200 bytes', 20),
        ('94.43', '94,43', 22),
        ('10\nTime', '1111111111111111111\nTime', 15),
        ('  66%    101', '  66%    1o1', 36),
        ('  66%    101', '  50%    101', 36),
        ('Waiting:       99', 'Waiting:       9x9', 31),
        ('Waiting:', 'Waited 5:', 31),
        ('2.118 seconds', '2 seconds', 16),
    ],
    "conntrack/list": [
        ('sport=44224', 'sport=4422x', 1),
        ('6 111', '6 1x1', 1),
        ('mark=0', 'mark=o', 1),
        ('dst=198.18.0.2 sport=80', 'sport=80', 1),
    ],
    "fortio/json": [
        ('"Count": 60', '"Count": 61', None),
        ('"200": 95', '"200": 96', None),
        ('98.75', '88.75', None),
        ('"100"', '"1OO"', None),
    ],
    "fortio/text": [
        ('qps=755.89', 'qps=855.89', 4),
        ('count 20 avg', 'count 21 avg', 5),
        ('avg 0.0021580284', 'avg 0.0031580284', 5),
        ('35.00, 1', '36.00, 1', 8),
        ('0.0015 ,', '0.0025 ,', 8),
        ('# target 90%', '# target 9x%', 14),
        ('Code 503 : 6', 'Code 503 : six', 20),
        ('All done 20', 'All done 21', 23),
    ],
    "h2load/h1": [
        ('finished in 171.42ms', 'finished in 171.42mm', 15),
        ('20000 done', '20000 dome', 16),
        ('0 5xx', '0 6xx', 17),
        ('(17100000) total', '(1710000) total', 18),
        ('      49us', '      49ns', 20),
        ('89.21%', '89.21', 20),
        ('32 total client(s)', '32 clients', 2),
    ],
    "haproxy/stats": [
        ('75490,4302930', '75490,43o2930', 3),
        ('\nb,s2', '\nb,s2,0,0,0', 4),
    ],
    "hey/plain": [
        ('Total:\t0.4390 secs', 'Total:\t0.4390 parsecs', 3),
        ('Slowest:\t0.0055 secs', 'Slowest:\t0.00x5 secs', 4),
        ('0.001 [10552]', '0.001 [1O552]', 14),
        ('10% in 0.0001 secs', '1O% in 0.0001 secs', 27),
        ('10% in 0.0001 secs', '101% in 0.0001 secs', 27),
        ('resp wait:', 'resp weight:', 39),
        ('[200]\t20000', '[200]\t2 0000', 43),
    ],
    "httperf/errors": [
        ('replies 575319', 'replies 57531x', 3),
        ('5706.9 conn/s', '5706,9 conn/s', 5),
        ('response 112.4', 'response 112.4ms', 14),
        ('2xx=175849', '2xx=', 16),
        ('client-timo 0', 'client-timo none', 21),
    ],
    "iptables/nat": [
        ('661K', '66xK', 4),
        ('5808K packets', '58o8K packets', 2),
    ],
    "iptables/save": [
        ('[12:720]', '[12:72o]', 6),
    ],
    "ipvsadm/list": [
        ('Masq    1      0          2293', 'Masq    1      0', 6),
        ('Masq    1      0          2293', 'Mask    1      0          2293', 6),
        ('Masq    1      0          2293', 'Masq    1      0          -1', 6),
        ('Masq    1      0          2293', 'Masq    1      0          2K', 6),
        ('198.18.0.9:80 rr', '198.18.0.9:80', 5),
        ('198.18.0.9:80 rr', '198.18.0.9:80x rr', 5),
        ('198.18.0.9:80 rr', '198.18.0.9:70000 rr', 5),
        ('198.18.0.9:81 wrr', 'C6120009:0051 wrr', 8),
        ('persistent 60', 'persistent x0', 17),
        ('198.18.0.9:80 rr', '198.18.0.9:80 rr  -> 198.18.0.3:80  Masq 1 0 0', 5),
        ('ActiveConn InActConn', 'ActiveConn OddConn', 4),
        ('(size=4096)', '(size=4096)Prot LocalAddress:Port Scheduler Flags', 2),
    ],
    "k6/text-before-1": [
        ('avg=652.01ms', 'avg=652.01mm', 10),
        ('med=641.89ms', 'mid=641.89ms', 10),
        ('52939   756.255434/s', '52939   756.2x5434/s', 17),
        ('264 MB ', '264 MX ', 6),
        ('0.00%   ✓', '0.00    ✓', 12),
    ],
    "nft/json": [
        ('"packets": 20096', '"packets": -1', None),
        ('"packets": 20096', '"packets": 1.5', None),
        ('"packets": 20096', '"packets": true', None),
        ('"packets": 20096', '"packets": "x"', None),
        ('"packets": 20096', '"packts": 1', None),
    ],
    "nft/ruleset": [
        ('packets 20096', 'packets 2oo96', 4),
        ('bytes 1205760', 'bytes 12057x0', 4),
    ],
    "oha/json": [
        ('"p95"', '"q95"', None),
        ('"200": 62218', '"2OO": 62218', None),
        ('62218 }', '62218.5 }', None),
        ('0.0000633', '"fast"', None),
    ],
    "siege/text": [
        ('626 hits', '62x hits', 6),
        ('6.95 secs', '6.95 hits', 10),
        ('11.97 trans', '11..97 trans', 11),
        ('1123', '-1', 15),
    ],
    "vegeta/json": [
        ('"success": 0.98', '"success": 0.97', None),
        ('"requests": 100', '"requests": 101', None),
    ],
    "vegeta/text": [
        ('1250, 250.21, 249.89', '1250, 250.21', 1),
        ('4.996s', '4.996', 2),
        ('6.155ms', '6.155mm', 3),
        ('100.00%', '97.00%', 6),
        ('200:1250', '200:1249', 7),
        ('200:1250', '2000:1250', 7),
    ],
    "weighttp/keepalive": [
        ('120273', wrong, None) for wrong in ('120273.5', '-1', '"x"', 'null', '1e400', '9' * 400, '[' * 3000)
    ],
    "wrk/latency": [
        ('     75%  594.00us', '     75%  544.00us', 8),
        ('     75%  594.00us', '     45%  594.00us', 8),
        ('Latency   605.10us', 'Latency   -605.10us', 4),
        ('Latency   605.10us', 'Latency   605.10', 4),
        ('  Thread Stats   Avg      Stdev     Max', '  Thread Stats   Avg      Stdev     98%', 3),
        ('Requests/sec', 'Socket errors: connect 1, read x, write 0, timeout 0\nRequests/sec', 12),
        ('Requests/sec', 'Non-2xx or 3xx responses: 223241\nRequests/sec', 12),
        ('223240 requests', '2232400000000000000000 requests', 11),
        ('2 threads', 'x threads', 2),
    ],
    "vmstat/since-boot": [
        ('3770', '37x0', 4),
        ('17312 20 73  7  0  0', '17312 20 73  7  0', 4),
        ('3770', '9999999999999999999', 4),
    ],
    "mpstat/each-processor": [
        ('  20.42', '', 4),
        ('20.42', '20.4x', 4),
        ('22:33:26     all', '22:33:26     xll', 4),
        ('11/20/26', '13/40/26', 1),
    ],
    "pidstat/sections": [
        ('25.49', '2x.49', 4),
        (' 11162   25.49', ' 1x162   25.49', 4),
        ('%wait', '%what', 4),
    ],
    "pidstat/threads": [
        ('1680         -', '   -      1680', 4),
    ],
    "iostat/extended-time": [
        ('323.70', '32x.70', 8),
        (' 323.70', '', 8),
        ('22.67', '2x.67', 5),
        ('%iowait', '%iowhat', 5),
    ],
    "sadf/sections": [
        (';20.83', ';2x.83', 2),
        (';20.83', '', 2),
    ],
    "sadf/lines": [
        ('20.83', '2x.83', 1),
    ],
    "sadf/markup": [
        ('user="20.83"', 'user="2x.83"', 1),
    ],
    "wrk2/uncorrected": [
        ('       6.207     0.500000         3976', '       6.207     0.500000         x976', 17),
        ('       6.207     0.500000', '       0.207     0.500000', 17),
        ('0.999976         7940', '0.499976         7940', 18),
        ('#[Buckets =           27,', '#[Buckets =           27', 22),
        ('Value   Percentile', 'Value   Percentiles', 14),
    ],
    "gatling/log": [
        ("1795386396806\t", "soon\t", 3),
        ("OK\t \nREQUEST\tOrder\tFlaky", "Maybe\t \nREQUEST\tOrder\tFlaky", 3),
        ("USER\tUsers\tSTART\t1795386396940", "USER\tUsers\tSTART\t", 2),
        ("GROUP\tOrder\t1795386397098", "GR0UP\tOrder\t1795386397098", 6),
    ],
    "jmeter/csv": [
        ("1795384236682,17,", "1795384236682,seventeen,", 3),
        (",true,,166,118,3,3", ",maybe,,166,118,3,3", 2),
        ("1795384236682,17,", "1795384236682,,", 3),
        ("1795384236682,17,", "17,", 3),
        ("1795384236680,", "99999999999999999,", 2),
    ],
    "locust/stats": [
        ("GET,/drop,58,58", "GET,/drop,58,59", 3),
        ("95%", "9x%", 1),
        ("GET,/drop,58,58,1,", "GET,/drop,58,", 3),
    ],
    "locust/history": [("1795385843,4,GET,/drop", "yesterday,4,GET,/drop", 4)],
    "locust/failures": [(",58,2026", ",many,2026", 2)],
    "locust/console": [(" 84(18.03%)", " 84(11.03%)", 26)],
}  # fmt: skip


@in_one_test(
    ("case", "right", "wrong", "line"), [(case, *change) for case, changes in REFUSED.items() for change in changes]
)
def test_a_damaged_place_is_refused_at_its_line(case, right, wrong, line):
    text = (DATA / f"{case}.txt").read_text("utf-8")
    assert right in text
    form = form_of(case.split("/")[0], json.loads((DATA / f"{case}.json").read_text("utf-8")).get("variant", ""))
    found = refused_line(form.parse, text.replace(right, wrong, 1))
    assert line in (found, None)


@in_one_test("form", [form for form in FORMS if form.name != "locust:errors"], ids=lambda form: form.name)
def test_an_empty_text_is_refused_at_its_first_line(form):
    assert refused_line(form.parse, "") == 1


@pytest.mark.parametrize(
    ("case", "before", "glue"),
    [("ab/sleep", "", ""), ("wrk/plain", "", ""), ("wrk/plain", "", " "), ("ipvsadm/list", "", ""),
     ("ipvsadm/stats", "$ ipvsadm -ln", "")],
)  # fmt: skip
def test_lost_newlines_glue_no_numbers(case, before, glue):
    with pytest.raises(ParseError):
        parse(before + (DATA / f"{case}.txt").read_text("utf-8").replace("\n", glue))


# ------------------------------------------------------------------ found by fuzzing, each raised something else once
VEGETA = '{"latencies":{"total":1,"mean":1,"max":1,"min":1,"NAME":1},"requests":1,"rate":1,"throughput":1}\n'
HITS = (
    '{"latencies":{"total":4,"mean":2,"max":3},"duration":1,"wait":0,"requests":2,"rate":2,"success":1,'
    '"status_codes":{"200":2},"errors":ERRORS}'
)
IOSTAT = '{"sysstat": {"hosts": [{"nodename": "vm", "date": "11/20/26", "statistics": [{"disk": DISK}]}]}}'
INTERRUPTS = '[{"cpu": "all", "intr": [3]}]'
MPSTAT = (
    '{"sysstat": {"hosts": [{"nodename": "vm", "date": "11/20/26", "statistics": [{"timestamp": "22:33:26",'
    ' "cpu-load": LOAD}]}]}}'
)


@in_one_test(
    ("name", "text", "line"),
    [
        ("wrk", "\x1c\n", 1),
        ("wrk2", "\x1f \n", 1),
        ("vegeta:json", VEGETA.replace("NAME", "1"), 1),
        ("vegeta:json", VEGETA.replace("NAME", "\u00b2th"), 1),
        ("vegeta:requests-json", '{"attack":"","seq":946', 1),
        ("vegeta:requests-json", '{"attack" "","seq":946}', 1),
        ("vegeta:requests-json", '\n{"attack" "","seq":946}', 2),
        ("apache:server-status", "Total Accesses: 5\nConnsAsyncWriting: 1e999\nScoreboard: W_\n", 2),
        ("apache:server-status", "Total Accesses: 1e999\n", 1),
        ("vegeta:json", VEGETA.replace('"NAME":1', '"50th":1').replace('"rate"', '"status_codes":7,"rate"'), 1),
        ("vegeta:requests", "14766966440016\u00b90668,200,1,0,0,\n", 1),
        ("vegeta:json", HITS.replace("ERRORS", "1"), 1),
        ("vegeta:json", HITS.replace("ERRORS", '[], "buckets":[]'), 1),
        ("vegeta:requests", "1476696644011690668,\x1d0,788,12,0,\n", 1),
        ("fortio:json", "\n[]", 2),
        ("k6", "http_req_duration..: avg=1ms min=1ms med=1ms max=1ms p(951.2)=1ms\n", 1),
        ("ipvsadm", "master sync daemon (mcast=eth0, syncid=2, a=b=c)\n", 1),
        ("iostat:json", IOSTAT.replace("DISK", "4.00"), 1),
        ("iostat:json", IOSTAT.replace("DISK", "[7]"), 1),
        ("mpstat:json", MPSTAT.replace("LOAD", '"all"'), 1),
        ("mpstat:json", MPSTAT.replace("cpu-load", "soft-interrupts").replace("LOAD", INTERRUPTS), 1),
        ("sadf:json", '{"sysstat": {"hosts": [{"statistics": 5}]}}', 1),
        ("sadf:json", '{"sysstat": {"hosts": []}}', 1),
        ("sadf:json", '{"sysstat": {"hosts": [{"restarts": 5}]}}', 1),
        ("sadf:json", '{"sysstat": {"hosts": [{"restarts": [{"boot": 5}]}]}}', 1),
        ("ab", "Connection Times (ms)\n<th>Total</th>\n", 2),
        ("gatling:log", "REQUEST\t\tHome\t1795369836806\t17953865386397117\tOK\t \n", 0),
        ("iostat", "   tty        sd0           cpu\n tin tout kps tps serv   us sy wt id\n", 1),
        ("vmstat", "disk- ------------reads------------ ------------writes-----------\nvda 1 2 3 4\n", 1),
        ("vmstat", " procs     memory        page          disks     faults         cpu\n r b w avm fre\n", 2),
        ("pidstat", "\n22:33:25  UID  PID  Command\n22:33:27  65534  11162  23.00 nginx\n", 2),
    ],
)
def test_it_is_refused_where_it_is(name, text, line):
    assert refused_line(forms_of(name)[0].parse, clean(text)) == line


def test_an_interrupt_rate_below_0():
    text = "Linux 6.1.0 (vm) \t11/20/26 \t_x86_64_\t(2 CPU)\n\n22:33:25     CPU    NMI/s\n22:33:26       0    -1.00\n"
    parsed = forms_of("mpstat")[0].parse(text)
    assert parsed.tables["interrupts"]["interrupts_per_s"].isna().all()
    assert parsed.warnings == ("line 4: NMI/s of -1 cannot be, so it is missing",)


def test_a_service_that_is_all_comment():
    text = (
        "IP Virtual Server version 1.2.1 (size=4096)\nProt LocalAddress:Port Scheduler Flags\n"
        "  -> RemoteAddress:Port           Forward Weight ActiveConn InActConn\nTCP  # 198.18.0.9:80 rr\n"
    )
    with pytest.raises(ParseError, match=":4: expected a service"):
        forms_of("ipvsadm")[0].parse(text)
