"""The answers of a study that searches or stops: its file `answers.json`, as the laboratory wrote it."""

import pandas as pd

from loadcurve.errors import LoadcurveError
from loadcurve.files import paths
from loadcurve.files.reads import record_reads
from loadcurve.ingest.json_text import load_json

_COLUMNS = ("of", "kind", "factor", "quantity", "lower", "upper", "value", "reached", "runs", "load_s", "warnings")


def read_answers(study: str) -> pd.DataFrame:
    """Read where each search or stop of a study ended."""
    file = paths.study_folder(study) / "answers.json"
    if not file.is_file():
        raise LoadcurveError(f"{paths.shown(file)}: no answers; launch a study with search or stop to its end")
    record_reads([file])
    answers = load_json(file.read_text("utf-8"), "answers of a study", [])
    table = pd.DataFrame(answers, columns=list(_COLUMNS)).set_index("of")
    return table.astype(dict.fromkeys(("lower", "upper", "value", "load_s"), float))
