"""Gatling: logs of each version's columns, Gatling's own totals of the same run, and the binary log."""

import json
import re
from pathlib import Path

import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

from loadcurve.errors import ParseError
from loadcurve.ingest.files import parse_bytes
from loadcurve.ingest.load.gatling_log import parse_gatling_log

DATA = Path(__file__).parents[2] / "data/gatling"
LOG = (DATA / "log.txt").read_text()
START = 1_795_386_396_000
request = st.tuples(
    st.integers(0, 10**5), st.integers(1, 10**4), st.sampled_from(["", "Order", "Order,Pay"]),
    st.sampled_from(["Home, 1", "Größe", "a b"]), st.sampled_from(["", "j.n.ConnectException: Connection refused"]),
)  # fmt: skip
# The columns of a request up to its state, and the row RUN up to the version.
VERSIONS = {
    "3.9.5": ("REQUEST\t{groups}\t{name}\t{start}\t{end}\t", "RUN\tSim\tsim\t1795386396000\t \t"),
    "3.0.3": ("REQUEST\t7\t{groups}\t{name}\t{start}\t{end}\t", "RUN\tSim\tsim\t1795386396000\t \t"),
    "2.3.1": ("REQUEST\tUsers\t7\t{groups}\t{name}\t{start}\t{end}\t", "RUN\tSim\tsim\t1795386396000\t \t"),
    "2.0": ("Users\t7\tREQUEST\t{groups}\t{name}\t{start}\t{start}\t{end}\t{end}\t", "Sim\tsim\tRUN\t20140731\t \t"),
}


@examples(40)
@given(st.lists(request, min_size=1, max_size=20), st.sampled_from(sorted(VERSIONS)))
def test_logs_of_every_version_are_read(requests, version):
    form, heading = VERSIONS[version]
    rows = [heading + version]
    for at, took, groups, name, message in requests:
        known = {"groups": groups, "name": name, "start": START + at, "end": START + at + took}
        rows.append(form.format(**known) + (f"KO\t{message}" if message else "OK\t "))
    parsed = parse_bytes(("\n".join(rows) + "\n").encode(), "simulation.log")
    table, run = parsed.tables["requests"], parsed.tables["runs"].iloc[0]
    assert parsed.version == version
    assert table["latency_s"].tolist() == [each[1] / 1000 for each in requests]
    assert table["label"].tolist() == [" / ".join([*filter(None, each[2].split(",")), each[3]]) for each in requests]
    failed = sum(bool(each[4]) for each in requests)
    assert (run.requests_failed, run.errors_connect) == (failed, failed)
    seconds = (max(each[0] + each[1] for each in requests) - min(each[0] for each in requests)) / 1000
    assert run.throughput_rps == pytest.approx(len(requests) / seconds)


def test_gatling_s_own_statistics_of_the_same_run_agree():
    """Gatling rounds times to whole ms, and the time of the run up to whole seconds."""
    parsed = parse_gatling_log(LOG)
    stated = json.loads((DATA / "stats.txt").read_text())
    run, own = parsed.tables["runs"].iloc[0], stated["stats"]
    assert run.requests == own["numberOfRequests"]["total"]
    assert run.requests_failed == own["numberOfRequests"]["ko"]
    assert round(run.latency_mean_s * 1000) == own["meanResponseTime"]["total"]
    assert round(run.latency_stdev_s * 1000) == own["standardDeviation"]["total"]
    assert run.latency_max_s * 1000 == own["maxResponseTime"]["total"]
    assert own["meanNumberOfRequestsPerSecond"]["total"] == 24 <= run.throughput_rps < 48


def test_known_statistics_of_gatling_s_own_tests():
    """Eight requests of 2 to 9 s from 1 s to 14 s, as in the resource known_stats of gatling-charts (2.0)."""
    times = ((1, 3), (1, 10), (2, 6), (3, 7), (4, 8), (5, 10), (5, 10), (7, 14))
    form = "REQUEST\ttestScenario\t1\t\tTest Request\t{}\t{}\tOK\tRequest executed successfully"
    rows = [form.format(START + 1000 * begin, START + 1000 * end) for begin, end in times]
    run = parse_gatling_log("\n".join(rows) + "\n").tables["runs"].iloc[0]
    assert (run.latency_min_s, run.latency_max_s, run.latency_mean_s) == (2.0, 9.0, 5.0)
    assert run.duration_s == 13.0
    assert run.latency_stdev_s == pytest.approx(2.0)


def test_users_at_one_time_and_blanks_for_tabs():
    users = re.findall(r"^USER\tUsers\t(START|END)", LOG, re.MULTILINE)
    now = [users[: i + 1].count("START") - users[: i + 1].count("END") for i in range(len(users))]
    assert parse_gatling_log(LOG).tables["runs"]["connections"].tolist() == [max(now)] == [2]
    stripped = re.sub(r"[ \t]+$", "", LOG, flags=re.MULTILINE)  # OK without a message loses its column
    assert parse_gatling_log(stripped).tables["runs"]["requests"].tolist() == [24]


def test_the_binary_log_is_refused_in_one_line():
    """First bytes of a simulation.log of Gatling 3.13.5: the type of the record, and the version with its length."""
    head = (
        b"\x00\x00\x00\x00\x063.13.5\x00\x00\x00\x00\x03Sim\x00\x00\x00\x01\xa2\x9e6\xc6c\x00\x00\x00\x01d\x00\x00\x00"
    )
    with pytest.raises(ParseError, match=r"simulation\.log: .*summary that Gatling prints.*binary .* 3\.13\.5"):
        parse_bytes(head, "simulation.log")
