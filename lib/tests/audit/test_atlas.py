"""The atlas of recorded faults: every folder is described, and a wrong description is refused with its line."""

import pytest

from loadcurve.audit.atlas import atlas_folder, read_fault, read_faults, read_recorded
from loadcurve.errors import LoadcurveError

MOST_BYTES = 15_000_000
"""Size of all raw files together, so that a clone of the repository stays small."""

RIGHT = """\
title: Stolen processors
done: A neighbour ran on the same processors.
finds: [stolen-processors]
shows:
  table: cpu
  columns: [cpu_steal_ratio]
  where: {cpu: all}
  limit: stolen-processors.warning
"""


def written(folder, text=RIGHT):
    (folder / "fault.yml").write_text(text)
    return folder


def test_a_fault_is_read(tmp_path):
    fault = read_fault(written(tmp_path))
    assert fault.finds == ("stolen-processors",)
    assert fault.shows.columns == ("cpu_steal_ratio",)
    assert (fault.cause, fault.command, fault.run) == ("", "", "")


@pytest.mark.parametrize(
    ("old", "new", "line", "expected"),
    [
        ("finds: [stolen-processors]", "finds: [stolen-processor]", 3, "rules of the audit"),
        ("title: Stolen processors", "title: ''", 1, "title to be a text"),
        ("done: A", "did: A", 2, "one of the keys title, done, finds"),
        ("table: cpu", "table: processors", 5, "table to be one of runs"),
        ("[cpu_steal_ratio]", "[steal]", 4, "columns of the table cpu"),
        ("{cpu: all}", "{processor: all}", 4, "columns of the table cpu"),
        ("stolen-processors.warning", "stolen-processors.most", 8, "stolen-processors.warning"),
        ("title: Stolen processors\n", "", 0, "the key title"),
    ],
)
def test_a_wrong_description_is_refused_with_its_line(tmp_path, old, new, line, expected):
    with pytest.raises(LoadcurveError) as error:
        read_fault(written(tmp_path, RIGHT.replace(old, new)))
    (message, *_) = [text for text in str(error.value).splitlines() if expected in text]
    place = f"{tmp_path / 'fault.yml'}" + (f":{line}" if line else "")
    assert message.startswith(f"{place}: expected")
    assert ", got " in message


def test_a_folder_without_a_description_is_refused(tmp_path):
    (tmp_path / "nothing").mkdir()
    with pytest.raises(LoadcurveError, match=r"nothing/fault.yml: expected a fault.yml, got 'no file'"):
        read_faults(tmp_path)


def test_files_of_a_fault_are_the_folder_raw(tmp_path, root):
    raw = tmp_path / "descriptors" / "raw"
    raw.mkdir(parents=True)
    written(raw.parent)
    (raw / "c8000.wrk.txt").write_text((root / "data/published/rt_qps_threads/raw/c8000.wrk.txt").read_text())
    parsed = read_recorded("descriptors", tmp_path)
    assert not parsed.warnings
    assert parsed.tables["runs"]["errors_connect"].tolist() == [6980]


def test_every_folder_of_the_atlas_is_described_and_all_are_small():
    if not atlas_folder().is_dir():
        pytest.skip("nothing is recorded yet")
    read_faults()
    assert sum(file.stat().st_size for file in atlas_folder().rglob("*")) <= MOST_BYTES
