"""What every parser returns."""

from dataclasses import dataclass, field

import pandas as pd


@dataclass(frozen=True)
class Parsed:
    """Tables from one raw text, and what weakens them.

    Attributes
    ----------
    tool : str
        Whose output it is: ``wrk``, ``sar``, ``ss``.
    tables : dict[str, pandas.DataFrame]
        Name of a declared table → the columns of it that this text knows (no study, run or host: the run folder
        knows those), SI units, missing as NaN/NA.
    warnings : tuple of str
        What the text lacks or says oddly, without being wrong: one sentence each, with the line number.
    """

    tool: str
    tables: dict[str, pd.DataFrame] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
