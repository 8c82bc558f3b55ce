r"""The variables of access logs: their names in nginx, Apache and JSON logs, and the patterns of their texts.

What the servers themselves do:

- nginx (``src/http/ngx_http_log_module.c``): times are in seconds with three decimals; quotes, backslashes and control
  characters are written ``\xXX``; what is not known is ``-``.
- nginx upstream variables are lists, ``, `` between servers and `` : `` between groups: ``0.010, 0.020 : 0.1``.
- Apache (``modules/loggers/mod_log_config.c``): ``%D`` is in microseconds, ``%T`` in seconds; ``\"`` escapes a quote;
  ``%b`` is ``-`` where no byte of a body was sent.
"""

import re
from functools import lru_cache
from typing import NamedTuple

CLF_TIME = r"[0-9]{2}/[A-Z][a-z]{2}/[0-9]{4}:[0-9]{2}:[0-9]{2}:[0-9]{2} [+-][0-9]{4}"
_ISO_TIME = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?(?:[+-][0-9]{2}:?[0-9]{2}|Z)"
QUOTED = r'[^"\\\n]*(?:\\.[^"\\\n]*)*'
_WHOLE = r"[0-9]{1,18}|-|"
_SECONDS = r"[0-9]{1,12}\.[0-9]{3}|-|"
_REAL = r"[0-9]{1,12}(?:\.[0-9]{1,9})?|-|"
ONE_TIME = r"(?:[0-9]{1,12}\.[0-9]{3}|-)"
_UPSTREAM = rf"{ONE_TIME}(?:(?:, ?| ?: ?){ONE_TIME})*|"


class Field(NamedTuple):
    """One variable of a layout."""

    name: str  # As the format, or the line, calls it
    kind: str  # How its text is read, and for `text` and `number` into which column: `number:latency_s:1e-06`
    pattern: str = ""  # What its text looks like; empty where only the literal after it ends it


_NGINX = {
    "remote_addr": ("text:client_address", ""), "realip_remote_addr": ("other", ""), "remote_user": ("text:user", ""),
    "time_local": ("clf", CLF_TIME), "time_iso8601": ("iso", _ISO_TIME), "msec": ("epoch:1", r"[0-9]{1,11}\.[0-9]{3}"),
    "request": ("request", ""), "request_method": ("text:method", ""), "request_uri": ("text:url", ""),
    "uri": ("text:url", ""), "server_protocol": ("text:protocol", ""), "status": ("status", r"[0-9]{3}|-"),
    "body_bytes_sent": ("number:received_bytes:1", _WHOLE), "bytes_sent": ("number:received_bytes:1", _WHOLE),
    "request_length": ("number:sent_bytes:1", _WHOLE), "request_time": ("number:latency_s:1", _SECONDS),
    "upstream_response_time": ("upstream", _UPSTREAM), "upstream_connect_time": ("other", _UPSTREAM),
    "upstream_header_time": ("other", _UPSTREAM), "http_referer": ("text:referer", ""),
    "http_user_agent": ("text:user_agent", ""),
    "upstream_addr": ("other", r"[^\s,]*(?:(?:,| :) [^\s,]+)*"),
    "upstream_status": ("other", r"(?:[0-9]{3}|-)(?:(?:,| :) (?:[0-9]{3}|-))*|"),
}  # fmt: skip
_APACHE = {
    "h": ("text:client_address", ""), "a": ("text:client_address", ""), "{c}a": ("text:client_address", ""),
    "l": ("skip", ""), "u": ("text:user", ""), "r": ("request", ""), "s": ("status", r"[0-9]{3}|-"),
    "b": ("number:received_bytes:1", _WHOLE), "B": ("number:received_bytes:1", _WHOLE),
    "O": ("number:received_bytes:1", _WHOLE), "I": ("number:sent_bytes:1", _WHOLE),
    "D": ("number:latency_s:1e-06", _WHOLE), "T": ("number:latency_s:1", _REAL), "{s}T": ("number:latency_s:1", _WHOLE),
    "{ms}T": ("number:latency_s:0.001", _WHOLE), "{us}T": ("number:latency_s:1e-06", _WHOLE),
    "m": ("text:method", ""), "U": ("text:url", r'[^ ?"\n]*'), "q": ("other", r'(?:\?[^ "\n]*)?'),
    "H": ("text:protocol", ""), "{referer}i": ("text:referer", ""), "{user-agent}i": ("text:user_agent", ""),
    "{sec}t": ("epoch:1", r"[0-9]{1,11}"), "{msec}t": ("epoch:0.001", r"[0-9]{1,14}"),
    "{usec}t": ("epoch:1e-06", r"[0-9]{1,17}"), "{%d/%b/%Y:%H:%M:%S %z}t": ("clf", CLF_TIME),
    "{%Y-%m-%dT%H:%M:%S%z}t": ("iso", _ISO_TIME),
}  # fmt: skip
KNOWN_NAMES = {
    "rt": "request_time", "request_time": "request_time", "req_time": "request_time", "reqtime": "request_time",
    "urt": "upstream_response_time", "upstream_response_time": "upstream_response_time", "msec": "msec",
    "upstream_time": "upstream_response_time", "uct": "upstream_connect_time", "uht": "upstream_header_time",
    "request_length": "request_length", "upstream_connect_time": "upstream_connect_time",
    "upstream_header_time": "upstream_header_time",
}  # fmt: skip

