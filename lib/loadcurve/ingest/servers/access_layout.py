r"""The layout of an access log: the order of its variables, from its `log_format` or from one of its lines.

``combined`` is nginx's unless its configuration says otherwise; ``common``, ``combined`` and ``vhost_combined`` are
Apache's by name.  What the variables are: `access_variables`.
"""

import re
from dataclasses import dataclass
from functools import cache

from loadcurve.errors import ValueRuleError
from loadcurve.ingest.servers.access_variables import (
    CLF_TIME,
    KNOWN_NAMES,
    ONE_TIME,
    QUOTED,
    Field,
    apache_field,
    nginx_field,
)


@dataclass(frozen=True)
class Layout:
    """Variables of a line and the text between them: ``literals[0] field[0] literals[1] … literals[-1]``."""

    fields: tuple[Field, ...]
    literals: tuple[str, ...]

    @property
    def ends_in_literal(self) -> bool:
        """Whether a line that fits is certainly whole, because the layout ends in a literal."""
        return bool(self.literals[-1].strip())

    def pattern(self) -> re.Pattern[str]:
        """Pattern of a line: one group for each field."""
        return _compiled(self)

    def bodies(self) -> list[str]:
        """Pattern of the text of each field."""
        return [f.pattern or _up_to(after) for f, after in zip(self.fields, self.literals[1:], strict=True)]


def _up_to(after: str) -> str:
    """Pattern of a text that only the literal after it ends."""
    if after.startswith('"'):
        return QUOTED
    return rf"[^{re.escape(after[0])}\n]*" if after else r"[^\n]*"


@cache
def _compiled(layout: Layout) -> re.Pattern[str]:
    parts = [re.escape(layout.literals[0])]
    for body, after in zip(layout.bodies(), layout.literals[1:], strict=True):
        parts += [f"({body})", re.escape(after)]
    return re.compile(rf"^[ \t]*+{''.join(parts)}[ \t]*$", re.MULTILINE)


_NGINX_VARIABLE = re.compile(r"\$(?:\{([a-z0-9_]+)\}|([a-z0-9_]+))", re.IGNORECASE)
_APACHE_VARIABLE = re.compile(r"%(?:[<>]|!?[0-9]{3}(?:,[0-9]{3})*)*(\{[^}]*\})?[<>]?(\^t[io]|[a-zA-Z])|%%")
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
    r"""Layout of a format: nginx's `log_format`, or Apache's `LogFormat`.

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
            fields.append(Field("t", "clf", CLF_TIME))
            literals.append("]")
        else:
            fields.append(apache_field(match[1] or "", match[2]) if apache else nginx_field(match[1] or match[2]))
            literals.append("")
    literals[-1] = (literals[-1] + text[end:]).rstrip()
    if not fields:
        raise ValueRuleError("log_format", "a format with variables such as $status or %s", log_format)
    for before, between, after in zip(fields, literals[1:-1], fields[1:], strict=False):
        if not between and not (before.pattern and after.pattern):
            raise ValueRuleError("log_format", f"a format that parts {before.name} from {after.name}", log_format)
    return Layout(tuple(fields), tuple(literals))


def _unquoted(match: re.Match[str]) -> str:
    single, double, bare = match.groups()
    quoted = single if single is not None else double
    return bare if quoted is None else re.sub(r"\\(['\"\\$])", r"\1", quoted).replace("\\t", "\t")


_HEAD = r"(?:\[[0-9a-fA-F:.]+\]:[0-9]{1,5} )?[^\[\n]+"
_BASE = re.compile(
    rf'({_HEAD}) \[({CLF_TIME})\] "({QUOTED})" ([0-9]{{3}}|-) ([0-9]{{1,18}}|-)'
    rf'(?: "({QUOTED})" "({QUOTED})")?((?:[ \t].*)?)'
)
_EXTRA = re.compile(
    rf'([ \t]+)(?:([A-Za-z_][\w.-]{{0,40}})([=:]))?(?:"({QUOTED})"|\[([^\]\n]*)\]|([^\s"\[]\S*))(?=[ \t]|$)'
)
_LIST = re.compile(rf"{ONE_TIME}(?:(?:, | : ){ONE_TIME})*(?=[ \t]|$)")


def layout_of_line(line: str) -> Layout | None:
    """Layout of a line that begins as the common format does; None for any other line.

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
        nginx_field("status"), nginx_field("body_bytes_sent"),
    ]  # fmt: skip
    literals = ["", " [", '] "', '" ', " ", ""]
    if base[6] is not None:
        literals[-1:] = [' "', '" "', '"']
        fields += [Field("http_referer", "text:referer"), Field("http_user_agent", "text:user_agent")]
    return _with_extras(base[8], fields, literals)


def _with_extras(rest: str, fields: list[Field], literals: list[str]) -> Layout | None:
    """Add the fields after the common part of a line; None where they cannot be split or a value has another form."""
    at = 0
    while at < len(rest):
        extra = _EXTRA.match(rest, at)
        if extra is None or len(fields) > 60:
            return None
        blank, name, sign, quoted, bracketed, bare = extra.groups()
        at = extra.end()
        left, right = ('"', '"') if quoted is not None else ("[", "]") if bracketed is not None else ("", "")
        known = nginx_field(KNOWN_NAMES.get((name or "").lower(), ""))
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
