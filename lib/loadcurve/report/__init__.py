"""An analysis as people read it: text for a terminal, Markdown, JSON, and one HTML page.

Every form shows the same things in the same order: verdict, levels, results, bottleneck, what is missing and why, what
to measure next, findings, warnings, provenance.
"""

from loadcurve.report.comparison import comparison_report
from loadcurve.report.history import history_report
from loadcurve.report.text import text_report

__all__ = ["comparison_report", "history_report", "text_report"]
