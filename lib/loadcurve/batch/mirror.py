"""The outputs of a batch in a remote folder: a copy for this machine, and what it adds is sent there.

What is complete is read from the remote folder.  An output is sent as it is moved into place: its old notebook is
removed, then come its figures, and the notebook last, so an output is complete when its notebook is there.
"""

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from loadcurve.batch.notebook import partial_of
from loadcurve.files.remote import RemoteFolder, files_below
from loadcurve.files.runtime import temporary_folder


@dataclass(frozen=True)
class Mirror:
    """A local copy of a remote folder."""

    remote: RemoteFolder
    folder: Path

    def shown(self, path: Path) -> str:
        """Return the URL of a file, for messages."""
        return f"{self.remote.url}/{path.name}"

    def send(self, paths: Iterable[Path]) -> None:
        """Send files."""
        self.remote.send(self.folder, [self._name(path) for path in paths])

    def send_output(self, output: Path) -> None:
        """Send an executed notebook and its figures, or the notebook that failed; remove what they replace."""
        partial, figures = partial_of(output), output.with_suffix(".figures")
        if not output.is_file():
            self.send([partial] if partial.is_file() else [])
            return
        sent = [self._name(path) for path in files_below(figures)]
        old = [f"{figures.name}/{name}" for name in RemoteFolder(self.shown(figures)).names()]
        self.remote.remove([output.name])
        self.remote.send(self.folder, sent)
        self.remote.remove([*(name for name in old if name not in sent), partial.name])
        self.remote.send(self.folder, [output.name])

    def _name(self, path: Path) -> str:
        return path.relative_to(self.folder).as_posix()


@contextlib.contextmanager
def mirrored(url: str, outputs: Iterable[str]) -> Iterator[Mirror]:
    """Yield a temporary copy of those outputs that are in a remote folder."""
    remote = RemoteFolder(url)
    remote.check_writable()
    wanted = {f"{name}.{suffix}" for name in outputs for suffix in ("ipynb", "figures")}
    with temporary_folder() as place:
        folder = place / remote.name
        folder.mkdir()
        remote.fetch([name for name in remote.names() if name.partition("/")[0] in wanted], folder)
        yield Mirror(remote, folder)
