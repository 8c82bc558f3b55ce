"""ab: what each line that it can print looks like, and what stands between its lines."""

import re

WHOLE = r"(-?[0-9]{1,18})"  # negative where a 32-bit counter of ab overflowed
REAL = r"(-?[0-9]{1,18}(?:\.[0-9]{1,9})?|-?nan|-?inf|-?1\.#\w{1,4})"
_BYTES = rf"{WHOLE}(?: bytes)?"
TEXT = re.compile(r"(.*)")
# ab copies a server's name up to its first blank, and no other of these words holds one; what follows is a comment.
WORD = re.compile(r"([^\s（【←，。；]*)")

# Label → its value, blanks collapsed; the order is that of the report.
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
TAIL = ("Requests per second", "Time per request", "Transfer rate")  # absent when no request was completed
# How a last line without line end must close for its number to be whole.
CLOSED = (" seconds", " bytes", "(mean)", "requests)", "request)", " received", "kb/s sent", "kb/s total")

BANNER = re.compile(r"This is ApacheBench, Version (\S+)")
PROGRESS = re.compile(r"(Completed|Finished) ([0-9]{1,18}) requests")
TOTAL_OF = re.compile(r"Total of ([0-9]{1,18}) requests completed")
BREAKDOWN = re.compile(r"\( ?((?:(?:Connect|Receive|Length|Exceptions): [0-9]{1,18}(?:, ?)?){3,4}) ?\)")
RATES = re.compile(rf"{REAL} kb/s (sent|total)")
SERVED = re.compile(r"Percentage of (?:the )?requests served[^%0-9]{0,80}(?=[0-9]|$)")
PERCENTILE = re.compile(
    r"([0-9]{1,3})% +(?:(-?[0-9]{1,18}(?:\.[0-9]{1,6})?)(?: \((?:longest|last) request\))?|<0> \(never\))"
)
PERCENTILES = re.compile(rf"{PERCENTILE.pattern}(?: {PERCENTILE.pattern})+")  # several in one line
TIMES = re.compile(r"Conn+ection Times \(ms\):?")  # misspelled Connnection in 1.3 and in the HTML of 2.0
COLUMNS = {"min mean[+/-sd] median max": 5, "min avg max": 3}
DOUBT = re.compile(r"(?:WARN?ING|ERROR): The median and mean for .{1,40} are .{1,40}")
DOUBT_GOES_ON = re.compile(r"These results are pro[bp]ably not that reliable\.|deviation apart\. These results are .*")
WRAPPED = re.compile(r"\(mean(?:\)|, across all con\w{1,9} requests\))|requests\)|\.*(?:done)?")

# One line that ends ab (err, apr_err and usage in support/ab.c; a shell).
FATAL = re.compile(
    r"(?:apr_\w{1,40}(?:\(\))?(?: (?:for|failed)[^:]{0,300})?|socket(?: nonblock| send buffer| receive buffer)?|bind"
    r"|Port): .{0,400}\(-?[0-9]{1,9}\)"
    r"|Test aborted after 10 failures|Response header too long|Request too long|Could not allocate memory"
    r"|error creating request buffer: .*|SSL not compiled in.*|SSL_new failed|BIO_new_socket failed"
    r"|Cannot open (?:CSV|gnuplot) output file.*|only simple translation is supported.*"
    r"|Killed(?: by signal.*)?|Segmentation fault.*|Aborted.*|Bus error.*"
)
USAGE_ERROR = re.compile(
    r"\S{0,200}\babs?2?(?:\.exe)?: .{1,300}|.{0,200}command not found: abs?|(?:.{0,200}: )?abs?: (?:command )?not found"
    r"|'abs?' is not recognized .*|Usage: \S{0,200}abs?2?(?:\.exe)? \[options\].*"
)
WHOLE_ERROR = re.compile(r".*(?:URL|number of requests|arguments|not found|found: abs?|/path|\))")
REFUSALS = re.compile(r"SSL (?:handshake|read|write) failed.*|Send request (?:timed out|failed)!|\S{0,80}:error:.*")
VERBOSE = re.compile(r"(?:LOG|INFO): .*|WARNING: Response code not 2xx.*|SSL/TLS (?:State|Alert|Handshake) .*")
UNANSWERED = re.compile(r"SSL (?:handshake|read|write) failed.*|Send request (?:timed out|failed)!")
"""What ab says of a request that it then counts as complete: it closes the connection, as after a response."""
COMMENT = ("#", "//", "--", "<!--")
CELL = re.compile(r"<t[hd][^<>]*>([^<]*)</t[hd]>")
MARKUP = re.compile(r"(?:</?(?:p|table|html|body|pre|br)\b[^<>]*>|\s)*")
COMMAND = re.compile(r".{0,80}\babs?(?:\.exe)? -\w.*")
