r"""The layout of an access log: which variable stands where, from its `log_format` or from one of its lines.

What the servers themselves do:

- nginx (``src/http/ngx_http_log_module.c``): ``combined`` unless the configuration says otherwise; times are in seconds
  with three decimals; ``"``, ``\`` and control characters are written ``\xXX``; what is not known is ``-``.
- nginx upstream variables are lists, ``, `` between servers and `` : `` between groups: ``0.010, 0.020 : 0.1``.
- Apache (``modules/loggers/mod_log_config.c``): ``%D`` is in microseconds, ``%T`` in seconds; ``\"`` escapes a quote;
  ``%b`` is ``-`` where no byte of a body was sent.
"""

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import NamedTuple

from loadcurve.errors import ValueRuleError

CLF_TIME = r"[0-9]{2}/[A-Z][a-z]{2}/[0-9]{4}:[0-9]{2}:[0-9]{2}:[0-9]{2} [+-][0-9]{4}"
_ISO_TIME = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?(?:[+-][0-9]{2}:?[0-9]{2}|Z)"
QUOTED = r'[^"\\\n]*(?:\\.[^"\\\n]*)*'
_WHOLE = r"[0-9]{1,18}|-|"
_SECONDS = r"[0-9]{1,12}\.[0-9]{3}|-|"
_REAL = r"[0-9]{1,12}(?:\.[0-9]{1,9})?|-|"
_ONE = r"(?:[0-9]{1,12}\.[0-9]{3}|-)"
_UPSTREAM = rf"{_ONE}(?:(?:, ?| ?: ?){_ONE})*|"


class Field(NamedTuple):
    """One variable of a layout.

    Attributes
    ----------
    name : str
        As the format, or the line, calls it.
    kind : str
        How its text is read, and for ``text`` and ``number`` into which column: ``number:latency_s:1e-06``.
    pattern : str
        What its text looks like; empty where only the literal after it ends it.
    """

    name: str
    kind: str
    pattern: str = ""


@dataclass(frozen=True)
class Layout:
    """Variables of a line and what stands between them: ``literals[0] field[0] literals[1] … literals[-1]``."""

    fields: tuple[Field, ...]
    literals: tuple[str, ...]

    @property
    def ends_in_literal(self) -> bool:
        """Whether a line is certainly whole when it fits: its last character is one of the layout's own."""
        return bool(self.literals[-1].strip())

    def pattern(self) -> re.Pattern[str]:
        """Pattern of a line: one group for each field."""
        return _compiled(self)


@cache
def _compiled(layout: Layout) -> re.Pattern[str]:
    parts = [re.escape(layout.literals[0])]
    for field, after in zip(layout.fields, layout.literals[1:], strict=True):
        if field.pattern:
            body = field.pattern
        elif after.startswith('"'):
            body = QUOTED
        elif after:
            body = rf"[^{re.escape(after[0])}\n]*"
        else:
            body = r"[^\n]*"
        parts += [f"({body})", re.escape(after)]
    return re.compile(rf"^[ \t]*+{''.join(parts)}[ \t]*$", re.MULTILINE)


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
_KNOWN_NAMES = {
    "rt": "request_time", "request_time": "request_time", "req_time": "request_time", "reqtime": "request_time",
    "urt": "upstream_response_time", "upstream_response_time": "upstream_response_time", "msec": "msec",
    "upstream_time": "upstream_response_time", "uct": "upstream_connect_time", "uht": "upstream_header_time",
    "request_length": "request_length", "upstream_connect_time": "upstream_connect_time",
    "upstream_header_time": "upstream_header_time",
}  # fmt: skip

_JSON_KEYS = _KNOWN_NAMES | {
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
    "@timestamp",
    "timestamp",
    "time",
    "ts",
    "date",
    "datetime",
    "log_time",
    "time_local",
    "time_iso8601",
    "msec",
}
"""Keys of a JSON log that hold the time of a request."""
_CLOCKS = ("time_iso8601", "time_local", "msec")

