"""Texts that `make fuzz` found: each once raised something else than an error with its own line."""

import pytest
from one_test import in_one_test
from refused import refused_line

from loadcurve.errors import ParseError
from loadcurve.ingest.clean import clean
from loadcurve.ingest.registry import forms_of

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
