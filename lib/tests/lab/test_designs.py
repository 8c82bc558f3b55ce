"""The designs of the package: right, fit for a machine, described, and each run once for two seconds."""

import re
import shutil
from dataclasses import replace

import pytest
from launched_runs import runnable

from loadcurve.files import paths
from loadcurve.files.yaml_document import read_yaml
from loadcurve.lab import describe, read_checked
from loadcurve.lab.hosts import capabilities
from loadcurve.lab.run.obstacles import deployments, first_points
from loadcurve.lab.study_file import check_study
from loadcurve.launching import launch
from loadcurve.study import Study
from loadcurve.study.records import read_run, write_study

pytestmark = pytest.mark.slow

DESIGNS = paths.designs()
NAMES = sorted(folder.name for folder in DESIGNS.iterdir())


def shortest(study: Study) -> Study:
    """The first point of a design alone, for 2 s, with as many connections as a busy machine opens in a second."""
    sections = dict(first_points(study)[0].settings)
    # A lost SYN is sent again after 1 s and after 3 s, and h2load never ends if a connection opens only after its load.
    is_lossy = any("loss_ratio" in link for link in sections.get("links", {}).values())
    sections["load"] = {**sections["load"], "duration_s": 5 if is_lossy else 2}
    if sections["load"].get("connections", 0) > 1000:
        sections["load"]["connections"] = 1000
    alone = {"variants": {"only": {}}, "factors": {}, "points": (), "search": None, "repeats": 1}
    return replace(study, **sections, **alone, warm_up_s=0.0, rest_s=0.0)


@pytest.mark.parametrize("name", NAMES)
def test_each_holds_a_study_and_no_run(name):
    assert [path.name for path in (DESIGNS / name).iterdir()] == ["study.yml"]
    study = read_checked(DESIGNS / name)
    assert study.question.endswith("?")
    # Enough repeats to compare, or a search, which repeats by its own rule.
    assert study.search or study.repeats >= 3


@pytest.mark.parametrize("name", NAMES)
def test_each_says_which_report_it_follows(name, root):
    head = (DESIGNS / name / "study.yml").read_text("utf-8").split("study:")[0]
    pages = [word.rstrip(".,") for line in head.splitlines() for word in line.split() if word.startswith("handbook/")]
    assert pages and all((root / page).is_file() for page in pages)


@pytest.mark.parametrize("name", NAMES)
def test_each_point_is_arranged(name):
    study = read_checked(DESIGNS / name)
    for settings, deployment in deployments(study, capabilities.ASSUMED):
        assert deployment.functions or (deployment.services and deployment.loaders)
        # Nothing of a design goes beyond the laboratory's own networks.
        assert not study.allow_targets and settings.topology.recipe != "loopback"


@pytest.mark.parametrize("name", NAMES)
def test_each_is_described_with_its_duration(name):
    head, *rest = describe(read_checked(DESIGNS / name))
    assert head.startswith(f"{name}: ") and head.endswith(" in all")
    assert {line for line in rest if not line.startswith(" ")} == {
        point.run_id for point in first_points(read_checked(DESIGNS / name))
    }


@pytest.mark.lab
@pytest.mark.parametrize("name", NAMES)
def test_a_point_of_each_is_run(name, tmp_path, network_tools):
    study = runnable(shortest(read_checked(DESIGNS / name)))
    (run,) = launch(study, tmp_path / name)
    record = read_run(run)
    assert record.status == "finished"
    assert record.factors["settings"]["topology"] == study.topology


def test_a_design_is_found_by_its_name_after_what_is_recorded(checkout):
    design = DESIGNS / "scale_out"
    assert paths.study_folder("scale_out") == design == paths.study_folder(design / "study.yml")
    recorded = checkout / "data" / "studies" / "scale_out"
    assert paths.record_folder(design) == recorded
    shutil.copytree(design, recorded)
    assert paths.study_folder("scale_out") == recorded == paths.record_folder(recorded)


def test_the_examples_of_the_guide_are_right(root, tmp_path):
    page = (root / "handbook" / "guides" / "run_a_study.md").read_text("utf-8")
    whole, *parts = re.findall(r"^```yaml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    file = tmp_path / re.match(r"study: (\w+)\n", whole)[1] / "study.yml"
    file.parent.mkdir()
    file.write_text(whole, "utf-8")
    study = read_checked(file)
    assert len(parts) >= 4
    for part in parts:
        file.write_text(part, "utf-8")
        check_study(replace(study, **{"variants": {"only": {}}, "factors": {}} | read_yaml(file).values))


@pytest.mark.real
def test_a_launched_design_is_recorded_among_the_studies(checkout, called, monkeypatch):
    study = runnable(Study("tiny", "Where do runs go?", load={"duration_s": 1}, repeats=1, monitors={}))
    design = checkout / "designs" / "tiny"
    design.mkdir(parents=True)
    write_study(study, design)
    monkeypatch.setattr(paths, "designs", lambda: checkout / "designs")
    monkeypatch.chdir(checkout)
    for named in ("tiny", "designs/tiny/study.yml"):  # the second time nothing is left to do
        code, out, err = called("launch", "--busy", named)
        assert code == 0 and "data/studies/tiny: 1 run, 1 finished\n" in out, err
    assert [path.name for path in design.iterdir()] == ["study.yml"]
    assert len(list((checkout / "data" / "studies" / "tiny").glob("*/run.json"))) == 1
