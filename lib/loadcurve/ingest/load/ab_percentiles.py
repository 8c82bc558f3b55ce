"""ab: its percentages as CSV (``-e FILE``) into the table `latency`.

Seen: Debian's ab 2.3 (the samples of the tests, ``ab -e e.csv -n 2000 URL``); 2.0 and other revisions of 2.3 in public
repositories and in the source of each.

Output of ab (``output_results`` in ``support/ab.c`` of httpd): a header and one row for each percent from 0 to
99 (2.0, older 2.3) or 100, in milliseconds with three decimals (2.0: as ``5.155000e+03``).  Row 0 is the
smallest time, row 100 the largest, any other row the time with index floor(0.5 + n p / 100), counted from 0; the text
report uses a slightly different index.  With fewer than 50 requests that index exceeds ab's array, so the last rows
below 100 print arbitrary memory.  ab does not correct for coordinated omission.
"""

import math
import re

from loadcurve.errors import ParseError
from loadcurve.ingest.noise import is_noise
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.report_text import nothing_in

_HEADER = re.compile(r"Percentage served ?, ?Time in ms")
# Arbitrary memory can be any number of 64 bits: 16 digits of ms, and a sign.
_TIME = r"[0-9]{1,16}(?:\.[0-9]{1,9})?(?:e[+-][0-9]{2})?|-[0-9]{1,16}\.[0-9]{3}"
# ab writes every time with them, so a time that has them is complete, also without a newline after it.
_THREE_DECIMALS = re.compile(r"\.[0-9]{3}$")
_ROW = re.compile(rf"([0-9]{{1,3}}(?:\.[0-9]{{1,6}})?) ?, ?({_TIME})")


def parse_ab_percentiles(text: str) -> Parsed:
    r"""Table `latency` of the files that ``ab -e`` writes.

    Examples
    --------
    >>> parse_ab_percentiles("Percentage served,Time in ms\n0,0.046\n1,0.052\n").tables["latency"].values.tolist()
    [[0, 0.0, 4.6e-05, False], [0, 0.01, 5.2e-05, False]]
    """
    lines = text.split("\n")
    files: list[list[tuple[dict, int]]] = []
    warnings: list[str] = []
    rank = -1.0
    for at, line in enumerate(map(str.strip, lines), 1):
        if _HEADER.fullmatch(line):
            files.append([])
            rank = -1.0
        elif not files or not line:
            continue
        elif match := _ROW.fullmatch(line):
            if not rank < float(match[1]) <= 100:
                raise ParseError(at, f"a percentage over {rank:g}, up to 100", match[1])
            if at == len(lines) and not _THREE_DECIMALS.search(line):
                warnings.append(f"line {at}: the text ends here; this row is left out, as it may be cut")
                continue
            rank = float(match[1])
            latency = {"quantile": rank / 100, "latency_s": float(match[2]) / 1e3, "corrected": False}
            files[-1].append(({"generator": len(files) - 1, **latency}, at))
        elif at == len(lines):
            warnings.append(f"line {at}: the text ends inside a row, which is left out")
        elif not is_noise(line[:2000]):
            raise ParseError(at, "a row such as 50,3.004", line)
    rows = [row for file in files for row, _ in file]
    if not rows:
        raise nothing_in(text, "rows under 'Percentage served,Time in ms'")
    if rank < 99:
        warnings.append(f"line {len(lines)}: the last percentage is {rank:g}; ab writes all up to 99 or 100")
    for file in files:
        _leave_out(file, warnings)
    return Parsed("ab", {"latency": rows}, tuple(warnings))


def _leave_out(file: list[tuple[dict, int]], warnings: list[str]) -> None:
    """Remove the time of the rows of a file that are out of order."""
    largest = file[-1][0]["latency_s"] if file and file[-1][0]["quantile"] == 1 else math.inf
    before = 0.0
    for row, at in file:
        if not before <= row["latency_s"] <= largest:
            warnings.append(f"line {at}: {row['latency_s'] * 1e3:g} ms is out of order, so it is left out")
            row["latency_s"] = math.nan
        else:
            before = row["latency_s"]
