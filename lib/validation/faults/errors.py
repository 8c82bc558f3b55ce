"""Planted faults: responses of another length, and loads that did not end when asked to."""

from loadcurve.audit.atlas import Shows
from validation.faults.mutation import planted_fault, with_values

MUTATIONS = (
    planted_fault(
        "responses_of_another_length",
        "Responses of another length",
        "A tenth of the responses of ab had another length than the first.",
        ("failed-requests",),
        with_values("runs", tool="ab", errors_length=4000, requests_failed=4000),
        cause="ab -l",
        shows=Shows("runs", ("requests", "errors_length")),
    ),
    planted_fault(
        "short_responses",
        "Short pages with status 200",
        "The responses of every second repeat had 200 bytes.",
        ("short-responses",),
        with_values("runs", {"repeat": 2}, received_bytes=lambda rows: rows.astype(float) / 4),
        cause="under load",
        shows=Shows("runs", ("received_bytes",)),
        sweep=True,
    ),
    planted_fault(
        "ended_late",
        "A load that ended late",
        "2 s were asked for; the load took 6 s.",
        ("late-end",),
        with_values("runs", duration_asked_s=2.0),
        cause="unanswered handshakes",
        shows=Shows("runs", ("duration_asked_s", "duration_s")),
    ),
)
