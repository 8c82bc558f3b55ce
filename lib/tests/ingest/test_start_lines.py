"""The start of a run from the lines that a script wrote around its report."""

from pathlib import Path

import pandas as pd
import pytest

import loadcurve

WRK = (Path(__file__).parents[1] / "data" / "folders" / "wrk_only" / "c64.txt").read_text("utf-8")  # 4.00 s
DATE, ISO = "Mon Nov 23 00:11:58 UTC 2026\n", "2026-11-23T00:12:08Z\n"


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        (WRK, None),
        (DATE + WRK, ["00:11:58"]),
        ("$ date\n" + DATE + "$ wrk -c64 http://h/\n" + WRK, ["00:11:58"]),
        (WRK + DATE, ["00:11:54"]),
        (DATE + WRK + ISO, ["00:11:58"]),
        (DATE + WRK + ISO + WRK, ["00:11:58", "00:12:08"]),
        (WRK + DATE + WRK + ISO, ["00:11:54", "00:12:04"]),
        (DATE + WRK + WRK, None),  # of which run?
        (DATE + WRK + DATE + WRK, None),  # runs of 4 s cannot start at once
        ("12:00:00\n" + WRK, None),
    ],
)
def test_a_time_before_or_after_each_report_is_its_start_or_end(text, starts):
    runs = loadcurve.parse(text).tables["runs"]
    if starts is None:
        assert "started_at" not in runs
    else:
        assert runs["started_at"].tolist() == [pd.Timestamp(f"2026-11-23 {at}", tz="UTC") for at in starts]


def test_a_local_time_is_in_the_zone_that_was_named():
    runs = loadcurve.parse("2026-11-23 08:11:58\n" + WRK, timezone="Asia/Shanghai").tables["runs"]
    assert runs["started_at"][0] == pd.Timestamp("2026-11-23 00:11:58", tz="UTC")


def test_samples_of_a_monitor_find_the_runs_of_a_text_with_dates(tmp_path):
    (tmp_path / "session.txt").write_text(DATE + WRK + ISO + WRK, "utf-8")
    rows = [
        f"2026-11-23 00:{at}     all  1.00  0.00  1.00  0.00  0.00  98.00"
        for at in ("11:59", "12:00", "12:05", "12:10")
    ]
    head = "Linux 6.18 (lab)  2026-11-23  _x86_64_  (2 CPU)\n\n"
    names = "CPU  %user  %nice  %system  %iowait  %steal  %idle"
    sar = head + f"00:11:58     {names}\n" + "".join(row[11:] + "\n" for row in rows)
    (tmp_path / "sar.txt").write_text(sar, "utf-8")
    cpu = loadcurve.read(tmp_path).tables["cpu"]
    assert cpu["run_id"].fillna("").tolist() == ["session-1", "session-1", "", "session-2"]
