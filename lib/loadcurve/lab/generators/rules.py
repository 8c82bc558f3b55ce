"""What each load generator can be asked for; what it cannot is refused before anything starts."""

from dataclasses import dataclass

_BODIES = ("POST", "PUT")


@dataclass(frozen=True)
class Rules:
    """What a generator takes.

    Attributes
    ----------
    loop : str
        ``closed``: a connection sends its next request when the last response has come, so a slow server is asked
        less often.  ``open``: requests are due at a rate, whatever the server does, and a response time counts from
        the instant a request was due.
    bounds : tuple of str
        What may end a run: ``duration_s``, ``requests``.
    methods : tuple of str
        Methods that it sends.
    least_s : float
        Unit of its duration on the command line, in s: 1 where it takes whole seconds only.
    threads : bool
        Whether it can have more than one.
    even : bool
        Whether it gives each thread the same number of connections, and leaves the remainder out.
    reconnects : bool
        Whether it can open a connection for each request.
    rounds : bool
        Whether it sends the same number of requests on each connection, and leaves the remainder out.
    """

    loop: str
    bounds: tuple[str, ...]
    methods: tuple[str, ...] = ("GET",)
    least_s: float = 1.0
    threads: bool = True
    even: bool = False
    reconnects: bool = True
    rounds: bool = False


RULES = {
    # wrk 4.1.0 src/wrk.c: parse_args, and t->connections = cfg.connections / cfg.threads.  It waits for the body that
    # a HEAD response announces and never sends.
    "wrk": Rules("closed", ("duration_s",), ("GET", "POST", "PUT", "DELETE", "OPTIONS"), even=True),
    "wrk2": Rules("open", ("duration_s",), ("GET", "POST", "PUT", "DELETE", "OPTIONS"), even=True),
    "ab": Rules("closed", ("duration_s", "requests"), ("GET", "HEAD", *_BODIES, "DELETE", "OPTIONS"), threads=False),
    # 0.4 has no option for the method (show_help in src/weighttp.c).
    "weighttp": Rules("closed", ("requests",)),
    # -d makes it a POST; no option closes a connection after a response.
    "h2load": Rules("closed", ("duration_s", "requests"), ("GET", "POST"), least_s=0.001, reconnects=False),
    # requester/requester.go: each of its workers makes N / C requests.
    "hey": Rules(
        "closed",
        ("duration_s", "requests"),
        ("GET", "HEAD", *_BODIES, "DELETE", "OPTIONS"),
        least_s=0.001,
        rounds=True,
    ),
}
"""Rules by the name of the tool."""
