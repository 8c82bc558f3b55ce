"""papermill, nbclient and nbformat, imported without the second that a grammar of jsonschema takes.

Every module of this package imports them from here: whichever module imports one of them first decides.
"""

from loadcurve.packages import without_module

with without_module("rfc3987_syntax"):  # optional for jsonschema, which compiles its 38 grammars for a second
    import nbformat
    import papermill as pm
    from nbclient.exceptions import DeadKernelError
    from papermill.exceptions import PapermillExecutionError

__all__ = ["DeadKernelError", "PapermillExecutionError", "nbformat", "pm"]
