"""What runs beside the load: servers, proxies and balancers, as data.

A recipe is a pure function from settings to a `Service`; the runner writes its files, starts it on its host, waits
until it answers and stops it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Service:
    """A process to start in a run's folder.

    Attributes
    ----------
    name : str
        Its own among the services of a run: letters, digits and ``-``.  Its files and streams begin with it.
    tool : str
        Which program it is, as `TOOLS` calls it.
    argv : tuple of str
        The command, run in the run's folder; never a shell.
    files : mapping of str to str
        Name of each file in the run's folder → its text, written before the start and kept with the run.
    folders : tuple of str
        Made empty in the run's folder before the start, and removed after the end with all that is in them.
    env : mapping of str to str
        Set beyond the caller's environment.
    url : str
        Where it answers once it is ready; empty where there is nothing to ask.
    stop : str
        Signal that ends it orderly.
    """

    name: str
    tool: str
    argv: tuple[str, ...]
    files: Mapping[str, str] = field(default_factory=dict)
    folders: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    url: str = ""
    stop: str = "TERM"
