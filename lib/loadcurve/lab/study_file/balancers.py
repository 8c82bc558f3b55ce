"""The section `balancer`: what distributes the load among the servers."""

from dataclasses import dataclass

from loadcurve.lab.balancers import BALANCERS
from loadcurve.study.section import Choice, with_keys


@dataclass(frozen=True)
@with_keys({name: (balancer.section, balancer.description) for name, balancer in BALANCERS.items()})
class BalancerSection(Choice):
    """What runs on the host ``LB``: one of these, or nothing."""

    @property
    def kind(self) -> str:
        """Name of the balancer; empty for none."""
        return self.chosen[0]
