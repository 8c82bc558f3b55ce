"""server-status?auto: pages of several versions, zones, series."""

import pandas as pd
import pytest
from refused import refused_line

from loadcurve import tables
from loadcurve.errors import ParseError
from loadcurve.ingest.servers.error_log import parse_error_log
from loadcurve.ingest.servers.server_status import parse_server_status
from loadcurve.ingest.sniff import parse

# httpd 2.4.18, from github.com/radoondas/apachebeat issue 2, scoreboard cut
PAGE = """example.com
ServerVersion: Apache/2.4.18 (Unix)
ServerMPM: worker
Server Built: Dec 18 2015 13:07:29
CurrentTime: Sunday, 20-Dec-2015 23:14:45 CET
RestartTime: Sunday, 20-Dec-2015 23:14:02 CET
ParentServerConfigGeneration: 1
ServerUptimeSeconds: 43
ServerUptime: 43 seconds
Load1: 0.01
Total Accesses: 4
Total kBytes: 3
CPUUser: 0
CPUSystem: .01
CPULoad: .0232558
Uptime: 43
ReqPerSec: .0930233
BytesPerSec: 71.4419
BytesPerReq: 768
BusyWorkers: 1
IdleWorkers: 49
Scoreboard: ____RRK___W____..
"""


def test_a_page_in_the_servers_zone():
    parsed = parse_server_status(PAGE, "Europe/Berlin")
    row = tables.check("server", parsed.tables["server"]).iloc[0]
    assert row["time"] == pd.Timestamp("2015-12-20T22:14:45Z")
    assert (row["reading"], row["writing"], row["waiting"], row["sent_bytes"]) == (2, 1, 1, 3072.0)
    assert parsed.version == "Apache/2.4.18 (Unix)"
    assert parsed.warnings == ()


def test_another_zone_is_not_guessed():
    parsed = parse(PAGE)
    assert "line 5: 'CET' is not the given zone UTC" in parsed.warnings[0]
    assert "time" not in parsed.tables["server"]


def test_the_event_mpm_holds_connections_without_workers():
    page = PAGE + "ConnsTotal: 9\nConnsAsyncWriting: 2\nConnsAsyncKeepAlive: 5\n"
    row = parse_server_status(page).tables["server"].iloc[0]
    assert (row["connections"], row["writing"], row["waiting"]) == (9, 3, 6)


def test_a_series():
    short = "Total Accesses: {}\nBusyWorkers: 1\nIdleWorkers: 9\nScoreboard: W_........\n"
    text = "".join(f"17952140{60 + i}\n{short.format(i)}" for i in range(3))
    server = parse_server_status(text).tables["server"]
    assert server["requests"].tolist() == [0, 1, 2]
    assert server["time"].tolist() == list(pd.to_datetime([1795214060, 1795214061, 1795214062], unit="s", utc=True))


def test_numbers_as_apache_writes_them():
    page = PAGE.replace("ReqPerSec: .0930233", "ReqPerSec: 9.30233e-02")
    assert parse_server_status(page).tables["server"]["throughput_rps"].tolist() == [0.0930233]


def test_a_rate_that_is_not_the_quotient():
    assert (
        "line 17: ReqPerSec" in parse_server_status(PAGE.replace(".0930233", ".0940233"), "Europe/Berlin").warnings[0]
    )


def test_modules_add_lines():
    page = PAGE + "TLSSessionCacheStatus\nCacheType: SHMCB\nCacheUsage: 7%\nProxyBalancer[0]Worker[0]Sent: 0K\n"
    parsed = parse_server_status(page, "Europe/Berlin")
    assert parsed.warnings == ()
    counters = parsed.tables["counters"].set_index("counter")
    assert counters.loc["CacheUsage", ["value", "unit"]].tolist() == [0.07, "ratio"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("\nhello\n", 2),
        (PAGE.replace("Accesses: 4", "Accesses: 4x"), 11),
        (PAGE.replace("Uptime: 43\nReq", "Uptime: -43\nReq"), 16),
        (PAGE.replace("20-Dec-2015 23:14:45", "20-Dec-2015 25:14:45"), 5),
        (PAGE.replace("BusyWorkers: 1", "BusyWorkers: 1.5"), 20),
    ],
)
def test_refused(text, line):
    assert refused_line(parse_server_status, text) == line


def test_error_logs():
    text = (
        "2026/11/20 22:16:00 [alert] 1#1: *7 512 worker_connections are not enough, client: ::1\n"
        "  second line of a message\n"
        "2026/11/20 22:16:61 [error] 1#1: no such second\n"
        "2026/11/20 22:16:01 [error] 1#1: *8 connect() failed (111"
    )
    parsed = parse_error_log(text, "Europe/Berlin")
    events = tables.check("events", parsed.tables["events"])
    assert events[["event", "text"]].to_numpy().tolist() == [
        ["alert", "*7 512 worker_connections are not enough, client: ::1"]
    ]
    assert events["time"].tolist() == [pd.Timestamp("2026-11-20T21:16:00Z")]
    assert [w.split(":")[0] for w in parsed.warnings] == ["line 2", "line 3", "line 4"]
    with pytest.raises(ParseError, match="error log"):
        parse_error_log("hello\n")
