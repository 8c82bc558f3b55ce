"""loadcurve: a load-testing laboratory and its methodology handbook.

One arrow: raw → tidy → audit → model → figure → page.  No arrow goes back.

| noun    | is                                                                        | lives in |
|---------|---------------------------------------------------------------------------|---|
| Study   | a question, and the factor levels, repeats and topology that answer it    | ``study``, ``study.yml`` |
| Run     | one point of a study, once: tools started together, their verbatim output | ``study``, ``run.json`` |
| Table   | a plain DataFrame with a declared schema, SI units                        | ``tables``            |
| Finding | what the audit reports about a run: rule, severity, evidence, advice      | ``audit`` |
| Fit     | a law's parameters with intervals and warnings                            | ``models`` |
| Figure  | what one ``plot_*`` draws, with its data and provenance                   | ``plots``, ``publish`` |
| Page    | the argument in words                                                     | ``handbook/`` |

Verbs fix the return type: ``parse_*`` text → tables; ``read_*`` path or name → tables, or a record; ``check_*`` → its
argument, or raises naming all faults; ``summarise_*`` table → table; ``fit_*`` → Fit; ``find_*`` → Estimate;
``solve_*`` → a solved network or station; ``judge_*`` tables → findings or verdicts; ``plot_*`` → Axes;
``publish.figure`` and ``publish.table`` → Path; ``publish.values`` → table; ``launch`` → run folders.

Layers, bottom up: ``blocks errors packages units`` < ``files`` < ``runtime study tables`` < ``ingest | lab``,
``notebooks`` < ``stats`` < ``models reading`` < ``acceptance audit`` < ``analysis`` < ``launching plots`` <
``publish report`` < ``batch site`` < ``cli``.

The names in ``__all__`` are the public interface, and so are the names in the ``__all__`` of the packages and modules
among them.  Each is imported when it is first used: the command line reads a small file without pandas.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from loadcurve.errors import missing_extra
from loadcurve.files.reads import record_modules
from loadcurve.packages import __version__ as __version__
from loadcurve.packages import imported_late
from loadcurve.runtime.jupyter import show_errors_in_one_line

if TYPE_CHECKING:
    from loadcurve import lab, models, plots, publish, stats, tables, units
    from loadcurve.analysis import analyse
    from loadcurve.audit import CallableAudit
    from loadcurve.ingest.published import read_load, read_published, read_published_entries
    from loadcurve.ingest.sniff import parse
    from loadcurve.launching import launch
    from loadcurve.reading import read, read_published_raw, read_published_tables
    from loadcurve.reading.tables import describe_study, read_curves, read_machine, read_table, read_warnings

    audit: CallableAudit

__all__ = [
    "analyse",
    "audit",
    "describe_study",
    "lab",
    "launch",
    "models",
    "parse",
    "plots",
    "publish",
    "read",
    "read_curves",
    "read_load",
    "read_machine",
    "read_published",
    "read_published_entries",
    "read_published_raw",
    "read_published_tables",
    "read_table",
    "read_warnings",
    "stats",
    "tables",
    "units",
]

_MOVED = {"paths": "files.paths"}  # the notebook that earlier versions wrote beside a reader's files imports it
_find = imported_late(__name__, __all__)


def __getattr__(name: str) -> object:
    """Import a public name when it is first used."""
    if name in _MOVED:
        return import_module(f"{__name__}.{_MOVED[name]}")
    try:
        return _find(name)
    except ModuleNotFoundError as error:
        raise missing_extra(f"{__name__}.{name}", error) from None


def __dir__() -> list[str]:
    """The public names, for completion."""
    return __all__


record_modules()
show_errors_in_one_line()
