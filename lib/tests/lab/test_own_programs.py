"""Programs and hosts that a study brings: shown as a whole, asked for before anything runs, and run without root."""

import os
import pwd
import subprocess
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from launched_runs import launched, short_study

from loadcurve import launching
from loadcurve.errors import LabError
from loadcurve.files.paths import designs
from loadcurve.lab import describe, launch, list_obstacles, measure_here
from loadcurve.lab.hosts.unprivileged import User, unprivileged
from loadcurve.lab.run.own_programs import is_trusted, own_parts, quoted, trust
from loadcurve.study.records import read_study, write_study

HOSTILE = "a\r\x1b[2K\nc9999-r1"
SCRIPT = {"script": f"local a = 1 -- {HOSTILE}\n"}
COMMAND = {"command": {"argv": ["sh", "-c", HOSTILE, "{port}"]}}
URL = {"url": "http://127.0.0.1:9/"}
OWN = {
    "lua": {"load": SCRIPT},
    "command": {"server": COMMAND},
    "of one variant": {"variants": {"a": {}, "b": {"server": COMMAND}}},
    "of one level": {"factors": {"load.script": ("", SCRIPT["script"])}},
    "program": {"server": {"nginx": {"process": {"program": "/opt/own"}}}},
    "module": {"server": {"nginx": {"process": {"modules": ["/opt/own.so"]}}}},
    "server of lighttpd": {"server": {"lighttpd": {"program": "/opt/own"}}},
    "balancer": {
        "topology": {"recipe": "client_proxy_servers"}, "balancer": {"nginx_l7": {"process": {"program": "/opt/own"}}},
    },
    "as root": {"hosts": {"local": {"as_root": "no reason"}}},
    "a service of this machine": {"server": URL, "load": {"method": "POST", "body": "start"}},
    "machines": {"topology": {"machines": {
        "C1": {"ssh": "", "address": "127.0.0.1"}, "S1": {"ssh": "ssh://a@192.0.2.1", "address": "192.0.2.1"},
    }}},
}  # fmt: skip


@pytest.mark.parametrize("sections", OWN.values(), ids=OWN)
def test_what_a_study_brings_is_shown_and_asked_for_before_anything_else(sections, tmp_path):
    study = short_study("s", **sections)
    lines = list(describe(study))
    assert all(line.isprintable() for line in lines)
    shown = [at for at, line in enumerate(lines) if line.startswith("    | ")]
    runs = [at for at, line in enumerate(lines) if line.endswith("r1") and not line.startswith(" ")]
    assert shown and max(shown) < min(runs) and "c9999-r1" not in lines
    for either in (launch, launching.launch):
        with pytest.raises(LabError, match="--trust"):
            either(study, tmp_path / "s", trusted=False)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("sections", [{}, {"load": {"method": "POST", "body": "b"}}, {"server": {"php": {}}}])
def test_a_study_without_own_programs_needs_no_trust(sections):
    assert is_trusted(short_study("s", **sections))


def test_a_design_is_trusted_under_any_name_until_its_program_changes():
    study = replace(read_study(designs() / "nginx_requested_names"), study="copy", repeats=1)
    assert is_trusted(study)
    changed = replace(study, load={**study.load, "script": study.load["script"] + "os.exit()"})
    assert not is_trusted(changed)


def test_the_request_to_a_server_belongs_to_what_is_trusted():
    one, other = (own_parts(short_study("s", server=URL, load={"path": path})) for path in ("/a", "/b"))
    assert one.keys() != other.keys()


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])))
def test_a_quoted_word_is_printable_and_means_the_same_to_bash(word):
    assert quoted(word).isprintable()
    printed = subprocess.run(["bash", "-c", f"printf %s {quoted(word)}"], capture_output=True, check=True).stdout
    assert printed == word.encode()


@pytest.mark.lab
def test_a_launch_asks_and_remembers_until_the_study_changes(checkout, called, monkeypatch):
    folder, state = checkout / "data" / "studies" / "s", checkout / "state"
    monkeypatch.setenv("XDG_STATE_HOME", str(state))
    study = short_study("s", load={"script": "local own = 1"})
    write_study(study, folder)
    code, out, err = called("launch", "s", "--busy")
    assert (code, err.count("\n")) == (1, 1) and "--trust" in err and "    | local own = 1\n" in out
    assert "--trust" in measure_here("s", name="copy", seconds=1, repeats=1).reason
    assert [path.name for path in folder.iterdir()] == ["study.yml"], "nothing ran"
    assert called("launch", "s", "--busy", "--trust")[0] == 0
    assert (state / "loadcurve").stat().st_mode & 0o777 == 0o700
    code, out, _ = called("launch", "s", "--busy", "--name", "again")
    assert code == 0 and "local own" not in out
    write_study(replace(study, study="t", load={**study.load, "script": "local own = 2"}), folder.with_name("t"))
    assert called("launch", "t", "--busy")[0] == 1


