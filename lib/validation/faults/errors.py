"""Planted faults: responses of another length, and loads that did not end when asked to."""

from loadcurve.audit.atlas import Fault, Shows
from validation.faults.mutation import Mutation, with_values

MUTATIONS = (
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
        "ended_late",
        Fault(
            "A load that ended late",
            "2 s were asked for; the load took 6 s.",
            ("late-end",),
            cause="unanswered handshakes",
            shows=Shows("runs", ("duration_asked_s", "duration_s")),
        ),
        with_values("runs", duration_asked_s=2.0),
    ),
)
