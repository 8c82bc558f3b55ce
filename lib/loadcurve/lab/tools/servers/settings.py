"""Rules for settings of servers and balancers, so that no value of a study can end a directive or become an option.

Each ``check_*`` returns its value or raises `ValueRuleError`; what it lets through has no quotes, spaces, semicolons,
braces or line breaks, and does not begin with a dash.
"""

import ipaddress
import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from loadcurve.errors import ValueRuleError

_PROGRAM = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")
_PATH = re.compile(r"/[A-Za-z0-9._+/-]+")


@dataclass(frozen=True)
class Endpoint:
    """Where a server listens.

    Examples
    --------
    >>> str(Endpoint("10.99.0.2", 8080))
    '10.99.0.2:8080'
    """

    address: str  # IPv4 address of one host; not a wildcard, which is no place to ask
    port: int  # 1–65535

    def __post_init__(self) -> None:
        check_address("address", self.address)
        check_count("port", self.port, 1, 65535)

    def __str__(self) -> str:
        return f"{self.address}:{self.port}"

    @property
    def url(self) -> str:
        """Its root, by http."""
        return f"http://{self}/"


def check_address(field: str, value: str) -> str:
    """Return the IPv4 address of one host."""
    try:
        if str(ipaddress.IPv4Address(value)) == value and value != "0.0.0.0":
            return value
    except ValueError:
        pass
    raise ValueRuleError(field, "an IPv4 address of one host", value)


def check_count(field: str, value: int, low: int, high: int) -> int:
    """Return a whole number of ``low`` to ``high``."""
    if isinstance(value, int) and not isinstance(value, bool) and low <= value <= high:
        return value
    raise ValueRuleError(field, f"a whole number of {low} to {high}", value)


def check_program(field: str, value: str) -> str:
    """Return a program's name, or its absolute path."""
    if isinstance(value, str) and (_PROGRAM.fullmatch(value) or _is_path(value)):
        return value
    raise ValueRuleError(field, "a program's name or absolute path, of letters, digits and . _ + -", value)


def check_path(field: str, value: str) -> str:
    """Return an absolute path that needs no quotes."""
    if isinstance(value, str) and _is_path(value):
        return value
    raise ValueRuleError(field, "an absolute path of letters, digits and . _ + -, without '..'", value)


def check_endpoint(field: str, value: Endpoint) -> Endpoint:
    """Return an endpoint, which a text is not."""
    if isinstance(value, Endpoint):
        return value
    raise ValueRuleError(field, "an endpoint", value)


def check_endpoints(field: str, value: tuple[Endpoint, ...], maximum: int) -> tuple[Endpoint, ...]:
    """Return 1 to `maximum` endpoints, no two of them the same."""
    right = isinstance(value, tuple) and all(isinstance(endpoint, Endpoint) for endpoint in value)
    if right and 1 <= len(value) <= maximum and len(set(value)) == len(value):
        return value
    raise ValueRuleError(field, f"1 to {maximum} endpoints, each once", value)


def _is_path(value: str) -> bool:
    return _PATH.fullmatch(value) is not None and ".." not in PurePosixPath(value).parts
