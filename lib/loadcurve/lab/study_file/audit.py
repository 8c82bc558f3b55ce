"""The section `audit`: which rules judge the runs of the study, and with which limits."""

from dataclasses import dataclass, field

from loadcurve.study.section import Section


@dataclass(frozen=True)
class AuditSection(Section):
    """Rules of the audit for the runs of this study, with the keys of `[audit]` in a loadcurve.toml, and `accept`."""

    select: tuple[str, ...] = ()
    """Names of the rules that run; all rules where it is left out."""

    ignore: dict[str, str] = field(default_factory=dict)
    """Rule → the reason why its findings do not count. They are listed with the reason."""

    accept: dict[str, str] = field(default_factory=dict)
    """Run, file or link that differs from the manifest `runs.json` → the reason: `c0001-r2: lost with a disk`. For any
    other, `loadcurve tidy` ends with exit code 1."""

    limits: dict[str, dict[str, float]] = field(default_factory=dict)
    """Rule → threshold → another value; `loadcurve explain RULE` lists the thresholds."""
