"""Which targets the laboratory may load."""

import ipaddress
import socket
from urllib.parse import urlsplit

from loadcurve.errors import LabError


def check_target(url: str, allow_targets: tuple[str, ...] = ()) -> str:
    """Return `url` if the laboratory may load it, else refuse.

    Every address the host name resolves to must be loopback (127.0.0.0/8 or ::1), or the host must be named under
    ``allow_targets`` of the study, exactly as the URL writes it.

    Raises
    ------
    LabError
        When the target is not allowed, or its name does not resolve.

    Examples
    --------
    >>> check_target("http://127.0.0.1:8080/")
    'http://127.0.0.1:8080/'
    """
    host = urlsplit(url).hostname
    if not host:
        raise LabError(f"target must be a URL with a host, got {url!r}")
    if host in allow_targets:
        return url
    try:
        found = {entry[4][0] for entry in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)}
    except socket.gaierror as error:
        raise LabError(f"target must be a host that resolves, got {host!r} ({error.strerror})") from None
    outside = sorted(a for a in found if not ipaddress.ip_address(a.split("%")[0]).is_loopback)
    if outside:
        shown = host if outside == [host] else f"{host} ({', '.join(outside)})"
        raise LabError(
            f"target must be loopback, got {shown}: "
            f"if you may load this host, name {host!r} under allow_targets in study.yml"
        )
    return url
