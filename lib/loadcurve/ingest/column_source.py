"""A text as a source from which pyarrow reads columns."""

import io

import pyarrow as pa


def column_source(text: str) -> "pa.PythonFile | pa.BufferReader":
    """Return a text as a source for `pyarrow.csv`; ASCII is encoded one block at a time, on demand."""
    return pa.PythonFile(_Encoded(text), mode="r") if text.isascii() else pa.BufferReader(text.encode())


class _Encoded(io.RawIOBase):
    """Bytes of an ASCII text: a second copy of a gigabyte would take time and memory."""

    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0

    def read(self, size: int = -1) -> bytes:
        """Return the bytes of the next `size` characters, or of all that are left."""
        start, self._at = self._at, self._at + size if size >= 0 else len(self._text)
        return self._text[start : self._at].encode()

    def readable(self) -> bool:
        """Whether it can be read from: it can."""
        return True
