"""The user as whom a root launcher runs generators and a study's own server, and the files which they may use."""

import os
import pwd
from collections.abc import Iterable
from dataclasses import dataclass
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

    def can_run(self, program: str) -> bool:
        """Whether this user may run a program by its name or path; one that is not installed counts as such."""
        path = Path(which(program) or "/").resolve()
        return all(self._enters(place.stat()) for place in (path, *path.parents))

    def _enters(self, found: os.stat_result) -> bool:
        shift = 6 if found.st_uid == self.uid else 3 if found.st_gid == self.gid else 0
        return bool(found.st_mode >> shift & 1)

    def lend(self, folder: Path, read: Iterable[str], written: Iterable[str]) -> None:
        """Let the user enter a folder, read some files there, and write others, which are created empty.

        The user cannot write the folder itself: a link there instead of a record would lead the launcher elsewhere.
        """
        for path, bits in [(folder, 0o010), *((folder / name, 0o040) for name in read)]:
            os.chown(path, -1, self.gid)
            path.chmod(path.stat().st_mode | bits)
        for name in written:
            (folder / name).touch()
            os.chown(folder / name, self.uid, self.gid)

    def take_back(self, folder: Path) -> None:
        """Make the launcher the owner of all lent files again, and remove those without content."""
        for path in folder.iterdir():
            found = path.lstat()
            if found.st_uid == self.uid and found.st_size:
                os.chown(path, os.geteuid(), os.getegid(), follow_symlinks=False)
            elif found.st_uid == self.uid:
                path.unlink()


def unprivileged() -> User | None:
    """Return the user who called sudo, else nobody; None where the launcher is not root.

    Raises no error for a number without an account.
    """
    if os.geteuid() != 0:
        return None
    uid, gid = (int(os.environ.get(f"SUDO_{name}") or 0) or _NOBODY for name in ("UID", "GID"))
    try:
        account = pwd.getpwuid(uid)
    except KeyError:
        return User(uid, gid, str(uid), "/nonexistent")
    return User(uid, gid, account.pw_name, account.pw_dir)
