"""Run a study: every point of it, in its seeded order, each into a folder of its own.

What is finished stays as it is; what is not is done again by the next `launch` of the same folder.
"""

import contextlib
import os
import shutil
import socket
import time
import urllib.error
import urllib.request
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from tqdm.auto import tqdm

from loadcurve.errors import LabError
from loadcurve.lab import collectors, generators, machine, nginx
from loadcurve.lab.guard import check_target
from loadcurve.lab.obstacles import echo_module, find_obstacles, version
from loadcurve.lab.plan import Point, plan
from loadcurve.lab.process import guarded, start, stop, wait
from loadcurve.lab.resume import adopt, check_same_machine, is_finished, only_launcher
from loadcurve.study import (
    Command,
    Run,
    Study,
    fingerprint,
    run_folders,
    write_run,
)

# A private nginx answers within a few ms of its start; 5 s leaves room for a busy machine.
_SERVER_START_LIMIT_S = 5.0
# The collectors' first sample must stand before the load's first second.
_COLLECTOR_LEAD_S = 0.3


def launch(study: Study, folder: Path) -> list[Path]:
    """Run every point of `study` that `folder` does not yet hold finished; return all its run folders.

    Parameters
    ----------
    study : Study
        What to run.
    folder : pathlib.Path
        Folder of the study, of the study's name; made, with its `study.yml`, where there is none.

    Raises
    ------
    LabError
        Before anything is started: when the machine lacks a tool, a target is not allowed, the folder holds another
        study or the record of another machine, or another launch is at work in it.  At the end: when a run failed.
    KeyboardInterrupt
        After the processes of the run at hand are ended and the run is marked interrupted.
    """
    obstacles = find_obstacles(study)
    if not obstacles.empty:
        raise LabError("; ".join(f"{row.obstacle}: {row.remedy}" for row in obstacles.itertuples()))
    for recipe in study.variants.values():
        if "://" in recipe:
            check_target(recipe, study.allow_targets)
        else:
            nginx.configuration(recipe, port=1, body_bytes=study.response_bytes, connections=1, echo_module="")
    adopt(study, folder)
    here = machine.facts()
    with only_launcher(folder):
        check_same_machine(folder, here)
        waiting = [p for p in plan(study) if not is_finished(folder / p.run_id)]
        failed = []
        for point in tqdm(waiting, desc=study.study, unit="run", disable=not waiting):
            run = _run_point(study, point, folder / point.run_id, here)
            if run.status != "finished":
                failed.append(f"{run.run_id} ({run.reason})")
    if failed:
        raise LabError(f"{len(failed)} of {len(waiting)} runs failed: {', '.join(failed)}; launch again to repeat them")
    return run_folders(folder)


