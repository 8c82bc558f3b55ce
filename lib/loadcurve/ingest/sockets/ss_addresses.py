"""ss: addresses and ports, of every family.

What ss itself does (iproute2 6.1, ``misc/ss.c``, ``inet_addr_print``, ``sock_addr_print``): the port stands behind the
last colon, by number or, without -n, by the name in ``/etc/services``; IPv6 stands in brackets since iproute2 4.15; an
interface follows a percent sign (``127.0.0.53%lo``); ``*`` is any.  With -r names stand for addresses.  People publish
lists with masked addresses (``192.168.x.x``).
"""

import ipaddress
import re
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_OCTET = r"(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_IPV4 = rf"^(?:{_OCTET}(?:\.{_OCTET}){{3}}|\*)$"
_NUMBER = r"(?:[0-9]{1,4}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])"
# A number, * or a service's name; one letter among digits is a garbled number (no service is called so).
_NAME = (
    r"[A-Za-z][\w.+-]{0,30}[A-Za-z][\w.+/-]{0,30}|[0-9][\w-]{0,10}[A-Za-z][\w-]{0,10}[A-Za-z][\w.+-]{0,30}|[xX]{2,5}"
)
_PORT = rf"^(?:{_NUMBER}|\*|{_NAME})$"
_MASKED = re.compile(
    r"(?:[0-9]{1,3}|[xX*#a-dA-D]{1,3})(?:\.(?:[0-9]{1,3}|[xXyYzZ*#a-dA-D_]{1,3})){3}|<[\w .-]{1,40}>|[xX*]{1,15}"
)
_LABEL = r"[A-Za-z0-9_](?:[\w-]{0,61}[A-Za-z0-9_])?"
_HOST = re.compile(rf"(?=[^%]*[A-Za-z_][\w-]*\.?$)[A-Za-z_]?{_LABEL}(?:\.{_LABEL}){{0,20}}\.?", re.ASCII)


@lru_cache(maxsize=1 << 16)
def is_address(text: str) -> bool:
    """Whether ss may print this before the port of an internet socket, without brackets.

    Examples
    --------
    >>> [is_address(s) for s in ("127.0.0.53%lo", "::ffff:10.0.0.1", "192.168.x.x", "db1.example.org", "10.0.0.256")]
    [True, True, True, True, False]
    """
    address, percent, interface = text.partition("%")
    if percent and not interface:
        return False
    if re.match(_IPV4, address):
        return True
    if ":" in address:
        try:
            ipaddress.IPv6Address(address)
        except ValueError:
            return re.fullmatch(r"[0-9a-fA-F]{1,4}(?::[0-9a-fA-FxX*]{0,4}){2,7}", address) is not None and (
                "x" in address.lower() or "*" in address
            )
        return True
    if len(address) > 253:
        return False
    if _MASKED.fullmatch(address):
        return all(int(part) <= 255 for part in address.split(".") if part.isdecimal())
    # The last label of a name is never a number with a letter in it: that is a garbled address.
    last = address.rstrip(".").rpartition(".")[2]
    return _HOST.fullmatch(address) is not None and not last[:1].isdigit() and len(address) > 1


def split(tokens: pa.Array) -> tuple[pa.Array, pa.Array, pa.Array]:
    """Address without brackets, port, and whether both are those of an internet socket, for each token."""
    parts = pc.split_pattern(tokens, ":", max_splits=1, reverse=True)
    begins = parts.offsets.to_numpy()
    two = np.diff(begins) == 2
    address = parts.values.take(pa.array(begins[:-1]))
    port = parts.values.take(pa.array(begins[:-1] + two))
    if not two.all():
        address = pc.if_else(pa.array(two), address, "")
    bracketed = pc.match_substring(address, "[")
    if bracketed.true_count:
        closed = pc.match_substring_regex(address, r"^\[[^\[\]]*\](?:%[^\[\]]*)?$")
        bare = pc.replace_substring(pc.replace_substring(address, "[", ""), "]", "")
        address = pc.if_else(closed, bare, address)
    encoded = address.dictionary_encode()
    known = pc.match_substring_regex(encoded.dictionary, _IPV4).to_numpy(zero_copy_only=False)
    for at in np.flatnonzero(~known):
        text = encoded.dictionary[int(at)].as_py()
        known[at] = bool(text) and is_address(text)
    right = pa.array(known).take(encoded.indices)
    return address, port, pc.and_(right, _are_ports(port))


def _are_ports(texts: pa.Array) -> pa.Array:
    encoded = texts.dictionary_encode()
    return pc.match_substring_regex(encoded.dictionary, _PORT).take(encoded.indices)
