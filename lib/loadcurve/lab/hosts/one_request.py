"""One request to an address that is known: it looks no name up, uses no proxy, and follows no redirect.

Remote hosts run this file by ``python3 -I -S`` (3.9 or newer) without the package, so it imports only the standard
library.
"""

from __future__ import annotations

import http.client
import io
import json
import re
import socket
import ssl
import sys
import time
from typing import cast
from urllib.parse import urlsplit

_MOST_BYTES = 1 << 20  # read of the body of a response that does not state its length
_MOST_IN_ALL = 2 * _MOST_BYTES  # received of one response, its headers and informational responses included
_MOST_WORDS = 200  # characters of an error, which may have the server's words
_LENGTH = re.compile(r"[0-9]{1,15}")  # up to a petabyte; http.client ignores what int() cannot read


class _Bounded(io.RawIOBase):
    """What a connection receives until a deadline, in s of `time.monotonic`, and up to a number of bytes.

    The time limit of a socket holds for each `recv`, so a server that sends a byte now and then never exceeds it.
    """

    def __init__(self, connection: socket.socket, deadline: float) -> None:
        self._connection, self._deadline, self._left = connection, deadline, _MOST_IN_ALL

    def makefile(self, mode: str) -> io.BufferedReader:
        """Return the file that `http.client.HTTPResponse` reads."""
        return io.BufferedReader(self)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        self._connection.settimeout(_left_s(self._deadline))
        received = self._connection.recv_into(buffer, min(len(buffer), self._left + 1))
        self._left -= received
        if self._left < 0:
            raise http.client.HTTPException(f"the response has more than {_MOST_IN_ALL} bytes of headers and body")
        return received


def _left_s(deadline: float) -> float:
    left_s = deadline - time.monotonic()
    if left_s <= 0:
        raise TimeoutError("no whole response in time")
    return left_s


def send(
    url: str,
    address: str,
    patience_s: float,
    method: str = "GET",
    body: str = "",
    headers: dict[str, str] | None = None,
) -> tuple[int, str, int]:
    """Send one request; return the status of the response, its target where it is a redirect, and its bytes of body.

    The connection goes to the address, if one is given; the host of the URL is the Host header and, for https, the
    server name, unless `headers` has another Host.  `patience_s` limits the whole exchange.  Raises OSError, with one
    printable line, when there is no response, or one that is not HTTP.
    """
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    deadline = time.monotonic() + patience_s
    connection = http.client.HTTPConnection(address or parts.hostname or "", port, timeout=patience_s)
    try:
        connection.connect()
        if parts.scheme == "https":
            # Generators accept any certificate, so an untrusted one must not hide the response.
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            connection.sock.settimeout(_left_s(deadline))
            connection.sock = context.wrap_socket(connection.sock, server_hostname=parts.hostname)
        own = {name.title(): value for name, value in (headers or {}).items()}
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection.sock.settimeout(_left_s(deadline))
        connection.request(method, path, body.encode() or None, {"Host": parts.netloc, **own})
        received = cast(socket.socket, _Bounded(connection.sock, deadline))
        response = http.client.HTTPResponse(received, method=method)
        response.begin()
        location = (response.getheader("Location") or "") if 300 <= response.status < 400 else ""
        return response.status, location, _length(response)
    except TimeoutError:
        raise OSError(f"no whole response in time ({patience_s:.3g} s)") from None
    except (http.client.HTTPException, ValueError) as error:  # ValueError: a chunk of -5 bytes
        words = f"no valid HTTP: {error or type(error).__name__}"[:_MOST_WORDS]
        raise OSError(words if words.isprintable() else repr(words)[1:-1]) from None
    finally:
        connection.close()


def _length(response: http.client.HTTPResponse) -> int:
    stated = set(response.headers.get_all("Content-Length", []))
    if not stated or response.chunked:
        return len(response.read(_MOST_BYTES))
    lengths = ", ".join(sorted(one.strip() for one in stated))
    if not _LENGTH.fullmatch(lengths):
        raise http.client.HTTPException(f"Content-Length must be one number of bytes, got {lengths[:60]!r}")
    return int(lengths)


def probe(url: str, address: str, patience_s: float) -> tuple[int, str]:
    """Send one request; return its status, 0 for no response, and what went wrong."""
    try:
        status, _, length = send(url, address, patience_s)
        return status, f"status {status}, {length} bytes"
    except OSError as error:
        return 0, str(error)


if __name__ == "__main__":
    print(json.dumps(probe(sys.argv[1], sys.argv[2], float(sys.argv[3]))))
