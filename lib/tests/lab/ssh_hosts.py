"""A real sshd for a test: its own keys, configuration, port and runtime folder, in a network namespace."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from events import wait_until

from loadcurve.lab.hosts.host import Host
from loadcurve.lab.hosts.process import guarded
from loadcurve.lab.hosts.tools import SEARCH_PATH, which

PORT = 2222
# sshd keeps a folder in /run; this one is seen by nobody else, since `ip netns exec` gives it mounts of its own.
START = 'mount -t tmpfs none /run && mkdir -m 755 /run/sshd && exec "$@"'
# HOME: start files of the user who runs the test, such as pyenv's, print on the streams of each session.
CONFIGURATION = """
Port {port}
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/authorized_keys
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
SetEnv HOME={folder} PATH={path} TMPDIR={folder}/far http_proxy=http://127.0.0.1:9 LC_ALL=C.UTF-8 GODEBUG=netdns=go
"""


@dataclass
class SshHost:
    """A namespace with an sshd."""

    host: Host  # As the topology made it
    folder: Path  # Keys and configuration; what sshd says is in `sshd.log`, what sessions make for a time is in `far`
    listener: int  # Process number of the sshd that listens

    @property
    def url(self) -> str:
        return f"ssh://root@{self.host.address}:{PORT}"

    @property
    def options(self) -> tuple[str, ...]:
        """For the client: nothing of the user who runs the test."""
        words = ("IdentitiesOnly=yes", "IdentityAgent=none", f"UserKnownHostsFile={self.folder}/known_hosts")
        words += ("GlobalKnownHostsFile=none",)
        return ("-F", "none", "-i", f"{self.folder}/user_key", *(w for word in words for w in ("-o", word)))

    @property
    def left(self) -> list[str]:
        """What sessions have made and not removed."""
        return [path.name for path in (self.folder / "far").iterdir()]

    @property
    def processes(self) -> dict[int, str]:
        """Of the namespace, but for the listener: number → command line."""
        space = self.host.prefix[-1]
        pids = subprocess.run(["ip", "netns", "pids", space], capture_output=True, text=True, check=True).stdout
        found = {}
        for pid in map(int, pids.split()):
            with contextlib.suppress(OSError):
                words = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
                if words and pid != self.listener and " -D -e -f " not in words:
                    found[pid] = words
        return found

    def sessions(self) -> list[int]:
        """Processes of sshd that serve a connection."""
        return [pid for pid, words in self.processes.items() if words.startswith("sshd: ")]

    def comes_to_rest(self) -> bool:
        """Wait until no process but the listener and no file is there."""
        wait_until(lambda: not self.processes and not self.left, lambda: (self.processes, self.left))
        return True


def make_key(path: Path) -> str:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", str(path)], check=True)
    return path.with_name(path.name + ".pub").read_text()


@contextlib.contextmanager
def serving(host: Host, folder: Path, before: tuple[str, ...] = (), lines: str = "") -> Iterator[SshHost]:
    """An sshd in a host's namespace, and a client's side that knows its key; further lines for its configuration."""
    (folder / "far").mkdir(parents=True)
    known = make_key(folder / "host_key")
    (folder / "authorized_keys").write_text(make_key(folder / "user_key"))
    (folder / "known_hosts").write_text(f"[{host.address}]:{PORT} {known}")
    path = f"{Path(sys.executable).parent}:{SEARCH_PATH}"
    (folder / "sshd_config").write_text(CONFIGURATION.format(port=PORT, folder=folder, path=path) + lines)
    argv = (*before, which("sshd"), "-D", "-e", "-f", str(folder / "sshd_config"))
    with (folder / "sshd.log").open("wb") as log:
        process = subprocess.Popen(
            guarded(host.argv(("sh", "-c", START, "sh", *argv)), 60),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env={**os.environ, "PATH": SEARCH_PATH},
            start_new_session=True,
        )
    try:
        log_file = folder / "sshd.log"
        wait_until(lambda: process.poll() is not None or "Server listening" in log_file.read_text(), log_file.read_text)
        assert process.poll() is None, log_file.read_text()
        yield SshHost(host, folder, process.pid)
    finally:
        os.killpg(process.pid, signal.SIGTERM)  # unshare, where there is one, does not pass it on
        process.wait(5)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def have_ssh() -> None:
    """Skips where there is no OpenSSH."""
    if missing := [tool for tool in ("ssh", "sshd", "ssh-keygen") if which(tool) is None]:
        pytest.skip(f"not installed: {', '.join(missing)} (sh lib/loadcurve/lab/system.sh install lab-test)")
