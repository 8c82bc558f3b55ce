"""Balancers as data: proxies, which are services, and rules of the kernel.

`BALANCERS` lists the constants of class `Balancer`, which a study can name.
"""

from loadcurve.lab.tools.balancers import kernel, proxies
from loadcurve.lab.tools.balancers.balancer import NAME, Balanced, Balancer, BalancerHost, Rules
from loadcurve.lab.tools.balancers.kernel import (
    IpvsSection,
    NftSection,
    direct_routing_argvs,
    has_ipvs,
    ipvs_rules,
    nft_rules,
)
from loadcurve.lab.tools.balancers.proxies import (
    Domains,
    HaproxyProxy,
    NginxProxy,
    Proxy,
    haproxy_counters_argv,
    haproxy_proxy_service,
    nginx_l7_service,
    nginx_stream_service,
)
from loadcurve.lab.tools.balancers.shares import expected_shares, nft_server, nginx_server, seed_of_shares

_LIST = (proxies.HAPROXY, kernel.IPVS, kernel.NFT, proxies.NGINX_L7, proxies.NGINX_STREAM)
BALANCERS: dict[str, Balancer] = {balancer.name: balancer for balancer in _LIST}
"""Balancers by the name that a study uses."""

__all__ = [
    "BALANCERS",
    "NAME",
    "Balanced",
    "Balancer",
    "BalancerHost",
    "Domains",
    "HaproxyProxy",
    "IpvsSection",
    "NftSection",
    "NginxProxy",
    "Proxy",
    "Rules",
    "direct_routing_argvs",
    "expected_shares",
    "haproxy_counters_argv",
    "haproxy_proxy_service",
    "has_ipvs",
    "ipvs_rules",
    "nft_rules",
    "nft_server",
    "nginx_l7_service",
    "nginx_server",
    "nginx_stream_service",
    "seed_of_shares",
]
