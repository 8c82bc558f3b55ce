"""Launch a study for a test, and see that its folder is whole and that its tables agree with run.json."""

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import psutil
import pytest

from loadcurve.errors import LabError
from loadcurve.ingest.folder import read_runs
from loadcurve.lab import launch, list_obstacles
from loadcurve.study import Command, Run, Study
from loadcurve.study.manifest import read_manifest
from loadcurve.study.records import read_run, run_folders

GUARD = ("setpriv", "--pdeathsig", "TERM", "timeout", "--foreground", "-k", "2")
SITE = {"topology": {"recipe": "client_server"}}
DELAYS = {"nginx": {"response": {"delay": {"delay_ms": 10}}}}
"""A server that answers after 10 ms: X = N/R, whatever the machine."""

# What a snapshot says of its time: whole seconds in sar.
_STAMP_S = pd.Timedelta("1s")
# Programs that print no version, and what the sampler reads itself.
_NO_VERSION = ("hey", "proc")


@dataclass
class Launched:
    """A study's folder after its launch."""

    folder: Path  # Of the study
    runs: dict[str, Run]  # By their names
    tables: Mapping[str, pd.DataFrame]  # As `read_runs` reads them
    warnings: tuple[str, ...]

    @property
    def run(self) -> Run:
        """The only run."""
        (run,) = self.runs.values()
        return run

    @property
    def row(self) -> pd.Series:
        """The only row of `runs`."""
        assert len(self.tables["runs"]) == 1
        return self.tables["runs"].iloc[0]

    def commands(self, role: str, host: str = "") -> list[Command]:
        """Commands of the only run."""
        return [c for c in self.run.commands if c.role == role and host in ("", c.host)]

    def of(self, table: str, host: str) -> pd.DataFrame:
        """Rows of a host."""
        frame = self.tables[table]
        return frame[frame["host"] == host] if len(frame) else frame


def own_warnings(run: Run) -> list[str]:
    """Warnings of a run but those of a busy machine, which is no fault of what is tested."""
    return [warning for warning in run.warnings if "of the run's processors" not in warning]


def short_study(name: str, **sections: Any) -> Study:
    """One repeat of one second without monitors, where nothing else is said."""
    usual = {"repeats": 1, "monitors": {}, "load": {}}
    study = {**usual, **sections}
    bound = {} if study["load"].get("requests") else {"duration_s": 1.0}
    return Study(name, "Does it run?", **{**study, "load": {"connections": 4, **bound, **study["load"]}})


def runnable(study: Study) -> Study:
    """Return the study; skips where this machine lacks something for it."""
    if not (lacks := list_obstacles(study)).empty:
        pytest.skip("; ".join(f"{row.obstacle}: {row.remedy}" for row in lacks.itertuples()))
    return study


def launched(folder: Path, **sections: Any) -> Launched:
    """Launch a short study into a folder; skips where this machine lacks something for it."""
    launch(runnable(short_study(folder.name, **sections)), folder)
    made = read_folder(folder)
    check_whole(made)
    assert left_behind(folder) == []
    return made


def failed(folder: Path, **sections: Any) -> Launched:
    """Launch a short study whose only run fails: the launch says why, and nothing is left."""
    with pytest.raises(LabError, match="1 of 1 runs failed: r1 ") as raised:
        launch(short_study(folder.name, **sections), folder)
    assert left_behind(folder) == []
    made = read_folder(folder)
    assert made.run.status == "failed" and made.run.reason in str(raised.value)
    # It keeps its row, with its status and without numbers, and a warning names it.
    assert made.row["status"] == "failed" and made.tables["runs"]["throughput_rps"].isna().all()
    assert any(made.run.reason in warning for warning in made.warnings)
    return made


def read_folder(folder: Path) -> Launched:
    """Read a folder, whatever became of its runs."""
    ingested = read_runs(folder)
    runs = {path.name: read_run(path) for path in run_folders(folder)}
    return Launched(folder, runs, ingested.tables, ingested.warnings)


