"""Tables written in parts: each process writes its own files, and readers see all parts or none.

Parts are drafts in a hidden folder beside the tables.  When all are complete, a table of one part becomes the file
``FOLDER/<table>.parquet``, and a table of several parts becomes a folder of this name with ``part-00000.parquet`` and
so on, which pandas, Arrow, Polars, Dask and Spark read as one table.
"""

import contextlib
import os
import secrets
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loadcurve.errors import named_as
from loadcurve.files.atomic import alone, replacing
from loadcurve.ingest.merge import join
from loadcurve.ingest.raw_file import Note, Placement
from loadcurve.ingest.run_labels import labelled
from loadcurve.tables.schemas import SCHEMAS

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from loadcurve.ingest.merge import Table

_SLICE = 20_000  # rows of small tables that are checked together
_REST = "rest.parquet"
_DRAFTS = ".parts-"


class Parts:
    """Parts of tables that are being written."""

    def __init__(self, folder: Path, table: str | None) -> None:
        # Hidden folder with the parts, which every process that writes some must see.
        self.draft = folder / f"{_DRAFTS}{os.getpid()}-{secrets.token_hex(4)}"
        self.store = self.draft / ".store"  # Folder in it for tables that wait until all files are read
        self.rows: Counter[str] = Counter()  # Number of rows of each table that is complete
        self._folder, self._table, self._next = folder, table, 0
        self.store.mkdir(parents=True)

    def function(self) -> "Callable[[tuple[int, Sequence[Placement]]], tuple[dict[str, int], list[Note]]]":
        """Return what writes a numbered group of files in any process; it returns the rows of each table and notes."""
        return partial(_write_group, self.draft.absolute(), self._table)

    def numbered(self, groups: Iterable[Sequence[Placement]]) -> list[tuple[int, Sequence[Placement]]]:
        """Return groups of files with the numbers of their parts."""
        found = list(enumerate(groups, self._next))
        self._next += len(found)
        return found

    def write(self, tables: "Iterable[tuple[str, Table]]") -> None:
        """Write the last part of each table, here."""
        self.rows += Counter(write_slices(tables, "parquet", partial(_part, self.draft, _REST)))

    def publish(self) -> None:
        """Put all tables in their places, each at once."""
        complete = self.draft / ".complete"
        for place in sorted(self.draft.glob("[!.]*")):
            files = sorted(place.glob("[!.]*"))  # those of workers that were lost are hidden
            new, target = complete / f"{place.name}.parquet", self._folder / f"{place.name}.parquet"
            new.mkdir(parents=True)
            for number, file in enumerate(files):
                file.rename(new / f"part-{number:05d}.parquet")
            if len(files) == 1:
                new = new / "part-00000.parquet"
            if target.is_dir() or (target.exists() and new.is_dir()):
                target.rename(self.draft / f".old-{place.name}")
            new.rename(target)


@contextlib.contextmanager
def parts_of(folder: Path, table: str | None = None) -> Iterator[Parts]:
    """Yield parts of the tables in a folder, which replace the tables there when the block ends without an error."""
    with alone(f"tables in {folder.resolve()}"):
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.glob(f"{_DRAFTS}*"):
            shutil.rmtree(old, ignore_errors=True)
        parts = Parts(folder, table)
        with named_as(folder, parts.draft):
            try:
                yield parts
                parts.publish()
            finally:
                shutil.rmtree(parts.draft, ignore_errors=True)


def write_slices(
    tables: "Iterable[tuple[str, Table]]", form: str, place: Callable[[str], AbstractContextManager[Path]]
) -> dict[str, int]:
    """Write tables that come in pieces; return the rows of each."""
    import pyarrow as pa

    from loadcurve import tables as declared
    from loadcurve.tables.declared import ARROW_TEXT, check_given
    from loadcurve.tables.schemas.derived import DERIVED
    from loadcurve.tables.stored import to_arrow, with_all_columns, without_formulas

    waiting: dict[str, list[Any]] = {}
    held: Counter[str] = Counter()
    writers: dict[str, Any] = {}
    rows: Counter[str] = Counter()

    def flush(name: str) -> None:
        held.pop(name)
        for frame in _frames(join(waiting.pop(name))):
            if name == "runs":  # columns that are no declared facts are in the table `factors`, too
                frame = frame.filter(items=SCHEMAS[name].columns)
            if form == "parquet" and name not in DERIVED:
                write(name, with_all_columns(name, to_arrow(name, check_given(name, frame, text=ARROW_TEXT))))
                continue
            checked = declared.check(name, frame, text=ARROW_TEXT)
            write(name, to_arrow(name, without_formulas(checked) if form == "csv" else checked))

    def write(name: str, table: "pa.Table") -> None:
        if name not in writers:
            draft = drafts.enter_context(place(name))
            writers[name] = drafts.enter_context(_writer(draft, table.schema, form))
        rows[name] += table.num_rows
        writers[name].write_table(table, 5 * _SLICE)

    with contextlib.ExitStack() as drafts:
        for name, part in tables:
            if isinstance(part, pa.Table) and form == "parquet":
                if name in waiting:
                    flush(name)
                write(name, part)
                continue
            waiting.setdefault(name, []).append(part.to_pandas() if isinstance(part, pa.Table) else part)
            held[name] += len(part)
            if held[name] >= _SLICE:
                flush(name)
        for name in list(waiting):
            flush(name)
    return dict(rows)


def _write_group(
    draft: Path, table: str | None, numbered: "tuple[int, Sequence[Placement]]"
) -> tuple[dict[str, int], list[Note]]:
    number, placements = numbered
    notes: list[Note] = []
    tables = ((name, rows) for name, rows in labelled(placements, notes) if table in (None, name))
    return write_slices(tables, "parquet", partial(_part, draft, f"part-{number:05d}.parquet")), notes


def _part(draft: Path, file: str, table: str) -> AbstractContextManager[Path]:
    (draft / table).mkdir(exist_ok=True)
    return replacing(draft / table / file)


def _writer(path: Path, schema: "pa.Schema", form: str) -> Any:
    if form == "csv":
        from pyarrow.csv import CSVWriter

        return CSVWriter(path, schema)
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    repeated = [field.name for field in schema if pa.types.is_large_string(field.type)]
    return ParquetWriter(path, schema, compression="zstd", use_dictionary=repeated)


def _frames(table: "Table") -> "Iterator[pd.DataFrame]":
    """Yield slices of a table, because a check copies the rows that it gets."""
    import pandas as pd

    frame = pd.DataFrame(list(table)) if isinstance(table, Sequence) else table
    for start in range(0, max(len(frame), 1), 5 * _SLICE):
        yield frame.iloc[start : start + 5 * _SLICE]
