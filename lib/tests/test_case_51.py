"""“Nginx Performance Test”: what was computed by hand when this project began, from the tracked data and models."""

import math

import numpy as np
import pandas as pd
import pytest

from loadcurve import analysis, models, read_curves, read_published, read_table
from loadcurve.audit import summarise_sockets
from loadcurve.reading import read_published_raw
from validation.reruns import rerun_of_threads

SOURCE = "rt_qps_threads"


@pytest.fixture(scope="module")
def said():
    return read_published(SOURCE, "prose").set_index("name")["value"]


def run(name):
    return read_published_raw(SOURCE, f"{name}.wrk.txt").tables["runs"].iloc[0]


def in_flight(name):
    return float(models.little_connections(run(name)["throughput_rps"], run(name)["latency_mean_s"]))


def test_the_rate_of_one_connection(said):
    # 1 connection: 1/45.00 ms = 22.2 against 22.23 measured.
    by_capture = models.single_thread_throughput_rps(said["capture_response_s"])
    assert by_capture == pytest.approx(22.2, abs=0.05)
    assert run("c0001")["throughput_rps"] == 22.23
    assert run("c0001")["throughput_rps"] == pytest.approx(by_capture, rel=1e-3)


def test_threads_to_fill_a_processor(said):
    # (2+42)/2 = 22 threads.
    assert models.threads_to_fill(said["cpu_s"], said["wait_s"]) == pytest.approx(22)
    assert said["threads"] == 22


def test_8000_connections_were_1020():
    # -c 8000 reports 6980 connect errors, so 1020 connections; X·R = 20260.6 × 49.94 ms = 1011.8.
    c8000 = run("c8000")
    assert (c8000["connections"], c8000["errors_connect"]) == (8000, 6980)
    assert c8000["connections"] - c8000["errors_connect"] == 1020
    assert in_flight("c8000") == pytest.approx(1011.8, abs=0.05)


def test_30000_connections_were_664_in_flight():
    # X·R = 1288.65 × 515.29 ms = 664 in flight, ss -s shows 7959 established.
    assert in_flight("c30000") == pytest.approx(664, abs=0.5)
    client = read_published_raw(SOURCE, "c30000.ss.client.txt").tables["sockets"].iloc[0]
    server = read_published_raw(SOURCE, "c30000.ss.server.txt").tables["sockets"].iloc[0]
    assert (client["established"], server["established"]) == (7959, 28)


def test_every_quoted_ss_prints_as_closed_what_is_elsewhere():
    cases = read_published(SOURCE, "cases")
    quoted = [name for column in ("sockets_client", "sockets_server") for name in cases[column] if name]
    assert len(quoted) == 4
    for name in quoted:
        sockets = read_published_raw(SOURCE, name).tables["sockets"]
        [place] = summarise_sockets(sockets).itertuples()
        assert place.elsewhere + place.time_wait == sockets["closed"].item()


def test_every_claim_names_a_section_of_the_report():
    claims = read_published(SOURCE, "claims")
    assert claims["name"].is_unique
    sections = {*read_published(SOURCE, "prose")["section"]}
    assert set(claims["section"]) <= sections


@pytest.mark.slow
def test_the_rerun_finds_the_optimum_of_the_formula_and_the_orphans_of_the_kernel(said):
    # (C + W) / C within 15 %; a FIN is retransmitted for (2^(n+1) - 1) x 200 ms: 0.6 s, 1.4 s, and 102.2 s by default.
    runs = analysis.undisturbed(read_curves("php_threads"), 0.1)
    found = rerun_of_threads.rerun_threads(runs, read_table("cpu", "php_threads"), said["wait_s"])[1]
    assert found["measured_threads"].value == pytest.approx(found["formula_threads"].value, rel=0.15)
    orphans = rerun_of_threads.rerun_orphans(read_curves("orphans"), read_table("sockets", "orphans"))
    assert [orphans[f"limit_{n}_s"] for n in (1, 2, 0)] == pytest.approx([0.6, 1.4, 102.2])
    assert 0.6 <= orphans["life_1_s"].value <= 0.69 and 1.4 <= orphans["life_2_s"].value <= 1.61


