"""ss -o -e -m -i: what each token becomes, versions, units; numbers come back."""

import pandas as pd
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from one_test import in_one_test
from refused import refused_line

from loadcurve.errors import ParseError
from loadcurve.ingest.sockets.ss_connections import parse_ss_connections
from loadcurve.ingest.sockets.ss_details import timer_s

HEADER = "State     Recv-Q Send-Q Local Address:Port Peer Address:Port Process\n"
ROW = "ESTAB     0      0         198.18.0.3:80     198.18.0.1:41156"


def read(details):
    return parse_ss_connections(f"{HEADER}{ROW}\n\t {details}\n").tables["connections"].iloc[0]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("9.403ms", 9.403), ("9.403sec", 9.403), ("1.595ms", 1.595), ("187ms", 0.187), ("011ms", 0.011), ("59sec", 59),
        ("1min8sec", 68), ("81min", 4860), ("118min", 7080), ("1min", 60),
    ],
)  # fmt: skip
def test_timers(text, seconds):
    row = parse_ss_connections(f"{HEADER}{ROW} timer:(keepalive,{text},3)\n").tables["connections"].iloc[0]
    assert (row.timer, row.timer_s, row.timer_retries) == ("keepalive", pytest.approx(seconds), 3)


def test_a_timer_without_time():
    row = read("timer:(timewait,,0)")
    assert (row.timer, row.timer_retries) == ("timewait", 0)
    assert pd.isna(row.timer_s)


@pytest.mark.parametrize("text", ["9.4ms", "9ms", "1h", "1.2.3sec", "-1sec", "10.403ms5"])
def test_refused_timers(text):
    with pytest.raises(ValueError, match="a time such as"):
        timer_s(text)
    assert refused_line(read, f"timer:(on,{text},0)") == 3


@given(st.integers(1, 2**31 - 1))
def test_timers_come_back(ms):
    """print_ms_timer of iproute2's misc/ss.c drops what is small beside the rest."""
    minutes, rest = divmod(ms, 60_000)
    seconds, left = divmod(rest, 1000)
    text = ""
    if minutes:
        left, text, seconds = 0, f"{minutes}min", 0 if minutes > 9 else seconds
    if seconds:
        left = 0 if seconds > 9 else left
        text += f"{seconds}." if left else f"{seconds}sec"
    if left:
        text += f"{left:03d}ms"
    assert timer_s(text) == pytest.approx(minutes * 60 + seconds + left / 1000)


@in_one_test(
    ("token", "column", "value"),
    [
        ("send 62.3Mbps", "send_bps", 62.3e6),
        ("send 238120.0Mbps", "send_bps", 238.12e9),
        ("send 452.4Kbps", "send_bps", 452.4e3),
        ("send 154202352941bps", "send_bps", 154202352941.0),
        ("send 1e+03Mbps", "send_bps", 1e9),
        ("pacing_rate 1.2Gbps/2.4Gbps", "pacing_rate_max_bps", 2.4e9),
        ("delivery_rate 1.5Tbps", "delivery_rate_bps", 1.5e12),
        ("rto:206.666", "rto_s", 0.206666),
        ("rtt:1.23457e+06/7.5", "rtt_s", 1234.57),
        ("rtt:3.75/7.5", "rtt_deviation_s", 0.0075),
        ("rcv_rtt:39838.4", "receive_rtt_s", 39.8384),
        ("lastsnd:2295741709", "last_sent_s", 2295741.709),
        ("retrans:0/143", "retransmits_total", 143),
        ("backoff:15", "backoff", 15),
        ("wscale:7,9", "receive_window_scale", 9),
        ("busy:96ms", "busy_s", 0.096),
        ("rwnd_limited:4ms(0.5%)", "receive_window_limited_s", 0.004),
        ("skmem:(r1,rb2,t3,tb4,f5,w6,o7,bl8)", "backlog_bytes", 8),
        ("skmem:(r1,rb2,t3,tb4,f4294963200,w6,o7,bl8,d276)", "drops", 276),
        ("mem:(r1,w2,f3,t4)", "write_queue_bytes", 2),
        ("uid:65534", "uid", 65534),
        ("sk:ffff88015e39e180", "cookie", "ffff88015e39e180"),
        ("ts sack cubic wscale:7,7", "options", "ts sack cubic"),
        ("ts sack newcontrol wscale:7,7", "congestion_control", "newcontrol"),
        ("ts sackcubic wscale:7,7", "congestion_control", "cubic"),
        ("dctcp dctcp(ce_state:0,alpha:1024)", "other", "dctcp(ce_state:0,alpha:1024)"),
        ("bbr bbr:(bw:1.2Mbps,mrtt:18.965,pacing_gain:2.88672) cwnd:4", "congestion_control", "bbr"),
        ("ino:5 <-> fwmark:0xc0078 v6only:0", "other", "<-> fwmark:0xc0078 v6only:0"),
        ("cubic tcp-ulp-tls version: 1.3 cipher: aes-gcm-128", "other", "tcp-ulp-tls version: 1.3 cipher: aes-gcm-128"),
        ("rto:204 rehash:3 new_counter:5", "other", "rehash:3 new_counter:5"),
    ],
)  # fmt: skip
def test_tokens(token, column, value):
    assert read(token)[column] == (pytest.approx(value) if isinstance(value, float) else value)


