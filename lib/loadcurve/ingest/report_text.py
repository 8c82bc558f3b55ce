"""What the reports of several load generators share: how numbers are written, and what a failure is called."""

import math
import re

from loadcurve.errors import ParseError

_NOISE = re.compile(  # first a prompt, which is no percentage
    r"(?:\S*[\w.-]+@[\w.-]+\S*[ :][^$#%>]*|\[[^\]]*\]|\([^)]*\)|(?![0-9.]+%)[\w.~/-]*)?[$#%>](?:[ ]+(?:\S.*)?)?"
    r"|(?:PS )?[A-Z]:\\.*>.*"  # a prompt of Windows
    r"|(?:```|~~~).*"  # Markdown
    r"|[-=*_~#+]{3,}.*"  # a ruler, and what is written beside it
    r"|\^[CDZ].*"
    r"|\.{3,}|…"
    r"|\[[#=>. -]{3,}\] *[0-9]+ *%"  # a progress bar
    r"|Every [0-9.]+s: .*"  # watch
    r"|\S+ \| (?:SUCCESS|CHANGED|FAILED!?|UNREACHABLE!?)\b.*"  # ansible
    r"|(?:real|user|sys)\s+(?:[0-9]+m\s*)?[0-9.,]+s?"  # time
    r"|[0-9.]+user [0-9.]+system .*|[0-9]+inputs\+[0-9]+outputs .*"  # GNU time
    r"|\[[0-9]+\][+-]?\s*(?:[0-9]+|(?:Done|Exit|Running|Stopped|Terminated|Killed)\b.*)"  # background jobs
    r"|\+{1,3} \S.*"  # set -x
    r"|Script (?:started|done) .*"
    r"|(?:Last login: |Welcome to |Warning: Permanently added |Connection to \S+ closed|Authorized uses).*"
    r"|nohup: .*|logout|exit|Terminated"
)

_LONGEST = 500  # characters of a prompt with its command; some patterns above take quadratic time


def is_noise(line: str) -> bool:
    """Whether a line, without the blanks around it, is empty or certainly not part of a tool's output.

    Examples
    --------
    >>> [is_noise(s) for s in ("[root@lb1 ~]# ipvsadm -ln", "$ wrk -c1 URL", "```", "real  0m10.1s", "TCP: 5")]
    [True, True, True, True, False]
    """
    return not line or (len(line) <= _LONGEST and _NOISE.fullmatch(line) is not None)


_PROSE = re.compile(r"(?<![\w/.-])[A-Za-z]{2,}(?:,? [A-Za-z]{2,}){2,}(?![\w/-])")
_FIELD = re.compile(r":\s+[0-9.]|\[(?:ms|#/sec|Kbytes/sec)\]")


def is_prose(line: str) -> bool:
    """Whether a line is a sentence or a message of a log, and no label with its number.

    Examples
    --------
    >>> [is_prose(s) for s in ("99% of the requests were fast", "Time taken for tests: 2 s", "99%  12.0ms  x y")]
    [True, False, False]
    """
    return _PROSE.search(line[:_LONGEST]) is not None and _FIELD.search(line[:_LONGEST]) is None


_WHOLE = re.compile(r"[0-9]{1,18}")
_REAL = re.compile(r"[0-9]{1,18}(?:\.[0-9]{0,18})?(?:[eE][+-]?[0-9]{1,3})?")
_NOT_A_NUMBER = re.compile(r"[+-]?(?:nan|inf)", re.IGNORECASE)
_GO_TIME = re.compile(
    r"(?=[0-9])(?:([0-9]{1,9})h)?(?:([0-9]{1,9})m(?!s))?(?:([0-9]{1,18}(?:\.[0-9]{1,18})?)(ns|[uµμ]s|ms|s))?"
)
SECONDS = {
    "ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "sec": 1.0, "secs": 1.0,
    "m": 60.0, "min": 60.0, "h": 3600.0,
}  # fmt: skip
"""Seconds in each unit of time that the tools print."""

