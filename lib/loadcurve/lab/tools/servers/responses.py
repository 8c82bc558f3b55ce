"""What a server responds with: texts from memory, files, a text after a delay or some work, its own status."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from loadcurve.errors import ValueRuleError
from loadcurve.study.section import Choice, Range, Section

# A body from memory, part of the configuration of a server; larger ones are files.
BodyBytes = Annotated[int, Range(0, 100_000)]
# Files are written by the launcher from memory, for each run; a larger one would say nothing that this does not.
_MAX_FILE_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True)
class Text(Section):
    """A body from memory, at once: what limits is the processor, or the wire."""

    body_bytes: BodyBytes = 616
    """Length of the body; haproxy takes at most 15,000 bytes."""


@dataclass(frozen=True)
class Files(Section):
    """Files of given sizes, ``/SIZE.bin`` each; ``/`` is the first one."""

    sizes_bytes: Annotated[tuple[int, ...], Range(0, _MAX_FILE_BYTES)]
    """Size of each file; an empty file is useful, because its response is header only."""

    def _broken_rules(self) -> Iterator[ValueRuleError]:
        if not isinstance(self.sizes_bytes, tuple) or not 1 <= len(set(self.sizes_bytes)) == len(self.sizes_bytes):
            yield ValueRuleError("sizes_bytes", "sizes, each once", self.sizes_bytes)

    def files(self, folder: str) -> dict[str, str]:
        """Path of each file below `folder` → its text."""
        return {f"{folder}/{size}.bin": "x" * size for size in self.sizes_bytes}


@dataclass(frozen=True)
class Delay(Section):
    """A body after a wait on a timer, so that the response time is that of the formula X = N/R."""

    delay_ms: Annotated[int, Range(0, 60_000, unit="ms")]
    """The wait; 0 for a body at once, so that a study can compare both."""

    body_bytes: BodyBytes = 616
    """Length of the body."""


@dataclass(frozen=True)
class Burn(Section):
    """A body after work of the processor that grows with the square of `steps`."""

    # Far below the ten million tries at which PCRE gives up (pcre2build(3), match limit).
    steps: Annotated[int, Range(1, 3000)]
    """Length of a text that a pattern of nginx fails to match only after steps²/2 tries; 1000 are about 1 ms of a
    processor, but measure it on the machine that you use."""

    body_bytes: BodyBytes = 616
    """Length of the body."""


@dataclass(frozen=True)
class Status(Section):
    """Counters of nginx itself (stub_status): a small dynamic page that needs no file."""


@dataclass(frozen=True)
class Mixed(Section):
    """A body from memory; to a random share of the requests an error, a short body, or a body after a wait."""

    # split_clients of nginx takes percentages with two decimals.
    ratio: Annotated[float, Range(0.0001, 0.9999)]
    """Share of the requests that get the other response; its resolution is 0.0001."""

    # nginx: 444 closes the connection without a response; 3xx would need a location.
    status: Annotated[int, Range(200, 599)] = 200
    """Status of the other response; 444 closes the connection without a response."""

    other_bytes: BodyBytes = 616
    """Length of the body of the other response."""

    delay_ms: Annotated[int, Range(0, 60_000, unit="ms")] = 0
    """Wait before the other response, whose status is then 200."""

    body_bytes: BodyBytes = 616
    """Length of the usual body."""

    def _broken_rules(self) -> Iterator[ValueRuleError]:
        if 300 <= self.status < 400:
            yield ValueRuleError("status", "no redirect", self.status)
        if self.delay_ms and self.status != 200:
            yield ValueRuleError("status", "200 for a response after a wait", self.status)


Response = Text | Files | Delay | Burn | Mixed | Status


@dataclass(frozen=True)
class ResponseSection(Choice):
    """What a server responds with: one of these; a text of 616 bytes where none is given."""

    text: Text | None = None
    """A body from memory, at once."""

    files: Files | None = None
    """Files of given sizes."""

    delay: Delay | None = None
    """A body after a wait on a timer."""

    burn: Burn | None = None
    """A body after work of the processor."""

    mixed: Mixed | None = None
    """A body from memory, and another response to a share of the requests."""

    status: Status | None = None
    """Counters of nginx itself."""

    @property
    def value(self) -> Response:
        """The response itself."""
        return self.chosen[1] or Text()

    @property
    def delay_s(self) -> float:
        """Longest wait on a timer before a response, in s."""
        waits = self.delay or self.mixed
        return waits.delay_ms / 1000 if waits is not None else 0.0
