"""Access logs: the layouts that servers are asked for, the lines that ports open to the internet collect."""

import math
from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from one_test import in_one_test

from loadcurve import tables
from loadcurve.errors import ParseError, ValueRuleError
from loadcurve.ingest.servers.access_columns import _clf
from loadcurve.ingest.servers.access_json import parse_access_json
from loadcurve.ingest.servers.access_layout import layout_of_format, layout_of_line
from loadcurve.ingest.servers.access_log import columns_of, parse_access_log, parse_apache_log
from loadcurve.ingest.sniff import parse, sniff

COMBINED = '198.18.0.1 - - [20/Nov/2026:22:34:32 +0000] "GET /a HTTP/1.1" 200 616 "-" "ab"\n'
CONF = """log_format  main  '$remote_addr - $remote_user [$time_local] "$request" '
                      '$status $body_bytes_sent "$http_referer" '
                      '"$http_user_agent" "$http_x_forwarded_for" $request_time ${upstream_response_time}';"""


def test_lines_split_as_csv_have_the_texts_of_the_pattern():
    """Or None where a line differs, so that the pattern of the layout decides."""
    timed = COMBINED.replace('"ab"', '"a b" rt=0.250 urt=0.100')
    layout = layout_of_line(timed)
    for old, new, fits in (
        ("", "", True), ("/a ", "/\u00e4?q=1 ", True), ("- - [", "- joe [", True), ('"a b"', '""', True),
        ("- - [", "- john doe [", False), ("rt=0.250", "rt=0.25", False), ("rt=0.250", "st=0.250", False),
        ('"a b"', r'"a \"b"', False), ('"-" ', "- ", False), ("0.100", "0.100, 0.200", False), ("20/", "2/", False),
        (timed, "\n", False), ("198", " 198", False), ('"GET', '""GET', False), (" 616 ", " 6x6 ", False),
    ):  # fmt: skip
        text = timed * 1000 + timed.replace(old, new, 1)
        found = columns_of(text, layout)
        assert (found is not None) == fits, new
        if found is not None:
            assert list(zip(*(c.to_pylist() for c in found), strict=True)) == layout.pattern().findall(text)


def row(line, log_format="", number=0, parser=parse_access_log):
    return parser(line, log_format).tables["requests"].iloc[number]


@in_one_test(
    ("line", "expected"),
    [
        (COMBINED, {"client_address": "198.18.0.1", "status": 200, "received_bytes": 616, "user": None}),
        (COMBINED.replace("198.18.0.1", "2001:db8::17"), {"client_address": "2001:db8::17"}),
        (COMBINED.replace("- - [", "- john doe ["), {"client_address": "198.18.0.1", "user": "john doe"}),
        (COMBINED.replace(" - - [", " ["), {"client_address": "198.18.0.1", "user": None}),
        (COMBINED.replace("198.18.0.1", "h.example ::1"), {"client_address": "::1", "other": "host=h.example"}),
        (COMBINED.replace("198.18.0.1", "[::1]:443 ::1"), {"client_address": "::1", "other": "host=[::1]:443"}),
        (COMBINED.replace("198.18.0.1", "198.51.100.7, 10.0.0.1"), {"client_address": "198.51.100.7", "user": None}),
        (COMBINED.replace("GET /a HTTP/1.1", ""), {"method": None, "url": None, "status": 200}),
        (COMBINED.replace("GET /a HTTP/1.1", "-"), {"method": None, "url": None, "other": None}),
        (COMBINED.replace("GET /a HTTP/1.1", "GET /a b HTTP/2.0"), {"url": "/a b", "protocol": "HTTP/2.0"}),
        (COMBINED.replace("GET /a HTTP/1.1", "GET /a"), {"url": "/a", "protocol": None}),
        (COMBINED.replace("/a ", r"/a\"b\" "), {"url": r"/a\"b\""}),
        (COMBINED.replace("GET /a HTTP/1.1", r"\x16\x03\x01"), {"method": None, "other": r'request="\x16\x03\x01"'}),
        (COMBINED.replace(" 200 616 ", " 408 - "), {"status": 408, "received_bytes": None}),
        (COMBINED.replace(" 200 ", " 000 "), {"status": None}),
        (COMBINED.replace('"-" "ab"', '"https://h/?q=[1]" "-"'), {"referer": "https://h/?q=[1]", "user_agent": None}),
        (COMBINED.replace(' "-" "ab"', ""), {"status": 200, "received_bytes": 616}),  # the common format
        (COMBINED.replace("+0000", "-0330"), {"time": pd.Timestamp("2026-11-21T02:04:32Z")}),
        (COMBINED.replace('"ab"', '"ab" "10.0.0.1" 0.250 -'), {"other": '"10.0.0.1" 0.250 -', "user_agent": "ab"}),
        (COMBINED.replace('"ab"', '"ab" rt=0.250 urt="0.1, 0.020"'), None),  # nginx writes three decimals
        (COMBINED.replace('"ab"', '"ab" rt=0.250 urt=0.100, 0.020 : 0.003'), {"latency_s": 0.25, "upstream_s": 0.123}),
        (COMBINED.replace('"ab"', '"ab" rt=- urt=-, 0.020'), {"latency_s": None, "upstream_s": 0.02}),
        (COMBINED.replace('"ab"', '"ab" request_time:1.500'), {"latency_s": 1.5}),
    ],
)  # fmt: skip
def test_lines(line, expected):
    assert sniff(line).name in ("nginx:access", "apache:access")
    if expected is None:
        parsed = parse_access_log(COMBINED + line)
        assert len(parsed.tables["requests"]) == 1
        assert "line 2" in parsed.warnings[0]
        return
    found = row(line)
    for column, value in expected.items():
        if value is None:
            assert column not in found or pd.isna(found[column]), column
        else:
            assert found[column] == pytest.approx(value) if isinstance(value, float) else found[column] == value, column


