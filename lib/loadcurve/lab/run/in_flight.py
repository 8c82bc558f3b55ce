"""Requests that a load has left on a host: in work, or queued for it, as the kernel's tables of sockets show them.

A generator that ends closes its connections, and the server does not stop for that: what it has accepted, and what
waits in the accept queue of its port or of a process behind it, is worked off all the same.

It is also sent to hosts without this package, run there by ``python3 -I -S``, 3.9 or newer.  So it imports nothing but
the standard library.
"""

import json
import sys
from pathlib import Path

# States of a TCP socket in /proc/net/tcp (include/net/tcp_states.h).
_ESTABLISHED, _CLOSE_WAIT, _LISTEN = "01", "08", "0A"
# Of a UNIX socket (include/uapi/linux/net.h, SS_CONNECTING and SS_CONNECTED); the first is not yet accepted.
_CONNECTING, _CONNECTED = "02", "03"


def count_tcp(text, ports, open_too):
    """Return the sockets of ports that hold work, or None where nobody listens on any of the ports.

    Parameters
    ----------
    text : str
        ``/proc/net/tcp`` and ``/proc/net/tcp6``.
    ports : iterable of int
        On which the requests came.
    open_too : bool
        Whether a connection that is open on both sides counts.  Behind a proxy, which keeps idle connections to its
        servers, and beside clients of somebody else, it does not: there, only what the client has closed and the
        server has not (CLOSE-WAIT), and what waits in the accept queue.
    """
    wanted = {f"{port:04X}" for port in ports}
    rows = [fields for fields in map(str.split, text.splitlines()) if len(fields) > 4]
    rows = [fields for fields in rows if fields[1].rpartition(":")[2] in wanted]
    if not any(fields[3] == _LISTEN for fields in rows):
        return None
    held = {_CLOSE_WAIT, _ESTABLISHED} if open_too else {_CLOSE_WAIT}
    # Of a listening socket the receive queue is the number of connections to accept (net/ipv4/tcp_ipv4.c); each of
    # them has a row of its own, too.
    queued = sum(int(fields[4].partition(":")[2], 16) for fields in rows if fields[3] == _LISTEN)
    return max(queued, sum(fields[3] in held for fields in rows))


def count_unix(text, folders):
    """Return the connections to UNIX sockets in some folders, accepted or not.

    Parameters
    ----------
    text : str
        ``/proc/net/unix``.
    folders : iterable of str
        Names of folders of a run.
    """
    rows = [line.split(None, 7) for line in text.splitlines()[1:]]
    paths = [fields[7] for fields in rows if len(fields) > 7 and fields[5] in (_CONNECTING, _CONNECTED)]
    return sum(not set(folders).isdisjoint(path.split("/")) for path in paths)


def look(ports, open_too, folders):
    """Return the requests in work or queued on this host now, or None where nobody listens on the ports."""
    text = "".join(_read(f"/proc/net/{name}") for name in ("tcp", "tcp6"))
    seen = count_tcp(text, ports, open_too)
    return None if seen is None else max(seen, count_unix(_read("/proc/net/unix"), folders))


def _read(path):
    try:
        return Path(path).read_text("utf-8", "replace")
    except OSError:  # without IPv6
        return ""


if __name__ == "__main__":
    print(json.dumps(look(**json.loads(sys.argv[1]))))
