"""Sections of a study and the places in them: a factor or a variant sets the value of a place."""

import copy
import re
from collections.abc import Iterator
from typing import Any

SECTIONS = ("topology", "hosts", "links", "server", "balancer", "load", "monitors", "fault", "functions")
"""Sections of a study that define what is run; a factor is a place in one of them."""

PLACE = re.compile(r"[a-z][a-z0-9_]*(\.[A-Za-z][A-Za-z0-9_.]*)?")
"""Form of a place: ``section.key.key``, or the name of a key of `load`."""

Mapping = dict[str, Any]


def is_place(name: str) -> bool:
    """Return whether a name has the form of a place, so that it can be a factor.

    Examples
    --------
    >>> is_place("connections"), is_place("server.nginx.layout"), is_place("serve.nginx"), is_place("../x")
    (True, True, False, False)
    """
    return bool(PLACE.fullmatch(name)) and len(name) <= 100 and ("." not in name or name.partition(".")[0] in SECTIONS)


def place_of(name: str) -> tuple[str, ...]:
    """Return the path of a place in the sections.

    Examples
    --------
    >>> place_of("connections"), place_of("server.nginx.process.workers"), place_of("balancer")
    (('load', 'connections'), ('server', 'nginx', 'process', 'workers'), ('balancer',))
    """
    words = tuple(name.split("."))
    return words if words[0] in SECTIONS else ("load", *words)


def settled(sections: Mapping, *changes: Mapping) -> Mapping:
    """Return sections with changes applied in order; the arguments stay unchanged.

    Examples
    --------
    >>> settled({"load": {"connections": 1}}, {"connections": 8, "server.nginx.process.workers": 2})
    {'load': {'connections': 8}, 'server': {'nginx': {'process': {'workers': 2}}}}
    """
    result = copy.deepcopy(sections)
    for name, value in (item for change in changes for item in change.items()):
        *path, last = place_of(name)
        inner = result
        for word in path:
            if not isinstance(inner.get(word), dict):
                inner[word] = {}
            inner = inner[word]
        inner[last] = copy.deepcopy(value)
    return result


def in_one_word(sections: Mapping) -> Mapping:
    """Return settings as runs recorded them before studies had sections: the server as one word, and the load.

    Examples
    --------
    >>> server = {"nginx": {"response": {"delay": {"delay_ms": 10}}}}
    >>> in_one_word({"server": server, "load": {"connections": 8, "duration_s": 6}})
    {'recipe': 'delay 10ms', 'connections': 8, 'threads': 1, 'seconds': 6}
    """
    server, load = sections.get("server", {}), sections.get("load", {})
    delay = server.get("nginx", {}).get("response", {}).get("delay")
    return {
        "recipe": server.get("url") or (f"delay {delay['delay_ms']}ms" if delay else "cpu"),
        "connections": load.get("connections", 1),
        "threads": load.get("threads", 1),
        "seconds": load.get("duration_s", 0),
    }


def differences(held: Any, declared: Any, place: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield each place at which two settings differ, with both values; None for a missing value.

    Examples
    --------
    >>> list(differences({"load": {"threads": 1}}, {"load": {"threads": 2}}))
    [('load.threads', 1, 2)]
    """
    if isinstance(held, dict) and isinstance(declared, dict):
        for key in dict.fromkeys((*held, *declared)):
            yield from differences(held.get(key), declared.get(key), f"{place}.{key}".removeprefix("."))
    elif held != declared:
        yield place, held, declared
