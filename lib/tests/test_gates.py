"""Gates of a build: exit codes, JUnit as its schema has it, annotations as the runner of GitHub reads them."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from loadcurve.report.checks import Check, github_annotations, junit_xml

pytestmark = pytest.mark.slow  # each test analyses whole folders

WRK = """Running 10s test @ http://127.0.0.1:8080/
  1 threads and {n} connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency    {ms:.2f}ms    0.10ms   9.00ms   90.00%
    Req/Sec     1.00k     0.10k    1.20k    90.00%
  {requests} requests in 10.00s, {mib:.2f}MB read
Requests/sec:  {rate:.2f}
Transfer/sec:      {mib_per_s:.2f}MB
"""


@pytest.fixture
def folders(tmp_path):
    """Twice the same server, once slower, once with scatter, and one whose reports contradict their connections."""
    servers = {"main": (1.0, 0.001, 1), "same": (1.001, 0.001, 1), "slow": (0.8, 0.001, 1), "noisy": (1.0, 0.2, 1)}
    for name, (factor, scatter, in_flight) in {**servers, "odd": (1.0, 0.001, 0.1)}.items():
        for repeat in (1, 2, 3):
            rate = 8000 * factor * (1 + scatter * (repeat - 2))
            mib = 10 * rate * 1000 / 2**20  # a response of 1,000 bytes
            ms, rounded = 8000 * in_flight / rate, round(10 * rate)
            text = WRK.format(n=8, ms=ms, requests=rounded, rate=rate, mib=mib, mib_per_s=mib / 10)
            (tmp_path / name / f"r{repeat}").mkdir(parents=True)
            (tmp_path / name / f"r{repeat}" / "c8.txt").write_text(text)
    return tmp_path


@pytest.fixture
def called(folders, called, monkeypatch):
    """Runs a command among the folders: exit code, stdout."""
    monkeypatch.chdir(folders)
    return lambda *argv: called(*argv)[:2]


@pytest.mark.slow
@pytest.mark.parametrize(("counts_as", "code"), [((), 0), (("--undecided", "pass"), 0), (("--undecided", "fail"), 1)])
def test_an_undecided_gate_counts_as_the_caller_says(called, counts_as, code):
    """The runs of `noisy` scatter by ± 20 % about those of `main`: the interval of the ratio contains 0.95."""
    argv = ("compare", "main", "noisy", "--fail-if", "throughput_rps < 0.95", *counts_as)
    found, text = called(*argv)
    line = text.splitlines()[-1]
    assert found == code and line.startswith("undecided: throughput_rps < 0.95? all levels, ")
    assert f"the interval contains 0.95; counts as {'fail' if code else 'pass'} (--undecided " in line
    if not counts_as:
        return
    assert ET.fromstring(called(*argv, "--format", "junit")[1]).attrib["failures"] == str(code)
    assert called(*argv, "--format", "github")[1].startswith(f"::{'error' if code else 'warning'} title=")


def test_an_undecided_gate_is_named_as_data(called):
    argv = ("compare", "main", "noisy", "--fail-if", "throughput_rps < 0.95", "--format", "json")
    (gate,) = json.loads(called(*argv)[1])[0]["gates"]
    assert (gate["gate"], gate["verdict"]) == ("throughput_rps < 0.95", "undecided")


@pytest.mark.parametrize(("other", "code", "word"), [("same", 0, "pass"), ("slow", 1, "fail")])
def test_a_comparison_gates_a_build(called, other, code, word):
    gate = ("--fail-if", "throughput_rps < 0.95")
    found, text = called("compare", "main", other, *gate)
    assert found == code and word in text
    suite = ET.fromstring(called("compare", "main", other, *gate, "--format", "junit")[1])
    assert suite.attrib["failures"] == str(code)
    said = called("compare", "main", other, *gate, "--format", "github")[1]
    assert said.startswith("::error title=") if code else said == ""
    found = json.loads(called("compare", "main", other, "--format", "json")[1])
    assert found[0]["overall"]["value"] == pytest.approx(0.8 if code else 1.001, rel=1e-3)


def test_an_audit_gates_a_build(called):
    code, out = called("audit", "main")
    assert (code, out.splitlines()[0]) == (0, "main: usable with care: shared-machine in 3 of 3 runs")
    code, out = called("audit", "main", "--ignore", "shared-machine=both versions share it")
    assert code == 0
    assert re.match(r"main: usable: \d+ of \d+ rules had the numbers they need and found nothing\n", out)
    code, out = called("audit", "odd")
    assert (code, out.splitlines()[0]) == (1, "odd: do not use: effective-concurrency in 3 of 3 runs")
    assert called("audit", "odd", "--fail-on", "never")[0] == 0
    suite = ET.fromstring(called("audit", "main", "odd", "--format", "junit")[1])
    listed = [json.loads(called("audit", folder, "--format", "json")[1]) for folder in ("main", "odd")]
    number = sum(len(each[0]["findings"]) for each in listed)
    assert (suite.attrib["failures"], suite.attrib["tests"]) == ("3", str(number))
    assert [each[0]["verdict"]["severity"] for each in listed] == ["warning", "error"]
    assert "error" in {row["severity"] for row in listed[1][0]["findings"]}
    assert called("audit", "main", "--format", "xml")[0] == 2
    for wrong in (
        ["--select", "speed"],
        ["--ignore", "unfinished-run"],
        ["--limit", "speed.x=1"],
        ["nowhere"],
        ["-o", "none/audit.html"],
    ):
        assert called("audit", "main", *wrong)[0] == 2, wrong


def test_a_rule_is_ignored_with_a_reason(called, tmp_path):
    ignored = "[audit.ignore]\neffective-concurrency = 'the loads were named by hand'\n"
    assert called("audit", "odd", "--ignore", "effective-concurrency=known")[0] == 0
    (tmp_path / "loadcurve.toml").write_text(ignored, "utf-8")
    code, out = called("audit", "odd")
    assert code == 0 and "ignored: effective-concurrency, 3 runs" in out and "the loads were named by hand" in out
    selected = called("audit", "odd", "--select", "unfinished-run")[1].splitlines()
    assert selected[:2] == [
        "odd: usable: 1 of 1 rules had the numbers they need and found nothing",
        "Only selected rules ran: unfinished-run (options).",
    ]
    (tmp_path / "loadcurve.toml").write_text("[audit.limits.effective-concurrency]\nfactor = 1000\n", "utf-8")
    code, out = called("audit", "odd")
    assert code == 0, "a warning up to a factor of 1000"
    changed = "Limit effective-concurrency.factor is 1000 instead of 2 (loadcurve.toml [audit])."
    assert changed in " ".join(out.split("\n\n")[0].split())
    assert json.loads(called("audit", "odd", "--format", "json")[1])[0]["settings"] == [changed]
    assert changed in called("audit", "odd", "--format", "html")[1]
    assert called("audit", "odd", "--limit", "effective-concurrency.factor=2")[0] == 1, "an option comes first"


HOSTILE = [
    Check("a,b: c", "50%\nof \x00 <runs> & \ud800", "fail", "x\r\ny]]>\x1b[31m", "c 1,2:50%.txt"),
    Check("a,b: c", "second", "skipped", "Not checked"),
    Check("other", "third", "warning", "::error::x"),
    Check("other", "fourth", "pass", ""),
]


XS = "{http://www.w3.org/2001/XMLSchema}"
XSD = ET.parse(Path(__file__).parent / "data" / "junit" / "junit-10.xsd").getroot()


def faults_by_schema(element):
    """Elements, attributes, children and texts that Jenkins' schema does not allow, and what it requires."""
    declared = {one.attrib["name"]: one for one in XSD.findall(f"{XS}element")}
    if element.tag not in declared:
        return [element.tag]
    kind = declared[element.tag]
    attributes = {one.attrib["name"]: one.attrib for one in kind.iter(f"{XS}attribute")}
    required = {name for name, one in attributes.items() if one.get("use") == "required"}
    whole = kind.find(f"{XS}complexType")
    has_text = whole is None or whole.get("mixed") == "true"
    faults = [
        f"{element.tag} {name}" for name in (set(element.attrib) - set(attributes)) | (required - set(element.attrib))
    ]
    faults += [f"{element.tag} text"] * bool((element.text or "").strip() and not has_text)
    children = {one.attrib["ref"] for one in kind.iter(f"{XS}element") if "ref" in one.attrib}
    faults += [f"{element.tag}/{child.tag}" for child in element if child.tag not in children]
    return faults + [fault for child in element for fault in faults_by_schema(child)]


