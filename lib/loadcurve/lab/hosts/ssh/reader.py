"""Read the output of a host, with limits on size and time."""

import os
import select
import time
from collections.abc import Iterator

from loadcurve.runtime.signals import interruptible

_PART = 65536


class Reader:
    """Reads from a pipe until a deadline."""

    def __init__(self, descriptor: int, limit_s: float):
        self._descriptor, self._held = descriptor, b""
        self._ready = select.poll()  # unlike select.select, poll accepts descriptors above 1023
        self._ready.register(descriptor, select.POLLIN)
        self.allow(limit_s)

    def allow(self, limit_s: float) -> None:
        """Set the deadline to `limit_s` seconds from now."""
        self._deadline = time.monotonic() + limit_s

    def line(self, most: int = _PART) -> bytes:
        """Return the next line, without the line feed.

        Raises EOFError when the input ends before the line does, ValueError when the line is longer than `most` bytes,
        and TimeoutError when the deadline has passed.
        """
        while b"\n" not in self._held:
            if len(self._held) > most:
                raise ValueError(f"a line of more than {most} bytes")
            part = self._some()
            if not part:
                raise EOFError(self._held)
            self._held += part
        line, _, self._held = self._held.partition(b"\n")
        return line

    def parts(self, size: int) -> Iterator[bytes]:
        """Yield the next `size` bytes in parts; raise the errors of `line`."""
        while size:
            part = self._held or self._some()
            if not part:
                raise EOFError(b"")
            part, self._held = part[:size], part[size:]
            size -= len(part)
            yield part

    def rest(self, most: int) -> bytes:
        """Return everything up to the end of the input, at most `most` bytes; raise the errors of `line`."""
        while len(self._held) <= most:
            part = self._some()
            if not part:
                rest, self._held = self._held, b""
                return rest
            self._held += part
        raise ValueError(f"more than {most} bytes")

    def _some(self) -> bytes:
        left_s = self._deadline - time.monotonic()
        with interruptible():
            ready = left_s > 0 and self._ready.poll(left_s * 1000)
        if not ready:
            raise TimeoutError("no answer in time")
        return os.read(self._descriptor, _PART)
