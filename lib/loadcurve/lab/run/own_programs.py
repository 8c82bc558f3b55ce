"""What a study brings that is not loadcurve's: programs, servers that run already, machines; whether that is trusted.

Any other study starts only programs of this package, on loopback or in networks of its own.  The parts of a study have
a digest: that of a design is trusted, and so is one that this user has trusted on this machine.
"""

import contextlib
import hashlib
import json
import os
import pwd
import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from loadcurve.errors import LabError, printable
from loadcurve.files import paths
from loadcurve.lab.hosts.capabilities import ASSUMED
from loadcurve.lab.hosts.unprivileged import User
from loadcurve.lab.run.deployment import Deployment
from loadcurve.lab.run.obstacles import deployments, first_points
from loadcurve.lab.schedule.points import Point
from loadcurve.lab.study_file import StudyFile
from loadcurve.study import Study
from loadcurve.study.records import read_study

_PROGRAM = re.compile(
    r"load\.script|server\.command|(server|balancer)\.[a-z0-9_.]+\.(program|modules)|hosts\.\w+\.as_root"
)
_HOST = re.compile(r"server\.url|topology\.machines")
# Sent to a server that the study does not start: a POST to a service of this machine may start a program.
_REQUEST = re.compile(r"load\.(method|path|mix|headers|body)")
_BODY = "load.body"

Parts = dict[tuple[str, str], Point]
"""Place and value (JSON) of each part, programs first → the first point that has it."""


def own_parts(study: Study) -> Parts:
    """Return what the points of a study bring: programs, hosts, requests to them, and bodies of any request."""
    found: Parts = {}
    for point in first_points(study):
        values = {place: json.dumps(value, sort_keys=True) for place, value in _values(point.settings) if value}
        foreign = any(map(_HOST.fullmatch, values))
        kept = (item for item in values.items() if foreign or item[0] == _BODY or not _REQUEST.fullmatch(item[0]))
        found = dict.fromkeys(sorted(kept), point) | found
    return dict(sorted(found.items(), key=lambda item: [not kind.fullmatch(item[0][0]) for kind in (_PROGRAM, _HOST)]))


def _values(settings: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in settings.items():
        place = f"{above}{name}"
        if any(kind.fullmatch(place) for kind in (_PROGRAM, _HOST, _REQUEST)):
            yield place, value
        elif isinstance(value, Mapping):
            yield from _values(value, f"{place}.")


def describe_own(study: Study) -> Iterator[str]:
    """Yield lines that show what a study brings as a whole, with who runs or sends it as which user."""
    parts, ids = own_parts(study), (point.run_id for point in first_points(study))
    made = dict(zip(ids, deployments(study, ASSUMED), strict=True)) if parts else {}
    for (place, value), point in parts.items():
        yield f"  {place}{_purpose(place, *made[point.run_id])}:"
        yield from (f"    | {line}" for line in _lines(json.loads(value)))


_ALONE = {"server.url": ", which runs already and is loaded", "topology.machines": ", logged into and loaded"}


def _purpose(place: str, settings: StudyFile, made: Deployment) -> str:
    if place in _ALONE or place.startswith("hosts."):
        return _ALONE.get(place, "")
    users: dict[str, User | None] = {loader.host: loader.generator.user for loader in made.loaders}
    by = f"sent by {settings.load.tool}" if _REQUEST.fullmatch(place) else f"run by {settings.load.tool}"
    if not place.startswith("load."):
        services = {host: service.user for host, service in made.services}
        users, by = services if place.startswith("server.") else {made.balancer: None}, "run"
    hosts: dict[str, list[str]] = {}
    for host, user in users.items():
        url = settings.topology.ssh_of(host)
        name = user.name if user else f"the user of {url}" if url else pwd.getpwuid(os.geteuid()).pw_name
        hosts.setdefault(name, []).append(host)
    return f", {by} " + ", ".join(f"on {', '.join(names)} as {name}" for name, names in hosts.items())


def _lines(value: Any) -> list[str]:
    if isinstance(value, Mapping):
        return [f"{printable(str(name))}: {'; '.join(_lines(one))}" for name, one in value.items()]
    if isinstance(value, list):
        return [" ".join(quoted(str(word)) for word in value)]
    return [printable(line) for line in str(value).removesuffix("\n").split("\n")]


def quoted(word: str) -> str:
    r"""Return a word as a shell reads it, in characters that a terminal prints; others in the form ``$'…'`` of bash.

    Examples
    --------
    >>> print(quoted("a b"), quoted("it's\r\x1b[2K"))
    'a b' $'it\047s\015\033[2K'
    """
    if word.isprintable():
        return shlex.quote(word)
    plain = (c if c.isprintable() and c not in r"\'" else "".join(f"\\{b:03o}" for b in os.fsencode(c)) for c in word)
    return f"$'{''.join(plain)}'"


def is_trusted(study: Study) -> bool:
    """Return whether a study brings but bodies for servers of its own, or what a design has, or was trusted before."""
    parts = own_parts(study)
    if all(place == _BODY for place, _ in parts):
        return True
    with contextlib.suppress(OSError):
        if paths.is_own_folder((mark := _mark(parts)).parent, alone=True) and mark.exists():
            return True
    designs = (read_study(file) for file in sorted(paths.designs().glob("*/study.yml")))
    return any(own_parts(design).keys() == parts.keys() for design in designs)


def check_trusted(study: Study) -> None:
    """Raise `LabError` for a study that is not trusted."""
    if not is_trusted(study):
        raise LabError(
            f"{study.study} runs programs, or loads hosts, of somebody else: read them with `loadcurve launch --plan`, "
            "then launch it there with --trust"
        )


def trust(study: Study) -> None:
    """Trust what a study brings from now on; where this user can keep no files, only for this launch."""
    if not is_trusted(study):
        mark = _mark(own_parts(study))
        with contextlib.suppress(OSError):
            mark.parent.mkdir(0o700, parents=True, exist_ok=True)
            mark.touch(0o600)


def _mark(parts: Parts) -> Path:
    """Return the path of the empty file that says that parts are trusted, in a folder of this user alone."""
    named = Path(os.environ.get("XDG_STATE_HOME", ""))
    default = Path("/var/lib") if os.geteuid() == 0 else Path.home() / ".local" / "state"
    digest = hashlib.sha256(json.dumps(sorted(parts)).encode()).hexdigest()
    return (named if named.is_absolute() else default) / "loadcurve" / f"trusted-{digest}"
