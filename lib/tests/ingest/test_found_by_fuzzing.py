"""Texts that `make fuzz` found: each once raised something else than an error with its own line."""

import pytest

from loadcurve.errors import ParseError
from loadcurve.ingest.clean import clean
from loadcurve.ingest.registry import forms_of

VEGETA = '{"latencies":{"total":1,"mean":1,"max":1,"min":1,"NAME":1},"requests":1,"rate":1,"throughput":1}\n'


@pytest.mark.parametrize(
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
        ("pidstat", "\n22:33:25  UID  PID  Command\n22:33:27  65534  11162  23.00 nginx\n", 2),
    ],
)
def test_it_is_refused_where_it_is(name, text, line):
    with pytest.raises(ParseError) as caught:
        forms_of(name)[0].parse(clean(text))
    assert caught.value.line == line


def test_a_service_that_is_all_comment():
    text = (
        "IP Virtual Server version 1.2.1 (size=4096)\nProt LocalAddress:Port Scheduler Flags\n"
        "  -> RemoteAddress:Port           Forward Weight ActiveConn InActConn\nTCP  # 198.18.0.9:80 rr\n"
    )
    with pytest.raises(ParseError, match=":4: expected a service"):
        forms_of("ipvsadm")[0].parse(text)
