"""Binary recordings: told from their first bytes, read by sadf, refused in one line."""

from pathlib import Path

import pytest

from loadcurve.errors import LabError
from loadcurve.ingest.sysstat.sadf_header import is_sa
from loadcurve.ingest.sysstat.sadf_json import parse_sadf_json
from loadcurve.ingest.sysstat.sar import parse_sar
from loadcurve.lab.hosts.tools import which
from loadcurve.lab.tools.monitors import sadf

SAMPLES = Path(__file__).parents[1] / "data/samples/sar"
RECORDING = SAMPLES / "srv1.sa"
needs_sadf = pytest.mark.skipif(which("sadf") is None, reason="there is no sadf here")


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"\x96\xd5\x75\x21\x0c\x06", True),
        (b"\x96\xd5\x71\x21", True),
        (b"\xd5\x96\x21\x70", True),
        (b"\x96\xd5\x75", False),
        (b"\x96\xd5\x75\x22", False),
        (b"\xd5\x96\x71\x21", False),
        (b"", False),
        (b"Linux 6.1.0 (vm)", False),
    ],
)
def test_magic_number(raw, expected):
    assert is_sa(raw) is expected


@needs_sadf
def test_a_recording_gives_what_sar_prints_of_it():
    assert is_sa(RECORDING.read_bytes())
    found = parse_sadf_json(sadf.text_of(RECORDING)).tables
    printed = parse_sar((SAMPLES / "srv1-A-C.txt").read_text()).tables
    for name in ("cpu", "network", "tcp", "sockets", "memory", "load", "disks", "interrupts", "counters"):
        assert len(found[name]) == len(printed[name]) > 0, name


@needs_sadf
def test_a_cut_recording_keeps_its_intervals(tmp_path):
    raw = RECORDING.read_bytes()
    cut = tmp_path / "cut.sa"
    cut.write_bytes(raw[: len(raw) - 2000])
    parsed = parse_sadf_json(sadf.text_of(cut))
    assert 0 < len(parsed.tables["load"]) < 4


@needs_sadf
@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"Linux\n", "Invalid system activity file"),
        (b"\x96\xd5\x75\x21" + bytes(600), "sadf cannot read this recording"),
        (b"\x96\xd5\x71\x21" + bytes(600), "sadf cannot"),
        (b"", "sadf cannot read this recording"),
    ],
)
def test_refused_in_one_line(tmp_path, raw, words):
    path = tmp_path / "odd.sa"
    path.write_bytes(raw)
    with pytest.raises(LabError, match=words) as raised:
        sadf.text_of(path)
    assert "\n" not in str(raised.value)
    assert str(raised.value).startswith(f"{path}: ")


def test_without_sadf(monkeypatch, tmp_path):
    monkeypatch.setattr(sadf, "which", lambda name: None)
    with pytest.raises(LabError, match="apt-get install sysstat"):
        sadf.text_of(tmp_path / "x.sa")


def test_sadf_that_cannot_be_started_or_does_not_end(monkeypatch, tmp_path):
    monkeypatch.setattr(sadf, "which", lambda name: str(tmp_path))
    with pytest.raises(LabError, match="cannot be started"):
        sadf.text_of(tmp_path / "x.sa")
    slow = tmp_path / "sadf"
    slow.write_text("#!/bin/sh\nsleep 5\n")
    slow.chmod(0o755)
    monkeypatch.setattr(sadf, "which", lambda name: str(slow))
    monkeypatch.setattr(sadf, "_PATIENCE_S", 0.1)
    with pytest.raises(LabError, match="was not done"):
        sadf.text_of(tmp_path / "x.sa")
