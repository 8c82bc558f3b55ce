"""The table ``findings`` as `loadcurve.audit` returns it: a DataFrame that is shown as verdict and findings."""

from collections.abc import Mapping, Sequence

import pandas as pd

from loadcurve.audit.sentences import groups_of, unchecked_count, verdict_sentences
from loadcurve.audit.text import HOW_TO_EXPLAIN, audit_text
from loadcurve.audit.verdict import Verdict, judge, verdict_of_each
from loadcurve.blocks import Block, Items, Paragraph, to_display

SEVERITIES = ("error", "warning", "ignored", "unchecked", "ok")
"""Severities of findings, the most severe first."""


class Findings(pd.DataFrame):  # type: ignore[misc]  # pandas has no types
    """The table ``findings``, whose display begins with the verdict.

    Only the display differs from that of a DataFrame: every operation of pandas returns a plain DataFrame, which is
    displayed as a table.

    Examples
    --------
    >>> rows = {"run_id": ["a"], "source": None, "rule": "short-run", "severity": "ok", "evidence": "It took 60 s."}
    >>> found = Findings.of(pd.DataFrame(rows), 1)
    >>> print(found)
    usable: 1 of 1 rules had the numbers they need and found nothing
    >>> type(found.query("severity == 'ok'")).__name__
    'DataFrame'
    """

    @classmethod
    def of(
        cls,
        findings: pd.DataFrame,
        number: int,
        settings: Sequence[str] = (),
        warnings: Sequence[str] = (),
        origins: Sequence[str] = (),
        beyond: Mapping[str, str] | None = None,
    ) -> "Findings":
        """Return the findings about a number of runs, the most severe first; equal ones keep their order.

        The audit's settings that are not the default, warnings of the readers, and origins of facts that no report
        prints are kept in `attrs`, and the display lists them; `beyond` are overloaded runs that end a sweep.
        """
        ranks = findings["severity"].map({severity: rank for rank, severity in enumerate(SEVERITIES)})
        found = cls(findings.iloc[ranks.argsort(kind="stable")].reset_index(drop=True))
        found.attrs |= {
            "runs": number,
            "settings": settings,
            "warnings": warnings,
            "origins": origins,
            "beyond": beyond,
        }
        return found

    @property
    def verdict(self) -> Verdict:
        """The verdict on all runs together."""
        return judge(pd.DataFrame(self), int(self.attrs["runs"]), self.attrs["beyond"])

    def __repr__(self) -> str:
        known = self.attrs
        return audit_text(pd.DataFrame(self), known["runs"], settings=known["settings"], beyond=known["beyond"])

    __str__ = __repr__

    def _repr_html_(self) -> str:
        return to_display(self.blocks())

    def read_blocks(self) -> list[Block]:
        """Return what the readers of the files reported, as blocks: warnings, and facts that no report prints."""
        return [
            Items("Warnings from reading the files", list(self.attrs["warnings"])),
            Items("Facts that no report prints", list(self.attrs["origins"])),
        ]

    def blocks(self) -> list[Block]:
        """Return the verdict and the findings as blocks of a report."""
        found = pd.DataFrame(self)
        sentences = [str(group) for group in groups_of(found)]
        return [
            Paragraph("Verdict", str(self.verdict), self.verdict.severity),
            Items("Runs", list(verdict_sentences(verdict_of_each(found)))),
            Items("Settings", list(self.attrs["settings"])),
            Items("Findings", sentences, numbered=True),
            Items("Not checked", list(unchecked_count(found))),
            *self.read_blocks(),
            *([Paragraph("", HOW_TO_EXPLAIN)] if sentences else []),
        ]
