"""Load the rules of a balancer for as long as a context lasts."""

import contextlib
import lzma
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

from loadcurve.errors import LabError
from loadcurve.lab.balancers.rules import Rules
from loadcurve.lab.hosts.executor import Executor
from loadcurve.lab.hosts.process import now
from loadcurve.lab.hosts.tools import FIXED, environment, version
from loadcurve.study import Command

# Ten thousand services are loaded within a second or two.
LIMIT_S = 30.0
# Longer rules are kept compressed: ten thousand services are 0.5 MB of almost equal lines.
_COMPRESSED_FROM_BYTES = 65_536


@contextlib.contextmanager
def loaded(rules: Rules, executor: Executor) -> Iterator[Command]:
    """Write the files of rules, load them, and at the end keep what the kernel holds and remove them.

    Yields the command as it ran.  ``NAME.TOOL.rules.txt`` has the rules as the tool prints them, which `Rules.load`
    takes again.  Long files are compressed at the end (``.xz``); `Command.unpacked` names the one that it loads.
    Raises LabError when the host is no namespace that the laboratory made, or the kernel refuses them.
    """
    if "netns" not in executor.host.prefix:
        raise LabError(f"rules are loaded only in a namespace of the laboratory, not on host {executor.host.name}")
    executor.put(rules.files)
    begun = now()
    argv = executor.argv(rules.load, LIMIT_S)
    _run(executor, argv, rules.stdin)
    exported = _run(executor, executor.argv(rules.export, LIMIT_S))
    printed = f"{rules.name}.{rules.tool.name}.rules.txt"
    (executor.folder / printed).write_text(exported, "utf-8")
    long = [
        name for name in (*rules.files, printed) if (executor.folder / name).stat().st_size >= _COMPRESSED_FROM_BYTES
    ]
    packed = next((f"{name}.xz" for name in long if name != printed), "")
    try:
        yield Command(
            "balancer", rules.tool.name, argv, "", "", LIMIT_S,
            version=version(rules.tool), host=executor.host.name, env=dict(FIXED), started_at=begun, ended_at=now(),
            exit_code=0, stdin=rules.stdin, unpacked=packed,
        )  # fmt: skip
    finally:
        _run(executor, executor.argv(rules.remove, LIMIT_S))
        for name in long:
            _compress(executor.folder / name)


def _compress(path: Path) -> None:
    with lzma.open(f"{path}.xz", "wb") as packed:
        packed.write(path.read_bytes())
    path.unlink()


def _run(executor: Executor, argv: tuple[str, ...], stdin: str = "") -> str:
    """What a command prints; its input is a file of the run's folder."""
    with (executor.folder / (stdin or os.devnull)).open("rb") as given:
        done = subprocess.run(
            argv, cwd=executor.folder, env=environment(), stdin=given, capture_output=True, check=False
        )
    if done.returncode:
        words = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise LabError(f"{executor.host.name}: {words[-1] if words else f'exit code {done.returncode}'}")
    return done.stdout.decode("utf-8", "replace")
