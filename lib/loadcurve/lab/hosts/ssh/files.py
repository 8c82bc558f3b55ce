"""Check the names of files sent to a host, and receive files from it."""

import json
from collections.abc import Collection, Iterable
from pathlib import Path, PurePosixPath

from loadcurve.errors import LabError, ValueRuleError
from loadcurve.lab.hosts.ssh.reader import Reader

# The logs of a run are far smaller; a host that sends more is broken or hostile.
MAX_BYTES = 4 * 1024**3
MAX_FILES = 20_000


def check_names(names: Iterable[str]) -> None:
    """Raise ValueRuleError for a name that points outside a folder, has an empty part or an unprintable character.

    Examples
    --------
    >>> check_names(["www/index.html", ".htaccess"])
    """
    for name in names:
        parts = PurePosixPath(name).parts
        if not parts or ".." in parts or "/".join(parts) != name or name.startswith("/") or not name.isprintable():
            raise ValueRuleError("name of a file", "below its folder, in letters that print", name)


def receive(reader: Reader, folder: Path, sender: str, streams: Collection[str] = ()) -> None:
    """Write the files that `remote_agent.send` prints to a folder.

    The sender is not trusted: every file is written inside the folder, and never replaces an existing file.  Only an
    empty one of the `streams`, which hold the output of remote commands, is replaced if a command wrote a file of the
    same name itself.  Raises LabError, which names the `sender`, when a name points outside the folder or exists
    already, or when the host sends more than `MAX_BYTES` bytes or `MAX_FILES` files.
    """
    left_bytes = MAX_BYTES
    for _ in range(MAX_FILES):
        heading = json.loads(reader.line())
        name, size = heading["name"], heading["size"]
        if name == "" and size == 0:
            return
        if not isinstance(name, str) or not isinstance(size, int) or size < 0:
            raise LabError(f"{sender}: a file must have a name and a size, got {heading}")
        left_bytes -= size
        if left_bytes < 0:
            raise LabError(f"{sender}: its files must be smaller than {MAX_BYTES} bytes together")
        try:
            check_names([name])
        except ValueRuleError as error:
            raise LabError(f"{sender}: {error}") from None
        if name in streams and not (folder / name).stat().st_size:
            (folder / name).unlink()
        _write(reader, folder, name, size, sender)
    raise LabError(f"{sender}: it must have fewer than {MAX_FILES} files")


def _write(reader: Reader, folder: Path, name: str, size: int, sender: str) -> None:
    path = folder / name
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.parent.resolve().is_relative_to(folder.resolve()):
            raise LabError(f"{sender}: {name} leads out of the run's folder")
        file = path.open("xb")  # "x" neither follows a link nor overwrites a file
    except (FileExistsError, NotADirectoryError):
        raise LabError(f"{sender}: there is another {name} in the run's folder already") from None
    with file:
        for part in reader.parts(size):
            file.write(part)
