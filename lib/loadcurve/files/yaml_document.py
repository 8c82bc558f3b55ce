"""Read YAML 1.2 with the line of every value, so that errors can name the line; write it.

In YAML 1.2, ``off`` and ``no`` are strings and ``1e8`` is a number; in YAML 1.1, which PyYAML reads, ``off`` and ``no``
are false and ``1e8`` is a string.  A text that either version would read as something else is written in quotes.
"""

import re
from io import StringIO
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.composer import Composer
from ruamel.yaml.emitter import Emitter
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, ScalarNode, SequenceNode
from ruamel.yaml.resolver import VersionedResolver, implicit_resolvers

from loadcurve.errors import ParseError
from loadcurve.files.document import MAX_BYTES, MAX_DEPTH, MAX_DIGITS, Document, Place, read_text

# Limits are needed because aliases (*name) and merges (<<) can expand a few lines to more values, or to longer texts,
# than fit in memory.
_MAX_VALUES = 200_000
_HALVES = re.compile("[\ud800-\udfff]")
_TAG = "tag:yaml.org,2002:"


def read_yaml(path: Path) -> Document:
    """Read a file that must contain exactly one document."""
    return parse_yaml(read_text(path), path)


def parse_yaml(text: str, path: Path, *, only_texts: bool = False) -> Document:
    """Return the values of exactly one document; with `only_texts`, numbers and null are the texts as written."""
    yaml = YAML(typ="safe", pure=True)
    yaml.Composer = _Composer
    tree = _Tree(yaml, only_texts)
    try:
        root = yaml.compose(text)
        return Document(None if root is None else tree.value(root, (), 1), tree.lines, path)
    except MarkedYAMLError as error:
        mark, problem = error.problem_mark, " ".join(str(error.problem or error.context).split())
        raise ParseError(mark.line + 1 if mark else 0, "YAML", problem, str(path)) from None
    except YAMLError as error:
        at = getattr(error, "position", None)
        line = text[:at].count("\n") + 1 if isinstance(at, int) else 0
        raise ParseError(line, "YAML", str(getattr(error, "reason", error)), str(path)) from None
    except RecursionError:  # a mapping merged into itself
        raise ParseError(0, f"values nested at most {MAX_DEPTH} deep", "more", str(path)) from None
    except ParseError as error:
        raise error.at(path) from None
    except (ValueError, LookupError, TypeError, AttributeError, NotImplementedError) as error:
        # For some broken directives the library raises Python's own error.
        raise ParseError(0, "YAML", str(error), str(path)) from None


def yaml_text(values: Any, *, flow: bool = False) -> str:
    """Return values as YAML that reads back as the same values; with `flow`, as one line."""
    yaml: Any = YAML(typ="safe", pure=True)
    yaml.Resolver, yaml.Emitter, yaml.sort_base_mapping_type_on_output = _Resolver, _Emitter, False
    yaml.default_flow_style, yaml.width = flow, 10_000 if flow else 80
    yaml.dump(values, text := StringIO())
    return text.getvalue()


_PATTERNS: dict[str, Any] = {}  # First character of a word → types and their patterns, in both versions
for _, *_pattern, _firsts in implicit_resolvers:
    for _first in _firsts:
        _PATTERNS.setdefault(_first, []).append(_pattern)


class _Resolver(VersionedResolver):
    versioned_resolver = _PATTERNS


class _Emitter(Emitter):
    """Breaks lines as PyYAML does; those of the library end with spaces, or lose spaces after a tab."""

    def choose_scalar_style(self) -> Any:
        return super().choose_scalar_style() if self.event.value.isprintable() else '"'

    def write_plain(self, text: str, split: bool = True) -> None:
        first, *others = re.split("(?<! ) (?! )", text)
        self.write_indicator(first, True)
        for word in others:
            if split and self.column > self.best_width:
                self.write_indent()
            self.write_indicator(word, True)

    def write_double_quoted(self, text: str, split: bool = True) -> None:
        self.write_indicator('"', True)
        escaped = False
        for one in text:
            if split and (escaped or one == " ") and self.column > self.best_width + escaped:
                self.write_indicator("\\", False)
                self.write_indent()
                self.write_indicator("\\" * (one == " "), False)
            escaped = one in '"\\' or not one.isprintable()
            word = "\\" + self.ESCAPE_REPLACEMENTS.get(one, f"U{ord(one):08X}") if escaped else one
            self.write_indicator(word, False)
        self.write_indicator('"', False)


