"""Load generators: the command of a point."""

# Longer than any response of a healthy run, and short enough that a stalled server does not hold the study.
_RESPONSE_TIMEOUT_S = 4


def wrk_argv(url: str, *, connections: int, threads: int, seconds: float) -> tuple[str, ...]:
    """Command of wrk: closed loop, each connection sends its next request when the last response has come.

    Threads are cut to the number of connections: wrk refuses more.
    """
    return (
        "wrk",
        f"-t{min(threads, connections)}",
        f"-c{connections}",
        f"-d{seconds:g}s",
        "--timeout",
        f"{_RESPONSE_TIMEOUT_S}s",
        "--latency",
        url,
    )


def wrk_limit_s(seconds: float) -> float:
    """Outer time limit: the run, one response timeout, and time to open and close every connection."""
    return seconds + _RESPONSE_TIMEOUT_S + 6