_NGINX_VARIABLE = re.compile(r"\$(?:\{([a-z0-9_]+)\}|([a-z0-9_]+))", re.IGNORECASE)
_APACHE_VARIABLE = re.compile(r"%(?:[<>]|!?[0-9]{3}(?:,[0-9]{3})*)*(\{[^}]*\})?[<>]?(\^?[a-zA-Z]{1,2}?)(?![a-z]{2})|%%")
_DIRECTIVE = re.compile(r"\s*log_format\s+\S+\s+(?:escape=\w+\s+)?(.*?);?\s*", re.DOTALL)
_STRING = re.compile(r"""'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|(\S+)""", re.DOTALL)
_SINGLE_QUOTED = re.compile(r"\s*'.*'\s*;?\s*", re.DOTALL)
_QUOTED_LINES = re.compile(r"\s*['\"].*['\"]\s*;?\s*", re.DOTALL)
_APACHE_DIRECTIVE = re.compile(r'\s*(?:LogFormat|CustomLog\s+\S+)\s+"((?:[^"\\]|\\.)*)".*', re.DOTALL | re.IGNORECASE)
_NAMED = {
    "combined": '$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent '
    '"$http_referer" "$http_user_agent"',
    "common": '%h %l %u %t "%r" %>s %b',
    "vhost_combined": '%v:%p %h %l %u %t "%r" %>s %O "%{Referer}i" "%{User-Agent}i"',
}  # fmt: skip


def layout_of_format(log_format: str) -> Layout:
    r"""Layout that a format says: nginx's `log_format`, or Apache's `LogFormat`.

    Parameters
    ----------
    log_format : str
        ``combined``, ``common``, ``vhost_combined``; or the format's text, with or without the directive's name, the
        quotes and the line breaks of the configuration.

    Raises
    ------
    ValueRuleError
        Where there is no variable in it, or two follow each other with nothing between them.

    Examples
    --------
    >>> [field.name for field in layout_of_format("log_format short '$msec $status ' '$request_time';").fields]
    ['msec', 'status', 'request_time']
    >>> [field.name for field in layout_of_format('LogFormat "%h %t %D" timed').fields]
    ['h', 't', 'D']
    """
    text = _NAMED.get(log_format, log_format)
    if directive := _APACHE_DIRECTIVE.fullmatch(text):
        text = directive[1].replace('\\"', '"').replace("\\t", "\t").replace("\\\\", "\\")
    elif directive := _DIRECTIVE.fullmatch(text):
        text = "".join(_unquoted(match) for match in _STRING.finditer(directive[1]))
    elif "$" in text and (_SINGLE_QUOTED.fullmatch(text) or ("\n" in text.strip() and _QUOTED_LINES.fullmatch(text))):
        text = "".join(_unquoted(match) for match in _STRING.finditer(text.rstrip().removesuffix(";")))
    apache = not _NGINX_VARIABLE.search(text)
    fields: list[Field] = []
    literals = [""]
    end = 0
    for match in (_APACHE_VARIABLE if apache else _NGINX_VARIABLE).finditer(text):
        literals[-1] += text[end : match.start()]
        end = match.end()
        if match[0] == "%%":
            literals[-1] += "%"
            continue
        if apache and match[2] == "t" and not match[1]:
            literals[-1] += "["
            _add(fields, literals, Field("t", "clf", CLF_TIME), "]")
            continue
        _add(fields, literals, _apache_field(match) if apache else _nginx_field(match[1] or match[2]), "")
    literals[-1] = (literals[-1] + text[end:]).rstrip()
    if not fields:
        raise ValueRuleError("log_format", "a format with variables such as $status or %s", log_format)
    for before, between, after in zip(fields, literals[1:-1], fields[1:], strict=False):
        if not between and not (before.pattern and after.pattern):
            raise ValueRuleError("log_format", f"a format that parts {before.name} from {after.name}", log_format)
    return Layout(tuple(fields), tuple(literals))


def _add(fields: list[Field], literals: list[str], field: Field, after: str) -> None:
    fields.append(field)
    literals.append(after)


def _unquoted(match: re.Match[str]) -> str:
    single, double, bare = match.groups()
    quoted = single if single is not None else double
    return bare if quoted is None else re.sub(r"\\(['\"\\$])", r"\1", quoted).replace("\\t", "\t")


def _nginx_field(name: str) -> Field:
    return Field(name, *_NGINX.get(name, ("other", "")))


@lru_cache(4096)
def _plain_field(key: str) -> Field:
    return _nginx_field(_JSON_KEYS.get(key.lower(), key.lower()))._replace(name=re.sub(r"\s", "_", key))


