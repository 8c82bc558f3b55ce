"""Files on their way to a host and back: what may be named, and what may come."""

import json
from collections.abc import Collection, Iterable
from pathlib import Path, PurePosixPath

from loadcurve.errors import LabError, ValueRuleError
from loadcurve.lab.hosts.ssh.reader import Reader

# A run's logs are far below this; a host that sends more is broken or hostile.
MOST_BYTES = 4 * 1024**3
MOST_FILES = 20_000


def check_names(names: Iterable[str]) -> None:
    """Refuse names that would lead out of a folder.

    Raises
    ------
    ValueRuleError
        For an absolute name, one with ``..`` or an empty part, or with a letter that cannot be printed.

    Examples
    --------
    >>> check_names(["www/index.html", ".htaccess"])
    """
    for name in names:
        parts = PurePosixPath(name).parts
        if not parts or ".." in parts or "/".join(parts) != name or name.startswith("/") or not name.isprintable():
            raise ValueRuleError("name of a file", "below its folder, in letters that print", name)


def receive(reader: Reader, folder: Path, sender: str, streams: Collection[str] = ()) -> None:
    """Write the files that `remote_agent.send` prints into a folder.

    The sender is not trusted: a file comes to lie in the folder or nowhere, never in the place of another one.

    Parameters
    ----------
    reader : Reader
        What it prints.
    folder : pathlib.Path
        Where its files go.
    sender : str
        Its name, for errors.
    streams : collection of str
        Files here for what commands there print; one that is empty gives way to one that the command wrote itself.

    Raises
    ------
    LabError
        When a name leads out of the folder or is there already, or there is more than `MOST_BYTES` or `MOST_FILES`.
    """
    left_bytes = MOST_BYTES
    for _ in range(MOST_FILES):
        heading = json.loads(reader.line())
        name, size = heading["name"], heading["size"]
        if name == "" and size == 0:
            return
        if not isinstance(name, str) or not isinstance(size, int) or size < 0:
            raise LabError(f"{sender}: a file must have a name and a size, got {heading}")
        left_bytes -= size
        if left_bytes < 0:
            raise LabError(f"{sender}: its files must be smaller than {MOST_BYTES} bytes together")
        try:
            check_names([name])
        except ValueRuleError as error:
            raise LabError(f"{sender}: {error}") from None
        if name in streams and not (folder / name).stat().st_size:
            (folder / name).unlink()
        _write(reader, folder, name, size, sender)
    raise LabError(f"{sender}: it must have fewer than {MOST_FILES} files")


def _write(reader: Reader, folder: Path, name: str, size: int, sender: str) -> None:
    path = folder / name
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.parent.resolve().is_relative_to(folder.resolve()):
            raise LabError(f"{sender}: {name} leads out of the run's folder")
        file = path.open("xb")  # never through a link, never over a file
    except (FileExistsError, NotADirectoryError):
        raise LabError(f"{sender}: there is another {name} in the run's folder already") from None
    with file:
        for part in reader.parts(size):
            file.write(part)
