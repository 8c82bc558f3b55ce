"""The content of a study.yml: a dataclass for each section; all sections and points are checked together.

`read_checked` and `check_study` report all errors of a study before anything starts; `settings_of` returns the sections
of one point; `schema` is for editors.
"""

from loadcurve.lab.study_file.hosts import HostSection, TopologySection
from loadcurve.lab.study_file.json_schema import schema
from loadcurve.lab.study_file.study_file import StudyFile, check_study, read_checked, settings_of

__all__ = ["HostSection", "StudyFile", "TopologySection", "check_study", "read_checked", "schema", "settings_of"]
