"""How the hosts of a run were made, kept with the run: a reader can make them again by hand.

``hosts.json`` has ``before`` and ``after``: what made the hosts and what removes them, in order, each an ``argv`` with
its ``stdin``.  What ``stays`` runs as long as the hosts and says ``ready`` first.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path

from loadcurve.lab.hosts.network.commands import Invocation

NAME = "hosts.json"


@dataclass
class SetupLog:
    """What made the hosts of a run.

    Attributes
    ----------
    before, after : list of Invocation
        What made them, and what removes them; in order.
    files : dict of str to str
        Files of the run's folder that it takes: name → text.
    """

    before: list[Invocation] = field(default_factory=list)
    after: list[Invocation] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)

    def note(self, made: Iterable[Invocation]) -> list[Invocation]:
        """Note what is about to be run, and return it."""
        made = list(made)
        self.before += made
        return made

    def keep(self, folder: Path) -> None:
        """Write it into a run's folder; nothing where nothing was made."""
        if not self.before:
            return
        steps = {"before": list(map(asdict, self.before)), "after": list(map(asdict, self.after))}
        for name, text in {**self.files, NAME: json.dumps(steps, indent=1) + "\n"}.items():
            (folder / name).write_text(text, "utf-8")
