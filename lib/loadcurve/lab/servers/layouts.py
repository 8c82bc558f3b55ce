"""How a server listens: five layouts of a published comparison, and one with SO_REUSEPORT, which is newer.

The comparison of nginx, Tengine and OpenResty by higkoo (hi.baidu.com/higkoo, 2012) named them A to E: one socket for
all workers, on one address or on all; one worker alone; an address for each worker; an instance for each port.  In D
every worker accepts from every address, as nginx has it; the addresses spread the queue, not the workers.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Annotated

from loadcurve.errors import ValueRuleError
from loadcurve.lab.servers.nginx import Nginx, Serving, nginx_service
from loadcurve.lab.servers.nginx_process import Process, Workers
from loadcurve.lab.servers.responses import Response, Text
from loadcurve.lab.servers.service import Service
from loadcurve.lab.servers.settings import Endpoint, check_address, check_choice
from loadcurve.study.section import Check, Section

LAYOUTS = ("A", "B", "C", "D", "E", "reuseport")


@dataclass(frozen=True)
class Layout(Section):
    """A server that listens according to a layout."""

    name: str  # Of the service; instances of E get a number after it
    letter: Annotated[str, Check(lambda name, letter: check_choice(name, letter, LAYOUTS))]  # One of `LAYOUTS`
    # Of the host: D listens on each, the other layouts on the first one.
    addresses: Annotated[tuple[str, ...], Check(check_address)]
    port: int  # The only or, in E, the first one
    workers: Workers  # Number of processes; C always has one
    # `response`, `process` and `serving`: as of `Nginx`; the workers of `process` are those of the layout.
    response: Response = field(default_factory=Text)
    process: Process = field(default_factory=Process)
    serving: Serving = field(default_factory=Serving)

    def _broken_rules(self) -> Iterator[ValueRuleError]:
        if any(self._broken_types()):
            return
        needed = self.workers if self.letter == "D" else 1
        if not needed <= len(set(self.addresses)) == len(self.addresses):
            yield ValueRuleError("addresses", f"{needed} or more for layout {self.letter}, each once", self.addresses)

    @property
    def endpoints(self) -> tuple[Endpoint, ...]:
        """Where requests go, the same number to each."""
        if self.letter == "D":
            return tuple(Endpoint(address, self.port) for address in self.addresses[: self.workers])
        ports = self.workers if self.letter == "E" else 1
        return tuple(Endpoint(self.addresses[0], self.port + i) for i in range(ports))


def layout_services(layout: Layout) -> tuple[Service, ...]:
    """Return the services of a layout: one, or one for each port in E.

    Parameters
    ----------
    layout : Layout
        How to listen.

    Examples
    --------
    >>> [s.url for s in layout_services(Layout("S1", "E", ("10.99.2.1",), 8080, workers=2))]
    ['http://10.99.2.1:8080/', 'http://10.99.2.1:8081/']
    """
    alone, cpus = layout.letter in ("C", "E"), layout.process.cpus
    process = replace(layout.process, workers=1 if alone else layout.workers, cpus=cpus[:1] if alone else cpus)
    common = Nginx(
        layout.name,
        layout.endpoints,
        layout.response,
        process,
        layout.serving,
        wildcard=layout.letter in ("B", "E"),
        reuseport=layout.letter == "reuseport",
    )
    if layout.letter != "E":
        return (nginx_service(common),)
    return tuple(
        nginx_service(
            replace(
                common,
                name=f"{layout.name}-{i + 1}",
                listens=(endpoint,),
                process=replace(process, cpus=cpus[i : i + 1]),
            )
        )
        for i, endpoint in enumerate(layout.endpoints)
    )
