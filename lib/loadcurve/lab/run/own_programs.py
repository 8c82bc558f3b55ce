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
from loadcurve.files.atomic import runtime_folder
from loadcurve.lab.hosts.network.topology import BLOCKS
from loadcurve.lab.run.deployment import host_slots, with_role
from loadcurve.lab.run.obstacles import first_points
from loadcurve.lab.study_file import StudyFile
from loadcurve.lab.study_file.study_file import settings_of_point
from loadcurve.study import Study
from loadcurve.study.records import read_study

_PROGRAM = re.compile(
    r"load\.script|server\.command|(server|balancer)\.[a-z0-9_.]+\.(program|modules)|hosts\.\w+\.as_root"
)
_HOST = re.compile(r"server\.url|topology\.machines")
# Sent to a server that the study does not start: a POST to a service of this machine may start a program.
_REQUEST = re.compile(r"load\.(method|path|mix|headers|body)")
_BODY = "load.body"

Parts = dict[tuple[str, str], StudyFile]
"""Place and value (JSON) of each part, programs first → the sections of the first point that has it."""


def own_parts(study: Study) -> Parts:
    """Return what the points of a study bring: programs, hosts, requests to them, and bodies of any request."""
    found: Parts = {}
    for point in first_points(study):
        values = {place: json.dumps(value, sort_keys=True) for place, value in _values(point.settings) if value}
        foreign = any(map(_HOST.fullmatch, values))
        kept = {item for item in values.items() if foreign or item[0] == _BODY or not _REQUEST.fullmatch(item[0])}
        if new := kept - found.keys():
            found |= dict.fromkeys(sorted(new), settings_of_point(study, dict(point.settings)))
    return dict(sorted(found.items(), key=lambda item: [not kind.fullmatch(item[0][0]) for kind in (_PROGRAM, _HOST)]))


def _values(settings: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in settings.items():
        place = f"{above}{name}"
        if any(kind.fullmatch(place) for kind in (_PROGRAM, _HOST, _REQUEST)):
            yield place, value
        elif isinstance(value, Mapping):
            yield from _values(value, f"{place}.")


def describe_own(parts: Parts) -> Iterator[str]:
    """Yield lines that show each part as a whole, with who runs or sends it as which user."""
    for (place, value), settings in parts.items():
        yield f"  {place}{_purpose(place, settings)}:"
        yield from (f"    | {line}" for line in _lines(json.loads(value)))


def _purpose(place: str, settings: StudyFile) -> str:
    slots, tool = host_slots(settings, BLOCKS[0]), settings.load.tool
    role = {"load": "C", "server": "S", "balancer": "LB"}.get(place.partition(".")[0], "")
    own = role and (place == "server.command" or role == "C")
    users: dict[str, list[str]] = {}
    for slot in with_role(slots, role):
        user = slot.user if own and slot.user and (role == "S" or slot.user.can_run(tool)) else None
        url = settings.topology.ssh_of(slot.name)
        name = user.name if user else f"the user of {url}" if url else pwd.getpwuid(os.geteuid()).pw_name
        users.setdefault(name, []).append(slot.name)
    by = ", ".join(f"on {', '.join(names)} as {name}" for name, names in users.items())
    if place == "load.script":
        number = "" if settings.load.processes == 1 else "-N"
        files = ", ".join(f"{slot.name}{number}.{tool}.lua" for slot in with_role(slots, role))
        return f", Lua in {files}, run by {tool} {by}"
    if _REQUEST.fullmatch(place):
        return f", sent by {tool} {by}"
    known = {"server.url": ", which runs already and is loaded", "topology.machines": ", logged into and loaded"}
    return known.get(place) or (f", run {by}" if role else "")


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
    'a b' $'it\'s\r\033[2K'
    """
    if word.isprintable():
        return shlex.quote(word)
    short = {"\n": r"\n", "\r": r"\r", "\t": r"\t", "'": r"\'", "\\": r"\\"}
    octal = (c if c.isprintable() else "".join(f"\\{byte:03o}" for byte in os.fsencode(c)) for c in word)
    return "$'" + "".join(short.get(c, shown) for c, shown in zip(word, octal, strict=True)) + "'"


def is_trusted(parts: Parts) -> bool:
    """Return whether parts are none but bodies for servers of the study, those of a design, or trusted before."""
    if all(place == _BODY for place, _ in parts):
        return True
    with contextlib.suppress(OSError):
        if _mark(parts).exists():
            return True
    designs = (read_study(file) for file in sorted(paths.designs().glob("*/study.yml")))
    return any(own_parts(design).keys() == parts.keys() for design in designs)


def check_trusted(study: Study) -> None:
    """Raise `LabError` for a study whose parts are not trusted."""
    if not is_trusted(own_parts(study)):
        raise LabError(
            f"{study.study} runs programs, or loads hosts, of somebody else: read them with `loadcurve launch "
            f"{study.study} --plan`, then launch it there with --trust"
        )


def trust(study: Study) -> None:
    """Trust the parts of a study from now on; where this user can keep no files, only for this launch."""
    if not is_trusted(parts := own_parts(study)):
        with contextlib.suppress(OSError):
            _mark(parts).touch(0o600)


def _mark(parts: Parts) -> Path:
    """Return the path of the empty file that says that parts are trusted, in a folder of this user alone."""
    default = Path("/var/lib") if os.geteuid() == 0 else Path.home() / ".local" / "state"
    state = Path(os.environ.get("XDG_STATE_HOME") or default)
    state.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256(json.dumps(sorted(parts)).encode()).hexdigest()
    return runtime_folder(state / "loadcurve") / f"trusted-{digest}"
