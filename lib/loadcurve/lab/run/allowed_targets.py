"""Check which targets the laboratory may load: loopback, its own networks, and the targets that a study names."""

import http.client
import ipaddress
import socket
from typing import Any
from urllib.parse import urljoin, urlsplit

from loadcurve.errors import LabError, printable
from loadcurve.lab.hosts import capabilities, one_request
from loadcurve.lab.run.deployment import Deployment
from loadcurve.lab.run.obstacles import deployments
from loadcurve.study import Study

# Limit in s of one request: a target that needs longer is not ready for a load test.
_PATIENCE_S = 5.0


def check_targets(study: Study, *, public: bool = False, ask: bool = True) -> dict[str, str]:
    """Check every target of a study outside the laboratory's own networks; return the addresses to load.

    The result has the host and port of each URL that names its host → its address.  Whoever loads the target connects
    to this address: a second lookup could find one that was not checked.  With `ask`, one request to each server that
    already runs finds its status, its redirect, and which address responds.  Raises LabError for the first target that
    may not be loaded.
    """
    loaded: dict[str, None] = {}
    running: dict[str, tuple[int, str, str]] = {}
    for settings, deployment in deployments(study, capabilities.ASSUMED):
        if settings.topology.recipe == "loopback":
            loaded |= dict.fromkeys(targets(deployment))
            asked = settings.server.status, settings.load.method, settings.load.text
            running |= dict.fromkeys(targets(deployment), asked) if settings.server.url is not None else {}
    checked = {url: check_target(url, study.allow_targets, public=public) for url in loaded}
    for url, asked in running.items() if ask else ():
        checked[url] = (check_response(url, checked[url], study.allow_targets, *asked, public=public),)
    return {urlsplit(url).netloc: found[0] for url, found in checked.items() if _network(_host_of(url)) is None}


def check_target(
    url: str, allow_targets: tuple[str, ...] = (), *, networks: tuple[str, ...] = (), public: bool = False
) -> tuple[str, ...]:
    """Return the addresses of a target if the laboratory may load all of them, else raise `LabError`.

    Examples
    --------
    >>> check_target("http://127.0.0.1:8080/")
    ('127.0.0.1',)
    """
    host = _host_of(url)
    named, own = host in allow_targets, [_network(network) for network in networks]
    allowed = own + [found for found in map(_network, allow_targets) if found is not None]
    addresses = _addresses(host)
    for address in addresses:
        shown = host if address == host else f"{host} ({address})"
        ip: Any = ipaddress.ip_address(address.split("%")[0])
        ip = getattr(ip, "ipv4_mapped", None) or ip  # ::ffff:8.8.8.8 reaches 8.8.8.8
        if ip.is_loopback or _within(ip, own):
            continue
        if not named and not _within(ip, allowed):
            raise LabError(
                f"target must be loopback, got {shown}: "
                f"if you may load this host, name {host!r} under allow_targets in study.yml"
            )
        # Services of a cloud, such as the one with credentials at 169.254.169.254, have link-local addresses.
        kind = "public" if ip.is_global else "link-local" if ip.is_link_local else ""
        if kind and not public:
            raise LabError(f"target must not be {kind}, got {shown}: if it is yours to load, launch with --public")
    return addresses


def targets(deployment: Deployment) -> tuple[str, ...]:
    """Return every URL that receives load: the targets of the generators and of the balancer."""
    sent = [loader.url for loader in deployment.loaders]
    balanced = [deployment.balanced.endpoint.url] if deployment.balanced else []
    served = [endpoint.url for one in deployment.served.values() for endpoint in one.endpoints]
    return tuple(dict.fromkeys((*sent, *balanced, *served)))


def check_response(
    url: str,
    addresses: tuple[str, ...],
    allow_targets: tuple[str, ...] = (),
    expected: int = 0,
    method: str = "GET",
    body: str = "",
    *,
    public: bool = False,
) -> str:
    """Send one request to a checked target as the load will, check its status, and return the address that responded.

    No generator follows a redirect, so a redirect is an error of the study before it loads anything, unless its status
    is the expected one and its target may be loaded.  `expected` is 0 for any status from 200 to 299.
    Addresses are tried in their order; other parameters are as for `check_target`.  Raises LabError when no address
    sends a response, the status is another, or the target redirects to one that may not be loaded.
    """
    problem: Exception | None = None
    for address in addresses:
        try:
            status, location, length = one_request.send(url, address, _PATIENCE_S, method, body)
            break
        except (OSError, http.client.HTTPException) as error:
            problem = problem or error
    else:
        raise LabError(f"target must answer, got {printable(str(problem))[:200]} from {url}")
    try:
        target = urljoin(url, location)
        if urlsplit(target).hostname != urlsplit(url).hostname:
            check_target(target, allow_targets, public=public)
    except (LabError, ValueError) as error:  # no valid URL
        raise LabError(f"{url} redirects to {printable(location)[:200]}: {printable(str(error))[:200]}") from None
    if status != expected if expected else not 200 <= status < 300:
        to = f" to {printable(target)[:200]}" if location else ""
        raise LabError(
            f"{url} must respond with status {expected or '2xx'}, got {status}{to} and {length} bytes: correct "
            f"server.url and load.path, or set server.status to {status} if this response is the one to load"
        )
    return address


def is_on_this_machine(address: str) -> bool:
    """Return whether an IP address is one of this machine's: a socket can be bound to it.

    Examples
    --------
    >>> is_on_this_machine("127.0.0.1"), is_on_this_machine("192.0.2.1")
    (True, False)
    """
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family) as probe:
        try:
            probe.bind((address, 0))
        except OSError:
            return False
    return True


def _host_of(url: str) -> str:
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    if not host or parts.scheme not in ("http", "https"):
        raise LabError(f"target must be a URL with a host, got {url!r}")
    return host


def _addresses(host: str) -> tuple[str, ...]:
    """Return the addresses of a host, in the order in which a client tries them."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        return tuple(dict.fromkeys(str(entry[4][0]) for entry in found))
    except (OSError, UnicodeError) as error:
        raise LabError(f"target must be a host that resolves, got {host!r} ({error})") from None


def _network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    """Return the network in a text (an address is a network of one host); None for a name."""
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None


def _within(address: ipaddress.IPv4Address | ipaddress.IPv6Address, networks: list[Any]) -> bool:
    return any(address in network for network in networks if network.version == address.version)
