"""Facts about runs that the caller gives: patterns on file names, and a file like ``factors.csv``."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class GivenFactors:
    r"""Facts about runs, beside those of ``factors.csv`` in their folder.

    Examples
    --------
    >>> bool(GivenFactors()), GivenFactors.of({"connections": r"c(\d+)"}).patterns
    (False, {'connections': 'c(\\d+)'})
    """

    patterns: Mapping[str, str] = field(default_factory=dict)  # Factor -> regular expression on names of reports
    file: Path | None = None  # A file like `factors.csv`, anywhere; it counts more than that of the folder

    @classmethod
    def of(cls, factors: "Factors") -> "GivenFactors":
        """Return factors as given to a function that takes patterns, a path, both or nothing."""
        if isinstance(factors, GivenFactors):
            return factors
        if isinstance(factors, str | Path):
            return cls(file=Path(factors))
        return cls(factors or {})

    def __bool__(self) -> bool:
        return bool(self.patterns) or self.file is not None

    @property
    def files(self) -> tuple[Path, ...]:
        """The file, resolved: it is no raw file."""
        return (self.file.resolve(),) if self.file else ()


Factors = Mapping[str, str] | str | Path | GivenFactors | None
"""What functions take as facts about runs."""
