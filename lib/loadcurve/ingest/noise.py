"""Lines that a shell, a terminal or a collector writes around a tool's output."""

import re

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
