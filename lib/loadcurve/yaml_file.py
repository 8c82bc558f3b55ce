"""YAML 1.2 with the line of every value, so that a fault can be named where it stands.

In YAML 1.2 ``off`` and ``no`` are words, as nginx writes them, and ``1e8`` is a number; YAML 1.1, which PyYAML reads,
takes them for false and for a word.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from loadcurve.errors import LoadcurveError, ParseError

Place = tuple[str | int, ...]


@dataclass(frozen=True)
class Document:
    """What a file holds, and where.

    Attributes
    ----------
    values : Any
        Mappings, lists, strings, numbers, booleans and None.
    lines : dict
        Place, such as ``("factors", "connections", 2)`` → line, from 1.
    path : pathlib.Path
        The file.
    """

    values: Any
    lines: dict[Place, int]
    path: Path

    def line(self, place: Place) -> int:
        """Line of a place, or of the nearest one around it; 0 where the file has none of it."""
        while place and place not in self.lines:
            place = place[:-1]
        return self.lines.get(place, 0)


def read_yaml(path: Path) -> Document:
    """Read a file that must hold one document.

    Raises
    ------
    ParseError
        When it is not UTF-8, not YAML, or has a key twice.
    LoadcurveError
        When there is no such file.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise LoadcurveError(f"{path}:0: expected a {path.name}, got no file") from None
    try:
        text = content.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise ParseError(line, "UTF-8", str(content[error.start : error.end]), str(path)) from None
    try:
        loaded = YAML(typ="rt", pure=True).load(text)
        lines: dict[Place, int] = {}
        _note(loaded, (), lines)
        # Subclasses that keep comments become plain values; a date, which YAML knows and we do not ask for, a word.
        return Document(json.loads(json.dumps(loaded, default=str)), lines, path)
    except MarkedYAMLError as error:
        mark, problem = error.problem_mark, " ".join(str(error.problem or error.context).split())
        raise ParseError(mark.line + 1 if mark else 0, "YAML", problem, str(path)) from None
    except YAMLError as error:
        at = getattr(error, "position", None)
        line = text[:at].count("\n") + 1 if isinstance(at, int) else 0
        raise ParseError(line, "YAML", str(getattr(error, "reason", error)), str(path)) from None
    except (ValueError, LookupError, TypeError, AttributeError, NotImplementedError, RecursionError) as error:
        # A date such as 2026-99-99, or a tag on another word: the library lets Python's own error through.
        raise ParseError(0, "YAML", str(error), str(path)) from None


def _note(value: Any, place: Place, lines: dict[Place, int]) -> None:
    """Write down the line of everything below `place`."""
    if isinstance(value, dict):
        for key, inner in value.items():
            lines[*place, key] = value.lc.key(key)[0] + 1
            _note(inner, (*place, key), lines)
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            lines[*place, at] = value.lc.item(at)[0] + 1
            _note(inner, (*place, at), lines)
