"""Secrets: values that a study takes from the environment, and values that a file holds in clear.

A study writes ``${NAME}`` where a request needs a secret.  The value is known to the request alone: every record has
the name.  The shell's rules are narrowed to this form; ``$${NAME}`` is the text ``${NAME}`` itself.
"""

import contextlib
import functools
import json
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import quote

from loadcurve.errors import LabError, printable
from loadcurve.files.atomic import replacing
from loadcurve.files.paths import shown

REFERENCE = r"\$\{[A-Za-z_][A-Za-z0-9_]*\}"
_REFERENCE = re.compile(rf"\$(?=\$\{{)\$\{{|({REFERENCE})")
# A shorter value, or a number, would also be found among the numbers and words that tools print.
_SHORTEST = 6
_NUMBER = re.compile(r"[0-9.,:e+-]+")


def named_in(*texts: str) -> tuple[str, ...]:
    """Return the names that texts refer to, each once.

    Examples
    --------
    >>> named_in("/?token=${TOKEN}", "$${BODY}")
    ('TOKEN',)
    """
    found = (match[1] for text in texts for match in _REFERENCE.finditer(text))
    return tuple(dict.fromkeys(name[2:-1] for name in found if name))


def value_of(name: str) -> str:
    """Return the value of a variable of the environment; raise LabError where it is none that can be kept secret."""
    value = os.environ.get(name, "")
    if not value:
        raise LabError(f"${{{name}}} is not set in the environment: export {name}, or write $${{{name}}} for this text")
    if len(value) < _SHORTEST or not value.isprintable() or _NUMBER.fullmatch(value):
        rule = f"one line of at least {_SHORTEST} characters and no number, so that outputs can be searched for it"
        raise LabError(f"${{{name}}} must be {rule}: export another {name}, or write a value without secrecy itself")
    return value


def reveal(text: str) -> str:
    """Return a text with the value of each variable that it refers to."""
    return _REFERENCE.sub(lambda match: value_of(match[1][2:-1]) if match[1] else "${", text)


def conceal(text: str, names: Iterable[str]) -> str:
    """Return a text with the names of variables for their values, also as JSON, Lua or a URL would quote them."""
    for form, name in _forms(names):
        text = text.replace(form, name)
    return text


def conceal_file(path: Path, names: Iterable[str]) -> bool:
    """Replace the values of variables in a file by their names; return whether it had one."""
    forms = [(form.encode(), name.encode()) for form, name in _forms(names)]
    with path.open("rb") as file:
        if not any(form in line for line in file for form, _ in forms):
            return False
    with replacing(path) as draft, path.open("rb") as file, draft.open("wb") as out:
        for line in file:
            out.write(functools.reduce(lambda text, form: text.replace(*form), forms, line))
    return True


