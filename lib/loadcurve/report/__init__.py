"""An analysis as people read it: text for a terminal, Markdown, JSON, PDF, and one HTML page.

Every form shows the same things in the same order: verdict, levels, results, bottleneck, what is missing and why, what
to measure next, findings, warnings, provenance.
"""

from loadcurve.report.checks import comparison_report
from loadcurve.report.data import analysis_object, json_report
from loadcurve.report.provenance import Provenance, provenance_of, shortened, shortener
from loadcurve.report.write import SUFFIXES, check_suffix, html_report, markdown_report, text_report, write_report

__all__ = [
    "SUFFIXES",
    "Provenance",
    "analysis_object",
    "check_suffix",
    "comparison_report",
    "html_report",
    "json_report",
    "markdown_report",
    "provenance_of",
    "shortened",
    "shortener",
    "text_report",
    "write_report",
]