def test_app_limited_is_a_no_where_a_delivery_rate_is_printed():
    rows = ["cubic delivery_rate 5Mbps app_limited", "cubic delivery_rate 5Mbps", "cubic rto:204"]
    text = HEADER + "".join(f"{ROW}\n\t {details}\n" for details in rows)
    limited = parse_ss_connections(text).tables["connections"]["app_limited"]
    assert limited.fillna(False).tolist() == [True, False, False]
    assert limited.isna().tolist() == [False, False, True]


@pytest.mark.parametrize("token", ["lastsnd:-1999225587", "bytes_acked:18446744073709551615"])
def test_a_counter_run_over_is_missing(token):
    parsed = parse_ss_connections(f"{HEADER}{ROW}\n\t {token} cwnd:3\n")
    assert parsed.tables["connections"][["last_sent_s", "acknowledged_bytes"][token[0] == "b"]].isna().all()
    assert parsed.warnings == (f"line 3: {token!r} is a counter that overflowed, so missing, here and below",)


@in_one_test(
    "token",
    [
        "rto:2o4", "rto:", "rtt:0.2/x", "rtt:/0.2", "cwnd:1.5", "cwnd:10 cwnd:10", "send", "send 5", "send 5Xbps",
        "retrans:1",
        "wscale:7", "skmem:(r0,rb1)", "busy:5", "busy:5ms(", "timer:(on)", "delivery_rate 5Mbps/6Mbps", "cubic 5",
        "cubic ESTAB", "cubic 10.0.0.1:80", "pacing_rate 1Mbps/x", "uid:x", "segs_in:0x10", "rto:nan", "rto:inf",
    ],
)  # fmt: skip
def test_refused_tokens(token):
    assert refused_line(read, f"cubic {token}" if token[0] != "c" else token) == 3


def test_details_need_their_socket():
    for text in (f"{HEADER}\t cubic rto:204\n{ROW}\n", f"{HEADER}{ROW}\n1795214067\n\t cubic rto:204\n"):
        with pytest.raises(ParseError, match="a socket before its details"):
            parse_ss_connections(text)


def test_details_belong_to_the_socket_before_them():
    other = ROW.replace("41156", "41157")
    text = f"{HEADER}{ROW}\n\t \n{other}\n\n{ROW}\ncubic wscale:7,7 rto:204\n   cwnd:10 send\n62.3Mbps\n"
    text += f"{other} cubic rto:5\n"
    table = parse_ss_connections(text).tables["connections"]
    assert table["rto_s"].fillna(0).tolist() == [0, 0, 0.204, 0.005]
    assert table["send_bps"].fillna(0).tolist() == [0, 0, 62.3e6, 0]


_NUMBERS = {
    "mss": "mss_bytes", "cwnd": "cwnd", "bytes_sent": "sent_bytes", "segs_out": "segments_sent",
    "unacked": "unacknowledged",
    "notsent": "unsent_bytes", "snd_wnd": "send_window_bytes", "lost": "lost", "reord_seen": "reorderings_seen",
}  # fmt: skip


@pytest.mark.slow
@examples(60)
@given(
    st.lists(
        st.dictionaries(st.sampled_from(sorted(_NUMBERS)), st.integers(1, 2**40)), min_size=1, max_size=6
    ),
    st.floats(0.001, 1e7),
    st.integers(1, 10**14),
)  # fmt: skip
def test_numbers_come_back(sockets, rtt, bps):
    text = HEADER
    for numbers in sockets:
        tokens = " ".join(f"{name}:{value}" for name, value in numbers.items())
        text += f"{ROW}\n\t cubic rtt:{rtt:g}/0.5 {tokens} send {bps}bps\n"
    table = parse_ss_connections(text).tables["connections"]
    assert len(table) == len(sockets)
    assert table["rtt_s"].tolist() == pytest.approx([rtt / 1000] * len(sockets), rel=1e-5)
    assert table["send_bps"].tolist() == [bps] * len(sockets)
    for name, column in _NUMBERS.items():
        expected = [numbers.get(name, 0) for numbers in sockets]
        assert (table[column].fillna(0).tolist() if column in table else [0] * len(sockets)) == expected
