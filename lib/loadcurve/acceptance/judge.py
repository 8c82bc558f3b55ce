"""Judge a recorded acceptance test: its runs into a table of pass, fail and not checked."""

from dataclasses import asdict
from pathlib import Path

import pandas as pd

from loadcurve.acceptance.check import FUNCTIONS, AcceptanceCheck, LoadRuns, Outcome
from loadcurve.acceptance.checks import CHECKS
from loadcurve.errors import LoadcurveError
from loadcurve.files.paths import study_folder
from loadcurve.ingest.reads import record_reads, studies_read
from loadcurve.reading.tables import read_table
from loadcurve.study import Run, Study
from loadcurve.study.records import read_run, read_study, run_folders
from loadcurve.tables import merge_generators

COLUMNS = ["check", "balancer", "verdict", "numbers", "criterion", "runs", "value", "lo", "hi"]
_TABLES = ("runs", "network", "tcp", "cpu", "balancer")
_DIRECT = "direct"


def describe_checks() -> pd.DataFrame:
    """Return the declared checks: ``check``, ``proves``, ``criterion``, ``reason``, ``kind`` (function or load)."""
    return pd.DataFrame(
        [
            {
                "check": check.name,
                "proves": check.proves,
                "criterion": check.criterion,
                "reason": check.reason,
                "kind": "function" if check.is_functional else "load",
            }
            for check in CHECKS
        ]
    )


def is_acceptance(study: Study) -> bool:
    """Return whether variants of a study test the functions of balancers."""
    return bool(_tested(study))


def _tested(study: Study) -> list[str]:
    """Return the balancers whose functions are tested, by the names of variants."""
    return [name.rpartition("_")[0] for name in study.variants if name.endswith(f"_{FUNCTIONS}")]


def judge_acceptance(study: str | Path) -> pd.DataFrame:
    """Return the verdict on each check for each balancer of a recorded study.

    A balancer is what the names of variants begin with: ``nft_large`` and ``nft_functions`` are variants of ``nft``.

    Parameters
    ----------
    study : str or pathlib.Path
        Name of a recorded study, or its folder.

    Returns
    -------
    pandas.DataFrame
        A row for each check and balancer: ``check``, ``balancer``, ``verdict`` (``pass``, ``fail``, ``not checked``),
        ``numbers``, ``criterion``, ``runs``, on which the verdict rests, and ``value``, ``lo`` and ``hi`` of what is
        compared with a limit (`Outcome`).

    Raises
    ------
    LoadcurveError
        When no variant of the study tests functions.
    """
    folder = study_folder(study)
    declared = read_study(folder)
    tested = _tested(declared)
    if not tested:
        raise LoadcurveError(f"{folder}: expected a study with variants such as nft_{FUNCTIONS}, got none")
    finished = {path: run for path in run_folders(folder) if (run := read_run(path)).status == "finished"}
    functional = {path: run for path, run in finished.items() if run.is_functional}
    studies_read.add(declared.study)
    record_reads([folder / "study.yml", *(file for path in functional for file in sorted(path.iterdir()))])
    tables = _load_tables(folder) if len(functional) < len(finished) else None
    rows = [
        {"check": check.name, "balancer": balancer, "criterion": check.criterion}
        | _judged(check, balancer, functional, tables)
        for check in CHECKS
        for balancer in tested
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def judge_functions(folder: Path, balancer: str = "") -> pd.DataFrame:
    """Return the verdict on each functional check from the files of one test: ``check``, ``verdict``, ``numbers``.

    Parameters
    ----------
    folder : pathlib.Path
        In which the test ran.
    balancer : str
        Balancer that was tested; checks that it cannot pass are not checked.
    """
    rows = []
    for check in CHECKS:
        if check.is_functional:
            cannot = check.cannot.get(balancer)
            outcome = Outcome("not checked", cannot) if cannot else check.decide(folder)  # type: ignore[arg-type]
            rows.append({"check": check.name, "verdict": outcome.verdict, "numbers": outcome.numbers})
    return pd.DataFrame(rows)


def _load_tables(folder: Path) -> dict[str, pd.DataFrame]:
    found = {name: read_table(name, folder) for name in _TABLES}
    found["runs"] = merge_generators(found["runs"])
    of_run = found["runs"].drop_duplicates("run_id").set_index("run_id")["variant"]
    return {name: rows.assign(variant=rows["run_id"].map(of_run)) for name, rows in found.items()}


def _judged(
    check: AcceptanceCheck, balancer: str, functional: dict[Path, Run], tables: dict[str, pd.DataFrame] | None
) -> dict[str, object]:
    if balancer in check.cannot:
        return {"verdict": "not checked", "numbers": check.cannot[balancer], "runs": 0}
    if check.is_functional:
        own = [path for path, run in functional.items() if run.factors["variant"] == f"{balancer}_{FUNCTIONS}"]
        return _of_functions(check, own)
    needed = [name if name.startswith(f"{_DIRECT}_") else f"{balancer}_{name}" for name in check.needs]
    counts = [0 if tables is None else int((tables["runs"]["variant"] == name).sum()) for name in needed]
    if tables is None or not all(counts):
        missing = ", ".join(name for name, count in zip(needed, counts, strict=True) if not count)
        return {"verdict": "not checked", "numbers": f"no run of {missing}", "runs": 0}
    outcome = check.decide(LoadRuns(tables, balancer))  # type: ignore[arg-type]
    return {**asdict(outcome), "runs": sum(counts)}


def _of_functions(check: AcceptanceCheck, folders: list[Path]) -> dict[str, object]:
    """Judge repeats of a functional test together: one failure is a failure."""
    if not folders:
        return {"verdict": "not checked", "numbers": "no functional test is recorded", "runs": 0}
    outcomes = [check.decide(folder) for folder in folders]  # type: ignore[arg-type]
    failed = [outcome for outcome in outcomes if outcome.verdict == "fail"]
    shown = (failed or outcomes)[0]
    numbers = f"{len(outcomes) - len(failed)} of {len(outcomes)} tests pass; in one: {shown.numbers}"
    return {"verdict": shown.verdict, "numbers": numbers if len(outcomes) > 1 else shown.numbers, "runs": len(folders)}
