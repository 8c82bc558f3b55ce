"""The package `loadcurve.audit` as a function."""

from pathlib import Path
from types import ModuleType

from loadcurve.audit.findings import Findings
from loadcurve.audit.of_runs import Tables
from loadcurve.audit.registry import audit
from loadcurve.audit.settings import AuditSettings
from loadcurve.ingest.parsed import Parsed


class Called(ModuleType):
    """A package that is also the function of its name."""

    def __call__(self, data: Tables | Parsed | str | Path, settings: AuditSettings | None = None) -> Findings:
        """Return what every rule finds, as `loadcurve.audit.registry.audit`."""
        return audit(data, settings)
