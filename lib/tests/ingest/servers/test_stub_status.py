"""stub_status: the page as it is copied, wrapped, cut and repeated."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from refused import refused_line

from loadcurve import tables
from loadcurve.ingest.servers.stub_status import parse_stub_status
from loadcurve.ingest.sniff import parse

PAGE = (
    "Active connections: 43 \nserver accepts handled requests\n 7368 7368 10993 \nReading: 0 Writing: 5 Waiting: 38 \n"
)
COLUMNS = ["connections", "accepted", "handled", "requests", "reading", "writing", "waiting"]
NUMBERS = [43, 7368, 7368, 10993, 0, 5, 38]


@pytest.mark.parametrize(
    "text",
    [
        PAGE,
        PAGE.rstrip(),
        PAGE.replace(" \n", "\n"),
        "\n".join("   " + line for line in PAGE.split("\n")),
        "\n".join("# " + line for line in PAGE.split("\n")),
        "\n".join("// " + line.strip() for line in PAGE.split("\n")),
        "$ curl -s http://h/status\n```\n" + PAGE + "```\n",
        '<pre class="x">' + PAGE.rstrip() + "</pre>\n",
        " ".join(PAGE.split()),
        PAGE.replace(" 7368 7368 10993 ", "7368    7368\t10993"),
        "  % Total    % Received % Xferd  Average Speed\n                                 Dload  Upload\n" + PAGE,
        "HTTP/1.1 200 OK\nServer: nginx/1.22.1\nContent-Length: 97\n\n" + PAGE,
    ],
)
def test_one_page(text):
    parsed = parse(text)
    assert tables.check("server", parsed.tables["server"])[COLUMNS].to_numpy().tolist() == [NUMBERS]
    assert parsed.warnings == ()


def test_tengine_adds_the_sum_of_request_times():
    text = PAGE.replace("requests\n", "requests request_time\n").replace("10993 ", "10993 1234567 ")
    counters = parse_stub_status(text).tables["counters"]
    assert counters[["counter", "value", "unit"]].to_numpy().tolist() == [["request_time", 1234.567, "s"]]


def test_a_cut_last_number_contradicts_the_sum():
    parsed = parse_stub_status(PAGE.rstrip()[:-1])
    assert "waiting" not in parsed.tables["server"]
    assert "line 4" in parsed.warnings[0]


def test_a_cut_page_at_the_end_of_a_series():
    parsed = parse_stub_status(f"1795214067\n{PAGE}1795214068\n{PAGE[:40]}")
    assert len(parsed.tables["server"]) == 1
    assert "line 7" in parsed.warnings[0]


def test_more_handled_than_accepted_is_doubtful():
    assert "more connections handled" in parse_stub_status(PAGE.replace("7368 7368", "7368 7369")).warnings[0]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Active connections: x\n", 1),
        (PAGE.replace("7368 7368", "7368 736x"), 3),
        (PAGE.replace("Writing", "writing"), 4),
        (PAGE.replace("10993", "9" * 19), 3),
        (PAGE[:60], 3),
    ],
)
def test_refused(text, line):
    assert refused_line(parse_stub_status, text) == line


@given(st.lists(st.integers(0, 10**18 - 1), min_size=7, max_size=7))
def test_what_nginx_can_write_is_read(numbers):
    active, accepted, handled, requests, reading, writing, waiting = numbers
    text = (
        f"Active connections: {active} \nserver accepts handled requests\n {accepted} {handled} {requests} \n"
        f"Reading: {reading} Writing: {writing} Waiting: {waiting} \n"
    )
    assert parse_stub_status(text).tables["server"][COLUMNS].to_numpy().tolist() == [numbers]
