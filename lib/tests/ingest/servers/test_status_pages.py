"""Status pages of nginx and Apache: as they are copied, wrapped, cut and repeated."""

from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refused import refused_line

from loadcurve import tables
from loadcurve.errors import ParseError
from loadcurve.ingest.servers.error_log import parse_error_log
from loadcurve.ingest.servers.server_status import parse_server_status
from loadcurve.ingest.servers.stub_status import parse_stub_status
from loadcurve.ingest.sniff import parse

# ------------------------------------------------------------------ stub_status
NGINX = (
    "Active connections: 43 \nserver accepts handled requests\n 7368 7368 10993 \nReading: 0 Writing: 5 Waiting: 38 \n"
)
COLUMNS = ["connections", "accepted", "handled", "requests", "reading", "writing", "waiting"]
NUMBERS = [43, 7368, 7368, 10993, 0, 5, 38]


@pytest.mark.parametrize(
    "text",
    [
        NGINX,
        NGINX.rstrip(),
        NGINX.replace(" \n", "\n"),
        "\n".join("   " + line for line in NGINX.split("\n")),
        "\n".join("# " + line for line in NGINX.split("\n")),
        "\n".join("// " + line.strip() for line in NGINX.split("\n")),
        "$ curl -s http://h/status\n```\n" + NGINX + "```\n",
        '<pre class="x">' + NGINX.rstrip() + "</pre>\n",
        " ".join(NGINX.split()),
        NGINX.replace(" 7368 7368 10993 ", "7368    7368\t10993"),
        "  % Total    % Received % Xferd  Average Speed\n                                 Dload  Upload\n" + NGINX,
        "HTTP/1.1 200 OK\nServer: nginx/1.22.1\nContent-Length: 97\n\n" + NGINX,
    ],
)
def test_one_page(text):
    parsed = parse(text)
    assert tables.check("server", parsed.tables["server"])[COLUMNS].to_numpy().tolist() == [NUMBERS]
    assert parsed.warnings == ()


def test_tengine_adds_the_sum_of_request_times():
    text = NGINX.replace("requests\n", "requests request_time\n").replace("10993 ", "10993 1234567 ")
    counters = parse_stub_status(text).tables["counters"]
    assert counters[["counter", "value", "unit"]].to_numpy().tolist() == [["request_time", 1234.567, "s"]]


def test_a_cut_last_number_contradicts_the_sum():
    parsed = parse_stub_status(NGINX.rstrip()[:-1])
    assert "waiting" not in parsed.tables["server"]
    assert "line 4" in parsed.warnings[0]


def test_a_cut_page_at_the_end_of_a_series():
    parsed = parse_stub_status(f"1795214067\n{NGINX}1795214068\n{NGINX[:40]}")
    assert len(parsed.tables["server"]) == 1
    assert "line 7" in parsed.warnings[0]


def test_more_handled_than_accepted_is_doubtful():
    assert "more connections handled" in parse_stub_status(NGINX.replace("7368 7368", "7368 7369")).warnings[0]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Active connections: x\n", 1),
        (NGINX.replace("7368 7368", "7368 736x"), 3),
        (NGINX.replace("Writing", "writing"), 4),
        (NGINX.replace("10993", "9" * 19), 3),
        (NGINX[:60], 3),
    ],
)
def test_stub_status_refused(text, line):
    assert refused_line(parse_stub_status, text) == line


@given(st.lists(st.integers(0, 10**18 - 1), min_size=7, max_size=7))
def test_what_nginx_can_write_is_read(numbers):
    active, accepted, handled, requests, reading, writing, waiting = numbers
    text = (
        f"Active connections: {active} \nserver accepts handled requests\n {accepted} {handled} {requests} \n"
        f"Reading: {reading} Writing: {writing} Waiting: {waiting} \n"
    )
    assert parse_stub_status(text).tables["server"][COLUMNS].to_numpy().tolist() == [numbers]


# ------------------------------------------------------------------ server_status
APACHE = (Path(__file__).parents[2] / "data/apache/server-status-worker.txt").read_text()


def test_a_page_in_the_servers_zone():
    parsed = parse_server_status(APACHE, "Europe/Berlin")
    assert parsed.tables["server"]["time"].tolist() == [pd.Timestamp("2015-12-20T22:14:45Z")]
    assert parsed.version == "Apache/2.4.18 (Unix)"
    assert parsed.warnings == ()


def test_another_zone_is_not_guessed():
    parsed = parse(APACHE)
    assert "line 5: 'CET' is not the given zone UTC" in parsed.warnings[0]
    assert "time" not in parsed.tables["server"]


def test_the_event_mpm_holds_connections_without_workers():
    page = APACHE + "ConnsTotal: 9\nConnsAsyncWriting: 2\nConnsAsyncKeepAlive: 5\n"
    row = parse_server_status(page).tables["server"].iloc[0]
    assert (row["connections"], row["writing"], row["waiting"]) == (9, 3, 6)


def test_a_series():
    short = "Total Accesses: {}\nBusyWorkers: 1\nIdleWorkers: 9\nScoreboard: W_........\n"
    text = "".join(f"17952140{60 + i}\n{short.format(i)}" for i in range(3))
    server = parse_server_status(text).tables["server"]
    assert server["requests"].tolist() == [0, 1, 2]
    assert server["time"].tolist() == list(pd.to_datetime([1795214060, 1795214061, 1795214062], unit="s", utc=True))


def test_numbers_as_apache_writes_them():
    page = APACHE.replace("ReqPerSec: .0930233", "ReqPerSec: 9.30233e-02")
    assert parse_server_status(page).tables["server"]["throughput_rps"].tolist() == [0.0930233]


def test_a_rate_that_is_not_the_quotient():
    assert (
        "line 17: ReqPerSec" in parse_server_status(APACHE.replace(".0930233", ".0940233"), "Europe/Berlin").warnings[0]
    )


def test_modules_add_lines():
    page = APACHE + "TLSSessionCacheStatus\nCacheType: SHMCB\nCacheUsage: 7%\nProxyBalancer[0]Worker[0]Sent: 0K\n"
    parsed = parse_server_status(page, "Europe/Berlin")
    assert parsed.warnings == ()
    counters = parsed.tables["counters"].set_index("counter")
    assert counters.loc["CacheUsage", ["value", "unit"]].tolist() == [0.07, "ratio"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("\nhello\n", 2),
        (APACHE.replace("Accesses: 4", "Accesses: 4x"), 11),
        (APACHE.replace("Uptime: 43\nReq", "Uptime: -43\nReq"), 16),
        (APACHE.replace("20-Dec-2015 23:14:45", "20-Dec-2015 25:14:45"), 5),
        (APACHE.replace("BusyWorkers: 1", "BusyWorkers: 1.5"), 20),
    ],
)
def test_server_status_refused(text, line):
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
