"""Planted faults: responses that were none, and reports that were cut off."""

from loadcurve.audit.atlas import Fault, Shows
from validation.faults.load import TOTAL
from validation.faults.mutation import Mutation, with_text, with_values

SOCKET_ERRORS = "  Socket errors: connect 0, read {read}, write {write}, timeout {timeout}\n"


def _errors(read: int = 0, write: int = 0, timeout: int = 0) -> tuple[str, str]:
    return TOTAL, TOTAL + SOCKET_ERRORS.format(read=read, write=write, timeout=timeout)


MUTATIONS = (
    Mutation(
        "error_pages",
        Fault(
            "Error pages counted as throughput",
            "A third of the responses had a status of 400 or more.",
            ("failed-requests",),
            cause="goodput",
            shows=Shows("runs", ("throughput_rps", "goodput_rps")),
        ),
        with_text((TOTAL, TOTAL + "  Non-2xx or 3xx responses: 11733\n")),
    ),
    Mutation(
        "timeouts",
        Fault(
            "Requests that timed out",
            "1,760 responses came after the timeout of wrk.",
            ("failed-requests", "timeouts"),
            cause="--timeout",
            shows=Shows("runs", ("requests", "errors_timeout")),
        ),
        with_text(_errors(timeout=1760)),
    ),
    Mutation(
        "closed_connections",
        Fault(
            "Connections closed by the server",
            "5,000 reads failed, because the server closed connections.",
            ("failed-requests",),
            cause="closed connections",
            shows=Shows("runs", ("requests", "errors_read")),
        ),
        with_text(_errors(read=5000)),
    ),
    Mutation(
        "responses_of_another_length",
        Fault(
            "Responses of another length",
            "A tenth of the responses of ab had another length than the first.",
            ("failed-requests",),
            cause="ab -l",
            shows=Shows("runs", ("requests", "errors_length")),
        ),
        with_values("runs", tool="ab", errors_length=4000, requests_failed=4000),
    ),
    Mutation(
        "empty_replies",
        Fault(
            "Closed connections counted as responses",
            "No response had a byte.",
            ("empty-replies",),
            cause="closed connections",
            shows=Shows("runs", ("requests", "received_bytes")),
        ),
        with_values("runs", tool="ab", received_bytes=0.0, received_bytes_per_s=0.0),
    ),
    Mutation(
        "short_responses",
        Fault(
            "Short pages with status 200",
            "The responses of every second repeat had 200 bytes.",
            ("short-responses",),
            cause="under load",
            shows=Shows("runs", ("received_bytes",)),
        ),
        with_values("runs", {"repeat": 2}, received_bytes=lambda rows: rows.astype(float) / 4),
        sweep=True,
    ),
    Mutation(
        "ended_early",
        Fault(
            "A load that ended early",
            "60 s were asked for; the load took 6 s.",
            ("early-end",),
            cause="end by itself",
            shows=Shows("runs", ("duration_asked_s", "duration_s")),
        ),
        with_values("runs", duration_asked_s=60.0),
    ),
    Mutation(
        "ended_late",
        Fault(
            "A load that ended late",
            "2 s were asked for; the load took 6 s.",
            ("late-end",),
            cause="handshakes without an answer",
            shows=Shows("runs", ("duration_asked_s", "duration_s")),
        ),
        with_values("runs", duration_asked_s=2.0),
    ),
    Mutation(
        "report_cut_off",
        Fault(
            "A report that was cut off",
            "The output of wrk ends before its totals.",
            ("unfinished-run",),
            cause="status is unknown",
        ),
        with_text(
            (TOTAL, ""),
            ("Requests/sec:   5839.24\n", ""),
            ("Transfer/sec:      4.37MB\n", ""),
        ),
    ),
    Mutation(
        "failed_run",
        Fault(
            "A run that failed",
            "The status in the record of the run was set to failed.",
            ("unfinished-run",),
            cause="status is failed",
        ),
        with_values("runs", status="failed"),
    ),
)
