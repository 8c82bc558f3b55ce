"""Extract one printable line from the error output of ssh and of a remote host."""

_LOGIN_HINTS = {
    "IDENTIFICATION HAS CHANGED": "its key is not the one in known_hosts",
    "Host key verification failed": "log in once by hand, and compare its key",
    "Permission denied": "the login must need no password: a key, or an agent that has it",
}
_REFUSED = "Session open refused by peer"
_LONGEST = 200


def shown(text: str) -> str:
    r"""Return a text that a host sent, shortened and without control characters.

    Examples
    --------
    >>> shown("a\x1b[2Jb\n")
    'a?[2Jb'
    """
    return "".join(letter if letter.isprintable() else "?" for letter in text.strip())[:_LONGEST]


def last_line(text: str) -> str:
    r"""Return the last line that is not empty; for a session that the host refused, the line with the refusal.

    Examples
    --------
    >>> last_line("Warning: this\nPermission denied (publickey).\r\n\n")
    'Permission denied (publickey).'
    """
    lines = [line for line in text.splitlines() if line.strip()]
    for line in lines:
        if _REFUSED in line:  # the following lines are from ssh, which retries without its master
            return f"{_REFUSED} (MaxSessions of its sshd: each command there is a session)"
    return shown(lines[-1]) if lines else ""


def login_hint(text: str) -> str:
    """Return a hint in parentheses on how to fix a login that failed with this message; empty if none is needed."""
    return next((f" ({hint})" for words, hint in _LOGIN_HINTS.items() if words in text), "")
