"""Reruns of published reports, each for one notebook: what its recorded studies show, beside the report's numbers.

``rerun_10gbe`` and ``rerun_of_paths`` serve notebook 50, ``rerun_of_threads`` notebook 51.
"""
