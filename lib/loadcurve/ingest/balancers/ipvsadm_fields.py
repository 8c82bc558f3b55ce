"""Addresses with ports in the lists of ipvsadm and of /proc/net/ip_vs*.

Sources of the format (ipvsadm 1.31, ``ipvsadm.c``; Linux, ``net/netfilter/ipvs``):

- ``print_service_entry``: a name is cut to 28 characters, port included; an IPv6 address is not.
- ``print_largenum``: from 100 million on a number is *cut* to ``K``, from 1 billion on to ``M``, from 100 billion on to
  ``G``, from 100 trillion on to ``T``: steps of 1000, never rounded up; ``--exact`` prints all digits.
- The kernel prints addresses and ports in hexadecimal: ``C6120009:0050``, ``[2001:0db8:…:0001]:0050``.
"""

import ipaddress
import re

from loadcurve.errors import ParseError

_CUT_AT = 28
_PORT = re.compile(r"[0-9]{1,5}|[A-Za-z][\w.+-]*")
_HEX_PLACE = re.compile(r"([0-9A-F]{8}|\[(?:[0-9a-f]{4}:){7}[0-9a-f]{4}\]):([0-9A-F]{4})")


def is_hexadecimal(token: str) -> bool:
    """Whether an address with its port is in the kernel's form.

    Examples
    --------
    >>> is_hexadecimal("C6120009:0050"), is_hexadecimal("198.18.0.9:80")
    (True, False)
    """
    return _HEX_PLACE.fullmatch(token) is not None


def is_kernels(token: str) -> bool:
    """Whether only the kernel prints such an address: ipvsadm omits leading zeros of an IPv6 group.

    Examples
    --------
    >>> groups = "2001:1db8:1111:2222:3333:4444:5555"
    >>> is_kernels("C6120009:0050"), is_kernels(f"[{groups}:0001]:1000"), is_kernels(f"[{groups}:1001]:1000")
    (True, True, False)
    """
    return is_hexadecimal(token) and (
        not token.startswith("[") or re.search(r"[\[:]0[0-9a-f]{3}[:\]]", token) is not None
    )


def hex_address(token: str, line: int) -> str:
    """Return the usual form of an address that the kernel printed.

    Examples
    --------
    >>> hex_address("C6120009", 1), hex_address("2001:0db8:0000:0000:0000:0000:0000:0001", 1)
    ('198.18.0.9', '2001:db8::1')
    """
    bare = token.strip("[]")
    try:
        if re.fullmatch(r"[0-9A-Fa-f]{8}", bare):
            return str(ipaddress.IPv4Address(int(bare, 16)))
        return str(ipaddress.IPv6Address(bare))
    except ValueError:
        raise ParseError(line, "an address such as C6120009", token) from None


def hex_port(token: str, line: int) -> str:
    """Return the decimal form of a port that the kernel printed.

    Examples
    --------
    >>> hex_port("1F90", 1)
    '8080'
    """
    if not re.fullmatch(r"[0-9A-Fa-f]{4}", token):
        raise ParseError(line, "a port such as 1F90", token)
    return str(int(token, 16))


def split_endpoint(
    token: str, line: int, warnings: list[str], cut: bool = True, hexadecimal: bool = False
) -> tuple[str | None, str | None]:
    """Return address and port of ``address:port``; None for a missing part.

    Examples
    --------
    >>> split_endpoint("[2001:db8::1]:80", 1, []), split_endpoint("C6120009:0050", 1, [], hexadecimal=True)
    (('2001:db8::1', '80'), ('198.18.0.9', '80'))
    >>> split_endpoint("ip-192-168-144-101.ap-southe", 1, warnings := []), warnings
    (('ip-192-168-144-101.ap-southe', None), ["line 1: 'ip-192-168-144-101.ap-southe' is cut: its port is missing"])
    """
    if hexadecimal:
        address, _, port = token.rpartition(":")
        return hex_address(address, line), hex_port(port, line)
    address, colon, port = token.rpartition(":")
    if not colon or token.endswith("]"):
        if len(token) < _CUT_AT or not cut:
            raise ParseError(line, "an address with its port, such as 198.18.0.9:80", token)
        address, port = token, ""
    if cut and len(token) >= _CUT_AT and not token.startswith("["):
        warnings.append(f"line {line}: {token!r} is cut: its port is missing")
        return address, None
    if not address or not _PORT.fullmatch(port) or (port.isdigit() and int(port) > 65535):
        raise ParseError(line, "an address with its port, such as 198.18.0.9:80", token)
    address = address.removeprefix("[").removesuffix("]")
    return (None if address == "(null)" else address), port
