"""Studies that check the library; they belong to the checkout and are not installed with it.

``coverage`` simulates measurements whose true values are known and counts how often the library's intervals hold them.
``faults`` plants faults in clean recorded runs and counts how many the audit finds.
``forecasts`` hides the upper levels of published curves and compares predictions with what was measured there.
"""
