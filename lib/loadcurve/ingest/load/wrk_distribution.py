"""Quantiles of one ``Latency Distribution``: wrk's four lines, wrk2's eight, and wrk2's detailed spectrum.

Sources: wrk 4.1.0 ``print_stats_latency`` in ``src/wrk.c``; wrk2 ``print_hdr_latency`` in ``src/wrk.c`` and
``hdr_percentiles_print`` in ``src/hdr_histogram.c``: value and mean are milliseconds there (its microseconds / 1000),
``TotalCount`` is the number of responses up to the value, and the last row has ``inf``.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from loadcurve.errors import ParseError
from loadcurve.ingest.load.wrk_numbers import TIME, number, whole
from loadcurve.ingest.noise import is_prose

_HEADING = re.compile(r"Latency Distribution(?: \(HdrHistogram - (.*)\))?")
_SEVERAL = re.compile(r"[ \t]+(?=[0-9]{1,3}(?:\.[0-9]+)?%[ \t])")
_RANK = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,9})?)%")
_COLUMNS = re.compile(r"Value\s+Percentile\s+TotalCount\s+1/\(1-Percentile\)")
_FRACTION = re.compile(r"-?[0-9]{1,15}\.[0-9]{1,9}")
_FOOTER = re.compile(r"#?\[(Mean|Max|Buckets)\s*=\s*(\S+),\s+(StdDeviation|Total count|SubBuckets)\s*=\s*(\S+)\]")
_FOOTER_LIKE = re.compile(r"#?\[(?:Mean|Max|Buckets)\b")
_NAN = ("nan", "-nan")
_FINE = 1e5  # 1/(1-percentile) from which six decimals no longer distinguish the percentiles of rows


def is_spectrum(line: str) -> bool:
    """Whether a line is the heading of a spectrum, or of its columns."""
    return line.startswith("Detailed Percentile spectrum") or _COLUMNS.fullmatch(line) is not None


@dataclass(slots=True)
class Distribution:
    """One block of quantiles."""

    hdr: bool
    corrected: bool
    quantiles: list[tuple[float, float]] = field(default_factory=list)
    spectrum: list[tuple[float, float, float]] = field(default_factory=list)
    footer: dict[str, float] = field(default_factory=dict)
    detailed: bool = False
    longest: float = 0.0
    lines: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of_heading(cls, line: str, at: int) -> "Distribution":
        """Block that a line ``Latency Distribution …`` opens."""
        match = _HEADING.fullmatch(line)
        if match is None:
            raise ParseError(at, "'Latency Distribution' or 'Latency Distribution (HdrHistogram - …)'", line)
        return cls(match[1] is not None, not (match[1] or "").startswith("Uncorrected"))

    def takes(self, line: str) -> bool:
        """Whether a line belongs to this block."""
        first = line.split(None, 1)[0]
        if first[-1] == "%" and not self.detailed:
            return len(line.split(None, 2)) > 1 and not is_prose(line)
        if first == "Detailed":
            return line.startswith("Detailed Percentile spectrum")
        if first == "Value":
            return "Percentile" in line
        if first[0] in "#[":
            return _FOOTER_LIKE.match(line) is not None
        return self.detailed and not self.footer and len(line.split()) == 4

    def take(self, line: str, at: int, warnings: list[str]) -> None:
        """Read one line of this block."""
        if line[0] in "#[":
            self._take_footer(line, at)
        elif line.startswith("Detailed"):
            self.detailed = True
        elif line.startswith("Value"):
            if not _COLUMNS.fullmatch(line):
                raise ParseError(at, "'Value   Percentile   TotalCount 1/(1-Percentile)'", line)
            self.detailed = True
        elif self.detailed:
            self._take_row(line.split(), at)
        else:
            for part in _SEVERAL.split(line):  # people put two in one line
                self._take_quantile(part, at, warnings)

    def _take_quantile(self, line: str, at: int, warnings: list[str]) -> None:
        rank, value, *rest = line.split(None, 2) if len(line.split(None, 1)) > 1 else (line, "")
        match = _RANK.fullmatch(rank)
        if match is None:
            raise ParseError(at, "a percentile such as 99%", rank)
        quantile, latency = round(float(match[1]) / 100, 12), number(TIME, value, at, warnings)
        before = self.quantiles[-1][0] if self.quantiles else 0.0
        if not before < quantile <= 1:
            raise ParseError(at, f"a percentile over {before:.3%}, up to 100%", rank)
        if 0 < latency < self.longest:
            raise ParseError(at, "a time not below that of the percentile before", value)
        self.quantiles.append((quantile, latency or math.nan))  # no response takes 0 us, so the counter was empty
        self.longest = max(self.longest, latency) if latency > 0 else self.longest
        self.lines["quantiles"] = at
        if rest:
            warnings.append(f"line {at}: {rest[0]!r} after the time is ignored")

    def _take_row(self, words: list[str], at: int) -> None:
        value, percentile, count, inverse = words
        if not (_FRACTION.fullmatch(value) and _FRACTION.fullmatch(percentile)):
            raise ParseError(at, "milliseconds, percentile, count and 1/(1-percentile)", " ".join(words))
        if inverse not in ("inf", "-inf") and not _FRACTION.fullmatch(inverse):
            raise ParseError(at, "1/(1-percentile)", inverse)
        latency, quantile, responses = float(value) / 1000, float(percentile), whole(count, at, [])
        before = self.spectrum[-1] if self.spectrum else (-1.0, -1.0, -1)
        if inverse[-1] != "f" and float(inverse) > _FINE:
            quantile = 1 - 1 / float(inverse)
        if not before[0] <= quantile <= 1 or latency < max(before[1], 0) or responses < before[2]:
            raise ParseError(at, "no number below that of the row before", " ".join(words))
        self.spectrum.append((quantile, latency if responses else math.nan, responses))
        self.lines["spectrum"] = at

    def _take_footer(self, line: str, at: int) -> None:
        match = _FOOTER.fullmatch(line)
        if match is None:
            raise ParseError(at, "a line such as '#[Mean    =        0.703, StdDeviation   =        0.386]'", line)
        for name, token in ((match[1], match[2]), (match[3], match[4])):
            if token not in _NAN and not re.fullmatch(r"[0-9]{1,18}(?:\.[0-9]{1,9})?", token):
                raise ParseError(at, "a number", token)
            self.footer[name] = math.nan if token in _NAN else float(token)
            self.lines[name] = at

    def rows(self) -> Iterator[dict]:
        """Yield rows of `latency`: each quantile once, from its line if there is one, otherwise from the spectrum."""
        counts = {quantile: responses for quantile, _, responses in self.spectrum}
        printed = {quantile for quantile, _ in self.quantiles}
        for quantile, latency in self.quantiles:
            count = {"responses": counts[quantile]} if quantile in counts else {}
            yield {"quantile": quantile, "latency_s": latency, "corrected": self.corrected, **count}
        for quantile, latency, responses in self.spectrum:
            if quantile not in printed:
                yield {"quantile": quantile, "latency_s": latency, "corrected": self.corrected, "responses": responses}