def check_whole(made: Launched) -> None:
    """See that every command of every run is in the tables, with its host, its tool and its times."""
    reports, sampled = made.tables["runs"], _sampled(made.tables)
    assert set(reports["run_id"]) == set(made.runs)
    assert read_manifest(made.folder) == {run_id: run.seal for run_id, run in made.runs.items()}
    for run_id, run in made.runs.items():
        assert (run.status, run.reason) == ("finished", "")
        rows = reports[reports["run_id"] == run_id].sort_values("generator")
        sending = [c for c in run.commands if c.role == "generator"]
        assert rows["generator"].tolist() == list(range(len(sending)))
        for column, names in {"host": "host", "tool": "tool", "source": "stdout"}.items():
            assert rows[column].tolist() == [getattr(c, names) for c in sending], column
        if "hey" not in set(rows["tool"]):  # which does not say it
            assert rows["connections"].sum() == run.factors["connections"]
        assert (rows["repeat"] == run.factors["repeat"]).all()
        assert (rows["variant"] == run.factors["variant"]).all()
        assert rows["started_at"].tolist() == [pd.Timestamp(c.started_at) for c in sending]
        for command in run.commands:
            _check_command(command)
            if command.role == "collector" and command.stdout:
                of_text = sampled[(sampled["run_id"] == run_id) & (sampled["source"] == command.stdout)]
                if of_text.empty and command.variant == "connections" and not command.host.startswith("S"):
                    continue  # nobody listens there, and rules of the kernel have no connections themselves
                assert set(of_text["host"]) == {command.host}, command.stdout
                begun, ended = pd.Timestamp(command.started_at), pd.Timestamp(command.ended_at)
                assert of_text["time"].min() >= begun - _STAMP_S and of_text["time"].max() <= ended + _STAMP_S


def _sampled(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    columns = ["run_id", "source", "host", "time"]
    frames = [frame[columns] for frame in tables.values() if len(frame) and set(columns) <= set(frame)]
    return pd.concat(frames) if frames else pd.DataFrame(columns=columns)


def _check_command(command: Command) -> None:
    if command.tool == "nft" and command.role == "balancer":
        return  # rules of the kernel, loaded and gone
    guard = command.argv.index("setpriv")
    assert command.argv[guard : guard + len(GUARD)] == GUARD, "an outer time limit"
    assert float(command.argv[guard + len(GUARD)]) == command.limit_s
    if command.host != "local":
        namespace = command.argv[command.argv.index("netns") + 2]
        assert namespace.endswith(f"-{command.host}"), "in the namespace of its host"
    assert command.started_at < command.ended_at
    assert command.version or command.tool in _NO_VERSION


def tool_argv(command: Command) -> tuple[str, ...]:
    """A command without the guard before it, the namespace, the limits and the pins."""
    words = list(command.argv)
    words = words[words.index("2") + 2 :] if words[0] == "setpriv" else words
    if words[:1] == ["python3"] and words[3].endswith(".enter.py"):
        words = words[words.index("--") + 1 :]
    while words[0] in ("prlimit", "setpriv"):
        words = words[next(at for at, word in enumerate(words) if at and not word.startswith("-")) :]
    words = words[4:] if words[:3] == ["ip", "netns", "exec"] else words
    return tuple(words[3:] if words[0] == "taskset" else words)


def working(folder: Path, name: str) -> list[psutil.Process]:
    """The processes of a program that work in a folder or below it."""
    every = psutil.process_iter(["name", "cwd"])
    return [p for p in every if p.info["name"] == name and (p.info["cwd"] or "").startswith(str(folder))]


def left_behind(folder: Path) -> list[str]:
    """Processes that still work in a study's folder, and namespaces of its runs."""
    processes = [p.info for p in psutil.process_iter(["name", "cwd", "status"])]
    alive = [facts for facts in processes if facts["status"] != psutil.STATUS_ZOMBIE]
    found = [facts["name"] for facts in alive if (facts["cwd"] or "").startswith(f"{folder}/")]
    argvs = [c.argv for path in run_folders(folder) for c in read_run(path).commands if "netns" in c.argv]
    made = {argv[argv.index("exec") + 1] for argv in argvs}
    listed = subprocess.run(("ip", "netns", "list"), capture_output=True, text=True, check=True).stdout if made else ""
    return found + sorted(made & {line.split()[0] for line in listed.splitlines()})
