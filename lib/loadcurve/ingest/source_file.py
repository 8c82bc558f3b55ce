"""`source.yml` of a published report: its tables, and which of its numbers belong to which declared table."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import ClassVar

from pydantic import ConfigDict

from loadcurve.errors import ValueRuleError, refuse
from loadcurve.files.checked import built
from loadcurve.files.document import Document, read_text
from loadcurve.files.paths import check_own_file
from loadcurve.files.yaml_document import parse_yaml
from loadcurve.ingest.reads import record_reads
from loadcurve.study.section import Section, with_keys
from loadcurve.tables.schemas import SCHEMAS

_NAME = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True, kw_only=True)
@with_keys({name: (dict[str, str | float], f"Columns of the table {name}.") for name in SCHEMAS})
class Declaration(Section):
    """An entry of ``declared``; `loadcurve.reading.published` describes its keys."""

    run_id: str
    rows_of: str = ""
    only: dict[str, tuple[str | float, ...]] = field(default_factory=dict)
    raw: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Source(Section):
    """The keys of a `source.yml` that are evaluated; others describe the report to its reader."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="ignore", strict=True)

    tables: dict[str, dict[str, str]] = field(default_factory=dict)
    declared: tuple[Declaration, ...] = ()

    def _broken_rules(self) -> Iterator[ValueRuleError]:
        wrong = [name for name in self.tables if not _NAME.fullmatch(name)]
        yield from (ValueRuleError("tables", "named with letters, digits, _ and -", name) for name in wrong)


def read_source(folder: Path) -> tuple[Source, Document]:
    """Read and check the `source.yml` of a folder."""
    path = check_own_file(folder / "source.yml")
    record_reads([path])
    return _checked(read_text(path), path)


@lru_cache(maxsize=16)
def _checked(text: str, path: Path) -> tuple[Source, Document]:
    document = parse_yaml(text, path)
    source, faults = built(Source, document)
    refuse(faults, path)
    for i, one in enumerate(source.declared):
        if one.rows_of and one.rows_of not in source.tables:
            known = f"one of the tables {', '.join(source.tables) or '(none)'}"
            raise document.fault(("declared", i, "rows_of"), known, one.rows_of)
    return source, document
