"""Collectors: sar and ss, sampling while the load runs."""

# Shortest step of sar; every second shows the ramp and the end of a run of a few seconds.
SAR_INTERVAL_S = 1
SUMMARY_INTERVAL_S = 1
# A snapshot of every socket is long (one line for each end of each connection), so it is taken less often.
CONNECTIONS_INTERVAL_S = 2

SAR_ENV = {"LC_ALL": "C", "S_TIME_FORMAT": "ISO", "TZ": "UTC"}


def sar_argv() -> tuple[str, ...]:
    """Processors, interfaces, TCP and sockets, once a second until it is interrupted."""
    return (
        "sar",
        "-u",
        "ALL",
        "-P",
        "ALL",
        "-n",
        "DEV",
        "-n",
        "TCP",
        "-n",
        "ETCP",
        "-n",
        "SOCK",
        str(SAR_INTERVAL_S),
    )


def ss_summary_argv() -> tuple[str, ...]:
    """Socket counts, once a second, each under a line with its instant."""
    return _series("ss -s", SUMMARY_INTERVAL_S)


def ss_connections_argv(port: int) -> tuple[str, ...]:
    """Every TCP socket of the server's port, each snapshot under a line with its instant."""
    return _series(f"ss -tan '( sport = :{port} or dport = :{port} )'", CONNECTIONS_INTERVAL_S)


def _series(command: str, interval_s: int) -> tuple[str, ...]:
    # A shell that waits for a background sleep ends at once on TERM, after the running ss has printed all its lines.
    script = (
        f"trap 'kill $! 2>/dev/null; exit 0' TERM; while :; do date -u '+## %Y-%m-%dT%H:%M:%S.%NZ'; {command}; "
        f"sleep {interval_s} & wait; done"
    )
    return ("sh", "-c", script)
