"""The row that every test of a series returns: the question, the test, its numbers and a verdict in words."""

import pandas as pd

from loadcurve.stats.estimate import Estimate


def result_row(
    question: str, test: str, statistic: float, p_value: float, estimate: Estimate, verdict: str
) -> pd.DataFrame:
    """Return the row; its `value, lo, hi` are those of `estimate`, whose warnings are joined."""
    return pd.DataFrame(
        [
            {
                "question": question,
                "test": test,
                "statistic": float(statistic),
                "p_value": float(p_value),
                "value": estimate.value,
                "lo": estimate.lo,
                "hi": estimate.hi,
                "verdict": verdict,
                "warnings": "; ".join(estimate.warnings),
            }
        ]
    )
