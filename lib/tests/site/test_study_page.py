"""The pages of study.yml and of the laboratory have every key and every name, and editors find the schema."""

import html
import json
import re
from dataclasses import fields
from typing import get_args

import pytest
from conftest import ROOT

from loadcurve.errors import LoadcurveError
from loadcurve.files import paths
from loadcurve.lab.schedule.goals import SearchSection
from loadcurve.lab.study_file import StudyFile, hosts, read_checked, schema
from loadcurve.lab.study_file import sections as servers
from loadcurve.lab.study_file.json_schema import keys, sections
from loadcurve.lab.study_file.sections import BalancerSection, FaultSection
from loadcurve.lab.tools.generators import GENERATORS
from loadcurve.lab.tools.servers.responses import ResponseSection
from loadcurve.site.laboratory import (
    OFFERS,
    SCHEMA,
    designs_markdown,
    keys_markdown,
    recipes_markdown,
    schema_text,
    sysctls_markdown,
)

PAGE = (ROOT / "handbook" / "reference" / "study_file.md").read_text("utf-8")
SECTIONS = [key.name for key in keys(StudyFile) if key.section is not None]
EXAMPLES = re.findall(r"^```yaml\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


def read(folder, text):
    made = folder / "s"
    made.mkdir(exist_ok=True)
    head = "" if text.startswith("study:") else "study: s\nquestion: '?'\n"
    (made / "study.yml").write_text(head + text, "utf-8")
    return read_checked(made)


@pytest.mark.parametrize("text", EXAMPLES)
def test_examples_are_right(tmp_path, text):
    assert read(tmp_path, text).study == "s"


def test_each_section_has_an_example_and_its_keys():
    parts = {part.partition("\n")[0]: part for part in re.split(r"^## ", PAGE, flags=re.MULTILINE)}
    assert set(SECTIONS) <= set(parts)
    for name in SECTIONS:
        assert f'keys_of("{name}")' in parts[name]
        assert re.search(rf"^{name}:", parts[name], re.MULTILINE), name


def test_every_key_of_every_section_stands_on_the_page():
    shown = "\n".join(keys_markdown(name) for name in ["", *SECTIONS])
    for section in sections().values():
        for key in keys(section):
            assert f"| `{key.name}` | " in shown
            assert key.meaning in shown
    assert shown.count("| key | meaning") == sum(bool(keys(section)) for section in sections().values())
    assert "``" not in shown and "None" not in shown and "nan" not in shown.replace("nanosecond", "")
    rows = [line for line in shown.splitlines() if line.startswith("|")]
    assert all(line.count(" | ") == 1 or line.startswith("|---") for line in rows)
    assert "`net.core.somaxconn`" in sysctls_markdown()


def test_links_between_tables_lead_to_headings():
    shown = PAGE + "\n".join(keys_markdown(name) for name in ["", *SECTIONS])
    headings = {re.sub(r"[^a-z0-9_]", "", line.lower()) for line in re.findall(r"^##+ (\S+)$", shown, re.MULTILINE)}
    assert set(re.findall(r"\]\(#(\w+)\)", shown)) <= headings


def test_defaults_and_types_are_those_of_the_sections():
    for name, key, said in (
        ("", "question", "text; required"),
        ("", "server", "[server](#server); default `{nginx: {}}`"),
        ("", "hosts", "names, each with [hosts](#hosts)"),
        ("load", "timeout_s", "number, a multiple of 1 s, 1 to 86400 s; default `4`"),
        ("load", "duration_s", "number, <= 86400 s"),
        ("balancer", "forward", "`nat`, `dr`; default `nat`"),
        ("server", "files", "[server.apache.files](#serverapachefiles); default `{sizes_bytes: [616]}`"),
        ("fault", "drop_syn", "`true`"),
    ):
        lines = [line for line in keys_markdown(name).splitlines() if line.startswith(f"| `{key}` | ")]
        assert any(line.endswith(f'<span class="lc-source">{said}</span> |') for line in lines), lines


def test_what_the_page_says_of_faults_is_said(tmp_path):
    with pytest.raises(LoadcurveError) as caught:
        read(tmp_path, "load:\n  tool: wrk\nfactors:\n  connections: [1, 2, 4, 0]\n  thread: [1]\n")
    first, second = (line.removeprefix(f"{tmp_path}/s/") for line in str(caught.value).splitlines())
    quoted = re.search(r"^study.yml:5: (.*?)\nstudy.yml:6", PAGE, re.MULTILINE | re.DOTALL)[1]
    assert first == f"study.yml:6: {' '.join(quoted.split())}"
    assert re.match(r"study.yml:7: expected in factors.thread.0: one of the keys tool, .*, path, got 'thread'", second)


def test_a_recorded_study_names_the_schema_that_make_writes():
    for study in sorted((ROOT / "data").glob("*/*/study.yml")):
        found = re.search(r"^# yaml-language-server: \$schema=(\S+)$", study.read_text("utf-8"), re.MULTILINE)
        if found:
            assert (study.parent / found[1]).resolve() == ROOT / "build" / "site" / SCHEMA
    first = (ROOT / "data" / "studies" / "connections_on_loopback" / "study.yml").read_text("utf-8").splitlines()[0]
    assert first in PAGE


def test_the_schema_is_json_as_a_file():
    assert json.loads(schema_text()) == schema()


@pytest.mark.site
def test_the_schema_is_on_the_site():
    assert json.loads((ROOT / "build" / "site" / SCHEMA).read_text("utf-8")) == schema()


NAMES = {
    "topologies": set(get_args(hosts.Recipe)),
    "servers": set(servers.ServerSection.alternatives()),
    "responses": set(ResponseSection.alternatives()),
    "balancers": set(BalancerSection.alternatives()),
    "generators": set(GENERATORS),
    "monitors": {one.name for one in fields(servers.MonitorsSection)},
    "faults": set(FaultSection.alternatives()),
    "searches": {*SearchSection.alternatives(), "stop"},
}


def test_each_kind_has_its_table_on_the_page(root):
    page = (root / "handbook" / "reference" / "laboratory.md").read_text("utf-8")
    assert re.findall(r'recipes\("(\w+)"\)', page) == list(OFFERS) == list(NAMES)


@pytest.mark.parametrize("kind", NAMES)
def test_each_name_that_a_study_may_use_is_there_with_a_sentence(kind):
    _, _, *rows = [line.strip("| ").split(" | ") for line in recipes_markdown(kind).splitlines()]
    assert {name.strip("`") for name, _ in rows} == NAMES[kind]
    for _, said in rows:
        # A sentence of words, not of reStructuredText, and no stub of a docstring.
        assert re.fullmatch(r"[`\w]+.* .*[\w`)]\.", said) and "``" not in said


def test_each_design_stands_in_the_guide(root):
    said = html.unescape(designs_markdown(lambda target: f"../{target}"))
    studies = {one.name: read_checked(one) for one in paths.designs().iterdir()}
    names = sorted(studies, key=lambda name: (studies[name].fault_on_purpose, name))
    assert re.findall(r"^\| <code>(\w+)</code> \| .+\?<br>.+\s(?:s|min)\. \|$", said, re.MULTILINE) == names
    for page in re.findall(r'href="\.\./(.+?)\.html"', said):
        assert (root / "handbook" / f"{page}.md").is_file()
    assert "{{ designs() }}" in (root / "handbook" / "guides" / "run_a_study.md").read_text("utf-8")


@pytest.mark.parametrize(
    "comment", ["", "# handbook/studies/none.md\n", "# handbook/studies/untitled.md\n", "# handbook/x\n"]
)
def test_a_design_needs_no_comment_on_a_report(checkout, monkeypatch, comment):
    monkeypatch.setattr(paths, "designs", lambda: checkout / "designs")
    (checkout / "designs/mine").mkdir(parents=True)
    (checkout / "designs/mine/study.yml").write_text(f"{comment}study: mine\nquestion: Does it show?\n")
    (checkout / "handbook/studies").mkdir(parents=True)
    (checkout / "handbook/studies/untitled.md").write_text("no heading\n")
    last = designs_markdown(str).splitlines()[-1]
    assert re.fullmatch(r"\| <code>mine</code> \| .+<br>\d+\s(?:s|min)\. \|", html.unescape(last))
