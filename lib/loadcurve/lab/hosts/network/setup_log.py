"""Record the commands that created the hosts of a run, so that a reader can repeat them by hand.

``hosts.json`` lists the commands that create the hosts (``before``) and those that remove them (``after``), in order,
each with its ``argv`` and ``stdin``.  A command with ``stays`` runs as long as the hosts, and first prints ``ready``.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path

from loadcurve.lab.hosts.network.commands import Invocation

NAME = "hosts.json"


@dataclass
class SetupLog:
    """Commands that created the hosts of a run."""

    # `before` and `after`: commands that create the hosts and commands that remove them, in order.
    before: list[Invocation] = field(default_factory=list)
    after: list[Invocation] = field(default_factory=list)
    # Files that the commands need, written to the run's folder: name → text.
    files: dict[str, str] = field(default_factory=dict)

    def note(self, made: Iterable[Invocation]) -> list[Invocation]:
        """Add commands that are about to be run, and return them as a list."""
        made = list(made)
        self.before += made
        return made

    def keep(self, folder: Path) -> None:
        """Write ``hosts.json`` and its files to a run's folder; write nothing if no commands were recorded."""
        if not self.before:
            return
        steps = {"before": list(map(asdict, self.before)), "after": list(map(asdict, self.after))}
        for name, text in {**self.files, NAME: json.dumps(steps, indent=1) + "\n"}.items():
            (folder / name).write_text(text, "utf-8")
