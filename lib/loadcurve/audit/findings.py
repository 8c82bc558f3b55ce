"""The table ``findings`` as `loadcurve.audit` returns it: a DataFrame that is shown as verdict and findings.

Plain text begins with the verdict; then follows every finding, the most severe first.
"""

import textwrap
from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from loadcurve.audit.verdict import (
    Group,
    Verdict,
    groups_of,
    judge,
    unchecked_count,
    unchecked_sentences,
    verdict_of_each,
    verdict_sentences,
)
from loadcurve.blocks import Block, Items, Paragraph, to_display
from loadcurve.ingest.grouping import GROUPED, other_facts
from loadcurve.ingest.raw_file import NOT_ATTACHED
from loadcurve.reading.one import NOT_READ

HOW_TO_EXPLAIN = (
    "`loadcurve explain RULE` prints what a finding means, why it happens, how to fix it and when to ignore it."
)
"""The last line of the text of an audit."""
_MOST_NOTES = 5


def audit_text(
    findings: pd.DataFrame,
    number: int,
    name: str = "",
    width: int = 100,
    settings: Sequence[str] = (),
    warnings: Sequence[str] = (),
    beyond: Mapping[str, str] | None = None,
    origins: Sequence[str] = (),
    *,
    every: bool = False,
) -> str:
    """Return verdict, grouping, what was not used, what each rule found, how much was not checked, and notes.

    With `every`, all that was not checked is listed, with what to record for it.
    """
    verdict = str(judge(findings, number, beyond))
    each = [f"- {sentence}" for sentence in verdict_sentences(verdict_of_each(findings))]
    grouped = [line.removeprefix(GROUPED) for line in origins if line.startswith(GROUPED)]
    not_read = sum(line.startswith(NOT_READ) for line in warnings)
    lines = [f"Runs: {'; '.join([str(number), *grouped])}"] if grouped else []
    lines += [f"Not used: {line}" for line in warnings if line.startswith(NOT_ATTACHED)]
    lines += [f"Not used: {not_read} file{'s' * (not_read != 1)} that could not be read"] * bool(not_read)
    head = [f"{name}: {verdict}" if name else verdict, *_filled([*settings, *each, *lines], width, "  ")]
    parts = ["\n".join(head)]
    parts += ["\n".join(_finding(group, number, width)) for group in groups_of(findings)]
    if every and (unchecked := [f"- {sentence}" for sentence in unchecked_sentences(findings)]):
        parts.append("\n".join(["Not checked, and what to record for it:", *_filled(unchecked, width, "  ")]))
    elif not every:
        parts += _filled([f"Not checked: {sentence}." for sentence in unchecked_count(findings)], width, "  ")
    notes = [line.removeprefix(NOT_READ) for line in warnings if not line.startswith(NOT_ATTACHED)]
    notes += other_facts(origins)
    listed = notes if every else notes[:_MOST_NOTES]
    more = [f"and {len(notes) - len(listed)} more; --all lists them"] * (len(notes) > len(listed))
    if notes:
        parts.append("\n".join(["Notes:", *_filled([f"- {note}" for note in (*listed, *more)], width, "  ")]))
    return "\n\n".join(parts)


def _finding(group: Group, number: int, width: int) -> Iterator[str]:
    yield f"{group.severity}: {group.rule}" + (f", {group.runs}" if number > 1 else "")
    labelled = {"": group.evidence, "Meaning: ": group.meaning}
    labelled["Reason: " if group.severity == "ignored" else "Next: "] = group.advice
    yield from _filled([f"  {label}{text}" for label, text in labelled.items() if text], width, "    ")


def _filled(lines: Sequence[str], width: int, indent: str) -> Iterator[str]:
    """Break lines at spaces only, so that paths and commands can be copied."""
    for line in lines:
        yield textwrap.fill(
            line, max(width, 40), subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
        )


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
