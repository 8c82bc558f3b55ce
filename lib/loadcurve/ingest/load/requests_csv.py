"""Read CSV with one row for each response, as hey and oha write it, into the table `requests`."""

import csv
import io
import re
from collections.abc import Mapping

from loadcurve.errors import ParseError
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.report_text import nothing_in

REAL = re.compile(r"[0-9]{1,18}(?:\.[0-9]{1,30})?(?:[eE]-?[0-9]{1,3})?")
# hey writes four decimals: a last value that has them is whole, also without a newline after it.
_FOUR_DECIMALS = re.compile(r"\.[0-9]{4}$")


def end_of_rows(text: str) -> tuple[int, list[str]]:
    """Return the index behind the last whole line of a table, and a warning if a part of a row follows it."""
    end = text.rfind("\n") + 1
    if not text[end:].strip():
        return end, []
    return end, [f"line {text.count(chr(10)) + 1}: the text ends here; this row is left out, as it may be cut"]


def parse_requests_csv(text: str, tool: str, columns: Mapping[str, str]) -> Parsed:
    """Table `requests` of a CSV with a header, all of its values numbers of at least 0."""
    import pandas as pd  # saves a quarter of a second if no CSV is read

    header = tuple(columns)
    whole, _, rest = text.rpartition("\n")
    if rest.count(",") == len(header) - 1 and _FOUR_DECIMALS.search(rest):
        whole, rest = text, ""
    lines = text.count("\n") + 1
    warnings = [f"line {lines}: the text ends inside a line, which is left out: {rest[:60]!r}"] if rest.strip() else []
    begin = next((i for i, line in enumerate(whole.split("\n")) if line.strip().startswith(header[0] + ",")), None)
    if begin is None:
        raise nothing_in(text, f"the header {','.join(header)}")
    rows: dict[str, list[float]] = {}
    csv.field_size_limit(1 << 20)
    names: list[str] = []
    try:
        for line, record in enumerate(csv.reader(io.StringIO(whole)), 1):
            if line <= begin or not any(token.strip() for token in record):
                continue
            tokens = [token.strip() for token in record]
            if tokens[0] == header[0]:
                known = tuple(tokens) == header[: len(tokens)] and len(tokens) >= len(header) - 2
                if not known or (names and rows[header[0]]):
                    raise ParseError(line, f"the header {','.join(header)}, once", ",".join(tokens))
                names = tokens
                rows = {name: [] for name in names}
                continue
            if len(tokens) != len(names):
                raise ParseError(line, f"{len(names)} values", ",".join(tokens))
            for name, token in zip(names, tokens, strict=True):
                if not REAL.fullmatch(token):
                    raise ParseError(line, f"a number of at least 0 for {name!r}", token)
                rows[name].append(float(token))
    except csv.Error as error:
        raise ParseError(begin + 1, f"CSV of {tool}", str(error)) from None
    table = pd.DataFrame({columns[name]: values for name, values in rows.items()})
    if "status" in table:
        if not (table["status"] % 1 == 0).all() or not table["status"].between(0, 999).all():
            raise ParseError(begin + 2, "whole status codes", str(table["status"].max()))
        table["status"] = table["status"].astype("Int64")
    table.insert(0, "generator", 0)
    table.insert(1, "tool", tool)
    return Parsed(tool, {"requests": table}, tuple(warnings))
