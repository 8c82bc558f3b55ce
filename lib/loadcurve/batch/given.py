"""Values for parameters: read from the command line and from files, and checked before a kernel starts."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from loadcurve.batch.libraries import nbformat, pm
from loadcurve.errors import LoadcurveError, ParseError, ValueRuleError
from loadcurve.files.yaml_document import parse_yaml, read_yaml
from loadcurve.notebooks.parameters import Declared, range_of

_DATA = ("folder", "study", "study_file")  # parameters that name data, by a path or by the name of a study


class Text(str):
    """A value as typed on the command line; it is read as YAML 1.2, or kept for a parameter that is a text."""


class Texts(Text):
    """Values as typed on the command line, separated by commas."""


Typed = TypeVar("Typed", bound=Text)


def declared_parameters(notebook: Path) -> dict[str, Declared]:
    """Return the parameters that the cell tagged ``parameters`` declares, by name."""
    if not notebook.is_file():
        raise LoadcurveError(f"{notebook}: expected a notebook, got no file")
    try:
        nbformat.read(notebook, as_version=4)
    except (ValueError, TypeError, KeyError, AttributeError, nbformat.ValidationError) as error:
        raise ParseError(0, "a notebook", type(error).__name__, str(notebook)) from None
    try:
        found = pm.inspect_notebook(notebook)
    except ValueError as error:  # such as one that was never saved with a kernel
        raise ParseError(0, "a notebook that names its kernel", str(error), str(notebook)) from None
    try:
        return {
            name: Declared(one["inferred_type_name"], range_of(name, one["help"]), one["default"])
            for name, one in found.items()
        }
    except LoadcurveError as error:
        raise LoadcurveError(f"{notebook}: {error}") from None


def check_parameters(notebook: Path, given: Mapping[str, object]) -> dict[str, object]:
    """Return values for a notebook's parameters: typed texts are read; types and ranges are those that it declares."""
    declared = declared_parameters(notebook)
    for name in given:
        if name not in declared:
            raise LoadcurveError(f"{notebook}: parameter must be one of {', '.join(declared)}, got {name!r}")
    return {name: _checked(notebook, name, value, declared[name]) for name, value in given.items()}


def _checked(notebook: Path, name: str, given: object, declared: Declared) -> object:
    value = _read(name, given, declared.kind) if isinstance(given, Text) else given
    if isinstance(value, str) and name in _DATA and value and Path(value).exists():
        # The kernel works in the folder of the notebook, and what it shows should not name the folders of this machine.
        return os.path.relpath(Path(value).resolve(), notebook.absolute().parent.resolve())
    try:
        declared.check(name, value)
    except ValueRuleError as error:
        raise LoadcurveError(f"{notebook}: {error}") from None
    return value


def all_values(notebook: Path, name: str, texts: Texts, declared: Mapping[str, Declared]) -> list[object]:
    """Return the checked values of one axis of a grid, without repetitions."""
    items = _yaml(name, f"[{texts}]", raw=declared[name].kind == "str")
    if not items:
        raise LoadcurveError(f"parameter {name} must have values, such as {name}=A,B,C, got none")
    values = [_checked(notebook, name, item, declared[name]) for item in items]
    return [value for at, value in enumerate(values) if value not in values[:at]]


def _read(name: str, text: str, kind: str) -> object:
    """Return a typed text as the value of a parameter; a text needs no quotes, but may have them."""
    if kind == "str" and not text.lstrip().startswith(('"', "'")):
        return str(text)
    return _yaml(name, text, raw=kind == "str")


def _yaml(name: str, text: str, *, raw: bool) -> Any:
    """Read YAML 1.2, in which ``off`` is a text and ``1e-3`` a number; `raw` for texts instead of numbers."""
    try:
        return parse_yaml(text, Path(name), only_texts=raw).values
    except ParseError as error:
        raise LoadcurveError(f"parameter {name} must be {error.expected}, got {text!r} ({error.got})") from None


def typed(pairs: Sequence[str], kind: type[Typed]) -> dict[str, Typed]:
    """Return NAME=VALUE texts of the command line by name, as values of a kind."""
    found: dict[str, Typed] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals or not name:
            form = "NAME=A,B,C" if kind is Texts else "NAME=VALUE"
            raise LoadcurveError(f"parameter must be {form}, got {pair!r}")
        if name in found:
            raise LoadcurveError(f"parameter {name} must be given once, got {found[name]!r} and {text!r}")
        found[name] = kind(text)
    return found


def read_parameters(file: Path) -> dict[str, object]:
    """Read values by name from a YAML file."""
    values = read_yaml(file).values
    if not isinstance(values, dict):
        raise LoadcurveError(f"{file}: expected lines such as 'level: 0.9', got {type(values).__name__}")
    return values
