"""Load generators: which loads each can make, its command, and where it comes from.

`Load` describes a load, `split` divides it among processes, and `command_of` returns the command of one process.
`start_at` starts several processes at one instant.  `GENERATORS` lists the constants of class `Generator`.
"""

from loadcurve.errors import ValueRuleError
from loadcurve.lab.tools.generators import programs
from loadcurve.lab.tools.generators.generator import Generator, GeneratorCommand, Load

_LIST = (
    programs.AB,
    programs.H2LOAD,
    programs.HEY,
    programs.K6,
    programs.OHA,
    programs.WEIGHTTP,
    programs.WRK,
    programs.WRK2,
)
GENERATORS: dict[str, Generator] = {generator.name: generator for generator in _LIST}
"""Generators by the name that a study uses."""


def generator_named(name: str) -> Generator:
    """Return a generator by its name; raise `ValueRuleError` for an unknown name."""
    if name not in GENERATORS:
        raise ValueRuleError("tool", f"one of {', '.join(GENERATORS)}", name)
    return GENERATORS[name]


def command_of(load: Load, stem: str = "local") -> GeneratorCommand:
    """Return the command of a load of one process, see `Generator.command`.

    Examples
    --------
    >>> command = command_of(Load("hey", "http://127.0.0.1:8080/", 8, requests=800, keep_alive=False))
    >>> " ".join(command.argv[:7])
    'hey -c 8 -cpus 1 -n 800'
    """
    return generator_named(load.tool).command(load, stem)
