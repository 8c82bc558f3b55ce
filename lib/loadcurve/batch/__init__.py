"""Notebooks by papermill: one of them, or many with a grid of parameters, here or on a Dask cluster.

``grid`` checks values against the declarations of a notebook and lists the jobs of a batch, ``execution`` executes
notebooks in kernels, ``runner`` finds those that are not complete, runs them in threads or on a cluster (``cluster``)
and puts their outputs into place, ``index`` describes all outputs.
"""

from loadcurve.batch.execution import NotebookError, Outcome, failure_text
from loadcurve.batch.grid import Job, jobs_of
from loadcurve.batch.runner import quiet, run_alone, run_batch, run_notebook

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
