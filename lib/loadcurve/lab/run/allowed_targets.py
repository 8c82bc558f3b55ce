"""Check which targets the laboratory may load: loopback, its own networks, and the targets that a study names."""

import ipaddress
import queue
import socket
import threading
import time
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any
from urllib.parse import urljoin, urlsplit

from loadcurve.errors import LabError, printable
from loadcurve.files.secrets import conceal, named_in, reveal
from loadcurve.lab.hosts import capabilities, one_request
from loadcurve.lab.run.deployment import Deployment
from loadcurve.lab.run.obstacles import deployments
from loadcurve.study import Study

# Limit in s of one request, with the look-ups for it: a target that needs longer is not ready for a load test.
_PATIENCE_S = 5.0
# Networks of a user's own (RFC 1918, RFC 4193), and those for benchmarks and examples.  Others are public, or lead to
# somebody else or to this machine under another name: 100.64.0.0/10 belongs to a provider, 0.0.0.0 is loopback.
_PRIVATE = "10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 fc00::/7 198.18.0.0/15 2001:2::/48 192.0.2.0/24 198.51.100.0/24"
_PRIVATE += " 203.0.113.0/24 2001:db8::/32"


def check_targets(study: Study, *, public: bool = False, ask: bool = True) -> dict[str, str]:
    """Check every target of a study outside the laboratory's own networks; return the addresses to load.

    The result has the host and port of each URL that names its host → its address.  Whoever loads the target connects
    to this address: a second lookup could find one that was not checked.  With `ask`, one request to each server that
    already runs finds its status, its redirect, and which address responds.  Raises LabError for the first target that
    may not be loaded, and for a variable of its requests that is not set.
    """
    loaded: dict[str, None] = {}
    running: dict[str, tuple[int, str, str, dict[str, str]]] = {}
    for settings, deployment in deployments(study, capabilities.ASSUMED):
        for loader in deployment.loaders[:1]:
            _ = loader.revealed  # raises
        if settings.topology.recipe == "loopback":
            loaded |= dict.fromkeys(targets(deployment))
            asked = settings.server.status, settings.load.method, settings.load.text, settings.load.headers
            running |= dict.fromkeys(targets(deployment), asked) if settings.server.url is not None else {}
    checked, left_s = {}, {}
    for url in loaded:
        begun = time.monotonic()
        checked[url] = check_target(url, study.allow_targets, public=public)
        left_s[url] = _PATIENCE_S - (time.monotonic() - begun)
    for url, asked in running.items() if ask else ():
        found = check_response(url, checked[url], study.allow_targets, *asked, public=public, patience_s=left_s[url])
        checked[url] = (found,)
    return {urlsplit(url).netloc: found[0] for url, found in checked.items() if _network(_host_of(url)) is None}


def check_target(
    url: str,
    allow_targets: tuple[str, ...] = (),
    *,
    networks: tuple[str, ...] = (),
    public: bool = False,
    patience_s: float = _PATIENCE_S,
) -> tuple[str, ...]:
    """Return the addresses of a target if the laboratory may load all of them, else raise `LabError`.

    `patience_s` limits the look-up of its host.

    Examples
    --------
    >>> check_target("http://127.0.0.1:8080/")
    ('127.0.0.1',)
    """
    host = _host_of(url)
    named, own = host in allow_targets, [_network(network) for network in networks]
    private = [_network(network) for network in _PRIVATE.split()]
    allowed = own + [found for found in map(_network, allow_targets) if found is not None]
    addresses = _addresses(host, patience_s)
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
        kind = "public" if ip.is_global else "link-local" if ip.is_link_local else "outside private networks"
        if not public and not _within(ip, private):
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
    headers: Mapping[str, str] = MappingProxyType({}),
    *,
    public: bool = False,
    patience_s: float = _PATIENCE_S,
) -> str:
    """Send one request to a checked target as the load will, check its status, and return the address that responded.

    No generator follows a redirect, so a redirect is an error of the study before it loads anything, unless its status
    is the expected one and its target may be loaded.  `expected` is 0 for any status from 200 to 299.
    `patience_s` limits everything; addresses are tried in their order, each for its share.  Other parameters are as for
    `check_target`.  Raises LabError when no address sends a response, the status is another, or the target redirects to
    one that may not be loaded.
    """
    problem: Exception | None = None
    until = time.monotonic() + patience_s
    secrets = named_in(url, body, *headers.values())
    request = reveal(body), {name: reveal(value) for name, value in headers.items()}
    for number, address in enumerate(addresses):
        try:
            share_s = max(until - time.monotonic(), 0.001) / (len(addresses) - number)
            status, location, length = one_request.send(reveal(url), address, share_s, method, *request)
            break
        except OSError as error:
            problem = problem or error
    else:
        raise LabError(f"target must answer, got {conceal(str(problem), secrets)} from {url}")
    location = conceal(location, secrets)
    try:
        target = urljoin(url, location)
        if urlsplit(target).hostname != urlsplit(url).hostname:
            check_target(target, allow_targets, public=public, patience_s=until - time.monotonic())
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


def _addresses(host: str, patience_s: float) -> tuple[str, ...]:
    """Return the addresses of a host, in the order in which a client tries them.

    The resolver cannot be interrupted and may try for minutes, so a thread is left to it.
    """
    found: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def look_up() -> None:
        try:
            found.put(socket.getaddrinfo(host, None, type=socket.SOCK_STREAM))
        except (OSError, UnicodeError) as error:
            found.put(error)

    threading.Thread(target=look_up, daemon=True).start()
    try:
        entries = found.get(timeout=max(patience_s, 0))
    except queue.Empty:
        entries = TimeoutError(f"no response of a name server within {_PATIENCE_S:g} s")
    if isinstance(entries, Exception):
        raise LabError(f"target must be a host that resolves, got {host!r} ({entries})")
    return tuple(dict.fromkeys(str(entry[4][0]) for entry in entries))


def _network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    """Return the network in a text (an address is a network of one host); None for a name."""
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None


def _within(address: ipaddress.IPv4Address | ipaddress.IPv6Address, networks: list[Any]) -> bool:
    return any(address in network for network in networks if network.version == address.version)
