"""Files of a finished run into tables: each as its command in `run.json` says, unchanged since it was recorded.

`study.yml` is written by people, also after a launch; `run.json` is what was launched.  A run keeps its own facts, so
an edited study loses no run, and what differs is reported.
"""

import json
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from loadcurve.errors import ParseError
from loadcurve.files.paths import leads_out_of, shown
from loadcurve.ingest.clean import clean
from loadcurve.ingest.files import content
from loadcurve.ingest.form import Form
from loadcurve.ingest.load.wrk_json import join_reporter
from loadcurve.ingest.load_options import options_of, with_options
from loadcurve.ingest.packed import unpack
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.registry import form_of, forms_of
from loadcurve.ingest.run_columns import complete, of_run, tables_of
from loadcurve.study import SECTIONS, Command, Run, Study, differences, in_one_word, settled
from loadcurve.study.records import fingerprint, line_of


def check_factors(run: Run, folder: Path) -> None:
    """Raise unless the factors in a `run.json` are complete and agree with each other."""
    factors = run.factors
    for name in ("variant", *(["levels"] if "settings" in factors else [])):
        if name not in factors:
            raise wrong(folder, "factors", f"the key {name}", "none")
    loaded = factors.get("settings", {}).get("load", {}).get("connections")
    if loaded is not None and "connections" in factors and loaded != factors["connections"]:
        raise wrong(folder, "factors", f"connections to be {loaded} as in its settings", str(factors["connections"]))


def edits_of(run: Run, study: Study) -> Iterator[str]:
    """Find differences between `study.yml` and the settings that a run was launched with."""
    factors, adaptive = run.factors, study.search is not None or study.stop is not None
    variant = factors["variant"]
    if variant not in study.variants:
        yield f"variant {variant} then, {_listed(study.variants)} now"
        return
    if not adaptive and factors.get("repeat", 1) > study.repeats:
        yield f"repeat {factors['repeat']} then, {study.repeats} repeats now"
    if "settings" in factors:
        yield from _edited_settings(factors, study)
    else:
        yield from _edited_recipe(factors, study)


def _edited_settings(factors: dict[str, Any], study: Study) -> Iterator[str]:
    levels = factors["levels"]
    searched = {study.search.get("factor", "connections"), "load.duration_s"} if study.search else set()
    for name, level in levels.items():
        known = study.factors.get(name) or [point[name] for point in study.points if name in point]
        if name not in searched and level not in known:
            yield f"{name} {level} then, {_listed(known)} now"
    now = json.loads(json.dumps(settled(study.sections(), study.variants[factors["variant"]], levels)))
    for place, then, declared in differences({name: factors["settings"].get(name, {}) for name in SECTIONS}, now):
        if not (study.search and place == "load.duration_s"):
            yield f"{place} {_value_text(then)} then, {_value_text(declared)} now"


def _edited_recipe(factors: dict[str, Any], study: Study) -> Iterator[str]:
    """The same for runs recorded before they had settings."""
    declared = in_one_word(settled(study.sections(), study.variants[factors["variant"]]))
    known = study.factors.get("connections", ())
    for name in ("recipe", "seconds"):
        if name in factors and factors[name] != declared[name]:
            yield f"{name} {factors[name]} then, {declared[name]} now"
    if "connections" in factors and factors["connections"] not in known:
        yield f"connections {factors['connections']} then, {_listed(known)} now"


def _value_text(value: object) -> str:
    return "not set" if value is None else str(value)


def _listed(known: Iterable[object]) -> str:
    return ", ".join(map(str, known)) or "none"


def wrong(folder: Path, key: str, expected: str, got: str) -> ParseError:
    """Error at the line of a key of a folder's `run.json`."""
    return ParseError(line_of(key, folder / "run.json"), expected, got, shown(folder / "run.json"))


_BALANCERS = ("nft", "ipvsadm", "haproxy")


