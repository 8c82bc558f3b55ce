"""HTTP over TCP over Ethernet: what a response costs on the wire, and what links, packet rates and ports allow."""

from typing import TYPE_CHECKING

from loadcurve.packages import imported_late

if TYPE_CHECKING:
    from loadcurve.models.wire.frames import (
        ETHERNET,
        OFFLOADED_SEGMENTS,
        Wire,
        acknowledgements,
        frame_bytes,
        medium_bytes,
        message_bytes,
        segments,
        summarise_exchange,
        summarise_packets,
        summarise_proxy,
        summarise_responses,
    )
    from loadcurve.models.wire.limits import (
        link_limit_rps,
        link_used_ratio,
        packet_limit_rps,
        summarise_consistency,
        summarise_limits,
        summarise_mix,
    )
    from loadcurve.models.wire.loss import LINUX_TIMEOUT_S, lossy_exchange_s, mathis_bytes_per_s, tfrc_bytes_per_s
    from loadcurve.models.wire.ports import (
        LINUX_PORTS,
        LINUX_TIME_WAIT_S,
        REUSE_TIME_WAIT_S,
        destinations_needed,
        port_limit_rps,
        requests_per_connection_needed,
        summarise_port_limits,
    )
    from loadcurve.models.wire.server import server_costs_s, server_limit_rps, smallest_payload_bytes

__all__ = [
    "ETHERNET",
    "LINUX_PORTS",
    "LINUX_TIMEOUT_S",
    "LINUX_TIME_WAIT_S",
    "OFFLOADED_SEGMENTS",
    "REUSE_TIME_WAIT_S",
    "Wire",
    "acknowledgements",
    "destinations_needed",
    "frame_bytes",
    "link_limit_rps",
    "link_used_ratio",
    "lossy_exchange_s",
    "mathis_bytes_per_s",
    "medium_bytes",
    "message_bytes",
    "packet_limit_rps",
    "port_limit_rps",
    "requests_per_connection_needed",
    "segments",
    "server_costs_s",
    "server_limit_rps",
    "smallest_payload_bytes",
    "summarise_consistency",
    "summarise_exchange",
    "summarise_limits",
    "summarise_mix",
    "summarise_packets",
    "summarise_port_limits",
    "summarise_proxy",
    "summarise_responses",
    "tfrc_bytes_per_s",
]

__getattr__ = imported_late(__name__, __all__)


def __dir__() -> list[str]:
    """The public names, for completion."""
    return __all__
