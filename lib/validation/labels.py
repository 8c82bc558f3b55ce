"""How often the audit is wrong: its findings beside those of an expert, in real reports that were labelled by hand.

The labels, the criteria behind them and the reports are in `data/published/audit_labels`.
"""

import numpy as np
import pandas as pd

from loadcurve import read, read_published
from loadcurve.audit.verdict import WORDS, judge
from loadcurve.errors import ParseError
from loadcurve.files import paths
from validation.coverage.count import share_of
from validation.faults.recall import FOUND, findings_of

OF_REPEATS = ("few-repeats", "wide-interval")
"""Rules about repeats: true of every single report, so they count only where a label names them."""
_VERDICTS = {WORDS["ok"]: "usable", WORDS["warning"]: "with care", WORDS["error"]: "do not use"}
_COLUMNS = ["report", "tool", "half", "rule", "label", "severity", "reason", "found", "evidence"]


def compare_with_labels() -> pd.DataFrame:
    """Audit each labelled report alone, and put its findings beside the labels.

    The table ``report tool half rule label severity reason found evidence`` has one row for each finding that an expert
    raises, or may raise, or that the audit reports (``label`` is then ``no``).  ``severity`` is the expert's, ``found``
    the audit's, empty without a finding.  Rows of the rule ``verdict`` hold the verdicts of both; that of a report that
    cannot be read is ``not read``.  A finding that several rules may report counts once, for the rule that reports it
    most severely.
    """
    labels = read_published("audit_labels", "labels")
    found = pd.DataFrame(_findings(sorted(labels["report"].unique())), columns=["report", "rule", "found", "evidence"])
    of_report = labels.drop_duplicates("report").set_index("report")[["tool", "half"]]
    each = labels[labels["rule"] != "none"].assign(rule=labels["rule"].str.split("|")).explode("rule")
    each = each.reset_index(names="one_of").reset_index(names="place")
    both = each.merge(found, how="outer", on=["report", "rule"])
    both = both.sort_values(["report", "found", "place"])  # errors before warnings, then as the label names the rules
    again = both["one_of"].notna() & both.duplicated("one_of")  # another name of a finding that has been counted
    both.loc[again, "label"] = "arguable"
    both = both.drop(columns=["tool", "half"]).join(of_report, on="report").fillna({"label": "no"}).fillna("")
    return both[~(both["rule"].isin(OF_REPEATS) & (both["label"] == "no"))][_COLUMNS].reset_index(drop=True)


def _findings(reports: list[str]) -> list[tuple[str, str, str, str]]:
    """Return ``report rule severity evidence`` of the worst finding of each rule, and the verdict on each report."""
    tables, rows = {}, []
    for report in reports:
        try:
            tables[report] = read(paths.root() / report).tables
        except ParseError:
            rows.append((report, "verdict", "not read", ""))
    for report, findings in findings_of(tables).items():
        worst = findings[findings["severity"].isin(FOUND)].sort_values("severity").drop_duplicates("rule")
        rows += [(report, row.rule, row.severity, row.evidence) for row in worst.itertuples()]
        verdict = WORDS[judge(findings, len(tables[report]["runs"])).severity]
        rows.append((report, "verdict", _VERDICTS.get(verdict, verdict), ""))
    return rows


def summarise_error_rates(compared: pd.DataFrame) -> pd.DataFrame:
    """Precision and recall of errors, of warnings, and of each rule in each half; what is arguable is left out.

    `compared` is a table of `compare_with_labels`, or has its columns ``half rule label severity found``.  The result
    has ``half rule right wrong missed``, then ``precision recall`` and the ends of their 95 % intervals (Wilson's).
    The first rules are ``errors``, ``warnings`` and ``all rules``.  An error is right if the expert raises it as an
    error; a warning is right also where the expert would raise an error.

    Examples
    --------
    >>> one = {"half": "unseen", "rule": "timeouts", "severity": "error", "found": ["error", ""], "label": "raise"}
    >>> rates = summarise_error_rates(pd.DataFrame(one)).set_index("rule")
    >>> rates.loc["timeouts", ["right", "wrong", "missed", "precision", "recall"]].tolist()
    [1.0, 0.0, 1.0, 1.0, 0.5]
    """
    rows = compared[(compared["rule"] != "verdict") & (compared["label"] != "arguable")]
    raised, found, as_error = rows["label"] == "raise", rows["found"] != "", rows["found"] == "error"
    severe, warned = raised & (rows["severity"] == "error"), found & ~as_error
    either = {"right": raised & found, "wrong": found & ~raised, "missed": raised & ~found}
    counts = {
        "errors": {"right": severe & as_error, "wrong": as_error & ~severe, "missed": severe & ~as_error},
        "warnings": {"right": warned & raised, "wrong": warned & ~raised, "missed": raised & ~severe & ~found},
        "all rules": either,
    }
    each = [pd.DataFrame({"half": rows["half"], "rule": name, **count}) for name, count in counts.items()]
    each += [pd.DataFrame({"half": rows["half"], "rule": rows["rule"], **either}).sort_values("rule")]
    rates = pd.concat(each).groupby(["half", "rule"], sort=False).sum().reset_index()
    rates = rates.sort_values("half", kind="stable", ignore_index=True)
    for measure, other in (("precision", "wrong"), ("recall", "missed")):
        shares = [share_of(right, right + lost) for right, lost in zip(rates["right"], rates[other], strict=True)]
        rates[[measure, f"{measure}_lo", f"{measure}_hi"]] = np.array(shares).reshape(-1, 3)
    return rates


def summarise_verdicts(compared: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each half and verdict of the expert: how many reports the audit gives each verdict.

    Examples
    --------
    >>> one = {"half": "tuned", "rule": "verdict", "label": "usable", "found": ["usable", "do not use"]}
    >>> summarise_verdicts(pd.DataFrame(one))[["expert", "usable", "do not use"]].values.tolist()
    [['usable', 1, 1]]
    """
    rows = compared[compared["rule"] == "verdict"]
    table = pd.crosstab([rows["half"], rows["label"].rename("expert")], rows["found"])
    columns = [name for name in ("usable", "with care", "do not use", "not checked", "not read") if name in table]
    return table[columns].reset_index().rename_axis(columns=None)
