"""A generator's command, as data."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from loadcurve.lab.generators.load import Load

# To open and close every connection, and to write the report, on a busy machine.
_OVERHEAD_S = 6.0
# Where requests end the run its length is not known: a response of a second on each connection is the slowest that
# is waited for, and a run of ten minutes the longest.
_SLOWEST_S = 1.0
_LONGEST_S = 600.0


@dataclass(frozen=True)
class Generator:
    """A load generator to start in a run's folder.

    Attributes
    ----------
    tool : str
        Which program it is, as `TOOLS` calls it.
    loop : str
        ``closed`` or ``open``, see `Rules`.
    argv : tuple of str
        The command, run in the run's folder; never a shell.
    limit_s : float
        Outer time limit.
    files : mapping of str to str
        Name of each file in the run's folder → its text, written before the start.
    outputs : mapping of str to str
        Variant of each further output, as ingestion calls it → the file of the run's folder that the tool writes.
        Its report goes to standard output.
    """

    tool: str
    loop: str
    argv: tuple[str, ...]
    limit_s: float
    files: Mapping[str, str] = field(default_factory=dict)
    outputs: Mapping[str, str] = field(default_factory=dict)


def limit_s(load: Load) -> float:
    """Outer time limit in s, since every tool has its own way of hanging.

    wrk waits minutes for connections whose SYNs are dropped, in spite of its ``--timeout``; weighttp waits forever for
    a response.  Asked for a number of requests, hey waits the timeout for each of them, one after the other on each
    connection.  Where a server takes connections and never answers, wrk and h2load end with exit code 0 and no
    response, ab with 119 and no report.
    """
    slowest = min(_LONGEST_S, -(-load.requests // load.connections) * _SLOWEST_S)
    return (load.duration_s or slowest) + load.timeout_s + _OVERHEAD_S


def body_file(load: Load, stem: str) -> dict[str, str]:
    """Name and text of the file with a request's body; nothing where there is none."""
    return {f"{stem}.{load.tool}.body.txt": "x" * load.body_bytes} if load.body_bytes else {}