_CLASSES = (
    # gRPC says Unavailable and "connection error" of a connection that was lost, too.
    ("read", re.compile(r"error reading|\bread (?:tcp|udp|unix)\b.*(?:reset|EOF|closed)", re.IGNORECASE)),
    ("write", re.compile(r"error writing|\bwrite (?:tcp|udp|unix)\b.*(?:reset|broken|closed)", re.IGNORECASE)),
    ("timeout", re.compile(r"time-?d? ?out|deadline|ETIMEDOUT", re.IGNORECASE)),
    (
        "connect",
        re.compile(
            r"refused|dial |connect(?:ion)? error|error trying to connect|no route|unreachable|no such host|lookup "
            r"|too many open files|cannot assign|resolve|dns error|failed to connect",
            re.IGNORECASE,
        ),
    ),
    (
        "read",
        re.compile(
            r"reset|EOF|clos(?:e|ed|ing)\b|\bread\b|GOAWAY|malformed|incomplete|failed to respond", re.IGNORECASE
        ),
    ),
    ("write", re.compile(r"broken pipe|\bwrite\b", re.IGNORECASE)),
    ("connect", re.compile(r"unavailable", re.IGNORECASE)),
)


def whole(token: str, line: int, expected: str = "a whole number") -> int:
    """Return a printed count."""
    if not _WHOLE.fullmatch(token):
        raise ParseError(line, expected, token)
    return int(token)


def real(token: str, line: int, expected: str = "a number") -> float:
    """Return a printed number of at least 0; what the tool prints as NaN or Inf is missing.

    Examples
    --------
    >>> real("1.1855e+05", 1), real("NaN", 1)
    (118550.0, nan)
    """
    if _NOT_A_NUMBER.fullmatch(token):
        return math.nan
    if not _REAL.fullmatch(token):
        raise ParseError(line, expected, token)
    return float(token)


def go_time_s(token: str, line: int) -> float:
    """Return seconds from a duration as Go prints it, and k6 after it: ``1m2.5s``, ``93.78µs``, ``0s``.

    Examples
    --------
    >>> go_time_s("3h52m51.5s", 1), go_time_s("5m0s", 1), go_time_s("1ms", 1)
    (13971.5, 300.0, 0.001)
    """
    if token == "0":  # Go before 1.8
        return 0.0
    match = _GO_TIME.fullmatch(token)
    if match is None:
        raise ParseError(line, "a duration such as 1m2.5s or 93.78µs", token)
    hours, minutes, number, unit = match.groups()
    return int(hours or 0) * 3600.0 + int(minutes or 0) * 60.0 + (float(number) * SECONDS[unit] if number else 0.0)


def nothing_in(text: str, expected: str) -> ParseError:
    r"""Return the error about a text that holds nothing of its tool: it names and quotes where the text begins.

    Examples
    --------
    >>> print(nothing_in("\n\nbought milk\nand bread\n", "a report of wrk"))
    <text>:3: expected a report of wrk, got 'bought milk'
    """
    bare = text.lstrip()
    first = bare.split("\n", 1)[0].rstrip()
    if not bare:
        return ParseError(1, expected, "")
    got = first if len(first) > len("[{") else bare[:80].rstrip()  # the first line of a JSON document can be a bracket
    return ParseError(text.count("\n", 0, len(text) - len(bare)) + 1, expected, got)


def class_of(message: str) -> str:
    """Class of an error message: ``timeout``, ``connect``, ``read``, ``write``, else ``other``.

    Examples
    --------
    >>> class_of('Get "http://h/": dial tcp 198.18.0.3:9999: connect: connection refused')
    'connect'
    """
    return next((name for name, pattern in _CLASSES if pattern.search(message[:1000])), "other")


def error_counts(messages: "list[tuple[str, int]] | dict[str, int]") -> dict[str, int]:
    """Counts of `errors_connect`, `errors_read`, … of messages and how often each came."""
    counts = dict.fromkeys(("connect", "read", "write", "timeout", "other"), 0)
    for message, count in messages.items() if isinstance(messages, dict) else messages:
        counts[class_of(message)] += count
    return {f"errors_{name}": count for name, count in counts.items()}


def response_counts(codes: dict[int, int]) -> dict[str, int]:
    """Counts of `responses_2xx` and so on, and of `errors_status`, of the responses with each status code."""
    counts = {f"responses_{n}xx": sum(v for k, v in codes.items() if k // 100 == n) for n in range(1, 6)}
    return counts | {"errors_status": sum(v for k, v in codes.items() if k >= 400)}


class UnknownLines:
    """Lines that belong to no report, as warnings: one for each stretch of them."""

    def __init__(self, tool: str) -> None:
        self._tool = tool
        self._last = 0
        self.warnings: list[str] = []

    def add(self, number: int, line: str) -> None:
        """Note a line, unless it is certainly noise."""
        if is_noise(line):
            return
        if not self._last or number > self._last + 2:
            self.warnings.append(f"line {number}: ignored, because {self._tool} does not print it: {line[:60]!r}")
        self._last = number