@given(
    day=st.integers(0, 32),
    month=st.sampled_from(["Jan", "Feb", "Nov", "Foo"]),
    year=st.sampled_from(["0000", "0001", "1900", "2024", "9999"]),
    clock=st.tuples(st.integers(0, 25), st.integers(0, 61), st.integers(0, 61)),
    zone=st.sampled_from(["+0000", "-0330", "+0560", "-0099", "+2359", "+2400"]),
)
@examples(150)
def test_times_are_those_of_strptime(day, month, year, clock, zone):
    text = f"{day:02d}/{month}/{year}:{':'.join(f'{part:02d}' for part in clock)} {zone}"
    try:
        expected = datetime.strptime(text, "%d/%b/%Y:%H:%M:%S %z").astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):
        expected = "NaT"
    assert np.array_equal(_clf(text), np.datetime64(expected, "us"), equal_nan=True)


def test_msec_is_more_exact_than_the_local_time():
    found = row(COMBINED.replace('"ab"', '"ab" cs=1 msec=1795214072.472'))
    assert found["time"] == pd.Timestamp("2026-11-20T22:34:32.472Z")
    assert found["other"] == "cs=1"


def test_odd_lines_are_named_and_the_rest_is_read_in_order():
    lines = [COMBINED.replace("/a", f"/{i}") for i in range(20)]
    lines[3] = "\x00\x00\x00\n"
    lines[5] = COMBINED.replace('"ab"', '"a"b"')
    lines[7] = COMBINED.replace(' "-" "ab"', "")
    lines[9] = COMBINED.replace("20/Nov", "31/Nov")
    lines[11] = COMBINED.replace("616", "6x6")
    parsed = parse_access_log("".join(lines) + COMBINED[:60])
    requests = parsed.tables["requests"]
    assert requests["url"].tolist() == [f"/{i}" if i not in (7, 9) else "/a" for i in range(20) if i not in (3, 5, 11)]
    assert [w.split(":")[0] for w in parsed.warnings] == ["line 4", "line 6", "line 12", "line 21", "line 10"]
    assert pd.isna(requests["time"][7])
    tables.check("requests", requests)


def test_many_odd_lines_are_counted():
    warnings = parse_access_log(COMBINED + "garbage of another program\n" * 90).warnings
    assert len(warnings) == 6
    assert warnings[-1].startswith("85 more lines")


def test_many_chunks_keep_their_lines():
    text = "".join(COMBINED.replace("/a", f"/{i}") for i in range(5000))
    requests = parse_access_log("==> access.log <==\n" + text).tables["requests"]
    assert requests["url"].tolist() == [f"/{i}" for i in range(5000)]


