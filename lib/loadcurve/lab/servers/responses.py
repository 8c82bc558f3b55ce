"""What a server answers: a text from memory, files, a text after a delay, a text after some work, its own status."""

from dataclasses import dataclass

from loadcurve.errors import ValueRuleError, check_all
from loadcurve.lab.servers.settings import check_count

# A directive of nginx.conf must fit its 4096-byte buffer (nginx src/core/ngx_conf_file.c, NGX_CONF_BUFFER).
LONGEST_TEXT_BYTES = 3000
# Files are written by the launcher from memory, for each run; a larger one would say nothing that this does not.
_LARGEST_FILE_BYTES = 16 * 1024 * 1024
_LONGEST_DELAY_MS = 60_000


@dataclass(frozen=True)
class Text:
    """A body from memory, at once: what limits is the processor, or the wire.

    Attributes
    ----------
    body_bytes : int
        Length of the body, 1–3000.
    """

    body_bytes: int = 616

    def __post_init__(self) -> None:
        check_count("body_bytes", self.body_bytes, 1, LONGEST_TEXT_BYTES)


@dataclass(frozen=True)
class Files:
    """Files of given sizes, ``/SIZE.bin`` each; ``/`` is the first one.

    Attributes
    ----------
    sizes_bytes : tuple of int
        Size of each file, 0–16777216; an empty one is of use, its response is all header.
    """

    sizes_bytes: tuple[int, ...]

    def __post_init__(self) -> None:
        if not isinstance(self.sizes_bytes, tuple) or not 1 <= len(set(self.sizes_bytes)) == len(self.sizes_bytes):
            raise ValueRuleError("sizes_bytes", "sizes, each once", self.sizes_bytes)
        for size in self.sizes_bytes:
            check_count("sizes_bytes", size, 0, _LARGEST_FILE_BYTES)

    def files(self, folder: str) -> dict[str, str]:
        """Path of each file below `folder` → its text."""
        return {f"{folder}/{size}.bin": "x" * size for size in self.sizes_bytes}


@dataclass(frozen=True)
class Delay:
    """A body after a wait on a timer, so that the response time is that of the formula X = N/R.

    Attributes
    ----------
    delay_ms : int
        The wait, 1–60000 ms.
    body_bytes : int
        Length of the body, 1–3000.
    """

    delay_ms: int
    body_bytes: int = 616

    def __post_init__(self) -> None:
        check_all(
            lambda: check_count("delay_ms", self.delay_ms, 1, _LONGEST_DELAY_MS),
            lambda: check_count("body_bytes", self.body_bytes, 1, LONGEST_TEXT_BYTES),
        )


@dataclass(frozen=True)
class Burn:
    """A body after work of the processor that grows with the square of `steps`.

    Attributes
    ----------
    steps : int
        Length, 1–3000, of a text that a pattern of nginx fails to match only after steps²/2 tries; 1000 are about 1 ms
        of a processor, and what it was on a machine is to be measured, not to be believed.
    body_bytes : int
        Length of the body, 1–3000.
    """

    steps: int
    body_bytes: int = 616

    def __post_init__(self) -> None:
        check_all(
            # Far below the ten million tries at which PCRE gives up (pcre2build(3), match limit).
            lambda: check_count("steps", self.steps, 1, 3000),
            lambda: check_count("body_bytes", self.body_bytes, 1, LONGEST_TEXT_BYTES),
        )


@dataclass(frozen=True)
class Status:
    """Counters of nginx itself (stub_status): a small dynamic page that needs no file."""


Response = Text | Files | Delay | Burn | Status
