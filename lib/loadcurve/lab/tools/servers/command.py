"""A server that the study starts by a command of its own."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from loadcurve.errors import ValueRuleError
from loadcurve.lab.tools.servers.server import Server, ServerGroup, ServerHost, Service
from loadcurve.lab.tools.servers.settings import check_program
from loadcurve.study.section import Section, broken_by


@dataclass(frozen=True)
class CommandSection(Section):
    """A command that starts a server in the foreground."""

    argv: tuple[str, ...]
    """Program and arguments. ``{address}`` and ``{port}`` in them stand for where it has to listen. It is run in the
    folder of the run and by no shell, so files have absolute paths. What it prints is kept with the run. A launch by
    root runs it as another user, who cannot write to that folder, see `hosts.NAME.as_root`."""

    ready: str = "/"
    """Path that responds with a status below 500 once the server is ready."""

    def _broken_rules(self) -> Iterator[ValueRuleError]:
        if any(self._broken_types()):
            return
        if not self.argv or any("\0" in word for word in self.argv):
            yield ValueRuleError("argv", "a program and its arguments", list(self.argv))
            return
        yield from broken_by(lambda: check_program("argv", self.argv[0]))
        if not any("{port}" in word for word in self.argv):
            yield ValueRuleError("argv", "with {port} in a word, where the server listens", list(self.argv))
        if not self.ready.startswith("/"):
            yield ValueRuleError("ready", "beginning with /", self.ready)


def _start(settings: CommandSection, host: ServerHost) -> ServerGroup:
    places = {"{address}": host.listen.address, "{port}": str(host.listen.port)}
    argv = settings.argv
    for place, value in places.items():
        argv = tuple(word.replace(place, value) for word in argv)
    url = host.listen.url + settings.ready.removeprefix("/")
    service = Service(host.name, PurePosixPath(argv[0]).name, argv, url=url)
    if (user := host.user) is not None:  # also a program that this user cannot run, which then fails
        own = user.argv(argv, host.listen.port)
        service = replace(service, argv=own, env=user.env, program=argv[0], user=user)
    return host.group(service)


COMMAND = Server(
    "command", "A program of yours, started by its command and stopped at the end.", CommandSection, _start
)
