"""Rules for `run.json` that types cannot express; each fault is reported with its key, rule and value.

The seal shows that a record was not changed, but another program or version may have written invalid values.  Values
that pass these rules need no further checks.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import fields
from datetime import datetime
from typing import Any

from loadcurve.study import SECTIONS, Command, Run
from loadcurve.study.run import FUNCTIONS

_FILE_NAME = re.compile(r"(?!\.\.?$)[^/\x00\ud800-\udfff]+")  # a file in the run's folder, never outside it
_SHA256 = re.compile(r"[0-9a-f]{64}")
_UTC = re.compile(r"20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?(Z|\+00:00)")
STATUSES = ("running", "finished", "failed", "interrupted")
ROLES = ("server", "balancer", "collector", "warm_up", "generator", FUNCTIONS)
_WHOLE = {
    "connections": " from 1",
    "repeat": " from 1",
    "order": "",
    "threads": "",
    "server_cpu": "",
    "generator_cpu": "",
}
_TEXTS = ("url", "recipe")
_EVENT = {"at", "host", "what"}
_LARGEST = 2**63  # limit of an integer in a table


def broken_rules(run: Run) -> Iterator[tuple[str, str, str]]:
    """Yield key, rule and value for each broken rule of a record; its values must have the declared types."""
    yield from _broken_factors(run.factors)
    yield from _broken_machine(run.machine)
    yield from _broken_background(run.background)
    for event in run.events:
        if set(event) != _EVENT or not _is_utc(event["at"]):
            yield "events", "events with at (a time in UTC), host and what", repr(event)
    if run.status not in STATUSES:
        yield "status", f"one of {', '.join(STATUSES)}", run.status
    for command in run.commands:
        yield from _broken_command(command, run.status)
    if run.status == "finished" and all(command.role not in ("generator", FUNCTIONS) for command in run.commands):
        yield "commands", "a generator, as the run is finished", "none"
    for name, recorded in run.files.items():
        yield from _broken_file(name, recorded)
    for one in fields(run):
        for odd in _odd_values(getattr(run, one.name)):
            yield one.name, "valid text and finite numbers below 2^63", odd


def _broken_command(command: Command, status: str) -> Iterator[tuple[str, str, str]]:
    if command.role not in ROLES:
        yield "commands", f"role to be one of {', '.join(ROLES)}", command.role
    for name in (command.stdout, command.stderr, command.unpacked, command.stdin, *command.folders):
        if name and not _FILE_NAME.fullmatch(name):
            yield "commands", "the name of a file in the run's folder", name
    never = not command.started_at and not command.ended_at and command.exit_code is None
    for time in (command.started_at, command.ended_at):
        if not never and not _is_utc(time):
            yield "commands", "a time in UTC such as 2026-11-21T00:23:46.582660Z", time
    if command.role == "generator" and status == "finished" and never:
        yield "commands", "a generator that ran, as the run is finished", "one that never started"


def _broken_file(name: str, recorded: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    if not _FILE_NAME.fullmatch(name):
        yield "files", "the name of a file in the run's folder", name
    size, sha256 = recorded.get("bytes"), recorded.get("sha256")
    if set(recorded) != {"bytes", "sha256"}:
        yield "files", f"bytes and sha256 of {name!r}", ", ".join(recorded) or "neither"
    if not isinstance(size, int) or isinstance(size, bool) or size < 0:
        yield "files", f"bytes of {name!r} to be a whole number", repr(size)
    if not isinstance(sha256, str) or not _SHA256.fullmatch(sha256):
        yield "files", f"sha256 of {name!r} to be 64 hexadecimal digits", repr(sha256)


def _is_utc(time: str) -> bool:
    try:
        return bool(_UTC.fullmatch(time) and datetime.fromisoformat(time))
    except ValueError:
        return False


def _odd_values(value: Any) -> Iterator[str]:
    """Yield texts that are not valid Unicode and numbers that no table can hold, at any depth."""
    if isinstance(value, str):
        if any("\ud800" <= letter <= "\udfff" for letter in value):
            yield ascii(value)
    elif isinstance(value, dict):
        for item in (*value, *value.values()):
            yield from _odd_values(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _odd_values(item)
    elif isinstance(value, float) and not math.isfinite(value):
        yield str(value)
    elif isinstance(value, int) and abs(value) >= _LARGEST:
        yield f"{str(value)[:20]}…"
    elif hasattr(value, "__dataclass_fields__"):
        yield from _odd_values(vars(value))


def _broken_factors(factors: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    for name, rule in _WHOLE.items():
        if (value := factors.get(name)) is not None and (not isinstance(value, int) or isinstance(value, bool)):
            yield "factors", f"{name} to be a whole number{rule}", str(value)
    if not _is_number(factors.get("seconds", 0)):
        yield "factors", "seconds to be a number", repr(factors["seconds"])
    for name in _TEXTS:
        if not isinstance(factors.get(name, ""), str):
            yield "factors", f"{name} to be text", repr(factors[name])
    shares = factors.get("expected_shares", {})
    if not isinstance(shares, dict) or not all(_is_number(share) and 0 <= share <= 1 for share in shares.values()):
        yield "factors", "expected_shares to be a mapping of servers to numbers from 0 to 1", repr(shares)
    settings = factors.get("settings", {})
    for name in SECTIONS if isinstance(settings, dict) else ():
        if not isinstance(settings.get(name, {}), dict):
            yield "factors", f"settings of {name} to be a mapping", repr(settings[name])


def _broken_machine(machine: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    hosts = machine.get("hosts", {})
    if not isinstance(hosts, dict) or not all(isinstance(facts, dict) for facts in hosts.values()):
        yield "machine", "hosts to be a mapping of names to facts", repr(hosts)
        return
    for name, facts in hosts.items():
        if not _is_number(facts.get("clock_offset_s", 0)):
            yield "machine", f"clock_offset_s of {name} to be a number", repr(facts["clock_offset_s"])


def _broken_background(background: dict[str, dict[str, Any]]) -> Iterator[tuple[str, str, str]]:
    for machine, used in background.items():
        cpus, times = used.get("cpus"), {name: used.get(name, 0) for name in ("other_cpu_s", "steal_s")}
        if not isinstance(cpus, list) or not cpus:
            yield "background", f"cpus of {machine} to be a list of processors", repr(cpus)
        if not _is_number(used.get("seconds")) or not used["seconds"] > 0:
            yield "background", f"seconds of {machine} to be a number over 0", repr(used.get("seconds"))
        for name, value in times.items():
            if not _is_number(value) or value < 0:
                yield "background", f"{name} of {machine} to be a number from 0", repr(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
