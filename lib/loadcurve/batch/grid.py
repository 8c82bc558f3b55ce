"""The jobs of a batch: each notebook with each combination of the values of a grid, and a file name for each.

Values are read from the command line and from files, and checked before a kernel starts.
"""

import hashlib
import itertools
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from loadcurve.batch.libraries import nbformat, pm
from loadcurve.errors import LoadcurveError, ParseError, ValueRuleError
from loadcurve.files.yaml_document import parse_yaml, read_yaml
from loadcurve.notebooks.source import Declared, range_of

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
    value: object = given
    if isinstance(given, Text):  # a text needs no quotes, but may have them
        raw = declared.kind == "str"
        value = str(given) if raw and not given.lstrip().startswith(('"', "'")) else _yaml(name, given, raw=raw)
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


_LONGEST_VALUE = 40  # characters of a value in a file name
_LONGEST_NAME = 150  # characters of a file name, of which most file systems allow 255
_SAFE = re.compile(r"[A-Za-z0-9_+-][A-Za-z0-9_.+-]*\Z")


@dataclass(frozen=True)
class Job:
    """One notebook with one combination of parameters."""

    notebook: Path
    # `fixed` and `varied`: checked values: those that all jobs share, and those of the grid.
    fixed: Mapping[str, object] = field(default_factory=dict)
    varied: Mapping[str, object] = field(default_factory=dict)

    @property
    def parameters(self) -> dict[str, object]:
        """All parameters that the notebook is executed with."""
        return {**self.fixed, **self.varied}

    @property
    def name(self) -> str:
        """File name of the output without suffix: stem of the notebook, then the parameters of the grid.

        A value that is no plain word of at most 40 characters is shortened, and six digits of its SHA-256 follow.

        Examples
        --------
        >>> Job(Path("30_x.ipynb"), varied={"enough": 0.9, "study": "ab_sar"}).name
        '30_x,enough=0.9,study=ab_sar'
        >>> Job(Path("30_x.ipynb"), varied={"study": "/data/load test"}).name
        '30_x,study=load-test-b3d65f'
        """
        name = ",".join([self.notebook.stem, *(f"{key}={_word(value)}" for key, value in self.varied.items())])
        return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 7]}-{_digest(name)}"


def jobs_of(notebooks: Sequence[Path], fixed: Mapping[str, object], grid: Mapping[str, Texts]) -> list[Job]:
    """Return the jobs of a batch in the order of the notebooks, the last parameter of the grid changing fastest.

    A parameter goes to each notebook that declares it; a notebook that declares no parameter of the grid runs once.
    Values of `fixed` are for all jobs; of those of `grid`, each job takes one.

    Raises `LoadcurveError` for a parameter that no notebook declares, a wrong value, or two notebooks of one name.
    """
    stems = [notebook.stem for notebook in notebooks]
    if twice := next((stem for stem in stems if stems.count(stem) > 1), ""):
        raise LoadcurveError(f"notebooks must have different names, got {twice}.ipynb twice")
    if both := next((name for name in grid if name in fixed), ""):
        raise LoadcurveError(f"parameter {both} must be given once, got a value and a grid")
    declared = {notebook: declared_parameters(notebook) for notebook in notebooks}
    known = dict.fromkeys(itertools.chain.from_iterable(declared.values()))
    for name in (*fixed, *grid):
        if name not in known:
            what = f"{notebooks[0]}: parameter" if len(notebooks) == 1 else "parameter"
            raise LoadcurveError(f"{what} must be one of {', '.join(known)}, got {name!r}")
    jobs = []
    for notebook, own in declared.items():
        shared = check_parameters(notebook, {name: value for name, value in fixed.items() if name in own})
        axes = {name: all_values(notebook, name, texts, own) for name, texts in grid.items() if name in own}
        points = itertools.product(*axes.values())
        jobs += [Job(notebook, shared, dict(zip(axes, point, strict=True))) for point in points]
    return jobs


def _word(value: object) -> str:
    """Return a value as a part of a file name; different values have different words."""
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    if len(text) <= _LONGEST_VALUE and _SAFE.match(text):
        return text
    last = text.rstrip("/").rpartition("/")[2] if isinstance(value, str) else text
    plain = re.sub(r"[^A-Za-z0-9_.+-]+", "-", last).strip("-.")[:_LONGEST_VALUE]
    return f"{plain}-{_digest(text)}" if plain else _digest(text)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:6]
