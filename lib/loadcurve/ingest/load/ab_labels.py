"""The labels of ab's report, each with the pattern of its value, and the rows of its table of times."""

import re

from loadcurve.ingest.lazy_regex import lazy_regex

WHOLE = r"(-?[0-9]{1,18})"  # negative if a 32-bit counter of ab overflowed
REAL = r"(-?[0-9]{1,18}(?:\.[0-9]{1,9})?|-?nan|-?inf|-?1\.#\w{1,4})"
_BYTES = rf"{WHOLE}(?: bytes)?"
TEXT = lazy_regex(r"(.*)")
# ab copies a server's name up to its first space, and none of the other values has one; further words are a comment.
WORD = lazy_regex(r"([^\s（【←，。；]*)")

# Label → its value, with runs of spaces collapsed, in the order of the report.
LABELS: dict[str, re.Pattern[str]] = {
    **dict.fromkeys(("Server Software", "Server Hostname"), WORD),
    "Server Port": lazy_regex(WHOLE),
    **dict.fromkeys(("SSL/TLS Protocol", "TLS Server Name", "Document Path"), WORD),
    "Server Temp Key": TEXT,
    "Document Length": lazy_regex(rf"(?:{_BYTES}|Variable)"),
    "Number of workers": lazy_regex(WHOLE),
    "Concurrency Level": lazy_regex(WHOLE),
    "Concurrency achieved": lazy_regex(WHOLE),
    "Rampup delay": lazy_regex(rf"{WHOLE}(?: \[ms\])?"),
    "Time taken for tests": lazy_regex(r"([0-9]{1,9}\.[0-9]{1,9})(?: seconds)?"),
    "Number of requests": lazy_regex(rf"{WHOLE}( \(window\))?"),
    "Complete requests": lazy_regex(WHOLE),
    "Failed requests": lazy_regex(WHOLE),
    **dict.fromkeys(("Broken pipe errors", "Write errors", "Non-2xx responses"), lazy_regex(WHOLE)),
    **dict.fromkeys(("Keep-Alive requests", "Keep-Alive aborts"), lazy_regex(WHOLE)),
    "Total transferred": lazy_regex(_BYTES),
    **dict.fromkeys(("Total body sent", "Total POSTed", "Total PUT"), lazy_regex(_BYTES)),
    "HTML transferred": lazy_regex(_BYTES),
    "Requests per second": lazy_regex(rf"{REAL}(?: \[#/sec\](?: \(mean\))?)?"),
    "Time per request": lazy_regex(rf"{REAL}(?: \[ms\])?(?: \(mean(, ?across[^)]{{0,40}})?\)?)?"),
    "Transfer rate": lazy_regex(rf"{REAL}(?: (?:\[Kbytes/sec\]|kb/s)(?: received)?)?"),
}
PHASES = ("Connect", "Processing", "Waiting", "Total")
