"""What a launch made is written down first, and removed by whoever comes: all of it, and nothing else."""

import json
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from events import HANG_S, wait_until

from loadcurve.errors import LabError, LoadcurveError, ValueRuleError
from loadcurve.files.atomic import runtime_folder
from loadcurve.lab.hosts.network import Ledger, Resource, clean
from loadcurve.lab.hosts.network import ledger as ledger_module
from loadcurve.lab.hosts.network.ledger import check_resource, process_state
from loadcurve.lab.hosts.tools import which

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the laboratory needs Linux")


def boot() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text("ascii")[:8]


def written(folder: Path, pid: int, started: int, *resources: Resource, tag="lc0000aa", at=None) -> Path:
    """A ledger as a launcher with this process number and start time would have left it."""
    folder.mkdir(exist_ok=True)
    path = folder / f"{tag}.{pid}.{started}.{at or boot()}.ledger"
    path.write_text("".join(json.dumps({"made": [[t.kind, t.name]]}) + "\n" for t in resources))
    return path


def folder_thing(tmp_path: Path, name: str) -> Resource:
    (tmp_path / name / "deep").mkdir(parents=True)
    (tmp_path / name / "deep" / "file").write_text("x")
    return Resource("folder", str(tmp_path / name))


def in_a_child(work, *, then=signal.SIGKILL) -> int:
    """Process number of a child that has done `work` and has been killed; it is not waited for."""
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            work()
            os.write(into, b"done")
            time.sleep(60)
        finally:
            os._exit(1)
    os.close(into)
    with os.fdopen(out, "rb") as said:
        assert said.read(4) == b"done"
    os.kill(child, then)
    return child


def test_what_is_made_is_removed_with_the_launch_and_its_file_too(tmp_path):
    with Ledger(tmp_path / "ledgers") as own:
        resource = Resource("folder", str(tmp_path / f"{own.tag}-work"))
        own.record(resource)
        Path(resource.name).mkdir()
        (file,) = (tmp_path / "ledgers").iterdir()
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert not Path(resource.name).exists()
    assert list((tmp_path / "ledgers").iterdir()) == []


def test_it_is_written_before_it_is_made(tmp_path):
    with Ledger(tmp_path / "ledgers") as own:
        own.record(
            Resource("folder", str(tmp_path / f"{own.tag}-1")), Resource("folder", str(tmp_path / f"{own.tag}-2"))
        )
        (file,) = (tmp_path / "ledgers").iterdir()
        names = [[name for _, name in json.loads(line)["made"]] for line in file.read_text().splitlines()]
    assert names == [[str(tmp_path / f"{own.tag}-1"), str(tmp_path / f"{own.tag}-2")]]


def test_what_a_killed_launcher_left_is_removed(tmp_path):
    def work():
        own = Ledger(tmp_path / "ledgers")
        for name in ("a", "b"):
            own.record(Resource("folder", str(tmp_path / f"{own.tag}-{name}")))
            (tmp_path / f"{own.tag}-{name}").mkdir()

    child = in_a_child(work)
    # Ended, though nobody has waited for it yet.
    wait_until(lambda: psutil.Process(child).status() == psutil.STATUS_ZOMBIE)
    said = clean(tmp_path / "ledgers")
    os.waitpid(child, 0)
    assert len(said) == 2
    assert all("removed folder" in sentence for sentence in said)
    assert [p.name for p in tmp_path.iterdir()] == ["ledgers"]
    assert clean(tmp_path / "ledgers") == ()


def test_what_a_living_launcher_made_stays(tmp_path):
    with Ledger(tmp_path / "ledgers") as own:
        resource = Resource("folder", str(tmp_path / f"{own.tag}-work"))
        own.record(resource)
        Path(resource.name).mkdir()
        assert clean(tmp_path / "ledgers") == ()
        assert Path(resource.name).exists()


@pytest.mark.parametrize("later", [-1, 1])
def test_a_process_with_the_number_of_a_dead_launcher_is_not_the_launcher(tmp_path, later):
    resource = folder_thing(tmp_path, "lc0000aa-work")
    pid = os.getpid()
    written(tmp_path / "ledgers", pid, process_state(pid)[1] + later, resource)
    assert clean(tmp_path / "ledgers") == (f"lc0000aa: removed {resource}",)
    assert not Path(resource.name).exists()


def test_a_launcher_from_before_the_last_restart_is_dead(tmp_path):
    resource = folder_thing(tmp_path, "lc0000aa-work")
    written(tmp_path / "ledgers", os.getpid(), process_state(os.getpid())[1], resource, at="00000000")
    assert len(clean(tmp_path / "ledgers")) == 1


def test_what_no_ledger_names_stays(tmp_path):
    resource, similar = folder_thing(tmp_path, "lc0000aa-work"), folder_thing(tmp_path, "lc0000aa-work2")
    written(tmp_path / "ledgers", 2**22 + 1, 1, resource)
    (tmp_path / "ledgers" / "notes.ledger").write_text("not of the laboratory")
    assert len(clean(tmp_path / "ledgers")) == 1
    assert Path(similar.name).exists()
    assert (tmp_path / "ledgers" / "notes.ledger").exists()


