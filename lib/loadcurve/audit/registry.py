"""Run every rule of the audit over tables."""

from importlib import import_module
from itertools import chain
from pathlib import Path

import pandas as pd

from loadcurve import tables as schemas
from loadcurve.audit import rules
from loadcurve.audit.explanation import explain
from loadcurve.audit.findings import Findings
from loadcurve.audit.rule import Rule
from loadcurve.audit.rules._levels import runs_by_level, shown_level
from loadcurve.audit.run_tables import RunTables, Tables, count_runs
from loadcurve.audit.settings import AuditSettings, default_settings
from loadcurve.audit.verdict import beyond_capacity
from loadcurve.errors import LoadcurveError
from loadcurve.files.paths import data_folder, is_url
from loadcurve.ingest.parsed import Parsed
from loadcurve.reading import as_parsed


def all_rules() -> dict[str, Rule]:
    """Return the rules by name, in the order of their names.

    Examples
    --------
    >>> all_rules()["unfinished-run"].question
    'Did the run end as planned?'
    """
    modules = (import_module(f"{rules.__name__}.{name.replace('-', '_')}") for name in rules.RULES)
    return {module.RULE.name: module.RULE for module in modules}


def audit(data: Tables | Parsed | pd.DataFrame | str | Path, settings: AuditSettings | None = None) -> Findings:
    """Return what every rule finds.

    Parameters
    ----------
    data : mapping of str to pandas.DataFrame, pandas.DataFrame, Parsed, str or pathlib.Path
        A file or folder, or the name of a study; what `loadcurve.read` returns; a table ``runs``; or tables by name, of
        which ``runs`` is required.
    settings : AuditSettings, optional
        Which rules run and with which limits; by default those of the study, over those of the loadcurve.toml in the
        working directory.

    Returns
    -------
    Findings
        The table ``findings``, a DataFrame: the most severe first, and rule after rule among equal ones.  A finding of
        an ignored rule has the severity ``ignored`` and the reason as advice.  A notebook shows the verdict first.

    Raises
    ------
    LoadcurveError
        When the table ``runs`` is not given, a table breaks its schema, a path cannot be read, or the settings name
        what there is not.

    Examples
    --------
    >>> runs = pd.DataFrame({"study": ["demo"], "run_id": ["c0001-r1"], "status": ["finished"], "connections": [1],
    ...                      "throughput_rps": [22.23], "latency_mean_s": [0.045]})
    >>> audit({"runs": runs}).query("severity == 'ok'")["rule"].tolist()
    ['effective-concurrency', 'unfinished-run']
    """
    folder = None
    if isinstance(data, str | Path) and not is_url(data):
        data = folder = Path(data) if Path(data).exists() else data_folder(data)
    parsed = as_parsed(data)
    tables = parsed.tables
    if "runs" not in tables:
        raise LoadcurveError(f"tables must include 'runs', got {', '.join(map(repr, tables)) or 'none'}")
    checked = {name: schemas.check(name, frame, extra=True) for name, frame in tables.items()}
    rules = all_rules()
    chosen = default_settings(rules, folder) if settings is None else settings
    of_runs, wanted = RunTables(checked), chosen.select or rules
    rows = (rules[name].rows(of_runs, chosen.limits.get(name)) for name in rules if name in wanted)
    findings = schemas.check("findings", pd.DataFrame(chain.from_iterable(rows)))
    for name, reason in chosen.ignore.items():
        counted = (findings["rule"] == name) & findings["severity"].isin(["warning", "error"])
        findings.loc[counted, ["severity", "advice"]] = ["ignored", reason]
    wrong = findings["severity"].isin(["error", "warning", "ignored"])
    meanings = {name: explain(rules[name]).fault for name in findings.loc[wrong, "rule"].unique()}
    findings["meaning"] = findings["rule"].map(meanings).where(wrong).astype(findings["advice"].dtype)
    levels = runs_by_level(of_runs) if (findings["severity"] == "error").any() else pd.DataFrame()
    if len(levels):
        levels = levels.assign(up_to=[shown_level(row) for _, row in levels.iterrows()])
    number, beyond = count_runs(checked["runs"]), beyond_capacity(findings, levels)
    return Findings.of(findings, number, chosen.differences(rules), parsed.warnings, parsed.origins, beyond)
