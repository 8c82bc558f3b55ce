"""One request to an address that is known: it looks no name up, uses no proxy, and follows no redirect.

Remote hosts run this file by ``python3 -I -S`` (3.9 or newer) without the package, so it imports only the standard
library.
"""

from __future__ import annotations

import http.client
import json
import ssl
import sys
from urllib.parse import urlsplit

_MOST_BYTES = 1 << 20  # read of a response that does not state its length


def send(url: str, address: str, patience_s: float, method: str = "GET", body: str = "") -> tuple[int, str, int]:
    """Send one request; return the status of the response, its target where it is a redirect, and its bytes of body.

    The connection goes to the address, if one is given; the host of the URL is the Host header and, for https, the
    server name.  `patience_s` limits each step.  Raises OSError or http.client.HTTPException when there is no response.
    """
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    connection = http.client.HTTPConnection(address or parts.hostname or "", port, timeout=patience_s)
    try:
        connection.connect()
        if parts.scheme == "https":
            # Generators accept any certificate, so an untrusted one must not hide the response.
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            connection.sock = context.wrap_socket(connection.sock, server_hostname=parts.hostname)
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection.request(method, path, body.encode() or None, {"Host": parts.netloc})
        response = connection.getresponse()
        location = (response.getheader("Location") or "") if 300 <= response.status < 400 else ""
        return response.status, location, int(response.getheader("Content-Length") or len(response.read(_MOST_BYTES)))
    finally:
        connection.close()


def probe(url: str, address: str, patience_s: float) -> tuple[int, str]:
    """Send one request; return its status, 0 for no response, and what went wrong."""
    try:
        status, _, length = send(url, address, patience_s)
        return status, f"status {status}, {length} bytes"
    except (OSError, http.client.HTTPException) as error:
        return 0, str(error)


if __name__ == "__main__":
    print(json.dumps(probe(sys.argv[1], sys.argv[2], float(sys.argv[3]))))