def test_junit_is_what_build_servers_read():
    """Valid by Jenkins' junit-10.xsd, with counts that agree and one result for each case."""
    root = ET.fromstring(junit_xml(HOSTILE).encode("utf-8", "strict"))
    assert faults_by_schema(root) == []
    for suite in root:
        cases = suite.findall("testcase")
        assert suite.attrib["tests"] == str(len(cases)) and suite.attrib["name"]
        assert suite.attrib["failures"] == str(len(suite.findall("testcase/failure")))
        assert suite.attrib["skipped"] == str(len(suite.findall("testcase/skipped")))
        assert all("classname" in case.attrib and len(case) <= 1 for case in cases)
    totals = {name: sum(int(suite.attrib[name]) for suite in root) for name in ("tests", "failures", "errors")}
    assert {name: int(root.attrib[name]) for name in totals} == totals


def test_annotations_are_read_back_by_the_runner():
    """As `ActionCommand.TryParseV2` of actions/runner splits and unescapes a line."""
    lines = github_annotations(HOSTILE).splitlines()
    assert len(lines) == 2
    read = [re.fullmatch(r"::(error|warning) (?:file=([^,:\r\n]*),)?title=([^,:\r\n]*)::(.*)", line) for line in lines]
    message = read[0][4].replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")
    assert message == HOSTILE[0].message
    file, title = (text.replace("%2C", ",").replace("%3A", ":").replace("%0A", "\n") for text in read[0].group(2, 3))
    assert file.replace("%25", "%") == HOSTILE[0].file
    assert title.replace("%25", "%") == f"{HOSTILE[0].group}: {HOSTILE[0].name}"
    assert (read[1][2], read[1][4]) == (None, "::error::x")


