"""One run: server, collectors and generator started together, stopped in order, everything they said kept."""

import contextlib
import os
import shutil
import socket
import time
import urllib.request
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from loadcurve.errors import LabError
from loadcurve.lab import monitors, nginx, reserve
from loadcurve.lab.generators import Generator, Load, generator
from loadcurve.lab.obstacles import echo_module
from loadcurve.lab.plan import Point
from loadcurve.lab.process import Started, guarded, start, stop, wait
from loadcurve.lab.tools import version
from loadcurve.records import fingerprint, write_run
from loadcurve.study import Command, Run, Study

# A private nginx answers within a few ms of its start; 5 s leaves room for a busy machine.
_SERVER_START_LIMIT_S = 5.0
# The collectors' first sample must stand before the load's first second.
_COLLECTOR_LEAD_S = 0.3


def run_point(study: Study, point: Point, folder: Path, here: dict) -> Run:
    """One run, from an empty folder to a `run.json` that says how it ended.

    A run is finished when the generator ended as planned and the server outlived it.  A collector that ended early or
    wrote nothing leaves a warning: the load was real, but something that should have watched it did not.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    factors = _factors(study, point)
    apart = factors["server_cpu"] is not None
    alone = () if apart else ("one processor: server and generator share it, so the curve is that of both",)
    run = Run(study.study, point.run_id, "running", factors, here, warnings=alone)
    try:
        with reserve.told():
            write_run(run, folder)
            reserve.take(folder)
    except LabError:
        shutil.rmtree(folder)  # nothing was begun
        raise
    commands: list[Command] = []
    status, reason, warnings = "interrupted", "the launcher was interrupted", []
    try:
        with reserve.told(), contextlib.ExitStack() as stack:

            def beside(command: Command) -> Started:
                started = start(command, folder)
                stack.callback(lambda: commands.append(stop(started)))
                return started

            loader = generator(_load_of(study, point, factors))
            limit_s = loader.limit_s
            server = None
            if not is_url(factors["recipe"]):
                server = beside(_server(study, factors, folder, limit_s + 10))
                _wait_until_it_answers(server, factors["url"], folder)
            watching = []
            for texts in _collectors(port_of(factors["url"]), limit_s + 10, folder):
                watching.append(started := start(texts[0], folder))
                stack.callback(lambda s=started, t=texts: commands.extend(_each(stop(s), t)))
            time.sleep(_COLLECTOR_LEAD_S)
            load = start(_load(loader, factors, folder), folder)
            stack.callback(lambda: None if load.process.poll() is not None else commands.append(stop(load)))
            done = wait(load)
            commands.append(done)
            status, reason = _verdict(done, server, folder)
            warnings = [f"{c.command.tool} ended before the load did" for c in watching if c.process.poll() is not None]
    except LabError as error:
        status, reason = "failed", str(error)
    finally:
        if reserve.release(folder) and status != "interrupted":
            status, reason = "failed", f"{reserve.FULL}: what the tools wrote may be cut"
        run = _closed(replace(run, status=status, reason=reason), commands, warnings, folder)
    return run


def _factors(study: Study, point: Point) -> dict:
    recipe, cpus = study.variants[point.variant], sorted(os.sched_getaffinity(0))
    apart = len(cpus) > 1
    return {
        "variant": point.variant,
        "recipe": recipe,
        "connections": point.connections,
        "repeat": point.repeat,
        "order": point.order,
        "threads": study.threads,
        "seconds": study.seconds,
        "response_bytes": study.response_bytes,
        "url": recipe if is_url(recipe) else f"http://127.0.0.1:{free_port()}/",
        "server_cpu": cpus[0] if apart and not is_url(recipe) else None,
        "generator_cpu": cpus[-1] if apart else None,
    }


def _load_of(study: Study, point: Point, factors: dict) -> Load:
    threads = min(study.threads, point.connections)
    return Load("wrk", factors["url"], point.connections, threads=threads, duration_s=study.seconds)


def _load(loader: Generator, factors: dict, folder: Path) -> Command:
    for name, text in loader.files.items():
        (folder / name).write_text(text, "utf-8")
    return Command(
        "generator",
        loader.tool,
        guarded(loader.argv, loader.limit_s, factors["generator_cpu"]),
        f"local.{loader.tool}.txt",
        f"local.{loader.tool}.err",
        loader.limit_s,
        version=version(loader.tool),
    )


def _server(study: Study, factors: dict, folder: Path, limit_s: float) -> Command:
    text = nginx.configuration(
        factors["recipe"],
        port=port_of(factors["url"]),
        body_bytes=study.response_bytes,
        connections=max(study.connections),
        echo_module=echo_module(),
    )
    (folder / "local.nginx.conf").write_text(text, "utf-8")
    (folder / ".work").mkdir()
    return Command(
        "server",
        "nginx",
        guarded(nginx.argv("local.nginx.conf", version("nginx")), limit_s, factors["server_cpu"]),
        "local.nginx.txt",
        "local.nginx.err",
        limit_s,
        version=version("nginx"),
    )


def _collectors(port: int, limit_s: float, folder: Path) -> list[list[Command]]:
    """For each process that watches, the commands that it stands for: one for each text that it writes."""
    chosen = {m.name: m for m in (monitors.sar(), monitors.ss_summary(), monitors.ss_connections((port,)))}
    found = []
    for watcher in monitors.watchers(chosen.values()):
        for name, text in watcher.files.items():
            (folder / name).write_text(text, "utf-8")
        found.append(
            [
                Command(
                    "collector",
                    chosen[name].tool,
                    guarded(watcher.argv, limit_s),
                    file,
                    watcher.stderr,
                    limit_s,
                    variant=chosen[name].variant,
                    version=version(chosen[name].tool),
                    env=dict(watcher.env),
                )
                for name, file in watcher.outputs.items()
            ]
        )
    return found


def _each(ended: Command, texts: list[Command]) -> list[Command]:
    """One process as it ran, once for each text that it wrote."""
    times = {name: getattr(ended, name) for name in ("started_at", "ended_at", "exit_code")}
    return [replace(text, **times) for text in texts]


def _verdict(load: Command, server: Started | None, folder: Path) -> tuple[str, str]:
    """Whether server and generator did their work; what the numbers are worth is the audit's business."""
    if server is not None and server.process.poll() is not None:
        return "failed", f"nginx ended during the run with exit code {server.process.returncode}" + _last_words(
            folder / server.command.stderr
        )
    if load.exit_code == 124:
        return "failed", f"{load.tool} was ended at its limit of {load.limit_s:g} s"
    if load.exit_code != 0:
        said = _last_words(folder / load.stderr) or _last_words(folder / load.stdout)
        return "failed", f"{load.tool} ended with exit code {load.exit_code}{said}"
    return "finished", ""


