"""How every nginx of the laboratory runs, whatever it serves: its process, its configuration down to ``events``."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Annotated

from loadcurve.errors import ValueRuleError
from loadcurve.lab.hosts.capabilities import Programs
from loadcurve.lab.servers.service import Service
from loadcurve.lab.servers.settings import check_path, check_program
from loadcurve.study.section import Check, Range, Section

_MAIN = """\
# A private nginx of the laboratory; started in the run's folder by the command in run.json.
daemon off;
# The workers read the run's folder, which may be its owner's alone; ignored where the master is not root.
user root;
worker_processes {workers};
{affinity}pid {work}/nginx.pid;
lock_file {work}/nginx.lock;
error_log stderr warn;
{modules}events {{
    worker_connections {connections};
}}
"""
_TEMPORARY = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")

Workers = Annotated[int, Range(1, 256)]


@dataclass(frozen=True)
class Process(Section):
    """How an nginx runs, whatever it serves."""

    program: Annotated[str, Check(check_program)] = "nginx"
    """Its name, or its absolute path."""

    modules: Annotated[tuple[str, ...], Check(check_path)] = ()
    """Absolute paths of the modules it has to load."""

    workers: Workers = 1
    """Its worker processes."""

    cpus: Annotated[tuple[int, ...], Range(0, 1023)] = ()
    """Processor of each worker, in their order; empty for no affinity."""

    connections: Annotated[int, Range(1, 1_000_000)] = 512
    """Largest number of concurrent connections to expect, of all workers; the laboratory makes room for those of the
    load in any case."""

    early_errors: bool = True
    """Whether it takes the option ``-e`` for errors before it has read its configuration: nginx from 1.19.5 on."""

    def _broken_rules(self) -> Iterator[ValueRuleError]:
        if self.cpus and len(self.cpus) != self.workers:
            yield ValueRuleError("cpus", f"one for each of {self.workers} workers, or none", self.cpus)

    @property
    def backlog(self) -> int:
        """Length of the accept queue: room for every connection at once, where the default of 511 drops SYNs."""
        return max(511, 2 * self.connections)

    def main(self, name: str) -> str:
        """Text of the configuration down to ``events``."""
        masks = " ".join(f"{1 << cpu:b}" for cpu in self.cpus)
        return _MAIN.format(
            workers=self.workers,
            affinity=f"worker_cpu_affinity {masks};\n" if masks else "",
            work=f"{name}.work",
            modules="".join(f"load_module {module};\n" for module in self.modules),
            # As many again for those to upstreams; at least nginx's own default of 512.
            connections=max(512, 2 * self.connections),
        )

    def service(self, name: str, blocks: Iterable[str], url: str, files: dict[str, str] | None = None) -> Service:
        """Return the service whose configuration is `main` and the given blocks."""
        return Service(
            name,
            "nginx",
            (self.program, "-p", ".", "-c", f"{name}.conf", *(("-e", "stderr") if self.early_errors else ())),
            files={f"{name}.conf": "\n".join((self.main(name), *blocks)), **(files or {})},
            folders=(f"{name}.work", *sorted({file.partition("/")[0] for file in files or () if "/" in file})),
            url=url,
        )


def http_directives(name: str) -> list[str]:
    """Directives that every ``http`` block of the laboratory has."""
    return [f"{kind}_temp_path {name}.work;" for kind in _TEMPORARY]


def block(head: str, lines: Iterable[str]) -> list[str]:
    """Lines of a block of the configuration."""
    return [f"{head} {{", *(f"    {line}" for line in lines), "}"]


def nginx_process(process: Process, connections: int, programs: Programs, *modules: str) -> Process:
    """Return how an nginx runs on a host: with room for its connections, and with the modules that it has to load."""
    missing = [name for name in modules if not any(path.endswith(name) for path in process.modules)]
    early = process.early_errors and programs.nginx_takes_early_errors(process.program)
    return replace(
        process,
        modules=(*process.modules, *map(programs.module, missing)),
        connections=max(process.connections, connections),
        early_errors=early,
    )
