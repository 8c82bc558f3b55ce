"""The jobs of a batch: each notebook with each combination of the values of a grid, and a file name for each."""

import hashlib
import itertools
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from loadcurve.batch.given import Texts, all_values, check_parameters, declared_parameters
from loadcurve.errors import LoadcurveError
from loadcurve.notebooks.parameters import Declared

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

    Parameters
    ----------
    notebooks : sequence of pathlib.Path
        With different names.
    fixed : mapping
        Values for all jobs.
    grid : mapping
        Values of which each job takes one.

    Raises
    ------
    LoadcurveError
        For a parameter that no notebook declares, a wrong value, or two notebooks of one name.
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
    return [job for notebook in notebooks for job in _jobs(notebook, declared[notebook], fixed, grid)]


def _jobs(
    notebook: Path, declared: Mapping[str, Declared], fixed: Mapping[str, object], grid: Mapping[str, Texts]
) -> list[Job]:
    shared = check_parameters(notebook, {name: value for name, value in fixed.items() if name in declared})
    axes = {name: all_values(notebook, name, texts, declared) for name, texts in grid.items() if name in declared}
    return [Job(notebook, shared, dict(zip(axes, point, strict=True))) for point in itertools.product(*axes.values())]


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
