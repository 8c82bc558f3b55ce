"""Addresses of hosts that OpenSSH reaches: ``ssh://USER@HOST[:PORT]``."""

import ipaddress
import re
from dataclasses import dataclass

from loadcurve.errors import ValueRuleError

_URL = re.compile(r"ssh://(?P<user>[^@]+)@(?:\[(?P<ipv6>[^]]+)\]|(?P<host>[^]:@\[]+))(?::(?P<port>[0-9]{1,5}))?")
# Excludes a leading "-" (an option), "%" (expanded by ssh), and characters that are special to a shell, which the
# user's ssh configuration may run.
_USER = re.compile(r"[A-Za-z_][A-Za-z0-9._-]{0,63}")
_HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,252}")
_RULE = "ssh://USER@HOST or ssh://USER@HOST:PORT"


@dataclass(frozen=True)
class Address:
    """Address of an ssh login: host, user and port."""

    # `user` and `host`: the host is a name, an alias of the user's ssh configuration, or an IP address.
    user: str
    host: str
    port: int | None = None  # None for the port in the user's ssh configuration, or 22 if it names none

    @property
    def words(self) -> tuple[str, ...]:
        """Return the address as arguments of ssh, the last ones before the command."""
        port = ("-p", str(self.port)) if self.port else ()
        return (*port, "-l", self.user, "--", self.host)


def parse_url(url: str) -> Address:
    """Return the address in an ``ssh://`` URL.

    Raises
    ------
    ValueRuleError
        When the URL has another scheme, when the user or the host contains characters other than letters, digits and
        ``. _ -`` or begins with ``-``, or when the port is not within 1–65535.

    Examples
    --------
    >>> parse_url("ssh://bench@client1:2222").words
    ('-p', '2222', '-l', 'bench', '--', 'client1')
    """
    found = _URL.fullmatch(url)
    if not found or not _USER.fullmatch(found["user"]) or not _is_host(found):
        raise ValueRuleError("ssh", _RULE, url)
    port = int(found["port"]) if found["port"] else None
    if port is not None and not 1 <= port <= 65535:
        raise ValueRuleError("port", "within 1–65535", port)
    return Address(found["user"], found["host"] or found["ipv6"], port)


def _is_host(found: re.Match) -> bool:
    if found["host"]:
        return bool(_HOST.fullmatch(found["host"]))
    try:
        ipaddress.IPv6Address(found["ipv6"])
    except ValueError:
        return False
    return "%" not in found["ipv6"]
