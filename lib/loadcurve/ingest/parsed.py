"""What every parser returns."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from loadcurve.blocks import Block, Grid, Items, to_display, to_text

if TYPE_CHECKING:
    import pandas as pd

    Given = Mapping[str, pd.DataFrame] | Mapping[str, list[dict[str, Any]]] | Mapping[str, pd.DataFrame | "Rows"]

Rows = Sequence[dict[str, Any]]


class Tables(Mapping[str, "pd.DataFrame"]):
    """Tables by name.  One given as a list of rows becomes a DataFrame when it is first asked for.

    Parsing a report of wrk takes a tenth of the time that making a DataFrame takes, so a reader of many files joins
    their `rows` and makes one DataFrame.

    Examples
    --------
    >>> tables = Tables({"runs": [{"requests": 9}]})
    >>> len(tables.rows("runs")), tables["runs"]["requests"].tolist()
    (1, [9])
    """

    def __init__(self, tables: "Given | None" = None) -> None:
        self._tables: dict[str, pd.DataFrame | Rows] = dict(tables or {})

    def __getitem__(self, name: str) -> "pd.DataFrame":
        table = self._tables[name]
        if isinstance(table, Sequence):
            import pandas as pd  # takes 0.25 s, which a reader of rows need not spend

            table = self._tables[name] = pd.DataFrame(list(table))
        return table

    def __contains__(self, name: object) -> bool:
        return name in self._tables  # without making a DataFrame of it

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)

    def rows(self, name: str) -> "pd.DataFrame | Rows":
        """Return a table as the parser gave it: rows, or a DataFrame."""
        return self._tables[name]

    def records(self, name: str) -> list[dict[str, Any]]:
        """Return the rows of a table as dictionaries; none where there is no such table."""
        if name not in self:
            return []
        rows = self.rows(name)
        return list(rows) if isinstance(rows, Sequence) else self[name].to_dict("records")

    def count(self, name: str) -> int:
        """Return the number of rows of a table."""
        return len(self._tables[name])

    def pieces(self, name: str, column: str = "") -> "Iterator[pd.DataFrame | Rows]":
        """Yield a table as the parser gave it, in one or several pieces, with at least this column of it."""
        yield self._tables[name]


@dataclass(frozen=True, init=False, repr=False)
class Parsed:
    """Tables from one raw text, and warnings."""

    tool: str  # Tool that printed the text: `wrk`, `sar`, `ss`
    # Name of a declared table → the columns of it that this text knows (no study, run or host: the run folder knows
    # those), SI units, missing as NaN/NA.  A table without rows is there when the text has its place.
    tables: Tables
    # What is missing or odd in the text, without being wrong: one sentence each, with the line number.
    warnings: tuple[str, ...]
    version: str  # Version of the tool, where its output prints it; else empty
    # Of a folder: facts that no text states, such as the run of a monitor's file, and where each comes from; one line
    # for each fact.
    origins: tuple[str, ...]

    def __init__(
        self,
        tool: str,
        tables: "Given | None" = None,
        warnings: tuple[str, ...] = (),
        version: str = "",
        origins: tuple[str, ...] = (),
    ) -> None:
        object.__setattr__(self, "tool", tool)
        object.__setattr__(self, "tables", tables if isinstance(tables, Tables) else Tables(tables))
        object.__setattr__(self, "warnings", warnings)
        object.__setattr__(self, "version", version)
        object.__setattr__(self, "origins", origins)

    def renamed(self, old: str, new: str) -> "Parsed":
        """Return the same with the text `old` replaced in the names of files, in tables and in sentences."""
        tables = {name: _renamed(self.tables.rows(name), old, new) for name in self.tables}
        warnings, origins = (tuple(line.replace(old, new) for line in lines) for lines in (self.warnings, self.origins))
        return Parsed(self.tool, Tables(tables), warnings, self.version, origins)

    def __str__(self) -> str:
        """Tool, and each table with its rows and columns; then the warnings."""
        return to_text(self._blocks())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return to_display(self._blocks())

    def _blocks(self) -> list[Block]:
        read = f"{self.tool or 'several files'} {self.version}".strip()
        rows = [[name, f"{len(t):,}", f"{len(t.columns)}"] for name, t in self.tables.items()]
        return [
            Grid(["table", "rows", "columns"], rows, f"Tables of {read}", left=1),
            Items("Warnings", self.warnings),
            Items("Facts that no report prints", self.origins),
        ]


def _renamed(rows: Any, old: str, new: str) -> Any:
    """Return a table, which may be rows or an Arrow table, with other texts in its column `source`."""
    if isinstance(rows, Sequence):
        return [row | {"source": row["source"].replace(old, new)} if "source" in row else row for row in rows]
    if hasattr(rows, "assign"):
        return rows.assign(source=rows["source"].str.replace(old, new, regex=False)) if "source" in rows else rows
    if "source" not in rows.column_names:
        return rows
    import pyarrow.compute as pc

    at, column = rows.column_names.index("source"), rows["source"]
    texts = pc.replace_substring(pc.cast(column, "string"), old, new)
    return rows.set_column(at, rows.schema.field(at), pc.cast(texts, column.type))
