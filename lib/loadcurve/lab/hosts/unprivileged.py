"""The user as whom a root launcher runs generators and a study's own server, and the files which they may use."""

import contextlib
import os
import pwd
import re
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from loadcurve.lab.hosts.tools import which

_NOBODY = 65534  # by convention of Linux (Documentation/admin-guide/sysctl/fs.rst, overflowuid)
_FIRST_FREE_PORT = 1024  # of any user, see ip_unprivileged_port_start


@dataclass(frozen=True)
class User:
    """A user without rights of root."""

    uid: int
    gid: int
    name: str
    home: str

    def argv(self, command: tuple[str, ...], port: int = _FIRST_FREE_PORT) -> tuple[str, ...]:
        """Return a command that gives up root, after its host, limits and processors were set; it may bind `port`.

        A change of the user clears the signal on the end of the parent, so the signal is set again.

        Examples
        --------
        >>> " ".join(User(1000, 1000, "ann", "/home/ann").argv(("wrk", "-v")))
        'setpriv --reuid=1000 --regid=1000 --clear-groups --inh-caps=-all --no-new-privs --pdeathsig=TERM wrk -v'
        """
        caps = ["--inh-caps=-all"]
        if port < _FIRST_FREE_PORT:
            caps = ["--inh-caps=-all,+net_bind_service", "--ambient-caps=-all,+net_bind_service"]
        ids = ("setpriv", f"--reuid={self.uid}", f"--regid={self.gid}", "--clear-groups")
        return (*ids, *caps, "--no-new-privs", "--pdeathsig=TERM", *command)

    @property
    def env(self) -> dict[str, str]:
        """Variables that name this user instead of root."""
        return {"HOME": self.home, "LOGNAME": self.name, "USER": self.name}

    @cache  # noqa: B019 - one or two users
    def can_run(self, program: str) -> bool:
        """Whether root may become this user and run a program, by its name or path; one not installed counts as such.

        A try decides: the mode of a file leaves out access lists, mounts, and rights that a container took from root.
        """
        path, become = which(program), which("setpriv")
        if path is None or become is None:
            return True
        return not subprocess.run([*self.argv(("test", "-x", path))], capture_output=True, check=False).returncode


@contextlib.contextmanager
def lent(folder: Path, names: Iterable[str], user: User | None) -> Iterator[None]:
    """Create files of a run that only the user of a tool may read and write, who may enter the folder; take them back.

    The user cannot write the folder itself: a link there instead of a record would lead the launcher elsewhere.
    Files without content are removed at the end; the others are then as the record of the run.
    """
    files = [folder / name for name in names]
    for path in files:
        path.touch(0o600)
        if user is not None:
            os.chown(path, user.uid, user.gid)
    if user is not None:
        folder.chmod(folder.stat().st_mode | 0o001)
    try:
        yield
    finally:
        for path in filter(Path.exists, files):
            if path.stat().st_size:
                os.chown(path, os.geteuid(), os.getegid())
                path.chmod((folder / "run.json").stat().st_mode)
            else:
                path.unlink()


def unprivileged() -> User | None:
    """Return the user who called sudo, else nobody; None where the launcher is not root, or can become nobody else.

    The latter holds in a container without CAP_SETUID, and in a user namespace with one user.
    """
    if os.geteuid() != 0:
        return None
    named = (os.environ.get(f"SUDO_{name}", "") for name in ("UID", "GID"))
    uid, gid = (int(text) if re.fullmatch("[1-9][0-9]{0,8}", text) else _NOBODY for text in named)
    user = User(uid, gid, str(uid), "/nonexistent")
    with contextlib.suppress(KeyError):  # a number without an account
        account = pwd.getpwuid(uid)
        user = User(uid, gid, account.pw_name, account.pw_dir)
    return user if user.can_run("true") else None