def _last_words(file: Path) -> str:
    lines = file.read_text("utf-8", "replace").strip().splitlines() if file.exists() else []
    return f": {lines[-1]}" if lines else ""


def _closed(run: Run, commands: list[Command], warnings: list[str], folder: Path) -> Run:
    """Write the last word on a run: its commands in order of start, its files with their fingerprints."""
    shutil.rmtree(folder / ".work", ignore_errors=True)
    kept = []
    for command in sorted(commands, key=lambda c: c.started_at):
        streams = {}
        for stream in ("stdout", "stderr"):
            file = folder / getattr(command, stream)
            if file.exists() and file.stat().st_size == 0:
                file.unlink()
            if not file.exists():
                streams[stream] = ""
        kept.append(replace(command, **streams))
        if command.role == "collector" and streams.get("stdout") == "":
            warnings = [*warnings, f"{command.tool} wrote nothing"]
    files = {p.name: fingerprint(p) for p in sorted(folder.iterdir()) if not p.name.startswith("run.json")}
    run = replace(run, commands=tuple(kept), files=files, warnings=(*run.warnings, *warnings))
    write_run(run, folder)
    return run


def _wait_until_it_answers(server: Started, url: str, folder: Path) -> None:
    # Straight to the server: a proxy of the environment would take the request off loopback.
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    deadline = time.monotonic() + _SERVER_START_LIMIT_S
    while True:
        try:
            with direct.open(url, timeout=_SERVER_START_LIMIT_S):
                return
        except OSError as error:
            if server.process.poll() is not None or time.monotonic() > deadline:
                said = _last_words(folder / server.command.stderr)
                raise LabError(f"the private nginx did not answer ({error}){said}") from None
            time.sleep(0.02)


def free_port() -> int:
    """A loopback port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def is_url(recipe: str) -> bool:
    """Whether a variant's recipe is the URL of a server that runs already."""
    return "://" in recipe


def port_of(url: str) -> int:
    """Port of an http URL."""
    return urlsplit(url).port or 80
