"""What the audit says as plain text: the verdict first, then every finding, the most severe first."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from loadcurve.audit.sentences import Group, groups_of, unchecked_count, unchecked_sentences, verdict_sentences
from loadcurve.audit.verdict import judge, verdict_of_each
from loadcurve.ingest.grouping import GROUPED, other_facts
from loadcurve.ingest.raw_file import NOT_ATTACHED
from loadcurve.reading import NOT_READ

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