class _Composer(Composer):
    """Refuses too many values, values nested too deeply, and tags, which would change the type of a value."""

    def __init__(self, loader: Any = None) -> None:
        super().__init__(loader)
        self.warn_double_anchors = False
        self._level = self._values = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        event = self.parser.peek_event()
        line = event.start_mark.line + 1
        self._level += 1
        self._values += index is not None  # of a key it is None
        if self._level > MAX_DEPTH + 1:
            raise ParseError(line, f"values nested at most {MAX_DEPTH} deep", "more")
        if self._values > _MAX_VALUES:
            raise ParseError(line, f"at most {_MAX_VALUES} values", "more")
        if tag := getattr(event, "tag", None):
            raise ParseError(line, "a value without a YAML tag", str(tag))
        node = super().compose_node(parent, index)
        self._level -= 1
        return node


class _Tree:
    """Values of nodes and their lines, with aliases and merges expanded."""

    def __init__(self, yaml: YAML, only_texts: bool):
        self._yaml, self._only_texts = yaml, only_texts
        self._characters = self._merged = 0
        self._keys: dict[int, dict[str, tuple[int, Any]]] = {}
        self.lines: dict[Place, int] = {}

    def value(self, node: Any, place: Place, line: int) -> Any:
        """Return the value of a node; record its line and those of everything below it."""
        if len(place) > MAX_DEPTH:
            raise ParseError(line, f"values nested at most {MAX_DEPTH} deep", "more")
        if place:
            self.lines[place] = line
        self._check_number(len(self.lines), line)
        if isinstance(node, MappingNode):
            inner = self._keys_of(node)
            return {self._text(key, at): self.value(one, (*place, key), at) for key, (at, one) in inner.items()}
        if isinstance(node, SequenceNode):
            return [self.value(one, (*place, i), one.start_mark.line + 1) for i, one in enumerate(node.value)]
        if self._only_texts or node.tag.removeprefix(_TAG) not in ("null", "bool", "int", "float"):
            return self._text(node.value, line)
        try:
            if len(node.value) <= MAX_DIGITS:
                return self._yaml.constructor.construct_object(node)
        except ValueError:  # such as `_`, which counts as a number without digits
            pass
        raise ParseError(line, f"a number of at most {MAX_DIGITS} digits", node.value)

    def _keys_of(self, mapping: Any) -> dict[str, tuple[int, Any]]:
        """Return the line and the node of each key of a mapping; its own keys replace merged ones."""
        if (known := self._keys.get(id(mapping))) is not None:
            return known
        merged: dict[str, tuple[int, Any]] = {}
        own: dict[str, tuple[int, Any]] = {}
        for key, node in mapping.value:
            line = key.start_mark.line + 1
            if key.tag == f"{_TAG}merge":
                for one in reversed(node.value if isinstance(node, SequenceNode) else [node]):
                    if not isinstance(one, MappingNode):
                        raise ParseError(line, "a mapping to merge", str(one.value))
                    merged |= self._keys_of(one)
                self._merged += len(merged)
                self._check_number(self._merged, line)
            elif not isinstance(key, ScalarNode) or (key.tag != f"{_TAG}str" and not self._only_texts):
                raise ParseError(line, "a key that is a word", key.value if isinstance(key, ScalarNode) else "a list")
            elif key.value in own:
                raise ParseError(line, "each key once", key.value)
            else:
                own[key.value] = line, node
        return self._keys.setdefault(id(mapping), merged | own)

    def _check_number(self, number: int, line: int) -> None:
        if number > _MAX_VALUES:
            raise ParseError(line, f"at most {_MAX_VALUES} values", "more")

    def _text(self, text: str, line: int) -> str:
        self._characters += len(text)
        if self._characters > MAX_BYTES:
            raise ParseError(line, f"at most {MAX_BYTES} characters where each alias is replaced by its text", "more")
        if _HALVES.search(text):
            raise ParseError(line, "text of whole characters", text.encode("unicode_escape").decode())
        return text