@pytest.mark.parametrize(("lockstep", "optimum"), [(False, 8.5), (True, math.nan)])
def test_only_a_saturated_processor_has_an_optimum_of_threads(lockstep, optimum):
    # C = 16 ms and W = 120 ms: by the formula 136 / 16 = 8.5 threads; in lockstep N / (N C + W), 71 % busy at N = 18.
    cpu_s, wait_s = 0.016, 0.120
    threads = np.repeat([2, 4, 6, 10, 13, 18], 3)
    rates = threads / (threads * cpu_s + wait_s) if lockstep else np.minimum(threads / (cpu_s + wait_s), 1 / cpu_s)
    names = [f"run{number}" for number in range(len(threads))]
    runs = pd.DataFrame({"run_id": names, "throughput_rps": rates * np.tile([0.999, 1, 1.001], 6), "duration_s": 5.0})
    runs["variant"] = [f"children={n}" for n in threads]
    cpu = pd.DataFrame({"run_id": names, "host": "S1", "cpu": "0", "elapsed_s": 2.0, "cpu_iowait_ratio": 0.0})
    found = rerun_of_threads.rerun_threads(runs, cpu.assign(cpu_idle_ratio=1 - rates * cpu_s), wait_s)[1]
    assert found["formula_threads"].value == pytest.approx(8.5, rel=0.01)
    assert found["measured_threads"].value == pytest.approx(optimum, rel=0.01, nan_ok=True)
    assert found["near_threads"] == 10
    assert (abs(found["lockstep_lo"] - 1) < 0.01) == lockstep


@pytest.mark.slow
def test_threads_of_wordpress_run_in_lockstep():
    # The lower asymptotic bound, N / (N C + W) with W = 120 ms, and responses that take whole cycles of N / X.
    runs = analysis.undisturbed(read_curves("wordpress_threads"), 0.1)
    pool, found = rerun_of_threads.rerun_threads(runs, read_table("cpu", "wordpress_threads"), 0.12)
    assert found["busiest_ratio"] < 0.9 and math.isnan(found["threads_ratio"].value)
    means = pool.groupby("threads")["throughput_rps"].mean()
    predicted = means.index / (means.index * found["page_cpu_s"].value + 0.12)
    assert means.to_numpy() == pytest.approx(predicted, rel=0.05)
    whole = rerun_of_threads.whole_cycles_ratio(pool, read_table("histogram", "wordpress_threads"), 10)
    assert whole.lo > 0.5  # by chance 0.2


@pytest.mark.slow
def test_one_connection_completes_one_request_per_response_time():
    # X = 1 / R, and X = 1 / (delay + R0) from 10 ms on, both within 3 % with their intervals.
    found = rerun_of_threads.rerun_one_connection(read_curves("one_connection_delays"), 0.01)[1]
    ends = [found["in_flight_one"].lo, found["in_flight_one"].hi, found["delays_lo"], found["delays_hi"]]
    assert ends == pytest.approx([1] * 4, abs=0.03)


@pytest.mark.slow
def test_files_ports_and_the_accept_queue_allow_the_connections_that_are_established():
    # 1024 files less wrk's four; 1024 ports; 2048 files and an accept queue of 4096 + 1, less nginx's own files.
    tables = [read_table(name, "connections_had") for name in ("sockets", "settings")]
    had = rerun_of_threads.rerun_connections(read_curves("connections_had"), *tables, 1024)[0].set_index("variant")
    assert had["most"].to_dict() == {
        "enough": 8000, "few_descriptors": 1024, "few_ports": 1024, "few_server_files": 2048 + 4097,
    }  # fmt: skip
    assert had.loc["few_descriptors", "at_server"] == 1020 and had.loc["enough", "at_server"] == 8000
    assert (had["most"] - had["at_server"]).between(0, 10).all()


@pytest.mark.slow
def test_nginx_keeps_connections_as_long_and_for_as_many_requests_as_it_is_set_to():
    tables = [read_table(name, "keep_alive_limits") for name in ("sockets", "tcp")]
    found = rerun_of_threads.rerun_keep_alive(read_curves("keep_alive_limits"), *tables, 1.0)
    assert [found[f"held_{n}_s"].value for n in (1, 2)] == pytest.approx([1, 2], abs=0.2)  # ss every 0.2 s
    assert [found[f"requests_each_{n}"].value / n for n in (10, 100)] == pytest.approx([1, 1], rel=0.05)
