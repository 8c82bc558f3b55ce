"""Processes that run during a load, as data: servers, proxies and databases.

A pure function returns a `Service` for given settings; a run writes its files, starts it on its host, waits until it
responds, and stops it.
"""

import io
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Service:
    """A process to start in a run's folder."""

    name: str  # Unique among the services of a run: letters, digits and `-`.  Its files and streams begin with it.
    tool: str
    argv: tuple[str, ...]  # The command, run in the run's folder; no shell reads a value of a study
    # Name of each file in the run's folder → its text, written before the start and kept with the run.
    files: Mapping[str, str] = field(default_factory=dict)
    # Made empty in the run's folder before the start, and removed after the end with all that is in them.
    folders: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)  # Set beyond `tools.environment`
    url: str = ""  # Where it responds when it is ready; empty for a process without a URL
    stop: str = "TERM"  # Signal that ends it cleanly
    program: str = ""  # Name or path of the program itself, where it is not the first word of `argv`


def packed(service: Service, folder: Path) -> str:
    """Pack the files in the folders of a service, which are removed after a run: ``NAME.folders.tar.gz``.

    Returns the name of the archive; empty if there are no such files.
    """
    inner = {name: text.encode("utf-8") for name, text in service.files.items() if "/" in name}
    if not inner:
        return ""
    archive = folder / f"{service.name}.folders.tar.gz"
    # The fastest compression, because the load waits for it; bodies of one repeated letter still shrink.
    with tarfile.open(archive, "w:gz", compresslevel=1) as file:
        for name, content in inner.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(content), 0o644
            file.addfile(entry, io.BytesIO(content))
    return archive.name
