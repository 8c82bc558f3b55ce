"""Notebooks by papermill: one of them, or many with a grid of parameters, here or on a Dask cluster.

``given`` checks values against the declarations of a notebook, ``execution`` executes one in a kernel, ``notebook``
puts its outputs into place, ``grid`` lists the jobs of a batch, ``runner`` finds those that are not complete and
runs them in threads (``here``) or on a cluster (``cluster``), ``values`` and ``index`` describe all outputs.
"""

from loadcurve.batch.execution import NotebookError
from loadcurve.batch.grid import Job, jobs_of
from loadcurve.batch.notebook import quiet, run_notebook
from loadcurve.batch.outcome import Outcome, failure_text
from loadcurve.batch.runner import run_alone, run_batch

__all__ = [
    "Job",
    "NotebookError",
    "Outcome",
    "failure_text",
    "jobs_of",
    "quiet",
    "run_alone",
    "run_batch",
    "run_notebook",
]
