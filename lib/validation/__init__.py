"""Studies that check the library, and reruns of published reports; they are not installed with it.

``coverage`` simulates measurements whose true values are known and counts how often the library's intervals hold them.
``faults`` plants faults in clean recorded runs and counts how many the audit finds.
``forecasts`` hides the upper levels of published curves and compares predictions with what was measured there.
``reruns`` compares recorded reruns with what published reports measured, for one notebook each.
"""