_JSON_KEYS = KNOWN_NAMES | {
    "remote_ip": "remote_addr", "client_ip": "remote_addr", "clientip": "remote_addr", "lan_ip": "remote_addr",
    "method": "request_method", "http_method": "request_method", "url": "request_uri", "protocol": "server_protocol",
    "size": "body_bytes_sent", "body_bytes": "body_bytes_sent", "body_bytes_sents": "body_bytes_sent",
    "bodybytessent": "body_bytes_sent", "http_status": "status", "http_code": "status", "status_code": "status",
    "responsetime": "request_time", "response_time": "request_time", "requesttime": "request_time",
    "upstreamtime": "upstream_response_time", "upstreamhost": "upstream_addr", "user_req": "request",
    "referer": "http_referer", "referrer": "http_referer", "http_referrer": "http_referer",
    "agent": "http_user_agent", "user_agent": "http_user_agent", "ua": "http_user_agent", "user_ua": "http_user_agent",
}  # fmt: skip
TIME_KEYS = {
    "@timestamp", "timestamp", "time", "ts", "date", "datetime", "log_time", "time_local", "time_iso8601", "msec",
}  # fmt: skip
"""Keys of a JSON log that hold the time of a request."""
_CLOCKS = ("time_iso8601", "time_local", "msec")


def nginx_field(name: str) -> Field:
    """Variable of nginx of this name."""
    return Field(name, *_NGINX.get(name, ("other", "")))


@lru_cache(4096)
def _plain_field(key: str) -> Field:
    return nginx_field(_JSON_KEYS.get(key.lower(), key.lower()))._replace(name=re.sub(r"\s", "_", key))


def field_named(key: str, value: str) -> Field:
    """Variable of a key of a JSON log: nginx's name or a usual short one; a time is recognised by its text.

    Examples
    --------
    >>> field_named("ts", "2026-11-20T22:34:32+00:00").kind, field_named("ts", "noon").kind
    ('iso', 'other')
    """
    if key.lower() not in TIME_KEYS:
        return _plain_field(key)
    return nginx_field(clock_of(value))._replace(name=key)


def clock_of(value: str) -> str:
    """Variable of nginx that prints a time in this form; empty where none does."""
    return next((clock for clock in _CLOCKS if re.fullmatch(_NGINX[clock][1], value)), "")


def apache_field(argument: str, letter: str) -> Field:
    """Variable of Apache: its letter, after an argument in braces or nothing."""
    name = argument + letter
    key = name.lower() if letter == "i" else name
    return Field(name.replace(" ", "_"), *_APACHE.get(key, ("other", "")))
