"""What the audit says as plain text: the verdict first, then every finding, the most severe first."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from loadcurve.audit.sentences import Group, groups_of, unchecked_sentences, verdict_sentences
from loadcurve.audit.verdict import judge, verdict_of_each

HOW_TO_EXPLAIN = (
    "`loadcurve explain RULE` prints what a finding means, why it happens, how to fix it and when to ignore it."
)
"""The last line of the text of an audit."""
_UNCHECKED = 6  # lines, of those for which most rules wait: one report of wrk alone leaves some twenty


def audit_text(
    findings: pd.DataFrame,
    number: int,
    name: str = "",
    width: int = 100,
    settings: Sequence[str] = (),
    warnings: Sequence[str] = (),
    beyond: Mapping[str, str] | None = None,
) -> str:
    """Return the verdict, a paragraph for each rule that found something, and what was not checked.

    Examples
    --------
    >>> row = {"rule": "short-run", "severity": "warning", "run_id": "a", "source": None, "meaning": "It is all start."}
    >>> findings = pd.DataFrame([row | {"evidence": "It took 2 s.", "advice": "Measure longer."}])
    >>> print(audit_text(findings, 1, "a.txt"))
    a.txt: usable with care: short-run
    <BLANKLINE>
    warning: short-run
      It took 2 s.
      Meaning: It is all start.
      Next: Measure longer.
    """
    verdict = str(judge(findings, number, beyond))
    each = [f"- {sentence}" for sentence in verdict_sentences(verdict_of_each(findings))]
    head = [f"{name}: {verdict}" if name else verdict, *_filled(settings, width, "  "), *_filled(each, width, "  ")]
    parts = ["\n".join(head)]
    parts += ["\n".join(_finding(group, number, width)) for group in groups_of(findings)]
    if unchecked := [f"- {sentence}" for sentence in unchecked_sentences(findings)]:
        if len(unchecked) > _UNCHECKED + 1:
            more = f"- and {len(unchecked) - _UNCHECKED} more things to record; `-o audit.html` lists all"
            unchecked = [*unchecked[:_UNCHECKED], more]
        parts.append("\n".join(["Not checked, and what to record for it:", *_filled(unchecked, width, "  ")]))
    if warnings:
        listed = [f"- {warning}" for warning in warnings]
        parts.append("\n".join(["Warnings from reading the files:", *_filled(listed, width, "  ")]))
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
