"""Load generators as data: from validated settings to a command, private to a run's folder.

`Load` says what load to make, `generator` by which command, `split` by how many processes; `RULES` says what each
tool can be asked for and whether its loop is closed or open.  `start_at` lets several of them begin at one instant.
"""

from loadcurve.errors import ValueRuleError
from loadcurve.lab.generators import others, wrk
from loadcurve.lab.generators.barrier import begun_late_s, common_instant_ns, start_at
from loadcurve.lab.generators.generator import Generator, limit_s
from loadcurve.lab.generators.load import Load, split
from loadcurve.lab.generators.rules import RULES, Rules
from loadcurve.lab.hosts.names import check_stem

__all__ = [
    "RULES",
    "Generator",
    "Load",
    "Rules",
    "begun_late_s",
    "common_instant_ns",
    "generator",
    "split",
    "start_at",
]

_COMMANDS = {
    "wrk": wrk.wrk,
    "wrk2": wrk.wrk2,
    "ab": others.ab,
    "weighttp": others.weighttp,
    "h2load": others.h2load,
    "hey": others.hey,
}


def generator(load: Load, stem: str = "local") -> Generator:
    """Return the command that makes a load, with the files it needs and those it writes.

    Parameters
    ----------
    load : Load
        What to make, by one process: see `split`.
    stem : str
        What its files begin with: the host's name, and a number where it runs several processes.

    Raises
    ------
    ValueRuleError
        When the load is one of several processes, or `stem` is no name.

    Examples
    --------
    >>> made = generator(Load("hey", "http://127.0.0.1:8080/", 8, requests=800, keep_alive=False))
    >>> made.loop, " ".join(made.argv[:7])
    ('closed', 'hey -c 8 -cpus 1 -n 800')
    """
    check_stem(stem)
    if load.processes != 1:
        raise ValueRuleError("processes", "1 here: split the load first", load.processes)
    argv, files, outputs = _COMMANDS[load.tool](load, stem)
    return Generator(load.tool, RULES[load.tool].loop, argv, limit_s(load), files, outputs)
