"""loadcurve: a load-testing laboratory and its methodology handbook.

One arrow: raw → tidy → audit → model → figure → page.  No arrow goes back.

=========  ==============================================================================  =====================
noun       is                                                                              lives in
=========  ==============================================================================  =====================
Study      a question, and the factor levels, repeats and topology that answer it          ``study``, ``study.yml``
Run        one point of a study, once: tools started together, their verbatim output       ``study``, ``run.json``
Table      a plain DataFrame with a declared schema, SI units                              ``schemas``, ``tables``
Finding    what the audit says about a run: rule, severity, evidence, advice               ``audit``
Fit        a law's parameters with intervals and warnings                                  ``models``
Figure     what one ``plot_*`` draws, with its data and provenance                         ``plots``, ``publish``
Page       the argument in words                                                           ``handbook/``
=========  ==============================================================================  =====================

Verbs fix the return type: ``parse_*`` text → tables; ``read_*`` path → tables; ``check_*`` table → the same table, or
raises naming all faults; ``summarise_*`` table → table; ``fit_*`` → Fit; ``find_*`` → Estimate; ``plot_*`` → Axes;
``publish.figure`` and ``publish.table`` → Path; ``publish.values`` → Series; ``launch`` → run folders.

Layers, bottom up: ``errors units`` < ``schemas tables study records paths`` < ``ingest | lab`` <
``reading export`` < ``stats`` <
``models`` < ``audit`` < ``style plots`` < ``publish`` < ``batch site`` < ``cli``.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from loadcurve.ingest.sniff import parse
    from loadcurve.reading import read

__version__ = "0.1.0"
__all__ = ["parse", "read"]


def __getattr__(name: str) -> object:
    """``loadcurve.parse(text)`` and ``loadcurve.read(path)``, imported when they are asked for."""
    if name == "parse":
        from loadcurve.ingest.sniff import parse as found
    elif name == "read":
        from loadcurve.reading import read as found
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return found
