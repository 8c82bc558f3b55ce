"""Locks, temporary folders, outputs and progress: never through another user's link, and nothing stays after a kill."""

import contextlib
import io
import os
import random
import re
import stat
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

from loadcurve.errors import LoadcurveError
from loadcurve.files import atomic, paths
from loadcurve.ingest.files import Hints
from loadcurve.reading import read_each
from loadcurve.runtime import many_files
from loadcurve.runtime.many_files import Progress
from loadcurve.runtime.output import echo

OTHER = 65534  # nobody
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")

HELD = """
import sys
from loadcurve.files.atomic import temporary_folder
with temporary_folder() as folder:
    (folder / "table").write_text("rows")
    print(folder, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def shared(monkeypatch):
    """A folder for all users, as TMPDIR, with a short path, as sockets need; no checkout."""
    with tempfile.TemporaryDirectory(prefix="lc-", dir="/tmp") as name:
        folder = Path(name)
        folder.chmod(0o1777)
        monkeypatch.setenv("TMPDIR", name)
        monkeypatch.setattr(paths, "_root", lambda: None)
        yield folder


def by_another_user(work):
    """Do some work as another user, in a process that ends with it."""
    pid = os.fork()
    if not pid:
        try:
            os.setgroups([])
            os.setgid(OTHER)
            os.setuid(OTHER)
            work()
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitpid(pid, 0)[1] == 0


@contextlib.contextmanager
def holding():
    argv = [sys.executable, "-c", HELD]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process, Path(process.stdout.readline().strip())


def test_a_lock_is_in_a_folder_of_its_user_outside_a_checkout(shared):
    with atomic.alone("a notebook"):
        (own,) = shared.iterdir()
        assert stat.S_IMODE(own.stat().st_mode) == 0o700
        assert [path.name for path in own.iterdir()] == ["locks"]


@as_root
@pytest.mark.parametrize("planted", ["loadcurve-0", "loadcurve-0/locks"])
def test_a_lock_of_another_user_is_refused(shared, tmp_path, planted):
    victim = tmp_path / "victim"
    victim.write_text("kept")
    with atomic.alone("a notebook"):
        (lock,) = (shared / "loadcurve-0" / "locks").iterdir()
    lock.unlink()
    (shared / "loadcurve-0" / "locks").rmdir()
    (shared / "loadcurve-0").rmdir()

    def plant():
        (shared / planted).mkdir(parents=True, mode=0o777)
        (shared / "loadcurve-0" / "locks").mkdir(exist_ok=True)
        lock.symlink_to(victim)

    by_another_user(plant)
    with (
        pytest.raises(LoadcurveError, match="loadcurve-0 must be a folder that belongs to this user"),
        atomic.alone("a notebook"),
    ):
        pass
    assert victim.read_text() == "kept"


def test_a_lock_is_no_link_and_keeps_what_it_holds(shared, tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("kept")
    with atomic.alone("a notebook"):
        (lock,) = (shared / f"loadcurve-{os.geteuid()}" / "locks").iterdir()
    lock.unlink()
    lock.symlink_to(victim)
    with pytest.raises(OSError, match="Too many levels of symbolic links"), atomic.alone("a notebook"):
        pass
    lock.unlink()
    os.link(victim, lock)
    with atomic.alone("a notebook"):
        assert victim.read_text() == "kept"


def test_the_folder_of_a_killed_process_is_removed_and_no_other(shared):
    with holding() as (killed, left), holding() as (_, alive):
        killed.kill()
        killed.wait()
        elsewhere = left.with_name("ffffff-00000000")  # of another machine that shares the folder
        for name in (elsewhere, elsewhere.with_suffix(".lock")):
            name.touch()
        assert (left / "table").read_text() == "rows"
        atomic.remove_left()
        assert not left.exists() and not left.with_suffix(".lock").exists()
        assert (alive / "table").read_text() == "rows" and elsewhere.exists()
        with atomic.temporary_folder() as own:
            atomic.remove_left()
            assert own.is_dir()
        assert not own.exists()
    assert {path.name for path in left.parent.iterdir()} == {"ffffff-00000000", "ffffff-00000000.lock"}


def test_a_process_whose_lock_is_taken_away_makes_another(shared, monkeypatch):
    opened = atomic.open_lock

    def taken(file):
        monkeypatch.setattr(atomic, "open_lock", opened)
        lock = opened(file)
        atomic.remove_left()
        return lock

    monkeypatch.setattr(atomic, "open_lock", taken)
    with atomic.temporary_folder() as folder:
        assert folder.with_suffix(".lock").exists()


@as_root
def test_what_another_user_put_there_is_not_removed(shared):
    kept = shared / "loadcurve-0" / f"{atomic._machine()}-00000000.lock"

    def plant():
        kept.parent.mkdir()
        kept.touch()

    by_another_user(plant)
    atomic.remove_left()
    assert kept.exists()


COMMANDS = {
    "tables": "ingest {data} --format csv -o {out}/tables",
    "one table": "ingest {data} --format csv -o - --table runs",
    "pdf": "analyse {data} -o {out}/a.pdf",
    "notebook": "run {notebook} -p folder={data} -o {out}/a.ipynb",
    "cluster": "ingest {data} --format parquet -o {out}/parts --scheduler local -j 1",
}
SLOWEST_S = {"pdf": 8, "notebook": 12, "cluster": 6}


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_nothing_stays_after_a_kill_and_another_start(root, shared, tmp_path, command):
    """At a random moment, which differs in each run of the tests."""
    env = {**os.environ, "JUPYTER_RUNTIME_DIR": str(tmp_path / "jupyter")}
    start = [sys.executable, "-m", "loadcurve"]
    given = {"data": root / "lib/tests/data/wrk", "out": tmp_path, "notebook": paths.own_notebook()}
    argv = [*start, *(word.format(**given) for word in COMMANDS[command].split())]
    process = subprocess.Popen(argv, env=env, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(random.uniform(0.3, SLOWEST_S.get(command, 2)))
    process.kill()
    process.wait()
    while is_used(shared):  # a kernel looks for its parent once a second
        time.sleep(0.1)
    subprocess.run([*start, "--version"], env=env, check=True, capture_output=True)
    left = {path.relative_to(shared).as_posix() for path in shared.rglob("*") if path.parent.name != "locks"}
    assert left <= {f"loadcurve-{os.geteuid()}", f"loadcurve-{os.geteuid()}/locks"}
    assert not [path for path in (tmp_path / "jupyter").rglob("*") if path.is_file()]


def is_used(place):
    """Whether the temporary files of any process but this one go to a folder."""
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if f"TMPDIR={place}".encode() in (process / "environ").read_bytes() and int(process.name) != os.getpid():
                return True
    return False


@as_root
def test_an_output_keeps_its_mode_its_owner_and_its_link(shared):
    file, link = shared / "a.txt", shared / "link"
    file.write_text("old")
    file.chmod(0o640)
    os.chown(file, OTHER, OTHER)
    link.symlink_to("a.txt")
    with atomic.replacing(link) as draft:
        draft.write_text("new")
        assert stat.S_IMODE(draft.stat().st_mode) == 0o600, "nobody else reads it before it is complete"
    assert link.is_symlink() and file.read_text() == "new"
    found = file.stat()
    assert (stat.S_IMODE(found.st_mode), found.st_uid, found.st_gid) == (0o640, OTHER, OTHER)


@pytest.mark.parametrize("umask", [0o022, 0o077])
def test_a_new_output_has_the_mode_of_the_umask(tmp_path, umask):
    (tmp_path / "link").symlink_to("new.txt")
    before = os.umask(umask)
    try:
        atomic.write_text(tmp_path / "link", "new")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new.txt").lstat().st_mode) == 0o666 & ~umask


@as_root
def test_an_output_is_not_written_through_another_users_link(shared, tmp_path):
    by_another_user(lambda: (shared / "a.txt").symlink_to(tmp_path / "made"))
    with pytest.raises(LoadcurveError, match=r"a.txt: expected no link of another user"):
        atomic.write_text(shared / "a.txt", "text")
    assert not (tmp_path / "made").exists()


def test_an_output_may_be_a_pipe_or_a_device(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with subprocess.Popen(["cat", tmp_path / "pipe"], stdout=subprocess.PIPE) as reader:
        atomic.write_text(tmp_path / "pipe", "text")
        assert reader.stdout.read() == b"text"
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    device = Path("/dev/null").stat().st_rdev
    atomic.write_text(Path("/dev/null"), "text")
    assert Path("/dev/null").stat().st_rdev == device
    with pytest.raises(OSError, match="No space left on device: '/dev/full'"):
        atomic.write_text(Path("/dev/full"), "text")
    code = "from pathlib import Path; from loadcurve.files import atomic; print(1); "
    code += "atomic.write_text(Path('/dev/{}'), 'text')"
    for name in ("stdout", "fd/1"):
        with (tmp_path / "log").open("w+") as log:
            log.write("before\n")
            log.flush()
            subprocess.run([sys.executable, "-c", code.format(name)], stdout=log, check=True)
        assert (tmp_path / "log").read_text() == "before\n1\ntext"


FULL = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
from loadcurve.cli import main
main()
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("argv", "named"),
    [
        ("analyse {data} -o {out}/a.html", "{out}/a.html"), ("analyse {data} -o {out}/a.json", "{out}/a.json"),
        ("audit {data} -o {out}/a.html", "{out}/a.html"),
        ("notebook {folder} -o {out}/a.ipynb", "{out}/a.ipynb"),
        ("ingest {folder} --format csv -o {out}/t --table runs", "{out}/t/runs.csv"),
        ("ingest {folder} --format parquet -o {out}/t", "{out}/t"),
    ],
)  # fmt: skip
def test_a_full_disk_names_the_output(root, tmp_path, argv, named):
    given = {"data": root / "lib/tests/data/wrk/fdlimit.txt", "folder": root / "lib/tests/data/wrk", "out": tmp_path}
    done = subprocess.run(
        [sys.executable, "-c", FULL, *argv.format(**given).split()], capture_output=True, text=True, check=False
    )
    said = done.stderr.splitlines()[-1]
    assert done.returncode in (1, 2)
    assert said.startswith(f"{named.format(**given)}: File too large; ")
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


class Terminal(io.StringIO):
    """Standard error that says it is a terminal, and tells when something was shown."""

    def __init__(self):
        super().__init__()
        self.shown, self.counted = threading.Event(), threading.Event()

    def isatty(self):
        return True

    def write(self, text):
        if "files" in text or "0%" in text:
            self.shown.set()
        if "1/4 files" in text:
            self.counted.set()
        return super().write(text)


@pytest.fixture
def started(monkeypatch):
    """Progress on a terminal; the test calls it, because pytest sets standard error again before each test."""

    def start(total_bytes, total_files):
        monkeypatch.setattr(sys, "stderr", Terminal())
        return Progress(total_bytes, total_files, delay_s=0.0), sys.stderr

    return start


def test_rates_and_the_time_left_are_shown(started):
    bar, terminal = started(8_000_000, 4)
    bar.advance(2_000_000)
    assert terminal.counted.wait(60)
    bar.end()
    line = next(part for part in reversed(terminal.getvalue().split("\r")) if "1/4 files" in part)
    assert re.search(r"reading: +25% .*2\.00M/8\.00M \[\d\d:\d\d<\d\d:\d\d, .*B/s, 1/4 files, [\d,.]+ files/s\]", line)
    assert terminal.getvalue().endswith("\r"), "the line is removed at the end"


def test_a_large_file_shows_that_time_passes(started):
    bar, terminal = started(8_000_000, 1)
    assert terminal.shown.wait(60)  # without a file being done
    bar.end()


def test_other_lines_are_not_written_into_it(started, monkeypatch):
    bar, terminal = started(2, 2)
    monkeypatch.setattr(sys, "stdout", terminal)
    assert terminal.shown.wait(60)
    echo("a warning")
    bar.end()
    assert re.search(r"(^|\r)a warning\n", terminal.getvalue())


@pytest.mark.parametrize("kind", [Terminal, io.StringIO])
def test_short_work_shows_nothing(root, monkeypatch, kind):
    monkeypatch.setattr(sys, "stderr", said := kind())
    monkeypatch.setattr(many_files, "DELAY_S", 3600.0)
    assert list(read_each(root / "lib/tests/data/wrk/fdlimit.txt", Hints()))
    assert said.getvalue() == ""


def test_a_file_as_standard_error_has_no_progress(monkeypatch):
    monkeypatch.setattr(sys, "stderr", said := io.StringIO())
    bar = Progress(1, 1, delay_s=0.0)
    bar.advance(1)
    bar.end()
    assert said.getvalue() == ""
