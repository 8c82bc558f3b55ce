"""A sealed `run.json` may hold anything that JSON can: it is read, or refused in one line that names file and line."""

import copy
import json
import re

import pandas as pd
import pytest
from conftest import copy_runs

from loadcurve.errors import ParseError
from loadcurve.ingest.folder import read_runs
from loadcurve.ingest.run_columns import complete, tables_of
from loadcurve.ingest.run_files import check_factors, edits_of
from loadcurve.ingest.store import ingest, read_machine
from loadcurve.lab.run.resume import check_same_machine
from loadcurve.study.archive import opened
from loadcurve.study.records import _seal, read_run, read_study

STUDY, RUN = "connections_on_loopback", "cpu-c0008-r1"
AT = "2026-11-21T00:23:46.582660Z"
EVENT = {"at": AT, "host": "S1", "what": "stopped"}


@pytest.fixture
def odd(checkout):
    """Writes a value into a copy of a recorded run, seals it, and returns the study's folder."""
    study = copy_runs(checkout / "data" / "studies" / STUDY, RUN)
    record = json.loads((study / RUN / "run.json").read_text())

    def write(place, value):
        changed = copy.deepcopy(record)
        inner = changed
        *path, last = place.split(".")
        for word in path:
            inner = inner.setdefault(word, {})
        inner[last] = value
        changed["seal"] = _seal(changed)
        (study / RUN / "run.json").write_text(json.dumps(changed, indent=2))
        return study

    return write


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("study", "\ud800"), ("reason", "a\udfffb"), ("warnings", ["\ud800"]), ("status", "done"),
        ("factors.connections", "8"), ("factors.connections", [8]), ("factors.connections", 2**63),
        ("factors.connections", 10**400), ("factors.server_cpu", []), ("factors.generator_cpu", 1.5),
        ("factors.repeat", True), ("factors.threads", {}), ("factors.seconds", "5"), ("factors.url", 7),
        ("factors.order", "first"), ("factors.settings", {"load": []}), ("factors.settings", {"server": 1}),
        ("factors.settings", {"load": None}), ("factors.x", {"y": ["\ud800"]}), ("factors.\ud800", 1),
        ("machine.memory_bytes", -(2**70)), ("machine.cpu_model", "\ud800"), ("machine.hosts", []),
        ("machine.hosts", {"S1": None}), ("machine.hosts", {"S1": {"clock_offset_s": "x"}}),
        ("machine.hosts", {"S1": {"clock_offset_s": None}}), ("machine.hosts", {"S1": {"clock_offset_s": [1]}}),
        ("events", [{}]), ("events", [{**EVENT, "at": "now"}]), ("events", [{**EVENT, "at": "2026-13-45T00:00:00Z"}]),
        ("events", [{"at": AT, "host": "S1"}]), ("events", [{**EVENT, "why": "x"}]), ("events", [{**EVENT, "at": 1}]),
        ("files", {"x": {}}), ("files", {"x": {"bytes": True, "sha256": "0" * 64}}),
        ("background", {"local": {}}), ("background", {"local": {"cpus": [], "seconds": 5.0}}),
        ("background", {"local": {"cpus": [0], "seconds": 0}}), ("background", {"local": {"cpus": 1, "seconds": 5}}),
        ("background", {"local": {"cpus": [0], "seconds": 5, "steal_s": "x"}}), ("background", {"local": 1}),
        ("factors.expected_shares", [1]), ("factors.expected_shares", {"s1": 2}),
        ("commands", [None]), ("commands", 1),
    ],
)  # fmt: skip
def test_an_odd_record_is_refused_in_one_line(odd, place, value):
    with pytest.raises(ParseError, match=r"run\.json(:\d+)?: expected ") as caught:
        read_run(odd(place, value) / RUN)
    assert str(caught.value).isprintable()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("machine.cpus", "a\nb"), ("machine.memory_bytes", None), ("machine.x", {"a": [1, {"b": None}]}),
        ("machine", {}), ("background", {"local": {"cpus": [0], "seconds": 5, "steal_s": 5.001, "x": "y"}}),
        ("machine.hosts", {"S1": {}}), ("factors.x", [[]]), ("warnings", ["a\nb"]), ("events", [EVENT]),
    ],
)  # fmt: skip
def test_an_odd_record_that_breaks_no_rule_is_read(odd, place, value):
    study = odd(place, value)
    assert read_runs(study).tables["runs"]["throughput_rps"].notna().all()


def test_an_odd_record_goes_through_to_its_files(odd):
    study = odd("machine", {"cpus": "a\nb", "hosts": {"S1": {"x": [1]}}, "memory_bytes": None})
    assert len(ingest(STUDY).tables["runs"]) == 1
    assert set(read_machine(STUDY)["fact"]) >= {"cpus", "hosts"}
    with pytest.raises(Exception, match="was recorded on another machine") as caught:
        keys = ("kernel", "architecture", "cpu_model", "cpus", "memory_bytes", "tcp_congestion_control")
        check_same_machine(study, dict.fromkeys(keys, "here"), {})
    assert str(caught.value).isprintable()


WRONG = (None, True, -1, 1.5, 10**19, "x", "\ud800", [], ["x"], [[{}]], {}, {"x": ["y"]})


def places(value, above=()):
    """The place of every value of a record; of hosts, interfaces, files and the values of a list, which are alike, one.

    The last interface is none of `lo`, which has no offloads.
    """
    if above:
        yield above
    keys = list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []
    alike = isinstance(value, list) or above[-1:] in (("hosts",), ("interfaces",), ("files",))
    for key in keys[-1:] if alike else keys:
        yield from places(value[key], (*above, key))


@pytest.mark.slow
def test_a_value_of_any_type_at_any_place_is_read_or_refused_in_one_line(root, tmp_path):
    """What is read goes on to the tables of the record."""
    source, begun = opened(root / "data" / "studies" / "scale_out" / "p02-r1"), pd.Timestamp(AT)
    record, run, study = json.loads((source / "run.json").read_text()), read_run(source), read_study(source.parent)
    refused = 0
    for place in places(record):
        for value in (*WRONG, KeyError):
            changed = copy.deepcopy(record)
            inner = changed
            for key in place[:-1]:
                inner = inner[key]
            inner[place[-1]] = value
            if value is KeyError:
                del inner[place[-1]]
            if place != ("seal",):
                changed["seal"] = _seal(changed)
            (tmp_path / "run.json").write_text(json.dumps(changed, indent=2))
            try:
                found = read_run(tmp_path)
                check_factors(found, tmp_path)
                list(edits_of(found, study))
                tables_of(found, begun)
                for name in ("network", "balancer", "runs"):
                    complete(name, pd.DataFrame(), found, run.commands[-1], "file", begun, 0)
            except ParseError as error:
                refused += 1
                assert re.match(r"\S+run\.json(:\d+)?: expected ", str(error)) and str(error).isprintable()
    assert refused > 1000
