"""One request to an address that is known: it looks no name up, uses no proxy, and follows no redirect.

Remote hosts run this file by ``python3 -I -S`` (3.9 or newer) without the package, so it imports only the standard
library.
"""

import http.client
import json
import ssl
import sys
from urllib.parse import urlsplit


def send(url, address, patience_s):
    """Send one request; return the status of the response, and its target where it is a redirect.

    The connection goes to the address, if one is given; the host of the URL is the Host header and, for https, the
    server name.  `patience_s` limits each step.  Raises OSError or http.client.HTTPException when there is no response.
    """
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    connection = http.client.HTTPConnection(address or parts.hostname, port, timeout=patience_s)
    try:
        connection.connect()
        if parts.scheme == "https":
            # Generators accept any certificate, so an untrusted one must not hide the response.
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            connection.sock = context.wrap_socket(connection.sock, server_hostname=parts.hostname)
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection.request("GET", path, headers={"Host": parts.netloc})
        response = connection.getresponse()
        return response.status, (response.getheader("Location") or "") if 300 <= response.status < 400 else ""
    finally:
        connection.close()


def probe(url, address, patience_s):
    """Send one request; return its status, 0 for no response, and what went wrong."""
    try:
        status, _ = send(url, address, patience_s)
        return status, f"status {status}"
    except (OSError, http.client.HTTPException) as error:
        return 0, str(error)


if __name__ == "__main__":
    print(json.dumps(probe(sys.argv[1], sys.argv[2], float(sys.argv[3]))))
