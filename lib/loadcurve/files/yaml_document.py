"""Read YAML 1.2 with the line of every value, so that errors can name the line.

In YAML 1.2, ``off`` and ``no`` are strings and ``1e8`` is a number; in YAML 1.1, which PyYAML reads, ``off`` and ``no``
are false and ``1e8`` is a string.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import CollectionEndEvent, CollectionStartEvent

from loadcurve.errors import LoadcurveError, ParseError

Place = tuple[str | int, ...]

# A handwritten file has a few KB; a file with 10,000 listed points is smaller than this limit.  Limits are needed
# because aliases (*name) can expand a few lines to more values than fit in memory, and a link can point to an endless
# device.
_MAX_BYTES = 1 << 20
_MAX_VALUES = 200_000
_MAX_DEPTH = 20
_HALVES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Document:
    """Values of a file and their lines.

    Attributes
    ----------
    values : Any
        Mappings, lists, strings, numbers, booleans and None.
    lines : dict
        Place, such as ``("factors", "connections", 2)`` → line, from 1.
    path : pathlib.Path
        Path of the file.
    """

    values: Any
    lines: dict[Place, int]
    path: Path

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


def read_yaml(path: Path) -> Document:
    """Read a file that must contain exactly one document.

    Raises
    ------
    ParseError
        When the file is not UTF-8 or not YAML, has a tag (``!!set``), a duplicate key or a key that is not a string, or
        exceeds the limits on size, values or depth.
    LoadcurveError
        When the file does not exist.
    """
    content = _content(path)
    try:
        text = content.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise ParseError(line, "UTF-8", str(content[error.start : error.end]), str(path)) from None
    try:
        _scan(text)
        loaded = YAML(typ="rt", pure=True).load(text)
        lines: dict[Place, int] = {}
        _note(loaded, (), lines)
        # Convert the subclasses that keep comments to plain values, and dates, which no key takes, to strings.
        return Document(json.loads(json.dumps(loaded, default=str)), lines, path)
    except MarkedYAMLError as error:
        mark, problem = error.problem_mark, " ".join(str(error.problem or error.context).split())
        raise ParseError(mark.line + 1 if mark else 0, "YAML", problem, str(path)) from None
    except YAMLError as error:
        at = getattr(error, "position", None)
        line = text[:at].count("\n") + 1 if isinstance(at, int) else 0
        raise ParseError(line, "YAML", str(getattr(error, "reason", error)), str(path)) from None
    except RecursionError:
        raise ParseError(0, f"values nested at most {_MAX_DEPTH} deep", "more", str(path)) from None
    except ParseError as error:
        raise error.at(path) from None
    except (ValueError, LookupError, TypeError, AttributeError, NotImplementedError) as error:
        # For a date such as 2026-99-99, or a tag that does not fit its value, the library raises Python's own error.
        raise ParseError(0, "YAML", str(error), str(path)) from None


def _scan(text: str) -> None:
    """Check that values are not nested too deeply, and that none has a tag, which would change its type."""
    depth = 0
    for event in YAML(typ="rt", pure=True).parse(text):
        depth += isinstance(event, CollectionStartEvent) - isinstance(event, CollectionEndEvent)
        if depth > _MAX_DEPTH:
            raise ParseError(event.start_mark.line + 1, f"values nested at most {_MAX_DEPTH} deep", "more")
        if tag := getattr(event, "tag", None):
            raise ParseError(event.start_mark.line + 1, "a value without a YAML tag", str(tag))


def _content(path: Path) -> bytes:
    """Return the bytes of a regular file within the size limit."""
    try:
        if path.exists() and not path.is_file():
            raise LoadcurveError(f"{path}: expected a {path.name}, got something that is no file")
        with path.open("rb") as file:
            content = file.read(_MAX_BYTES + 1)
    except FileNotFoundError:
        raise LoadcurveError(f"{path}: expected a {path.name}, got no file") from None
    except (OSError, ValueError) as error:  # such as a loop of links, no permission to read, NUL in the name
        reason = getattr(error, "strerror", None) or error
        raise LoadcurveError(f"{path}: expected a {path.name}, got {reason}") from None
    if len(content) > _MAX_BYTES:
        raise LoadcurveError(f"{path}: expected at most {_MAX_BYTES} bytes, got more")
    return content


def _note(value: Any, place: Place, lines: dict[Place, int]) -> None:
    """Record the line of everything below `place`, and check that JSON can express it."""
    if isinstance(value, CommentedMap):
        for key, inner in value.items():
            line = _line(value, key, lines.get(place, 0))
            if not isinstance(key, str):
                raise ParseError(line, "a key that is a word", str(key))
            _note_one(inner, (*place, key), line, lines)
    elif isinstance(value, CommentedSeq):
        for at, inner in enumerate(value):
            _note_one(inner, (*place, at), value.lc.item(at)[0] + 1, lines)


def _note_one(value: Any, place: Place, line: int, lines: dict[Place, int]) -> None:
    lines[place] = line
    if len(lines) > _MAX_VALUES:
        raise ParseError(line, f"at most {_MAX_VALUES} values", "more")
    if len(place) > _MAX_DEPTH:
        raise ParseError(line, f"values nested at most {_MAX_DEPTH} deep", "more")
    for text in (place[-1], value):
        if isinstance(text, str) and _HALVES.search(text):
            raise ParseError(line, "text of whole characters", text.encode("unicode_escape").decode())
    _note(value, place, lines)


def _line(mapping: Any, key: object, otherwise: int) -> int:
    """Return the line of a key; `otherwise` for a key that was merged into the mapping (``<<``)."""
    try:
        return mapping.lc.key(key)[0] + 1
    except (KeyError, TypeError):
        return otherwise