@pytest.mark.lab
def test_new_studies_are_trusted(checkout, called):
    assert called("new", "shop", "--url", "http://127.0.0.1:9/")[0] == 0
    file = checkout / "data" / "studies" / "shop" / "study.yml"
    assert is_trusted(read_study(file))
    file.write_text(file.read_text().replace(":9/", ":7/"))
    assert not is_trusted(read_study(file))


@pytest.mark.parametrize("state", ["relative", "/proc/x", "{}/file", "{}/of_another"])
def test_where_no_trust_can_be_kept_it_is_for_one_launch(tmp_path, monkeypatch, state):
    (tmp_path / "file").touch()
    (tmp_path / "of_another" / "loadcurve").mkdir(parents=True)
    (tmp_path / "of_another" / "loadcurve").chmod(0o777)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", state.format(tmp_path))
    monkeypatch.setenv("HOME", "/proc/x")
    study = short_study("s", load=SCRIPT)
    if state != "relative" or os.geteuid():  # which counts as not set
        trust(study)
        assert not is_trusted(study)
    assert not (tmp_path / "relative").exists()


WHO = (
    "import os, http.server as h; print(os.geteuid(), open('/proc/self/status').read().split('CapEff:')[1].split()[0]);"
)
SERVE = f"{WHO} h.ThreadingHTTPServer(('127.0.0.1', int(os.sys.argv[1])), h.SimpleHTTPRequestHandler).serve_forever()"


AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give up root")


# What a script may try: /dev/stderr, its own report and text, the folder.
TRIES = """os.execute("id -u >/dev/stderr; exec 2>/dev/null; "
   .. "chmod 666 local.wrk.json; echo -- x >>local.wrk.lua; ln -s x y; mkfifo z")
"""


@AS_ROOT
@pytest.mark.lab
@pytest.mark.parametrize(("hosts", "port"), [({}, 0), ({}, 81), ({"local": {"as_root": "it reads /root"}}, 0)])
def test_a_generator_and_a_command_give_up_root_unless_the_study_says_why_not(tmp_path, hosts, port):
    server = {"command": {"argv": ["/usr/bin/python3", "-u", "-c", SERVE, "{port}"]}, "port": port}
    made = launched(tmp_path / "s", server=server, hosts=hosts, load={"connections": 1, "script": TRIES})
    user = os.geteuid() if hosts else unprivileged().uid
    (served,), (sent,) = made.commands("server"), made.commands("generator")
    folder = made.folder / "r1"
    uid, capabilities = (folder / served.stdout).read_text().split()
    assert int(uid) == user
    assert hosts or int(capabilities, 16) == (1 << 10 if port else 0), "CAP_NET_BIND_SERVICE of linux/capability.h"
    assert {int(line) for line in (folder / sent.stderr).read_text().split()} == {user}
    assert sent.env.get("USER", "root") == pwd.getpwuid(user).pw_name
    modes = {(path.lstat().st_uid, path.lstat().st_mode) for path in folder.iterdir()}
    assert modes == {(os.geteuid(), (folder / "run.json").stat().st_mode)}, "all are the launcher's again, and no links"
    assert "-- x\n" not in (folder / "local.wrk.lua").read_text()


@AS_ROOT
@pytest.mark.parametrize(
    ("given", "uid"), [("4242", 4242), ("", 65534), ("0", 65534), ("-1", 65534), ("x", 65534), ("9" * 11, 65534)]
)
def test_whoever_called_sudo_is_a_user_but_root(monkeypatch, given, uid):
    monkeypatch.setenv("SUDO_UID", given)
    monkeypatch.setenv("SUDO_GID", given)
    assert (unprivileged().uid, unprivileged().gid) == (uid, uid)
    monkeypatch.setattr(User, "can_run", lambda user, program: False)  # as in a container without CAP_SETUID
    assert unprivileged() is None


@pytest.mark.lab
@pytest.mark.parametrize(("tool", "file"), [("ab", "local.ab.requests.txt"), ("h2load", "local.h2load.requests.txt")])
def test_what_a_generator_without_root_writes_is_kept(tmp_path, tool, file):
    made = launched(tmp_path / "s", load={"tool": tool, "each_request": True, "method": "POST", "body": "x"})
    assert (made.folder / "r1" / file).stat().st_size and file in made.run.files


@AS_ROOT
def test_a_program_that_only_root_can_run_is_named_before_the_start(tmp_path):
    program = tmp_path / "tool"
    program.touch(0o755)
    assert not unprivileged().can_run(str(program)) and unprivileged().can_run("/bin/sh")
    study = short_study("s", server={"command": {"argv": [str(program), "{port}"]}})
    assert f"{program} cannot be run by " in "\n".join(list_obstacles(study)["obstacle"])
    assert list_obstacles(replace(study, hosts={"local": {"as_root": "a closed folder"}})).empty
