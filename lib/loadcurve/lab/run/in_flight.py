"""Requests in flight or queued on a host, counted from the kernel's socket tables.

A generator that exits closes its connections, but the server still handles the connections that it accepted, and those
in the accept queue of its port or of a process behind it.

Remote hosts run this file by ``python3 -I -S`` (3.9 or newer) without the package, so it imports only the standard
library.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path

# States of a TCP socket in /proc/net/tcp (include/net/tcp_states.h).
_ESTABLISHED, _CLOSE_WAIT, _LISTEN = "01", "08", "0A"
# Of a UNIX socket (include/uapi/linux/net.h, SS_CONNECTING and SS_CONNECTED); the first is not yet accepted.
_CONNECTING, _CONNECTED = "02", "03"


def count_tcp(text: str, ports: Iterable[int], open_too: bool) -> int | None:
    """Return the number of sockets with a request on some ports, or None where nothing listens on any of them.

    `text` is ``/proc/net/tcp`` and ``/proc/net/tcp6``.  A connection that is open on both sides counts if `open_too`.
    It must not where a proxy keeps idle connections to its servers, or where others use the server too.  Then only
    connections that the client has closed and the server has not (CLOSE-WAIT), and those in the accept queue, count.
    """
    hex_ports = {f"{port:04X}" for port in ports}
    rows = [fields for fields in map(str.split, text.splitlines()) if len(fields) > 4]
    rows = [fields for fields in rows if fields[1].rpartition(":")[2] in hex_ports]
    if not any(fields[3] == _LISTEN for fields in rows):
        return None
    held = {_CLOSE_WAIT, _ESTABLISHED} if open_too else {_CLOSE_WAIT}
    # The receive queue of a listening socket is its accept queue (net/ipv4/tcp_ipv4.c); each connection in it also
    # has a row of its own.
    queued = sum(int(fields[4].partition(":")[2], 16) for fields in rows if fields[3] == _LISTEN)
    return max(queued, sum(fields[3] in held for fields in rows))


def count_unix(text: str, folders: Iterable[str]) -> int:
    """Return the connections to UNIX sockets in some folders of a run, accepted or not, from ``/proc/net/unix``."""
    rows = [line.split(None, 7) for line in text.splitlines()[1:]]
    paths = [fields[7] for fields in rows if len(fields) > 7 and fields[5] in (_CONNECTING, _CONNECTED)]
    return sum(not set(folders).isdisjoint(path.split("/")) for path in paths)


def count_requests(ports: Iterable[int], open_too: bool, folders: Iterable[str]) -> int | None:
    """Return the number of requests in flight or queued on this host, or None where nothing listens on the ports."""
    text = "".join(_read(f"/proc/net/{name}") for name in ("tcp", "tcp6"))
    seen = count_tcp(text, ports, open_too)
    return None if seen is None else max(seen, count_unix(_read("/proc/net/unix"), folders))


def _read(path: str) -> str:
    try:
        return Path(path).read_text("utf-8", "replace")
    except OSError:  # without IPv6
        return ""


if __name__ == "__main__":
    print(json.dumps(count_requests(**json.loads(sys.argv[1]))))
