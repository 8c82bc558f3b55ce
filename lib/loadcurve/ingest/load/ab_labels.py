"""The labels of ab's report, each with the pattern of its value, and the rows of its table of times."""

import re

WHOLE = r"(-?[0-9]{1,18})"  # negative if a 32-bit counter of ab overflowed
REAL = r"(-?[0-9]{1,18}(?:\.[0-9]{1,9})?|-?nan|-?inf|-?1\.#\w{1,4})"
_BYTES = rf"{WHOLE}(?: bytes)?"
TEXT = re.compile(r"(.*)")
# ab copies a server's name up to its first space, and none of the other values has one; further words are a comment.
WORD = re.compile(r"([^\s（【←，。；]*)")

# Label → its value, with runs of spaces collapsed, in the order of the report.
LABELS: dict[str, re.Pattern[str]] = {
    **dict.fromkeys(("Server Software", "Server Hostname"), WORD),
    "Server Port": re.compile(WHOLE),
    **dict.fromkeys(("SSL/TLS Protocol", "TLS Server Name", "Document Path"), WORD),
    "Server Temp Key": TEXT,
    "Document Length": re.compile(rf"(?:{_BYTES}|Variable)"),
    "Number of workers": re.compile(WHOLE),
    "Concurrency Level": re.compile(WHOLE),
    "Concurrency achieved": re.compile(WHOLE),
    "Rampup delay": re.compile(rf"{WHOLE}(?: \[ms\])?"),
    "Time taken for tests": re.compile(r"([0-9]{1,9}\.[0-9]{1,9})(?: seconds)?"),
    "Number of requests": re.compile(rf"{WHOLE}( \(window\))?"),
    "Complete requests": re.compile(WHOLE),
    "Failed requests": re.compile(WHOLE),
    **dict.fromkeys(("Broken pipe errors", "Write errors", "Non-2xx responses"), re.compile(WHOLE)),
    **dict.fromkeys(("Keep-Alive requests", "Keep-Alive aborts"), re.compile(WHOLE)),
    "Total transferred": re.compile(_BYTES),
    **dict.fromkeys(("Total body sent", "Total POSTed", "Total PUT"), re.compile(_BYTES)),
    "HTML transferred": re.compile(_BYTES),
    "Requests per second": re.compile(rf"{REAL}(?: \[#/sec\](?: \(mean\))?)?"),
    "Time per request": re.compile(rf"{REAL}(?: \[ms\])?(?: \(mean(, ?across[^)]{{0,40}})?\)?)?"),
    "Transfer rate": re.compile(rf"{REAL}(?: (?:\[Kbytes/sec\]|kb/s)(?: received)?)?"),
}
PHASES = ("Connect", "Processing", "Waiting", "Total")
