"""Declarations of all tables: type, unit, rule and meaning of each column."""

from loadcurve.tables.schemas import host, load, results, sockets
from loadcurve.tables.schemas.declare import Column, Table

__all__ = ["RAW", "SCHEMAS", "Column", "Table"]

SCHEMAS: dict[str, Table] = {
    name.lower(): table
    for module in (load, host, sockets, results)
    for name, table in vars(module).items()
    if isinstance(table, Table)
}
"""Declarations by table name, that of their constant: columns with type, unit, rule and meaning."""

RAW = tuple(name for name in SCHEMAS if name not in ("findings", "fits"))
"""Tables that ingestion fills; the others come from the audit and the models."""
