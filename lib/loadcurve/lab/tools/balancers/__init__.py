"""Balancers as data: proxies, which are services, and rules of the kernel.

`BALANCERS` lists the constants of class `Balancer`, which a study can name.
"""

from loadcurve.lab.tools.balancers import kernel, proxies
from loadcurve.lab.tools.balancers.balancer import Balancer

_LIST = (proxies.HAPROXY, kernel.IPVS, kernel.NFT, proxies.NGINX_L7, proxies.NGINX_STREAM)
BALANCERS: dict[str, Balancer] = {balancer.name: balancer for balancer in _LIST}
"""Balancers by the name that a study uses."""