@dataclass
class Parts:
    """Tables of the files read so far, the files of each table, warnings, and the runs of each edit of the study."""

    frames: dict[str, list[pd.DataFrame]] = field(default_factory=lambda: defaultdict(list))
    sources: dict[str, set[Path]] = field(default_factory=lambda: defaultdict(set))
    warnings: list[str] = field(default_factory=list)
    edits: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    parsers: set[str] = field(default_factory=set)  # `Form.parsed_by` of what was read

    def add(self, other: "Parts") -> None:
        """Add what was read of further runs."""
        for name, frames in other.frames.items():
            self.frames[name] += frames
        for name, files in other.sources.items():
            self.sources[name] |= files
        for edit, runs in other.edits.items():
            self.edits[edit] += runs
        self.warnings += other.warnings
        self.parsers |= other.parsers


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def check_files(run: Run, folder: Path) -> None:
    """Raise unless a finished run's folder holds the files that its `run.json` lists, unchanged, and no others."""
    streams = {name for command in run.commands for name in (command.stdout, command.stderr) if name}
    for name in sorted(streams | set(run.files)):
        check_fingerprint(run, folder / name)
    for name in sorted({p.name for p in folder.iterdir()} - set(run.files) - {"run.json"}):
        raise _unlisted(folder / name)


def check_fingerprint(run: Run, path: Path) -> None:
    """Raise unless a file has the size and the SHA-256 that `run.json` recorded."""
    _check_there(path)
    if path.name not in run.files:
        raise _unlisted(path)
    recorded, found = run.files[path.name], fingerprint(path)
    if recorded["sha256"] != found["sha256"]:
        same = recorded["sha256"][:12] == found["sha256"][:12]
        old, new = (sha if same else f"{sha[:12]}…" for sha in (recorded["sha256"], found["sha256"]))
        raise ParseError(1, f"the bytes that run.json recorded (sha256 {old})", f"sha256 {new}", shown(path))
    if recorded["bytes"] != found["bytes"]:
        raise ParseError(1, f"{recorded['bytes']} bytes as run.json recorded", f"{found['bytes']} bytes", shown(path))


def _check_there(path: Path) -> None:
    """Raise unless a file that `run.json` names is there, in the folder of the study."""
    if not path.is_file():
        got = "no file"
    else:
        got = "a link out of the study" if leads_out_of(os.path.realpath(path.parent.parent), path) else ""
    if got:
        raise ParseError(0, "the file that run.json names", got, shown(path))


def _unlisted(path: Path) -> ParseError:
    return ParseError(0, "only the files that run.json lists", path.name, shown(path))


def _is_output(command: Command) -> bool:
    """Whether a command's output is data: servers and balancers print logs, and a warm-up is not part of the run."""
    return command.role in ("collector", "generator")


def is_report(command: Command) -> bool:
    """Whether a command's output reports on the load: a generator's or a balancer's."""
    return _is_output(command) and (command.role == "generator" or command.tool in _BALANCERS)


def read_finished(run: Run, folder: Path, parts: Parts, is_read: Callable[[Command], bool] = _is_output) -> None:
    """Add the tables of a finished run: of its record, of each output that `is_read`, and of each generator's files."""
    parts.warnings += [f"{shown(folder)}: {warning}" for warning in run.warnings]
    if run.is_functional:
        return
    generators = [c for c in run.commands if c.role == "generator"]
    load_started, stated = min(pd.Timestamp(c.started_at) for c in generators), []
    reported: set[int | None] = set()
    for name, frame in tables_of(run, load_started).items():
        parts.frames[name].append(of_run(frame.assign(source="run.json"), run))
        parts.sources[name].add(folder / "run.json")
    for command in run.commands:
        form = _form(command, folder, parts) if is_read(command) else None
        if form is None:
            continue
        generator = generators.index(command) if command in generators else None
        path = folder / command.stdout
        parsed = _parse(form, path, parts)
        if generator is not None and "runs" in parsed.tables:
            parsed = with_options(parsed, [options_of(command.tool, command.argv)])
            if len(generators) == 1:
                _check_generator(parsed.tables["runs"], run, path)
            stated.append(_connections(parsed.tables["runs"]))
        check_fingerprint(run, path)
        read = _with_reporter(run, command, path, parsed, parts)
        further = _further(run, command, folder, parts) if generator is not None else {}
        # ab reports whole milliseconds, but its file of percentiles has decimals.
        finer = any("latency" in part.tables for part in further.values())
        for source, part in (read | further).items():
            parts.warnings += [f"{shown(source)}: {warning}" for warning in part.warnings]
            for name, frame in part.tables.items():
                if name == "latency" and finer and source == path:
                    continue
                parts.frames[name].append(complete(name, frame, run, command, source.name, load_started, generator))
                parts.sources[name] |= {*read, *further, folder / "run.json"}
                reported |= {generator} if name == "runs" else set()
    for generator, command in enumerate(generators):
        if generator not in reported:  # a run without numbers keeps its row
            row: dict[str, object] = {"tool": command.tool}
            if len(generators) == 1:
                row["connections"] = run.factors.get("connections")
            frame = complete("runs", pd.DataFrame([row]), run, command, "run.json", load_started, generator)
            parts.frames["runs"].append(frame)
    total, recorded = sum(stated), run.factors.get("connections")
    if len(stated) == len(generators) > 1 and total == total and total != recorded:  # NaN: a generator reports none
        raise wrong(folder, "factors", f"{recorded} connections of all generators together", f"{total:g}")


