"""Check which targets the laboratory may load: loopback, its own networks, and the targets that a study names."""

import http.client
import ipaddress
import socket
import ssl
from urllib.parse import urljoin, urlsplit

from loadcurve.errors import LabError
from loadcurve.lab.deployment import Deployment
from loadcurve.lab.hosts import capabilities
from loadcurve.lab.preflight.obstacles import deployments
from loadcurve.study import Study

# Limit in s of one request: a target that needs longer is not ready for a load test.
_PATIENCE_S = 5.0


def check_targets(study: Study, *, public: bool = False, ask: bool = True) -> None:
    """Check every target of a study outside the laboratory's own networks.

    Parameters
    ----------
    study : Study
        Study to check.
    public : bool
        As for `check_target`.
    ask : bool
        Whether to send one request to each server that already runs, to find its redirect.

    Raises
    ------
    LabError
        For the first target that may not be loaded.
    """
    loaded: dict[str, None] = {}
    running: dict[str, None] = {}
    remote: dict[tuple[str, str], None] = {}
    for settings, deployment in deployments(study, capabilities.ASSUMED):
        if settings.topology.recipe == "loopback":
            loaded |= dict.fromkeys(targets(deployment))
            running |= dict.fromkeys(targets(deployment)) if settings.server.url is not None else {}
            ssh = settings.topology.ssh_of
            remote |= {(each.url, each.host): None for each in deployment.loaders if ssh(each.host)}
    for url, host in remote:
        check_literal(url, host)
    for url in loaded:
        check_target(url, study.allow_targets, public=public)
    for url in running if ask else ():
        redirected = check_redirect(url, study.allow_targets, public=public)
        for host in (host for asked, host in remote if redirected and asked == url):
            check_literal(redirected, host)


def check_target(
    url: str, allow_targets: tuple[str, ...] = (), *, networks: tuple[str, ...] = (), public: bool = False
) -> str:
    """Return `url` if the laboratory may load it, else raise `LabError`.

    Parameters
    ----------
    url : str
        ``http://`` or ``https://`` with a host.
    allow_targets : tuple of str
        Targets that the study allows: a host exactly as in the URL, an address, or a network such as ``10.1.0.0/16``.
    networks : tuple of str
        Networks that the laboratory made, such as ``10.99.0.0/24``.
    public : bool
        Whether the launching user allows public addresses; listing them in the study is not enough.

    Raises
    ------
    LabError
        When an address to which the host resolves is neither loopback (127.0.0.0/8, ::1) nor allowed, or is public
        without `public`; or when the name does not resolve.

    Examples
    --------
    >>> check_target("http://127.0.0.1:8080/")
    'http://127.0.0.1:8080/'
    """
    host = _host_of(url)
    named, own = host in allow_targets, [_network(network) for network in networks]
    allowed = own + [found for found in map(_network, allow_targets) if found is not None]
    for address in _addresses(host):
        shown = host if address == host else f"{host} ({address})"
        ip = ipaddress.ip_address(address.split("%")[0])
        if ip.is_loopback or _within(ip, own):
            continue
        if not named and not _within(ip, allowed):
            raise LabError(
                f"target must be loopback, got {shown}: "
                f"if you may load this host, name {host!r} under allow_targets in study.yml"
            )
        if ip.is_global and not public:
            raise LabError(f"target must not be public, got {shown}: if it is yours to load, launch with --public")
    return url


def targets(deployment: Deployment) -> tuple[str, ...]:
    """Return every URL that receives load: the targets of the generators and of the balancer."""
    sent = [loader.url for loader in deployment.loaders]
    balanced = [deployment.balanced.endpoint.url] if deployment.balanced else []
    served = [endpoint.url for one in deployment.served.values() for endpoint in one.endpoints]
    return tuple(dict.fromkeys((*sent, *balanced, *served)))


def check_literal(url: str, host: str) -> str:
    """Return `url` if its host is an IP address; a remote host would resolve a name itself, perhaps differently.

    Parameters
    ----------
    url : str
        As for `check_target`, which resolves names on this machine.
    host : str
        Name of the host that sends the requests.

    Raises
    ------
    LabError
        When the host of the URL is a name.
    """
    name = _host_of(url)
    if _network(name) is None:
        raise LabError(
            f"target must be an address, got {name}: {host} would look the name up by itself, and might find another "
            "one than what is checked here"
        )
    return url


def check_redirect(
    url: str, allow_targets: tuple[str, ...] = (), *, networks: tuple[str, ...] = (), public: bool = False
) -> str:
    """Send one request to a checked target and check the target of its redirect, as some generators follow redirects.

    Parameters
    ----------
    url, allow_targets, networks, public
        As for `check_target`, which must have accepted `url`.

    Returns
    -------
    str
        Target of the redirect; empty if there is none.

    Raises
    ------
    LabError
        When the target sends no response, or redirects to a target that may not be loaded.
    """
    parts = urlsplit(url)
    try:
        # Connect directly: a proxy set in the environment would send the request elsewhere.
        connection = _connection(parts.scheme, _host_of(url), parts.port)
        try:
            connection.request("GET", (parts.path or "/") + (f"?{parts.query}" if parts.query else ""))
            response = connection.getresponse()
        finally:
            connection.close()
    except (OSError, http.client.HTTPException) as error:
        raise LabError(f"target must answer, got {error} from {url}") from None
    location = response.getheader("Location") if 300 <= response.status < 400 else None
    if not location:
        return ""
    target = urljoin(url, location)
    if urlsplit(target).hostname != parts.hostname:
        try:
            check_target(target, allow_targets, networks=networks, public=public)
        except LabError as error:
            raise LabError(f"{url} redirects to {target}: {error}") from None
    return target


def _connection(scheme: str, host: str, port: int | None) -> http.client.HTTPConnection:
    if scheme == "http":
        return http.client.HTTPConnection(host, port, timeout=_PATIENCE_S)
    # wrk, ab and hey accept any certificate, so an untrusted certificate must not hide the redirect.
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return http.client.HTTPSConnection(host, port, timeout=_PATIENCE_S, context=context)


def _host_of(url: str) -> str:
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    if not host or parts.scheme not in ("http", "https"):
        raise LabError(f"target must be a URL with a host, got {url!r}")
    return host


def _addresses(host: str) -> list[str]:
    try:
        return sorted({str(entry[4][0]) for entry in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)})
    except (OSError, UnicodeError) as error:
        raise LabError(f"target must be a host that resolves, got {host!r} ({error})") from None


def _network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    """Return the network in a text (an address is a network of one host); None for a name."""
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None


def _within(address: ipaddress.IPv4Address | ipaddress.IPv6Address, networks: list) -> bool:
    return any(address in network for network in networks if network.version == address.version)