def in_lua(text: str) -> str:
    """Return a text as a literal of Lua."""
    plain = (chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\{byte:03d}" for byte in text.encode())
    return f'"{"".join(plain)}"'


def _forms(names: Iterable[str]) -> list[tuple[str, str]]:
    """Forms of each value with its name, the longest first, because a value may be a part of another."""
    found: dict[str, str] = {}
    for name, value in ((name, os.environ.get(name, "")) for name in names):
        in_json = (json.dumps(value, ensure_ascii=ascii_only)[1:-1] for ascii_only in (True, False))
        forms = value, *in_json, in_lua(value)[1:-1], quote(value, safe="")
        found |= dict.fromkeys(filter(None, forms), f"${{{name}}}")
    return sorted(found.items(), key=lambda item: -len(item[0]))


# Where people put secrets.  Not `id`, `code`, `state` or `user`, which name things, and `key` of a query only where it
# looks like an API key: caches are loaded with ?key=user:17. A value has four characters or more: ?auth=1 is a switch.
_HEADER = (
    "(?:proxy-)?authorization|(?:set-)?cookie|x-(?:api|auth|access|csrf|goog-api|amz-security)-?(?:key|token)|api-key"
)
_QUERY = (
    "(?:access|id|refresh|auth|csrf)_?token|token|jwt|api[_-]?key|auth|(?:client_?)?secret|passw(?:or)?d|pwd"
    "|sig(?:nature)?|x-(?:amz|goog)-(?:signature|security-token)|session(?:_?id)?|sid|phpsessid|jsessionid"
)
_VALUE = r"[^\s\"'\\&#;,<>)}\]]{4,}"
# What holds a secret → words of which one is in such a text (in lower case: this is faster than the pattern), and the
# pattern, whose last group is the value.
_PATTERNS = {
    # As in HTTP, YAML, JSON, a command line, and Lua: `wrk.headers["Cookie"] = "…"`.
    "header {}": (
        ("authorization", "cookie", "-key", "-token", "apikey"),
        rf"(?<![\w-])({_HEADER})[\"'\\\]]*[ \t]*[:=][ \t]*[\"'\\]*((?:[a-z]+ +)?{_VALUE}(?:(?!</)[^\"'\n])*)",
    ),
    "query parameter {}": (("=",), rf"[?&](?:amp;)?({_QUERY})=({_VALUE})"),
    "query parameter {}, an API key": (
        ("key=",),
        r"[?&](?:amp;)?(key)=((?=[a-z_-]*[0-9])(?=[0-9_-]*[a-z])[a-z0-9_-]{20,})",
    ),
    "user and password in a URL": (("://",), r"://[^\s/:@\"'<>]+:([^\s/@\"'<>]+)@"),
    "user and password for {}": (
        (" -u", " -a"),
        r"\b(curl|ab|hey) [^\n]*?-[ua][ \"']+([^\s:\"',-][^\s:\"',]*:[^\s\"',]+)",
    ),
}
# A reference, a placeholder of a page, stars.
_NO_VALUE = re.compile(r"\$\{|\$[a-z_]+\b|<[a-z_ -]+>|…|\*{3}|redacted|\{\{", re.IGNORECASE)


def secrets_in(text: str) -> Iterator[tuple[int, str]]:
    """Yield the line of each value that looks like a secret, and what holds it, without the value.

    Examples
    --------
    >>> list(secrets_in("wrk http://h/?token=abc123"))
    [(1, 'query parameter token')]
    >>> list(secrets_in("wrk -H 'Authorization: Bearer ${TOKEN}' http://h/?key=17"))
    []
    """
    lower = text.lower()
    for kind, (words, pattern) in _PATTERNS.items():
        for match in re.finditer(pattern, text, re.IGNORECASE) if any(word in lower for word in words) else ():
            if not _NO_VALUE.search(match.groups()[-1]):
                yield text.count("\n", 0, match.start()) + 1, kind.format(match[1])


WAY_OUT = (
    "write ${NAME} for it in study.yml and set NAME in the environment, or make it invalid before others read this"
)
_MOST_BYTES = 1 << 17  # of each file of a folder: tools print the URL, and people their commands, near its beginning


def warnings_of(paths: Iterable[Path]) -> Iterator[str]:
    """Yield a line for each kind of secret in files, and in those of folders, with the first place that holds it."""
    found: dict[str, dict[Path, int]] = {}
    for path in paths:
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            with contextlib.suppress(OSError):  # what this user cannot read, this user does not publish
                if not file.is_file() or file.is_symlink():
                    continue
                with file.open("rb") as opened:
                    text = opened.read(_MOST_BYTES if file != path else -1).decode("utf-8", "replace")
                for number, what in secrets_in(text):
                    found.setdefault(what, {}).setdefault(file, number)
    for what, places in found.items():
        file, number = next(iter(places.items()))
        more = f", as do {len(places) - 1} other files" if len(places) > 1 else ""
        yield printable(f"{shown(file)}:{number}: holds a secret in clear ({what}){more}: {WAY_OUT}")
