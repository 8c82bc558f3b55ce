"""Study files for tests: from a text to what `read_checked` says of it."""

from pathlib import Path

from loadcurve.errors import LoadcurveError
from loadcurve.lab.study_file import read_checked
from loadcurve.study import Study

HEAD = "study: s\nquestion: '?'\n"  # so a test's own text begins in line 3


def read(folder: Path, text: str) -> Study:
    """The study of a text."""
    return read_checked(written(folder, HEAD + text))


def written(folder: Path, text: str) -> Path:
    """Folder of a study file."""
    made = folder / "s"
    made.mkdir(exist_ok=True)
    (made / "study.yml").write_text(text, "utf-8")
    return made


def said(folder: Path, text: str) -> list[tuple[int, str]]:
    """Line and words of each fault, in the order of the message; 0 for the whole file."""
    try:
        read(folder, text)
    except LoadcurveError as error:
        places = (line.removeprefix(f"{folder}/s/study.yml").partition(": ") for line in str(error).splitlines())
        return [(int(number.removeprefix(":") or 0), words) for number, _, words in places]
    return []