@pytest.mark.parametrize("name", ["{here}/other", "{here}/lc0000aa-w/../other", "other", "/", "{here}/lc0000ab-work"])
def test_a_ledger_that_names_what_is_not_of_its_launch_removes_nothing(tmp_path, name):
    own, other = folder_thing(tmp_path, "lc0000aa-work"), folder_thing(tmp_path, "other")
    folder_thing(tmp_path, "lc0000ab-work")
    path = written(tmp_path / "ledgers", 2**22 + 1, 1, own, Resource("folder", name.format(here=tmp_path)))
    (said,) = clean(tmp_path / "ledgers")
    assert "with a name in lc0000aa*" in said
    assert all(Path(resource.name).exists() for resource in (own, other))
    assert path.exists()


def test_a_line_that_was_cut_is_of_something_never_begun(tmp_path):
    resource, later = folder_thing(tmp_path, "lc0000aa-work"), folder_thing(tmp_path, "lc0000aa-later")
    path = written(tmp_path / "ledgers", 2**22 + 1, 1, resource)
    path.write_text(path.read_text() + f'{{"made": [["folder", "{later.name}"]]}}')
    assert clean(tmp_path / "ledgers") == (f"lc0000aa: removed {resource}",)
    assert Path(later.name).exists()


@pytest.mark.parametrize("text", ["{\n", "[]\n", '{"made": 1}\n', '{"made": [["folder"]]}\n', "\xff\n"])
def test_a_ledger_that_cannot_be_read_stays_and_says_so(tmp_path, text):
    path = written(tmp_path / "ledgers", 2**22 + 1, 1)
    path.write_text(text)
    (said,) = clean(tmp_path / "ledgers")
    assert said.startswith("lc0000aa: ")
    assert path.exists()


def test_what_was_removed_already_is_not_removed_again(tmp_path):
    """The name may be someone else's by now."""
    resource = folder_thing(tmp_path, "lc0000aa-work")
    path = written(tmp_path / "ledgers", 2**22 + 1, 1, resource)
    path.write_text(path.read_text() + json.dumps({"gone": [["folder", resource.name]]}) + "\n")
    assert clean(tmp_path / "ledgers") == ()
    assert Path(resource.name).exists()
    assert not path.exists()


def test_a_link_in_a_folder_leads_nowhere(tmp_path):
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").write_text("x")
    (tmp_path / "lc0000aa-work").mkdir()
    (tmp_path / "lc0000aa-work" / "link").symlink_to(tmp_path / "precious")
    (tmp_path / "lc0000aa-link").symlink_to(tmp_path / "precious")
    resources = [Resource("folder", str(tmp_path / name)) for name in ("lc0000aa-work", "lc0000aa-link")]
    written(tmp_path / "ledgers", 2**22 + 1, 1, *resources)
    assert len(clean(tmp_path / "ledgers")) == 2
    assert sorted(p.name for p in tmp_path.iterdir()) == ["ledgers", "precious"]
    assert (tmp_path / "precious" / "file").exists()


def test_a_tool_of_a_killed_launcher_is_waited_for(tmp_path):
    """It may still be making what the ledger names."""
    late = tmp_path / "late"

    def work():
        own = Ledger(tmp_path / "ledgers")
        own.record(Resource("folder", str(tmp_path / f"{own.tag}-work")))
        late.write_text(own.tag)
        subprocess.Popen(
            ["sh", "-c", f"sleep 0.5; mkdir {tmp_path}/{own.tag}-work"], pass_fds=(own.lock,), start_new_session=True
        )

    child = in_a_child(work)
    os.waitpid(child, 0)
    assert len(clean(tmp_path / "ledgers")) == 1
    time.sleep(0.5)
    assert not (tmp_path / f"{late.read_text()}-work").exists()


def test_a_tool_that_never_ends_keeps_the_ledger(tmp_path, monkeypatch):
    monkeypatch.setattr(ledger_module, "_TOOLS_END_S", 0.1)
    resource = folder_thing(tmp_path, "lc0000aa-work")
    path = written(tmp_path / "ledgers", 2**22 + 1, 1, resource)
    with subprocess.Popen(["flock", str(path), "sleep", "60"], start_new_session=True) as holder:
        wait_until(psutil.Process(holder.pid).children)
        (said,) = clean(tmp_path / "ledgers")
        os.killpg(holder.pid, signal.SIGKILL)
    assert "is still at work; try again" in said
    assert Path(resource.name).exists()
    monkeypatch.undo()
    assert len(clean(tmp_path / "ledgers")) == 1


def test_a_fork_of_the_launcher_owns_nothing(tmp_path):
    with Ledger(tmp_path / "ledgers") as own:
        resource = Resource("folder", str(tmp_path / f"{own.tag}-work"))
        own.record(resource)
        Path(resource.name).mkdir()
        child = os.fork()
        if child == 0:
            own.close()
            os._exit(0)
        os.waitpid(child, 0)
        assert Path(resource.name).exists()
        assert len(list((tmp_path / "ledgers").iterdir())) == 1


