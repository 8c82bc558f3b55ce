"""Print text for people on stdout and stderr: a terminal shows all of it, and acts on none of it.

Names of files, labels and URLs in reports, questions of studies and words of servers come from strangers.
"""

import contextlib
import json
import logging
import sys
import traceback
import unicodedata
from collections.abc import Iterator

_OWN = frozenset("\n\t")  # of the library's own texts


def visible(text: str) -> str:
    r"""Return `text` with each character that a terminal acts on, or that hides or reorders others, as JSON escapes it.

    An escape is valid in a JSON string, so JSON that is printed stays what it is.

    Examples
    --------
    >>> visible("a\x1b]0;b\x07 \u202e1 \u9650")
    'a\\u001b]0;b\\u0007 \\u202e1 限'
    """
    if text.replace("\n", "").isprintable():
        return text
    return "".join(c if _is_harmless(c) else json.dumps(c)[1:-1] for c in text)


def _is_harmless(character: str) -> bool:
    return character.isprintable() or character in _OWN or unicodedata.category(character) == "Zs"  # a space


def echo(text: object = "", *, err: bool = False, nl: bool = True) -> None:
    """Print a text and, with `nl`, the end of its line, above a line of progress; the only way to print."""
    stream = sys.stderr if err else sys.stdout
    with _above_progress():
        stream.write(visible(str(text)) + "\n" * nl)
        stream.flush()


@contextlib.contextmanager
def _above_progress() -> Iterator[None]:
    if "tqdm" not in sys.modules:
        yield
        return
    from tqdm import tqdm

    with tqdm.external_write_mode(file=sys.stdout):
        yield


class _Handler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        echo(self.format(record), err=True)


def echo_messages(logger: str = "py.warnings") -> None:
    """Print tracebacks, and the warnings of a logger, by `echo` too; Python would print them as they are."""
    sys.excepthook = lambda *error: echo("".join(traceback.format_exception(*error)), err=True, nl=False)
    logging.captureWarnings(True)
    handler = _Handler(logging.WARNING)
    handler.setFormatter(logging.Formatter("%(levelname)s: %(message)s"))
    logging.getLogger(logger).addHandler(handler)
