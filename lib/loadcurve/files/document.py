"""Records that people write: their values, the line of each, and the limits that hold for YAML and TOML."""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loadcurve.errors import ParseError

Place = tuple[str | int, ...]

# A handwritten file has a few KB; a file with 10,000 listed points is smaller than this limit.  A link can point to an
# endless device.
MAX_BYTES = 1 << 20
MAX_DEPTH = 20
MAX_DIGITS = 300  # of a whole number, so that a float can hold it


@dataclass(frozen=True)
class Document:
    """Values of a file and their lines."""

    values: Any  # Mappings, lists, strings, numbers, booleans and None
    lines: dict[Place, int]  # Place, such as `("factors", "connections", 2)` → line, from 1
    path: Path  # Path of the file

    def line(self, place: Place) -> int:
        """Return the line of a place, or of the nearest enclosing place; 0 if the file has neither."""
        while place and place not in self.lines:
            place = place[:-1]
        return self.lines.get(place, 0)

    def place(self, start: Place, words: tuple[str, ...]) -> Place:
        """Return the place of a dotted name below `start`; a key may contain dots itself, as names of sysctls do."""
        inner = self.values
        for word in start:
            inner = inner[word] if isinstance(inner, dict) and word in inner else None
        while words:
            known = inner if isinstance(inner, dict) else {}
            taken = next((at for at in range(len(words), 0, -1) if ".".join(words[:at]) in known), 1)
            key, words = ".".join(words[:taken]), words[taken:]
            start, inner = (*start, key), known.get(key)
        return start

    def fault(self, place: Place, expected: str, got: object) -> ParseError:
        """Return an error about the value at a place."""
        return ParseError(self.line(place), expected, str(got), str(self.path))


@dataclass(frozen=True)
class TomlDocument(Document):
    """Values of a TOML file; `text` shows where the line of each key begins."""

    text: str

    def line(self, place: Place) -> int:
        """Return the line in which the last key of a place is written, after those of the tables around it."""
        rows, at = self.text.split("\n"), 0
        for word in (re.escape(word) for word in place if isinstance(word, str)):
            written = re.compile(rf"(?<![\w-]){word}(?![\w-])")
            at = next((row for row in range(at, len(rows)) if written.search(rows[row])), at)
        return at + 1


def read_toml(path: Path) -> Document:
    """Read a TOML file; dates and times are texts."""
    text = read_text(path)
    try:
        return TomlDocument(_plain(tomllib.loads(text), 0), {}, path, text)
    except tomllib.TOMLDecodeError as error:
        problem, _, place = str(error).partition(" (at ")
        found = re.match(r"line (\d+)", place)
        raise ParseError(int(found[1]) if found else text.count("\n") + 1, "TOML", problem, str(path)) from None
    except RecursionError:
        raise ParseError(0, f"values nested at most {MAX_DEPTH} deep", "more", str(path)) from None
    except ValueError:  # Python's own limit on digits
        raise ParseError(0, f"numbers of at most {MAX_DIGITS} digits", "more", str(path)) from None


def _plain(value: Any, depth: int) -> Any:
    """Return a value of TOML as one of JSON."""
    if depth > MAX_DEPTH:
        raise RecursionError
    if isinstance(value, dict):
        return {key: _plain(inner, depth + 1) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner, depth + 1) for inner in value]
    if isinstance(value, int) and abs(value) >= 10**MAX_DIGITS:
        raise ValueError
    return value if isinstance(value, str | int | float) else str(value)


def read_text(path: Path, max_bytes: int = MAX_BYTES) -> str:
    """Return the text of a regular file within a size limit; a pipe or a device could block for ever, or never end."""
    try:
        if path.exists() and not path.is_file():
            raise ParseError(0, f"a {path.name}", "something that is no file", str(path))
        with path.open("rb") as file:
            content = file.read(max_bytes + 1)
    except FileNotFoundError:
        raise ParseError(0, f"a {path.name}", "no file", str(path)) from None
    except (OSError, ValueError) as error:  # such as a loop of links, no permission to read, NUL in the name
        reason = getattr(error, "strerror", None) or error
        raise ParseError(0, f"a {path.name}", str(reason), str(path)) from None
    if len(content) > max_bytes:
        raise ParseError(0, f"at most {max_bytes} bytes", "more", str(path))
    try:
        return content.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise ParseError(line, "UTF-8", str(content[error.start : error.end]), str(path)) from None