def test_a_second_ctrl_c_during_the_removal_leaves_nothing(tmp_path, monkeypatch):
    pressed, remove = [], ledger_module.remove

    def interrupted_once(resources, holding):
        if not pressed:
            pressed.append(True)
            raise KeyboardInterrupt
        remove(resources, holding)

    monkeypatch.setattr(ledger_module, "remove", interrupted_once)
    with pytest.raises(KeyboardInterrupt), Ledger(tmp_path / "ledgers") as own:
        own.record(Resource("folder", str(tmp_path / f"{own.tag}-work")))
        (tmp_path / f"{own.tag}-work").mkdir()
    assert not (tmp_path / f"{own.tag}-work").exists()
    monkeypatch.undo()
    assert clean(tmp_path / "ledgers") == ()


def test_what_is_there_already_is_someone_elses(tmp_path):
    with Ledger(tmp_path / "ledgers") as own:
        foreign = folder_thing(tmp_path, f"{own.tag}-work")
        with pytest.raises(LabError, match="folder .* exists already"):
            own.record(foreign)
    assert Path(foreign.name).exists()


@pytest.mark.parametrize(
    "resource",
    [
        Resource("namespace", "web"), Resource("namespace", "lc0000aa/../web"), Resource("namespace", "lc0000aa web"),
        Resource("link", "eth0"), Resource("link", "lc0000aa-too-long"), Resource("nft_table", "inet filter"),
        Resource("nft_table", "inet lc0000aa; flush ruleset"), Resource("cgroup", "/tmp/lc0000aa-1"),
        Resource("cgroup", "/sys/fs/cgroup/cpu/system"), Resource("folder", "lc0000aa-work"),
        Resource("process", "lc0000aa"),
        Resource("folder", "/tmp/lc0000aa-x\n"),
    ],
)  # fmt: skip
def test_only_names_with_the_launchs_tag_can_be_written(resource):
    with pytest.raises(ValueRuleError):
        check_resource(resource, "lc0000aa")


def test_no_room_for_a_line_is_said_and_nothing_is_begun(tmp_path, monkeypatch):
    with Ledger(tmp_path / "ledgers") as own:
        first, second = (Resource("folder", str(tmp_path / f"{own.tag}-{n}")) for n in (1, 2))
        own.record(first)
        monkeypatch.setattr(ledger_module.os, "write", lambda fd, data: os.pwrite(fd, data[:5], 0) and 5)
        with pytest.raises(LabError, match="no room"):
            own.record(second)
        monkeypatch.undo()
        (file,) = (tmp_path / "ledgers").iterdir()
        assert [json.loads(line) for line in file.read_text().splitlines()] == [{"made": [["folder", first.name]]}]


def test_the_runtime_folder_is_the_users_own(tmp_path, monkeypatch):
    (tmp_path / "theirs").mkdir(mode=0o755)
    assert stat.S_IMODE(runtime_folder(tmp_path / "theirs").stat().st_mode) == 0o700
    (tmp_path / "link").symlink_to(tmp_path / "theirs")
    with pytest.raises(LoadcurveError, match="a folder that belongs to this user"):
        runtime_folder(tmp_path / "link")
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(LoadcurveError, match="a folder that belongs to this user"):
        runtime_folder(tmp_path / "theirs")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    with pytest.raises(LoadcurveError, match=str(tmp_path / "loadcurve")):
        runtime_folder()


@pytest.mark.lab
def test_each_kind_of_thing_is_removed(tmp_path, network_tools):
    groups = [p for p in (Path("/sys/fs/cgroup/cpu"), Path("/sys/fs/cgroup")) if (p / "cgroup.procs").exists()]
    tags = []
    with Ledger(tmp_path / "ledgers") as own:
        tags.append(own.tag)
        # Down and without rules: they touch nothing of this machine's traffic.
        own.record(Resource("link", f"{own.tag}-a"), Resource("nft_table", f"inet {own.tag}"))
        argvs = [["ip", "link", "add", f"{own.tag}-a", "type", "veth", "peer", f"{own.tag}-b"]]
        argvs += [["nft", "add", "table", "inet", own.tag]]
        for argv in argvs:
            subprocess.run([which(argv[0]), *argv[1:]], check=True)
        kinds = ["link", "nft_table"]
        if groups and os.access(groups[0], os.W_OK):
            group = Resource("cgroup", str(groups[0] / f"{own.tag}-run"))
            own.record(group)
            (Path(group.name) / "inner").mkdir(parents=True)
            kinds.append("cgroup")
            sleeper = subprocess.Popen(["sleep", "30"])
            (Path(group.name) / "inner" / "cgroup.procs").write_text(str(sleeper.pid))
    if "cgroup" in kinds:
        assert sleeper.wait(HANG_S) == -signal.SIGKILL
        assert not Path(group.name).exists()
    assert not [p for p in Path("/sys/class/net").iterdir() if p.name.startswith(tags[0])]
    tables = subprocess.run([which("nft"), "list", "tables"], capture_output=True, text=True, check=True).stdout
    assert tags[0] not in tables