def field_named(key: str, value: str) -> Field:
    """Variable that a key of a JSON log means: nginx's name for it, or a usual short one; a time by how it looks.

    Examples
    --------
    >>> field_named("ts", "2026-11-20T22:34:32+00:00").kind, field_named("ts", "noon").kind
    ('iso', 'other')
    """
    if key.lower() not in TIME_KEYS:
        return _plain_field(key)
    return _nginx_field(clock_of(value))._replace(name=key)


def clock_of(value: str) -> str:
    """Variable of nginx that writes a time so; empty where none does."""
    return next((clock for clock in _CLOCKS if re.fullmatch(_NGINX[clock][1], value)), "")


def _apache_field(match: re.Match[str]) -> Field:
    argument, letter = match[1] or "", match[2]
    name = argument + letter
    key = name.lower() if letter == "i" else name
    return Field(name.replace(" ", "_"), *_APACHE.get(key, ("other", "")))


_HEAD = r"(?:\[[0-9a-fA-F:.]+\]:[0-9]{1,5} )?[^\[\n]+"
_BASE = re.compile(
    rf'({_HEAD}) \[({CLF_TIME})\] "({QUOTED})" ([0-9]{{3}}|-) ([0-9]{{1,18}}|-)'
    rf'(?: "({QUOTED})" "({QUOTED})")?((?:[ \t].*)?)'
)
_EXTRA = re.compile(
    rf'([ \t]+)(?:([A-Za-z_][\w.-]{{0,40}})([=:]))?(?:"({QUOTED})"|\[([^\]\n]*)\]|([^\s"\[]\S*))(?=[ \t]|$)'
)
_LIST = re.compile(rf"{_ONE}(?:(?:, | : ){_ONE})*(?=[ \t]|$)")


def layout_of_line(line: str) -> Layout | None:
    """Layout that one line shows, if it begins as the common format does; None for any other line.

    The variables after it are known where the line names them in the usual way, as ``rt=0.010`` does; others go to
    `other`.

    Examples
    --------
    >>> line = '198.18.0.1 - - [20/Nov/2026:22:34:32 +0000] "GET / HTTP/1.1" 200 616 "-" "ab" rt=0.003'
    >>> [field.name for field in layout_of_line(line).fields][-3:]
    ['http_referer', 'http_user_agent', 'rt']
    """
    base = _BASE.fullmatch(line.strip())
    if base is None:
        return None
    fields = [
        Field("head", "head", _HEAD), Field("time_local", "clf", CLF_TIME), Field("request", "request"),
        Field("status", *_NGINX["status"]), Field("body_bytes_sent", *_NGINX["body_bytes_sent"]),
    ]  # fmt: skip
    literals = ["", " [", '] "', '" ', " ", ""]
    if base[6] is not None:
        literals[-1:] = [' "', '" "', '"']
        fields += [Field("http_referer", "text:referer"), Field("http_user_agent", "text:user_agent")]
    return _with_extras(base[8], fields, literals)


def _with_extras(rest: str, fields: list[Field], literals: list[str]) -> Layout | None:
    """Add what follows the common part of a line; None where it cannot be parted, or a known name has an odd value."""
    at = 0
    while at < len(rest):
        extra = _EXTRA.match(rest, at)
        if extra is None or len(fields) > 60:
            return None
        blank, name, sign, quoted, bracketed, bare = extra.groups()
        at = extra.end()
        left, right = ('"', '"') if quoted is not None else ("[", "]") if bracketed is not None else ("", "")
        known = _nginx_field(_KNOWN_NAMES.get((name or "").lower(), ""))
        value = next(v for v in (quoted, bracketed, bare) if v is not None)
        if known.name:
            if not left and known.name.startswith("upstream") and (found := _LIST.match(rest, extra.start(6))):
                value, at = found[0], found.end()
            if not re.fullmatch(known.pattern, value):
                return None
            field = Field(name, known.kind, known.pattern)
        else:
            field = Field(name or "", "other", "" if left else r"\S+")
        literals[-1] += f"{blank}{name or ''}{sign or ''}{left}"
        fields.append(field)
        literals.append(right)
    return Layout(tuple(fields), tuple(literals))
