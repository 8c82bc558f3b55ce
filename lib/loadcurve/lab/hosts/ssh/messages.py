"""What ssh and a host say when something fails, as one line that can be shown."""

_LOGIN_HINTS = {
    "IDENTIFICATION HAS CHANGED": "its key is not the one in known_hosts",
    "Host key verification failed": "log in once by hand, and compare its key",
    "Permission denied": "the login must need no password: a key, or an agent that has it",
}
_REFUSED = "Session open refused by peer"
_LONGEST = 200


def shown(text: str) -> str:
    r"""Return a text that a host sent, short and without letters that would move the cursor.

    Examples
    --------
    >>> shown("a\x1b[2Jb\n")
    'a?[2Jb'
    """
    return "".join(letter if letter.isprintable() else "?" for letter in text.strip())[:_LONGEST]


def last_words(text: str) -> str:
    r"""Return the last line that says something; for a session that the host refused, the line that says so.

    Examples
    --------
    >>> last_words("Warning: this\nPermission denied (publickey).\r\n\n")
    'Permission denied (publickey).'
    """
    lines = [line for line in text.splitlines() if line.strip()]
    for line in lines:
        if _REFUSED in line:  # what follows is ssh trying without its master
            return f"{_REFUSED} (MaxSessions of its sshd: each command there is a session)"
    return shown(lines[-1]) if lines else ""


def login_hint(text: str) -> str:
    """Return what to do about a login that failed with such words, in brackets; empty where they say enough."""
    return next((f" ({hint})" for words, hint in _LOGIN_HINTS.items() if words in text), "")