FORMATS = ("text", "json", "junit", "github", "html")


@pytest.mark.parametrize("form", FORMATS)
def test_exit_codes_and_order_are_the_same_in_each_format(called, form):
    """0 clean, 1 with an error, 2 for wrong usage; an error comes before what was not checked."""
    assert called("audit", "main", "--format", form)[0] == 0
    code, out = called("audit", "odd", "main", "--format", form, "--limit", "few-repeats.repeats=4", "--all")
    assert code == 1
    assert called("audit", "nowhere", "--format", form) == (2, "")
    assert called("audit", "main", "--format", form, "--select", "speed") == (2, "")
    assert called("audit", "main", "--format", form, "-o", "nowhere/x") == (2, "")
    first, second = (out.find(words) for words in ("effective-concurrency", "few-repeats"))
    assert -1 < first < second and (form == "github" or second < out.find("swapping"))


def test_the_suffix_of_the_output_chooses_the_format(called, tmp_path):
    code, out = called("audit", "odd", "-o", "a.html")
    assert (code, out) == (1, "a.html: odd: do not use: effective-concurrency in 3 of 3 runs\n")
    assert (tmp_path / "a.html").read_text("utf-8").startswith("<!DOCTYPE html>")
    assert called("audit", "odd", "-o", "a.doc")[0] == 2
    assert called("audit", "odd", "-o", "a.doc", "--format", "junit")[0] == 1
    assert ET.parse(tmp_path / "a.doc").getroot().attrib["failures"] == "3"


def test_an_annotation_names_file_and_folder(called):
    lines = called("audit", "odd", "--format", "github")[1].splitlines()
    files = [re.match(r"::error file=([^,]*),title=effective-concurrency%3A ([^:]*)::", line) for line in lines]
    assert {found.groups() for found in files if found} == {
        (f"odd/r{repeat}/c8.txt", f"odd/r{repeat}") for repeat in (1, 2, 3)
    }


def test_a_rule_is_explained_by_its_name(called):
    assert called("explain")[1].splitlines()[1].split() == ["rule", "question"]
    code, out = called("explain", "effective-concurrency")
    assert code == 0 and out.startswith("effective-concurrency: Fewer or more requests were in flight")
    assert "``" not in out and "$" not in out and "factor" in out
    assert called("explain", "speed") == (2, "")
