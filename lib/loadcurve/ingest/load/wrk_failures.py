"""Errors of wrk, wrk2, the shell and the kernel that replace a report or end it early; the echoed command."""

import re

# src/wrk.c of wrk 4.1.0 and wrk2; getopt; the shells; LuaJIT.  After each of them there is no run.
_STARTUP = re.compile(
    r"unable to (?:connect to|resolve|create thread|initialize SSL)\b.*"
    r"|invalid URL: .*"
    r"|number of connections must be >= threads"
    r"|Throughput MUST be specified with the --rate or -R option"
    r"|Usage: wrk\b.*"
    r"|(?:\S+: ){0,2}(?:line [0-9]+: |[0-9]+: )?(?:\S*/)?[‘']?wrk2?['’]?: "
    r"(?:command not found|not found|No such file or directory|Permission denied"
    r"|cannot execute.*|unrecognized option.*|invalid option.*|option requires.*|error while loading.*)"
    r"|zsh: (?:command not found|no such file or directory|permission denied): \S*wrk2?"
    r"|PANIC: unprotected error.*"
)
_KILLED = re.compile(
    r"(?:\S+: line [0-9]+: +)?(?:\[[0-9]+\][+-]? +)?(?:[0-9]+ +)?(?:zsh: )?"
    r"(?:[Kk]illed|[Tt]erminated|[Ss]egmentation fault|[Aa]borted|[Aa]bort|[Bb]us error|Illegal instruction)"
    r"(?:: [0-9]+)?(?: \(core dumped\))?(?:\.|\s+\S*wrk.*)?"
    r"|Killed by signal [0-9]+\."
    r"|Command terminated by signal [0-9]+"
)
# A text that ends in one of these ends in a complete sentence (strerror and gai_strerror of glibc, musl and macOS).
_WHOLE = (
    "onnection refused", "onnection timed out", "peration timed out", "onnection reset by peer", "o route to host",
    "etwork is unreachable", "ost is unreachable", "ost is down", "oo many open files", "annot allocate memory",
    "esource temporarily unavailable", "annot assign requested address", "nvalid argument", "ermission denied",
    "emporary failure in name resolution", "ame or service not known", "ame does not resolve", "ry again",
    "servname provided, or not known", "o such file or directory", "roken pipe", "rotocol not supported",
    "ot found", ">= threads", "-R option", "signal 2.", "Usage: wrk <options> <url>",
)  # fmt: skip

_COMMAND = re.compile(r"(?:^|[\s/$#>(`])wrk2?\s+\S")
_RATE = re.compile(r"\s(?:-R|--rate)[ =]?\s{0,9}([0-9]{1,12}(?:\.[0-9]{1,6})?)([kKmMgG]?)(?=[\s`'\")]|$)")
_RATE_UNIT = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9}

USAGE = "Usage: wrk <options> <url>"


def startup_failure(line: str) -> str:
    """Return the tool's message if a line reports a run that did not start; otherwise an empty string.

    Examples
    --------
    >>> startup_failure("unable to connect to lb1:8080 Connection refused")
    'unable to connect to lb1:8080 Connection refused'
    >>> startup_failure("wrk is a load generator")
    ''
    """
    if not _STARTUP.fullmatch(line):
        return ""
    return USAGE if line.startswith("Usage:") else line


def killed(line: str) -> bool:
    """Whether a line reports that a process was killed.

    Examples
    --------
    >>> [killed(s) for s in ("Killed by signal 2.", "a.sh: line 3: 71 Killed  wrk -t2 http://h", "Killed ten")]
    [True, True, False]
    """
    return _KILLED.fullmatch(line) is not None


def is_whole(reason: str) -> bool:
    """Whether a reason at the very end of a text, without a newline after it, is certainly complete."""
    return reason.endswith(_WHOLE)


def is_command(line: str) -> bool:
    """Whether a line echoes a command of wrk.

    Examples
    --------
    >>> is_command("$ ./wrk -t2 -c64 -d10s http://h/"), is_command("a network of 3 hosts")
    (True, False)
    """
    return _COMMAND.search(line) is not None


def rate_of_command(line: str) -> float:
    """Return the rate that an echoed command sets for wrk2 (``-R``, which wrk does not have); 0 without ``-R``.

    Examples
    --------
    >>> rate_of_command("wrk -t2 -c100 -d30s -R2k --latency http://h/")
    2000.0
    """
    match = _RATE.search(line)
    return float(match[1]) * _RATE_UNIT[match[2].lower()] if match else 0.0
