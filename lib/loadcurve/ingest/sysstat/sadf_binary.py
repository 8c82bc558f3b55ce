"""Binary recordings of sysstat (`sa` files), told from their first bytes; only sysstat's own sadf can read them."""

import struct

_MAGIC = 0xD596  # sysstat, sa.h: SYSSTAT_MAGIC
_FORMATS = range(0x2100, 0x2200)  # sa.h: FORMAT_MAGIC, 0x2170 (sysstat 9.1) to 0x2175 (12)


def is_sa(raw: bytes) -> bool:
    r"""Whether these bytes begin a recording of sysstat 8.1.6 or newer, of a machine of either byte order.

    Examples
    --------
    >>> is_sa(b"\x96\xd5\x75\x21\x0c"), is_sa(b"\xd5\x96\x21\x71"), is_sa(b"Linux 6.1")
    (True, True, False)
    """
    if len(raw) < 4:
        return False
    return any(
        magic == _MAGIC and form in _FORMATS
        for magic, form in (struct.unpack("<HH", raw[:4]), struct.unpack(">HH", raw[:4]))
    )
