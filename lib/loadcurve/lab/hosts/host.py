"""A host on which commands run: this machine, a network namespace of the laboratory, or a remote host."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Host:
    """A host: its name, its address, and the prefix of every command that runs on it.

    Examples
    --------
    >>> Host("S1", "10.99.0.2", ("ip", "netns", "exec", "lc1-S1"), (0,)).argv(("nginx", "-v"))
    ('ip', 'netns', 'exec', 'lc1-S1', 'taskset', '-c', '0', 'nginx', '-v')
    """

    name: str  # As the study calls it: `local`, or a role with a number such as `C1`, `LB` and `S2`
    address: str  # Where the other hosts reach it
    prefix: tuple[str, ...] = ()  # Before every command, such as `ip netns exec NAME`
    cpus: tuple[int, ...] = ()  # Processors to which commands are pinned; empty for all

    def argv(self, command: tuple[str, ...]) -> tuple[str, ...]:
        """Return the command as it is run from here."""
        pin = ("taskset", "-c", ",".join(map(str, self.cpus))) if self.cpus else ()
        return (*self.prefix, *pin, *command)


LOCAL = Host("local", "127.0.0.1")
"""This machine, by its loopback address."""