def _form(command: Command, folder: Path, parts: Parts) -> Form | None:
    """Form of a command's output; None, with a warning, where there is nothing to read."""
    form = form_of(command.tool, command.variant)
    if form and command.stdout:
        return form
    why = "printed nothing" if form else f"is a {command.role} whose output loadcurve does not read: left out"
    parts.warnings.append(f"{shown(folder)}: {f'{command.tool} {command.variant}'.strip()} {why}")
    return None


def _with_reporter(run: Run, command: Command, path: Path, parsed: Parsed, parts: Parts) -> dict[Path, Parsed]:
    """What an output holds, joined with the JSON report that wrk wrote beside it."""
    named = (path.with_suffix(suffix) for suffix in (".json", ".json.xz"))
    report = next((file for file in named if file.name in run.files), None)
    if command.tool != "wrk" or report is None:
        return {path: parsed}
    (form,) = forms_of("wrk:json")
    counted = _parse(form, report, parts)
    check_fingerprint(run, report)
    return dict(zip((path, report), join_reporter(parsed, counted), strict=True))


def _further(run: Run, command: Command, folder: Path, parts: Parts) -> dict[Path, Parsed]:
    """Further files of a generator: percentiles with decimals, a line for each request."""
    stem, found = command.stdout.removesuffix(".txt"), {}
    for name in sorted(run.files):
        variant = name.removeprefix(f"{stem}.").partition(".")[0]
        form = form_of(command.tool, variant) if variant in ("percentiles", "requests") else None
        if name.startswith(f"{stem}.") and form is not None:
            found[folder / name] = _parse(form, folder / name, parts)
            check_fingerprint(run, folder / name)
    return found


def _connections(reports: pd.DataFrame) -> float:
    """Connections that a generator reports; NaN where it reports none."""
    return float(reports["connections"].sum(min_count=1)) if "connections" in reports else float("nan")


def _parse(form: Form, path: Path, parts: Parts) -> Parsed:
    _check_there(path)
    parts.parsers.add(form.parsed_by)
    try:
        raw, _ = unpack(content(path))
        return form.parse(clean(raw.decode("utf-8")))
    except ParseError as error:
        raise error.at(shown(path)) from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise ParseError(line, "UTF-8", str(error.object[error.start : error.end]), shown(path)) from None


def _check_generator(reports: pd.DataFrame, run: Run, path: Path) -> None:
    """Raise unless the generator reports the load that `run.json` records."""
    recorded = {name: run.factors[name] for name in ("connections", "threads") if name in run.factors}
    for name, level in recorded.items():
        # wrk needs a connection for each thread, so the laboratory never starts more threads than connections.
        least = min(recorded.values()) if name == "threads" and all(map(_is_number, recorded.values())) else level
        for stated in reports.get(name, ()):
            if stated != least:
                raise ParseError(2, f"{least} {name} as run.json records", str(stated), shown(path))
