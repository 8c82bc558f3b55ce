"""Balancers as data: proxies, which are services, and rules of the kernel.

`BALANCERS` lists the constants of class `Balancer`, which a study can name.
"""

from loadcurve.lab.balancers import haproxy, ipvs, nft, nginx
from loadcurve.lab.balancers.balancer import NAME, Balanced, Balancer, BalancerHost
from loadcurve.lab.balancers.haproxy import HaproxyProxy, haproxy_counters_argv, haproxy_proxy_service
from loadcurve.lab.balancers.ipvs import IpvsSection, direct_routing_argvs, has_ipvs, ipvs_rules
from loadcurve.lab.balancers.nft import NftSection, nft_rules
from loadcurve.lab.balancers.nginx import NginxProxy, nginx_l7_service, nginx_stream_service
from loadcurve.lab.balancers.proxies import Domains, Proxy
from loadcurve.lab.balancers.rules import Rules
from loadcurve.lab.balancers.shares import expected_shares, nft_server, nginx_server, seed_of_shares

_LIST = (haproxy.HAPROXY, ipvs.IPVS, nft.NFT, nginx.NGINX_L7, nginx.NGINX_STREAM)
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