@pytest.mark.parametrize(
    ("log_format", "line", "expected"),
    [
        (CONF, COMBINED.replace('"ab"', '"ab" "::1, ::2" 0.250 0.010, 0.020'), {"latency_s": 0.25, "upstream_s": 0.03}),
        ("'$msec|$status' '|$request_time'", "1795214072.472|499|0.003\n", {"status": 499.0, "latency_s": 0.003}),
        ("[$time_local] $remote_addr $request_length", "[20/Nov/2026:22:34:32 +0000] ::1 91\n", {"sent_bytes": 91.0}),
        ("$request_method $request_uri$is_args $status", None, None),
        ("time:$time_iso8601\tsize:$bytes_sent", "time:2026-11-20T22:34:32+00:00\tsize:5\n", {"received_bytes": 5.0}),
        ('%h %l %u %t "%r" %>s %b %D', COMBINED.replace(' "-" "ab"', " 1500"), {"latency_s": 0.0015}),
        ('LogFormat "%h %l %u %t \\"%r\\" %s %O %{ms}T"', COMBINED.replace(' "-" "ab"', " 7"), {"latency_s": 0.007}),
        ('%{msec}t %a "%U%q" %H %s %I', '1795214072472 ::1 "/a?b=1" HTTP/1.1 200 91\n', {"url": "/a"}),
        ("vhost_combined", "h:80 " + COMBINED, {"client_address": "198.18.0.1", "status": 200.0}),
        ("combined", COMBINED, {"user_agent": "ab"}),
        ('{"t":"$msec","s":$status}', '{"t":"1795214072.472","s":200}\n', {"status": 200.0}),
        ("%h 100%% %s", "::1 100% 200\n", {"status": 200.0}),
    ],
)  # fmt: skip
def test_formats(log_format, line, expected):
    if line is None:
        with pytest.raises(ValueRuleError, match="parts request_uri from is_args"):
            layout_of_format(log_format)
        return
    found = row(line, log_format, parser=parse_apache_log if "%" in log_format else parse_access_log)
    for column, value in expected.items():
        assert found[column] == value


@pytest.mark.parametrize("log_format", ["nothing", "a b c"])
def test_no_format(log_format):
    with pytest.raises(ValueRuleError, match="log_format"):
        parse_access_log(COMBINED, log_format)


@pytest.mark.parametrize("text", ["", "\n\n", "hello\n", COMBINED[:50], COMBINED.replace("GET", "GET\n")])
def test_no_log(text):
    with pytest.raises(ParseError, match="access log"):
        parse_access_log(text)


def test_a_line_without_newline_is_whole_where_it_ends_as_the_format_does():
    assert len(parse_access_log(COMBINED.strip()).tables["requests"]) == 1
    assert len(parse_access_log(COMBINED + COMBINED.strip()).tables["requests"]) == 2
    assert "line 2" in parse_access_log(COMBINED + COMBINED.strip()[:-1]).warnings[0]
    timed = COMBINED.replace('"ab"', '"ab" rt=0.123')
    assert len(parse_access_log(timed + timed.strip()).tables["requests"]) == 1


def test_the_name_of_the_tool():
    assert parse(COMBINED).tool == "nginx"
    assert parse(COMBINED, "apache").tool == "apache"
    assert parse("h:80 " + COMBINED).tables["requests"]["tool"].tolist() == ["apache"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "long", [" ", "a ", "1.2.3.4 - - [", '"', "\\x16", '20/Nov/2026:22:34:32 +0000] "', '{"status":']
)
def test_long_lines_take_no_time(long):
    text = long * (2_000_000 // len(long))
    for parser in (parse_access_log, parse_access_json, parse):
        with pytest.raises(ParseError):
            parser(text)
    assert len(parse_access_log(COMBINED + text + "\n" + COMBINED).tables["requests"]) == 2


@examples(150)
@given(
    ms=st.integers(0, 4_000_000_000_000),
    status=st.integers(100, 599),
    size=st.integers(0, 10**15),
    latency_ms=st.integers(0, 10**9),
    upstreams=st.lists(st.one_of(st.none(), st.integers(0, 10**7)), max_size=4),
    agent=st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=40),
)
def test_what_nginx_can_write_is_read(ms, status, size, latency_ms, upstreams, agent):
    when = pd.Timestamp(ms, unit="ms", tz="UTC")
    times = ", ".join("-" if u is None else f"{u / 1000:.3f}" for u in upstreams) or "-"
    shown = "".join(f"\\x{ord(c):02X}" if c in '"\\' else c for c in agent) or "-"
    line = (
        f'::1 - - [{when.strftime("%d/%b/%Y:%H:%M:%S")} +0000] "GET / HTTP/1.1" {status} {size} "-" "{shown}"'
        f" rt={latency_ms // 1000}.{latency_ms % 1000:03d} urt={times} msec={ms // 1000}.{ms % 1000:03d}\n"
    )
    found = row(line)
    assert found["time"] == when
    assert (found["status"], found["received_bytes"]) == (status, size)
    assert found["latency_s"] == pytest.approx(latency_ms / 1000)
    known = [u for u in upstreams if u is not None]
    assert found["upstream_s"] == pytest.approx(sum(known) / 1000) if known else math.isnan(found["upstream_s"])
    assert (found["user_agent"] or "-") == shown


def test_json_with_an_unknown_time_says_so():
    parsed = parse_access_json('{"time":"noon","status":"200"}\n')
    assert "line 1: 'time' holds no time" in parsed.warnings[0]
    assert np.isnan(parse_access_json('{"status":"-","msec":"1.000"}\n').tables["requests"]["status"][0])
