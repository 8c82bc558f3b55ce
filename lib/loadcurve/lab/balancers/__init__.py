"""Balancers as data: proxies as a `Service`, rules of the kernel as `Rules`; nothing here starts or loads anything."""

from loadcurve.lab.balancers.haproxy import HaproxyProxy, haproxy_counters_argv, haproxy_proxy_service
from loadcurve.lab.balancers.ipvs import IpvsBalancer, direct_routing_argvs, has_ipvs, ipvs_rules
from loadcurve.lab.balancers.nft import NftBalancer, nft_rules
from loadcurve.lab.balancers.nginx import NginxProxy, nginx_l7_service, nginx_stream_service
from loadcurve.lab.balancers.proxies import Domains, Proxy
from loadcurve.lab.balancers.rules import Rules
from loadcurve.lab.balancers.shares import expected_shares, find_seed, nft_server, nginx_server

__all__ = [
    "Domains",
    "HaproxyProxy",
    "IpvsBalancer",
    "NftBalancer",
    "NginxProxy",
    "Proxy",
    "Rules",
    "direct_routing_argvs",
    "expected_shares",
    "find_seed",
    "haproxy_counters_argv",
    "haproxy_proxy_service",
    "has_ipvs",
    "ipvs_rules",
    "nft_rules",
    "nft_server",
    "nginx_l7_service",
    "nginx_server",
    "nginx_stream_service",
]
