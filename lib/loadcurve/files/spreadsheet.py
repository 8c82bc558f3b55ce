"""Write CSV without formulas: text that a spreadsheet would evaluate as a formula gets a leading apostrophe.

Excel, LibreOffice and Google Sheets evaluate a cell that begins with ``= + - @``, with their full-width forms, or with
one of these after a tab or a line end (OWASP, "CSV Injection").  A leading apostrophe makes the cell text.  Numbers are
never changed, neither in numeric columns nor as text; Parquet and JSON hold every text as it was read.
"""

import re

import pandas as pd

_FORMULA = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?%?\Z", re.IGNORECASE)


def without_formulas(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the table with an apostrophe before each text or column name that a spreadsheet would evaluate.

    Examples
    --------
    >>> table = pd.DataFrame({"name": ["=1+1", "-5", "c=1"], "value": [-1.0, 2.0, 3.0]})
    >>> without_formulas(table).to_dict("list")
    {'name': ["'=1+1", '-5', 'c=1'], 'value': [-1.0, 2.0, 3.0]}
    """
    made = frame.rename(columns={name: _guarded(name) for name in frame.columns})
    for place, (name, kind) in enumerate(zip(made.columns, made.dtypes, strict=True)):
        if isinstance(kind, pd.CategoricalDtype):
            made = made.assign(**{name: frame.iloc[:, place].astype(object).map(_guarded)})
        elif not (pd.api.types.is_numeric_dtype(kind) or pd.api.types.is_datetime64_any_dtype(kind)):
            made = made.assign(**{name: frame.iloc[:, place].map(_guarded, na_action="ignore").astype(kind)})
    return made


def csv_text(frame: pd.DataFrame) -> str:
    """Return the table as CSV (RFC 4180) without its index and without formulas."""
    # With this line terminator, pandas also quotes a lone CR, which readers would take for the end of a row.
    return str(without_formulas(frame).to_csv(index=False, lineterminator="\r\n"))


def as_read(cell: object) -> object:
    """Return the original text of a cell; the inverse of `without_formulas`.

    Examples
    --------
    >>> as_read("'=1+1"), as_read("'tis")
    ('=1+1', "'tis")
    """
    if isinstance(cell, str) and cell.startswith("'") and _FORMULA.match(cell):
        return cell[1:]
    return cell


def _guarded(cell: object) -> object:
    if not isinstance(cell, str) or not _FORMULA.match(cell) or _NUMBER.match(cell):
        return cell
    return f"'{cell}"
