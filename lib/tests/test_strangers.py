"""A stranger's folder, repository, tag and URL: nothing of theirs runs, and nothing is overwritten or listed."""

import os
import re
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

import pandas as pd
import pytest
import typer
from makefile_tree import environment, run, write_programs

from loadcurve import publish
from loadcurve.cli.launching import launch
from loadcurve.errors import LoadcurveError
from loadcurve.files import paths
from loadcurve.lab import packages_of
from loadcurve.runtime.cluster import connected
from loadcurve.site import versions
from loadcurve.site.__main__ import main

PAGE = "<html><head></head><body><footer></footer></body></html>"
STUDY = (
    "study: small\nquestion: Does it start?\nserver: {nginx: {}}\nload: {tool: wrk, connections: 2, duration_s: 1}\n"
)


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A checkout with a built page and one commit, in which git can be asked; it is the working directory."""
    (checkout := tmp_path / "checkout").mkdir()
    for name, text in (("lib/x.py", ""), ("data/studies/small/study.yml", STUDY), ("build/site/a&b.html", PAGE)):
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        (checkout / name).write_text(text)
    (checkout / "build/site/index.html").write_text(PAGE)
    monkeypatch.chdir(checkout)
    monkeypatch.delenv("LOADCURVE_ROOT", raising=False)
    for words in (["init"], ["add", "lib"], ["commit", "-m", "x"], ["tag", "v1"]):
        git(*words)
    return checkout


def git(*words):
    subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x@x", *words], check=True, capture_output=True)


def listed(folder):
    return re.findall(">([^<]+)</a>", (folder / "index.html").read_text())


def test_what_installs_packages_is_part_of_this_package(checkout, monkeypatch):
    """Not the script of the folder with `data/studies`; and a plan installs nothing."""
    (checkout / "lib/system.sh").write_text("touch PWNED\n")
    write_programs(checkout, {"apt-get": '#!/bin/sh\necho "$@" >>calls\nexit 9\n', "sudo": '#!/bin/sh\nshift; "$@"\n'})
    monkeypatch.setenv("PATH", f"{checkout}:{os.environ['PATH']}")
    monkeypatch.setattr("loadcurve.lab.packages_of", lambda obstacles: ["no-such-package"])
    launch("small", plan=True, install=True)
    assert not Path("calls").exists()
    with pytest.raises(typer.Exit):
        launch("small", install=True)
    assert not Path("PWNED").exists() and "no-such-package" in Path("calls").read_text()


def test_no_word_of_a_remedy_is_an_option_of_apt():
    obstacles = pd.DataFrame({"remedy": ["apt-get install -oDPkg::Pre-Invoke::=id nginx $(id) ./x.deb"]})
    assert packages_of(obstacles) == ["nginx"]


@pytest.mark.parametrize("shared", ["", "data", "data/studies"])
def test_root_uses_no_checkout_that_another_user_can_write(checkout, monkeypatch, shared):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setenv("SUDO_UID", str(os.getuid()))
    monkeypatch.setenv("SUDO_GID", str(os.getgid()))
    assert paths.root() == checkout
    (checkout / shared).chmod(0o777)
    with pytest.raises(
        LoadcurveError, match=rf"{checkout / shared} must be a folder that only root can write; .*_ROOT="
    ):
        paths.studies()
    monkeypatch.setenv("LOADCURVE_ROOT", str(checkout))
    assert paths.root() == checkout


@pytest.mark.parametrize("changed", [False, True])
def test_no_program_that_a_repository_names_is_run(checkout, changed):
    git("config", "core.fsmonitor", "touch PWNED; false")
    git("config", "filter.x.clean", "touch PWNED; cat")
    (checkout / ".git/info/attributes").write_text("* filter=x\n")
    write_programs(checkout / ".git/hooks", {"post-index-change": "#!/bin/sh\ntouch PWNED\n"})
    (checkout / "lib/x.py").write_text("x" if changed else "")  # also without a change git compares it: its time is new
    assert re.fullmatch("[0-9a-f]{10}-dirty" if changed else "[0-9a-f]{10}", publish.commit())
    assert not Path("PWNED").exists()


def test_only_versions_that_were_published_are_listed(checkout, tmp_path):
    out = tmp_path / "web"
    assert versions.publish(str(out), "https://e.org/a&b/") == out / "v1/index.html"
    assert "<loc>https://e.org/a&amp;b/v1/a%26b.html</loc>" in (out / "v1/sitemap.xml").read_text()
    assert "Version v1, commit" in (out / "v1/index.html").read_text()
    (out / "private").mkdir()
    (out / "v3").mkdir()
    (checkout / "lib/x.py").write_text("x")
    versions.publish(str(out))
    versions.publish(str(out))
    assert listed(out) == ["v1-changed", "v1"] and not list(out.glob("*draft"))
    git("commit", "-a", "-m", "y")
    git("tag", "v3")
    with pytest.raises(LoadcurveError, match="v3: make publish did not write it"):
        versions.publish(str(out))
    (out / versions.LIST).write_text("v3\nv1\n../private\n")
    with pytest.raises(
        LoadcurveError, match=r"web/\.loadcurve-versions:3: expected the name of a published version, got"
    ):
        versions.publish(str(out))
    (out / versions.LIST).write_text("v3\nv1\n")  # how a folder of an earlier release is adopted
    versions.publish(str(out))
    assert listed(out) == ["v3", "v1"]


def test_a_folder_with_files_of_others_is_left_as_it_is(checkout, tmp_path, capsys):
    for name in ("robots.txt", "new/.git"):
        (tmp_path / "web" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "web" / name).write_text("mine")
    assert main(["publish", str(tmp_path / "web"), "https://e.org"]) == 1
    said = capsys.readouterr().err
    assert "web/.loadcurve-versions, one a line" in said and said.count("\n") == 1
    assert {path.name for path in (tmp_path / "web").iterdir()} == {"robots.txt", "new"}
    assert main(["publish", str(tmp_path / "web/new")]) == 0, "a new work tree of git is an empty folder"


OUTS = ["", ".", "..", "/", "build", "build/site/x", "lib", "lib/new", ".git/x", "s3://b/x"]
URLS = ["https://e.org/|;eid;#", 'https://e.org/"><script>', "javascript:id", "https://e.org/\n"]
TAGS = ["v1|;etouch${IFS}PWNED;#", "a&b", "<b>", "$(id)", "index.html"]


@pytest.mark.parametrize(
    ("given", "tag", "rule"),
    [
        *(((out,), "v1", "(OUT|output) must be a ") for out in OUTS),  # of the sources or of the built site
        *((("../web", url), "v1", "URL must be ") for url in URLS),
        *((("../web",), tag, "the tag must have only ") for tag in TAGS),
    ],
)
def test_what_could_be_a_program_or_markup_is_refused_before_anything_is_written(checkout, tmp_path, given, tag, rule):
    git("tag", "-d", "v1")
    git("tag", tag)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(LoadcurveError, match=rule):
        versions.publish(*given)
    assert sorted(tmp_path.rglob("*")) == before


def test_actions_of_the_workflows_are_pinned_and_their_steps_hold_no_foreign_text(root):
    text = "".join(file.read_text() for file in (root / ".github/workflows").iterdir())
    used = re.findall(r"uses: (.+)", text)
    assert used and all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v[0-9.]+", one) for one in used)
    assert "${{" not in text


def test_no_word_of_the_command_line_is_a_program_of_make(root, checkout):
    program = '#!/bin/sh\nprintf "[%s]" "$@"\n'
    write_programs(checkout, {"python": program, "loadcurve": program, "lib/alone.sh": ""})
    (checkout / ".venv").mkdir()
    (checkout / ".venv/bin").symlink_to(checkout)
    odd = "a'b;touch PWNED;$(shell touch PWNED)"
    for goal, *names in (["publish", "OUT", "URL"], ["lab", "STUDY", "RECORD", "SECONDS", "REPEATS"]):
        argv = ["make", "-f", str(root / "Makefile"), goal, *(f"{name}={odd}" for name in names)]
        assert run(argv, env=environment(checkout)).stdout.count(f"[{odd}]") == len(names)
    assert not Path("PWNED").exists()


def test_a_local_cluster_takes_no_work_without_its_certificate():
    """Another user of this machine has the port, which the kernel lists, and no certificate."""
    distributed = pytest.importorskip("distributed")
    with connected("local", 1) as client:
        address = urlsplit(client.scheduler.address)
        assert (address.scheme, address.hostname) == ("tls", "127.0.0.1") and client.submit(abs, -1).result() == 1
        with pytest.raises(OSError):
            distributed.Client(f"tcp://{address.netloc}", timeout=3)
        with pytest.raises((OSError, TypeError, ValueError)):  # no certificate is named
            distributed.Client(f"tls://{address.netloc}", timeout=3)