def _run_point(study: Study, point: Point, folder: Path, here: dict) -> Run:
    """One run, from an empty folder to a `run.json` that says how it ended."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    cpus = sorted(os.sched_getaffinity(0))
    apart = len(cpus) > 1
    recipe = study.variants[point.variant]
    port = _free_port() if "://" not in recipe else (urlsplit(recipe).port or 80)
    url = f"http://127.0.0.1:{port}/" if "://" not in recipe else recipe
    factors = {
        "variant": point.variant,
        "recipe": recipe,
        "connections": point.connections,
        "repeat": point.repeat,
        "order": point.order,
        "threads": study.threads,
        "seconds": study.seconds,
        "url": url,
        "server_cpu": cpus[0] if apart else None,
        "generator_cpu": cpus[-1] if apart else None,
    }
    warnings = () if apart else ("one processor: server and generator share it, so the curve is that of both",)
    run = Run(study.study, point.run_id, "running", factors, here, warnings=warnings)
    write_run(run, folder)
    commands: list[Command] = []
    status, reason = "interrupted", "the launcher was interrupted"
    try:
        with contextlib.ExitStack() as stack:

            def run_beside(command: Command) -> None:
                started = start(command, folder)
                stack.callback(lambda: commands.append(stop(started)))

            limit_s = generators.wrk_limit_s(study.seconds)
            if "://" not in recipe:
                run_beside(_server(study, recipe, port, folder, limit_s + 10, factors["server_cpu"]))
                _wait_until_it_answers(url)
            for command in _collectors(port, limit_s + 10):
                run_beside(command)
            time.sleep(_COLLECTOR_LEAD_S)
            argv = generators.wrk_argv(url, connections=point.connections, threads=study.threads, seconds=study.seconds)
            load = Command(
                "generator",
                "wrk",
                guarded(argv, limit_s, factors["generator_cpu"]),
                "local.wrk.txt",
                "local.wrk.err",
                limit_s,
                version=version("wrk"),
            )
            started = start(load, folder)
            stack.callback(lambda: None if started.process.poll() is not None else commands.append(stop(started)))
            done = wait(started)
            commands.append(done)
            status, reason = _verdict(done, folder)
    except LabError as error:
        status, reason = "failed", str(error)
    finally:
        run = _closed(replace(run, status=status, reason=reason), commands, folder)
    return run


def _server(study: Study, recipe: str, port: int, folder: Path, limit_s: float, cpu: int | None) -> Command:
    text = nginx.configuration(
        recipe,
        port=port,
        body_bytes=study.response_bytes,
        connections=max(study.connections),
        echo_module=echo_module(),
    )
    (folder / "local.nginx.conf").write_text(text, "utf-8")
    (folder / ".work").mkdir()
    return Command(
        "server",
        "nginx",
        guarded(nginx.argv("local.nginx.conf"), limit_s, cpu),
        "local.nginx.txt",
        "local.nginx.err",
        limit_s,
        version=version("nginx"),
    )


def _collectors(port: int, limit_s: float) -> list[Command]:
    def collector(tool: str, variant: str, argv: tuple[str, ...], env: dict[str, str]) -> Command:
        stem = f"local.{tool}.{variant}" if variant else f"local.{tool}"
        return Command(
            "collector",
            tool,
            guarded(argv, limit_s),
            f"{stem}.txt",
            f"{stem}.err",
            limit_s,
            variant=variant,
            version=version(tool),
            env=env,
        )

    return [
        collector("sar", "", collectors.sar_argv(), collectors.SAR_ENV),
        collector("ss", "summary", collectors.ss_summary_argv(), {}),
        collector("ss", "connections", collectors.ss_connections_argv(port), {}),
    ]


def _verdict(load: Command, folder: Path) -> tuple[str, str]:
    """Whether the generator did its work; what its numbers are worth is the audit's business."""
    if load.exit_code == 124:
        return "failed", f"{load.tool} was ended at its limit of {load.limit_s:g} s"
    if load.exit_code != 0:
        said = (folder / load.stderr).read_text("utf-8", "replace").strip().splitlines()
        return "failed", f"{load.tool} ended with exit code {load.exit_code}" + (f": {said[-1]}" if said else "")
    return "finished", ""


def _closed(run: Run, commands: list[Command], folder: Path) -> Run:
    """Write the last word on a run: its commands in order of start, its files with their fingerprints."""
    shutil.rmtree(folder / ".work", ignore_errors=True)
    kept = []
    for command in sorted(commands, key=lambda c: c.started_at):
        streams = {}
        for stream in ("stdout", "stderr"):
            file = folder / getattr(command, stream)
            if file.exists() and file.stat().st_size == 0:
                file.unlink()
                streams[stream] = ""
        kept.append(replace(command, **streams))
    files = {p.name: fingerprint(p) for p in sorted(folder.iterdir()) if not p.name.startswith("run.json")}
    run = replace(run, commands=tuple(kept), files=files)
    write_run(run, folder)
    return run


def _wait_until_it_answers(url: str) -> None:
    deadline = time.monotonic() + _SERVER_START_LIMIT_S
    while True:
        try:
            with urllib.request.urlopen(url, timeout=_SERVER_START_LIMIT_S):
                return
        except (urllib.error.URLError, OSError) as error:
            if time.monotonic() > deadline:
                raise LabError(
                    f"the private nginx did not answer within {_SERVER_START_LIMIT_S:g} s: {error}"
                ) from None
            time.sleep(0.02)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
