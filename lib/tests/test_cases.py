"""The five case studies against physics: their tracked data and the library give the numbers of their pages.

Expected numbers were recomputed by hand from the printed ones, apart from this library, are printed by the reports, or
are published constants.
"""

import math

import numpy as np
import pandas as pd
import pytest

from loadcurve import analysis, models, read_curves, read_published, read_table, stats
from loadcurve.audit import summarise_sockets
from loadcurve.models import capacity, wire
from loadcurve.reading import read_published_raw
from loadcurve.study import Study
from loadcurve.units import rounded_ends
from validation.reruns import rerun_10gbe, rerun_of_paths, rerun_of_threads


def said_in(source):
    """A fixture with the values of a report's prose by their names."""
    return pytest.fixture(scope="module")(lambda: read_published(source, "prose").set_index("name")["value"])


threads_said = said_in("rt_qps_threads")
listeners_said = said_in("bottleneck_listeners")
acceptance_said = said_in("lvs_acceptance")


# Case 50, nginx on 10 Gigabit Ethernet, against physics.


@pytest.fixture(scope="module")
def rates():
    return read_published("nginx_10gbe", "rates")


def test_without_tcp_nopush_header_and_body_are_two_segments(rates):
    off = rates[(rates["test"] == 4) & (rates["condition"] == "off")]
    took = off["sent_bytes_per_s"] / off["throughput_rps"]
    assert took.to_numpy() == pytest.approx(wire.frame_bytes(1448 - 1232) + wire.frame_bytes(1232), rel=0.002)


def test_rate_of_a_fully_busy_machine(rates):
    """The log costs three quarters of the rate, and a quarter of what the same processors could do."""
    log = rates[rates["case"] == "access_log"].set_index("condition")
    busy = log[["cpu_user_ratio", "cpu_system_ratio", "cpu_irq_ratio"]].sum(axis=1).round(6)
    full = models.saturation_throughput_rps(models.service_demand_s(log["throughput_rps"], busy))
    assert log["throughput_rps"]["on"] / log["throughput_rps"]["off"] - 1 == pytest.approx(-0.740, abs=0.001)
    # 180148 / (8.966 + 21.337 + 4.483) % against 691614 / 100 %
    assert full[1] / full[0] - 1 == pytest.approx(180148 / 0.34786 / 691614 - 1, rel=1e-6)


def test_the_rerun_has_the_step_at_one_full_segment():
    """1298 bytes of body and 150 of header are the 1448 bytes of a segment; the labels name every recorded setting."""
    runs = read_table("runs", "response_sizes")
    sized = rerun_10gbe.add_bodies(runs, read_table("factors", "response_sizes"))
    assert sized.groupby("body_bytes")["payload_bytes"].unique().map(list).to_dict() == {
        0: [147], 616: [765], 1233: [1383], 1298: [1448], 1299: [1449], 2590: [2740],
    }  # fmt: skip
    compared = rerun_10gbe.compare_sizes(sized)
    model = compared.groupby("variant")["model_rps"].first()
    assert model["body_1299"] < 0.85 * model["body_1298"] and compared["setting"].iloc[0] == "0 B"


def test_every_recorded_setting_of_the_rerun_has_a_label():
    for study, rows in read_published("nginx_10gbe", "settings").groupby("study"):
        assert set(read_table("runs", study)["variant"]) == set(rows["variant"])


def test_the_size_of_a_server_that_waits_is_arithmetic():
    """100 / 40 ms are 2500/s: 90 % of 50 Mbit/s are 2250 bytes each, less two headers of 66 and one of 150."""
    trials = pd.DataFrame({"payload_bytes": [766.0, 2150.0], "body_bytes": [616.0, 2000.0]})
    assert rerun_10gbe.predict_size(trials, 50e6, 0.9, 2500) == {"header_bytes": 150, "body_bytes": 1968}
    limits = rerun_10gbe.limits_of_search(trials, 50e6, 2500).set_index("limit")
    link = limits.loc["50 Mbit/s"]
    at = link["payload_bytes"].sub(2118).abs() < 1
    assert link.loc[at, "throughput_rps"].mean() == pytest.approx(50e6 / 8 / 2250, rel=1e-3)
    wait, search = {"nginx": {"response": {"delay": {"delay_ms": 40}}}}, {"saturating_size": {"tolerance_ratio": 0.1}}
    load, links = {"connections": 100}, {"S1": {"rate_bps": 50e6}}
    study = Study("size", "Which?", server=wait, search=search, load=load, links=links)
    answer, trials["throughput_rps"] = pd.Series({"lower": 1950.0, "upper": 1988.0}), [2250.0, 2250.0]
    numbers = rerun_10gbe.numbers_of_search(trials, answer, study)
    assert (numbers["predicted_size"], numbers["by_rate_size"]) == (1968, 2218)  # 2500 bytes each at 2250/s
    assert (numbers["size_miss_ratio"].lo, numbers["size_miss_ratio"].hi) == pytest.approx((-18 / 1968, 20 / 1968))


def test_the_models_of_lost_packets_stand_beside_the_runs():
    """64 connections / (20 ms + 2 x 220 ms x 1 % / 98 %); four windows of sqrt(1.5 / 4 %) segments each 20 ms."""
    rates = {"clean": 2e5, "lossy": 1e4, "delayed": 3200.0, "delayed_lossy": 2600.0} | dict.fromkeys(
        rerun_10gbe.labels_of("lossy_path", "long"), 2.0
    )
    runs = pd.DataFrame({"variant": list(rates), "throughput_rps": list(rates.values()), "received_bytes_per_s": 2e6})
    short = rerun_of_paths.compare_exchanges(runs).set_index("variant")["model_rps"]
    assert short["delayed_lossy"] == pytest.approx(64 / (0.02 + 2 * 0.22 * 0.01 / 0.98)) and short.isna().sum() == 2
    long = rerun_of_paths.compare_transfers(runs, 0.02).set_index("variant")
    assert long.loc["reno_4", "model_rps"] == pytest.approx(4 * 1448 * (1.5 / 0.04) ** 0.5 / 0.02 / 1e6)
    assert long["throughput_rps"].unique().tolist() == [2.0] and math.isnan(long.loc["bbr_1", "model_rps"])
    miss = rerun_of_paths.misses_of_model(long.reset_index())
    assert miss["reno_4"].value == pytest.approx(2 / long.loc["reno_4", "model_rps"] - 1) and "bbr_1" not in miss


def test_a_mix_of_equally_many_responses_has_the_harmonic_mean():
    runs = pd.DataFrame({"variant": ["log_off", "text_2590"], "throughput_rps": [200.0, 100.0]})
    assert rerun_10gbe.mixed_rate_rps(runs) == pytest.approx(400 / 3)


# Case 51, “Nginx Performance Test”: what was computed by hand when this project began.


def run_of_wrk(name):
    return read_published_raw("rt_qps_threads", f"{name}.wrk.txt").tables["runs"].iloc[0]


def in_flight(name):
    return float(models.little_connections(run_of_wrk(name)["throughput_rps"], run_of_wrk(name)["latency_mean_s"]))


def test_the_rate_of_one_connection(threads_said):
    # 1 connection: 1/45.00 ms = 22.2 against 22.23 measured.
    by_capture = models.single_thread_throughput_rps(threads_said["capture_response_s"])
    assert by_capture == pytest.approx(22.2, abs=0.05)
    assert run_of_wrk("c0001")["throughput_rps"] == 22.23
    assert run_of_wrk("c0001")["throughput_rps"] == pytest.approx(by_capture, rel=1e-3)


def test_threads_to_fill_a_processor(threads_said):
    # (2+42)/2 = 22 threads.
    assert models.threads_to_fill(threads_said["cpu_s"], threads_said["wait_s"]) == pytest.approx(22)
    assert threads_said["threads"] == 22


def test_8000_connections_were_1020():
    # -c 8000 reports 6980 connect errors, so 1020 connections; X·R = 20260.6 × 49.94 ms = 1011.8.
    c8000 = run_of_wrk("c8000")
    assert (c8000["connections"], c8000["errors_connect"]) == (8000, 6980)
    assert c8000["connections"] - c8000["errors_connect"] == 1020
    assert in_flight("c8000") == pytest.approx(1011.8, abs=0.05)


def test_30000_connections_were_664_in_flight():
    # X·R = 1288.65 × 515.29 ms = 664 in flight, ss -s shows 7959 established.
    assert in_flight("c30000") == pytest.approx(664, abs=0.5)
    client = read_published_raw("rt_qps_threads", "c30000.ss.client.txt").tables["sockets"].iloc[0]
    server = read_published_raw("rt_qps_threads", "c30000.ss.server.txt").tables["sockets"].iloc[0]
    assert (client["established"], server["established"]) == (7959, 28)


def test_every_quoted_ss_prints_as_closed_what_is_elsewhere():
    cases = read_published("rt_qps_threads", "cases")
    quoted = [name for column in ("sockets_client", "sockets_server") for name in cases[column] if name]
    assert len(quoted) == 4
    for name in quoted:
        sockets = read_published_raw("rt_qps_threads", name).tables["sockets"]
        [place] = summarise_sockets(sockets).itertuples()
        assert place.elsewhere + place.time_wait == sockets["closed"].item()


def test_every_claim_names_a_section_of_the_report():
    claims = read_published("rt_qps_threads", "claims")
    assert claims["name"].is_unique
    sections = {*read_published("rt_qps_threads", "prose")["section"]}
    assert set(claims["section"]) <= sections


@pytest.mark.slow
def test_the_rerun_finds_the_optimum_of_the_formula_and_the_orphans_of_the_kernel(threads_said):
    # (C + W) / C; a FIN is retransmitted for (2^(n+1) - 1) x 200 ms: 0.6 s, 1.4 s, and 102.2 s by default.
    runs = analysis.undisturbed(read_curves("php_threads"), 0.1)
    found = rerun_of_threads.rerun_threads(runs, read_table("cpu", "php_threads"), threads_said["wait_s"])[1]
    assert found["threads_ratio"].lo > 1  # the formula gives the least number
    assert found["measured_threads"].value == pytest.approx(found["full_threads"].value, rel=0.15)  # C when it is full
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
    assert (abs(found["lockstep_least_ratio"].value - 1) < 0.01) == lockstep


@pytest.mark.slow
def test_few_threads_of_wordpress_run_in_lockstep():
    # The lower asymptotic bound, N / (N C + W) with W = 120 ms.
    runs = analysis.undisturbed(read_curves("wordpress_threads"), 0.1)
    pool, found = rerun_of_threads.rerun_threads(runs, read_table("cpu", "wordpress_threads"), 0.12)
    means = pool.groupby("threads")["throughput_rps"].mean()
    least = means.index / (means.index * found["page_cpu_s"].value + 0.12)
    assert (means > 0.95 * least).all(), "no throughput can be below the bound"
    assert found["busiest_ratio"] < 0.9 and math.isnan(found["threads_ratio"].value)
    assert found["lockstep_least_ratio"].value == pytest.approx(1, abs=0.05) and found["lockstep_most_ratio"].lo > 1


@pytest.mark.slow
def test_one_connection_completes_one_request_per_response_time():
    # X = 1 / R within 3 %, and X = 1 / (delay + R0) from 10 ms on within 5 %: nginx waits until its next tick of 1 ms.
    found = rerun_of_threads.rerun_one_connection(read_curves("one_connection_delays"), 0.01)[1]
    assert [found["in_flight_one"].lo, found["in_flight_one"].hi] == pytest.approx([1, 1], abs=0.03)
    assert 0.95 < found["delays_lo"] < found["delays_hi"] < 1.01


@pytest.mark.slow
def test_files_ports_and_the_accept_queue_allow_the_connections_that_are_established():
    # 1024 files less wrk's four; 1024 ports; a table of 2000; 2048 files and a queue of 4097, less nginx's own files.
    tables = [read_table(name, "connections_had") for name in ("sockets", "settings")]
    allowed = {"few_ports": 1024, "full_conntrack": 2000}
    had = rerun_of_threads.rerun_connections(read_curves("connections_had"), *tables, allowed)[0].set_index("variant")
    assert had["most"].to_dict() == {
        "enough": 8000, "few_descriptors": 1024, "few_ports": 1024, "few_server_files": 2048 + 4097,
        "full_conntrack": 2000,
    }  # fmt: skip
    assert had.loc["few_descriptors", "at_server"] == 1020 and had.loc["enough", "at_server"] == 8000
    assert (had["most"] - had["at_server"]).between(0, 10).all()


@pytest.mark.slow
def test_nginx_keeps_connections_as_long_and_for_as_many_requests_as_it_is_set_to():
    tables = [read_table(name, "keep_alive_limits") for name in ("sockets", "tcp")]
    found = rerun_of_threads.rerun_keep_alive(read_curves("keep_alive_limits"), *tables, 1.0)
    assert [found[f"held_{n}_s"].value for n in (1, 2)] == pytest.approx([1, 2], abs=0.2)  # ss every 0.2 s
    assert [found[f"requests_each_{n}"].value / n for n in (10, 100)] == pytest.approx([1, 1], rel=0.05)


# Case 52, the listening ports.


def test_what_is_printed(listeners_said):
    """20,000/s near 200 connections on 8 cores; nearly 40,000/s on 4; 100,000/s on 24."""
    stated = listeners_said[
        ["plateau_rps", "full_connections", "cores", "older_rps", "older_cores", "best_rps", "compared_cores"]
    ]
    assert stated.tolist() == [20_000, 200, 8, 40_000, 4, 100_000, 24]


@pytest.mark.parametrize(
    ("value", "digits", "ends"), [(20_000, 1, (15_000, 25_000)), (200, 1, (150, 250)), (100_000, 2, (95_000, 105_000))]
)
def test_numbers_that_round_to_one(value, digits, ends):
    assert rounded_ends(value, digits) == ends
    assert all(abs(end - value) <= 0.5 * 10 ** (len(str(value)) - digits) for end in ends)


def test_what_the_plateau_implies(listeners_said):
    rate, number = listeners_said["plateau_rps"], listeners_said["full_connections"]
    demand = models.service_demand_s(rate, 1)
    cycle = models.little_latency_s(number, rate)
    assert demand == pytest.approx(50e-6)  # 1 / 20,000 s
    assert cycle == pytest.approx(0.010)  # 200 / 20,000 s
    assert models.little_latency_s(2 * number, rate) == pytest.approx(0.020)
    assert models.saturation_connections(demand, cycle) == pytest.approx(200)
    assert models.service_demand_s(rate, 1, listeners_said["cores"]) == pytest.approx(400e-6)  # 8 / 20,000 s


def test_the_serial_part_is_more_than_one_core_of_all(listeners_said):
    for rate, cores, least in (("older_rps", 4, 0.25), ("plateau_rps", 8, 0.125), ("best_rps", 24, 1 / 24)):
        serial = models.service_demand_s(listeners_said[rate], 1)
        assert serial / models.service_demand_s(listeners_said[rate], 1, cores) == pytest.approx(least)


def test_no_serial_part_makes_more_workers_slower(listeners_said):
    for part in (0.0, 0.125, 0.5, 1.0):
        four, eight = models.usl([listeners_said["older_cores"], listeners_said["cores"]], 1, part, 0)
        assert eight >= four
    assert listeners_said["older_rps"] > listeners_said["plateau_rps"]


def test_the_ports_of_the_clients(listeners_said):
    """28,232 ports / 60 s for each of 40 clients."""
    assert wire.port_limit_rps(1, destinations=listeners_said["client_machines"]) == pytest.approx(40 * 28_232 / 60)
    low, high = rounded_ends(listeners_said["plateau_rps"], 1)
    assert low < 40 * 28_232 / 60 < high < listeners_said["older_rps"]


@pytest.mark.parametrize(("busy", "verdict"), [(0.5, "no watched resource"), (0.89, "no watched"), (0.9, "saturated")])
def test_the_verdict_on_cores_that_are_not_busy(listeners_said, busy, verdict):
    usage = pd.DataFrame({"connections": [100, 200, 400], "resource": "cpu", "servers": listeners_said["cores"]})
    usage["throughput_rps"] = models.asymptotic_throughput_rps(usage["connections"], 50e-6, 0.010)
    usage["utilisation_ratio"] = busy * usage["throughput_rps"] / 20_000
    assert capacity.bottleneck_verdict(usage).startswith(verdict)


# Case 53, two sockets behind LVS.


@pytest.fixture
def pair():
    return read_published("scale_out_lvs", "rates").set_index("case")["throughput_rps"]


@pytest.fixture
def loads():
    """Both generators in the order of the script, with what they printed."""
    loads = read_published("scale_out_lvs", "loads")
    loads["port"] = loads["url"].str.extract(r":(\d+)$").astype(float)
    return loads.merge(read_published("scale_out_lvs", "rates")[["port", "throughput_rps"]], on="port")


def test_the_sum_is_that_of_both_rates(pair):
    # 33.2 + 32.7 = 65.9, in ten thousand requests per second.
    assert pair["weighttp 1"] / 1e4 == pytest.approx(33.2, abs=0.05)
    assert pair["weighttp 2"] / 1e4 == pytest.approx(32.7, abs=0.05)
    assert (pair["weighttp 1"] + pair["weighttp 2"]) / 1e4 == pytest.approx(65.9, abs=0.05)
    assert pair["both"] / 1e4 == pytest.approx(65.9, abs=0.05)


def test_efficiency_against_a_lower_bound(pair):
    # 65.9 / (2 × 30) = 1.10.
    scale = capacity.summarise_scale_out(
        [1, 2], [pair["untuned, one socket"], pair["both"]], baseline_is_lower_bound=True
    )
    row = scale.set_index("units").loc[2]
    assert row["efficiency_ratio"] == pytest.approx(1.10, abs=0.005)
    assert np.isnan(row["efficiency_lo"])
    assert "the baseline is a lower bound" in row["warnings"]


def test_projection_is_an_interval_from_nothing_gained(pair):
    # Upper: 65.9 + (n − 2) (65.9 − 30) = 137.7 and 281.3 ten thousand.
    bounds = capacity.summarise_projection(
        [1, 2], [pair["untuned, one socket"], pair["both"]], [4, 8], baseline_is_lower_bound=True
    )
    assert (bounds["lo"] / 1e4).tolist() == pytest.approx([65.9, 65.9])
    assert (bounds["hi"] / 1e4).tolist() == pytest.approx([137.7, 281.3])
    assert bounds["throughput_rps"].isna().all()


def test_length_of_a_run_and_response_time(loads):
    # 3,000,000 / 332,000 = 9.04 s and 4096 / 332,000 = 12.3 ms; 9.17 s and 12.5 ms for the slower.
    assert (loads["requests"] / loads["throughput_rps"]).tolist() == pytest.approx([9.174, 9.036], abs=1e-3)
    latency = models.little_latency_s(loads["connections"], loads["throughput_rps"])
    assert latency.tolist() == pytest.approx([0.012526, 0.012337], abs=1e-6)


def test_started_at_once_the_sum_is_right_within_one_percent(loads):
    # 6,000,000 requests in 9.174 s are 654,000/s; 1 s later 10.036 s and 597,800/s; one after the other about half.
    rows = capacity.summarise_overlap(loads["requests"], loads["throughput_rps"], [0, 1, 10])
    assert rows["lo_rps"].tolist() == pytest.approx([654_000, 597_840, 329_481], rel=1e-4)
    assert rows["overstated_ratio"].iloc[0] < 0.01


def test_each_address_leads_to_one_socket():
    flows = read_published("scale_out_lvs", "flows")
    flows = flows.drop_duplicates(["target", "target_after_nat"])
    assert flows["target"].is_unique and flows["target_after_nat"].is_unique
    assert len(flows) == 2


# Case 54, the LVS acceptance test.


CLOSING_BYTES = len("Connection: keep-alive") - len("Connection: close")


@pytest.fixture(scope="module")
def blocks():
    outputs = read_published("lvs_acceptance", "outputs")
    found = outputs[outputs["raw"].str.startswith("rules_")].pivot_table("value", "raw", "quantity")
    return found.rename({"rules_none.ab.txt": "without", "rules_10000.ab.txt": "with"})


@pytest.fixture(scope="module")
def traffic():
    keys = ["case", "direction", "quantity", "statistic"]
    return read_published("lvs_acceptance", "traffic").set_index(keys)["value"].sort_index()


def header_bytes(blocks):
    closed = blocks["requests"] - blocks["requests_keepalive"]
    return (blocks["received_bytes"] - blocks["received_body_bytes"] + CLOSING_BYTES * closed) / blocks["requests"]


def test_little_gives_the_printed_time(blocks):
    wait = models.little_latency_s(blocks["connections"], blocks["throughput_rps"])
    assert wait[list(blocks.index).index("without")] == pytest.approx(1.10608, abs=1e-5)
    assert wait == pytest.approx(blocks["time_per_request_s"].to_numpy(), rel=1e-6)
    assert blocks.loc["without", "time_per_request_s"] == 1.106074


def test_five_bytes_explain_every_byte(blocks):
    assert CLOSING_BYTES == 5
    assert header_bytes(blocks).tolist() == [231, 231]  # whole, and the same in both runs


def test_with_lvs_the_run_was_shorter_than_without():
    times = read_published("lvs_acceptance", "response_times").set_index("case")
    rate = times["requests"] / times["duration_s"]
    np.testing.assert_allclose(1 / rate, times["time_per_request_s"], atol=5e-7)  # the printed time is 1/X
    wait = models.little_latency_s(times["connections"], rate)
    assert wait.tolist() == pytest.approx([1.3198, 1.4474])
    far = np.log(rate["with LVS"] / rate["without LVS"]) / np.log(9040.98 / 8948.49)
    assert far == pytest.approx(9, abs=0.1)


def test_round_robin_dealt_in_turn():
    table = read_published_raw("lvs_acceptance", "round_robin.ipvsadm.txt").tables["balancer"]
    servers = table[table["kind"] == "server"]
    active, inactive = (servers[name].to_numpy(dtype=int) for name in ("active", "inactive"))
    assert (active + inactive).tolist() == [18129, 18129]
    found = [stats.summarise_fairness(counts).loc[0] for counts in (active, inactive, active + inactive)]
    # Σ (o − e)²/e by hand: 2 × 67²/3265 and 2 × 67²/14864.
    assert [one["chi_square"] for one in found] == pytest.approx([2.7498, 0.60401, 0], abs=5e-5)
    assert found[2]["verdict"] == "as even as round robin"


def test_bits_and_packets_of_small_answers(blocks, acceptance_said, traffic):
    exchange = wire.summarise_exchange(106, acceptance_said["small_response_bytes"] + header_bytes(blocks).iloc[0])
    one = exchange[["frames", "frame_bytes", "medium_bytes"]].sum()
    rate = wire.link_limit_rps(traffic["small", "in", "traffic", "mean"], one["frame_bytes"])
    assert rate * one["frames"] == pytest.approx(traffic["small", "in", "packets", "mean"], rel=0.05)
    assert wire.link_used_ratio(acceptance_said["link_bps"], rate, one["medium_bytes"]) == pytest.approx(0.78, abs=0.01)


def test_bits_and_packets_of_large_answers(blocks, acceptance_said, traffic):
    exchange = wire.summarise_exchange(106, acceptance_said["large_response_bytes"] + header_bytes(blocks).iloc[0])
    ways = exchange.groupby("direction")[["frames", "frame_bytes", "medium_bytes"]].sum()
    rate = wire.link_limit_rps(traffic["large", "not stated", "traffic", "peak"], ways.loc["to_client", "frame_bytes"])
    assert rate * ways["frames"].sum() == pytest.approx(traffic["large", "both", "packets", "peak"], rel=0.02)
    used = wire.link_used_ratio(acceptance_said["link_bps"], rate, ways.loc["to_client", "medium_bytes"])
    assert used == pytest.approx(0.81, abs=0.01)


def test_packets_are_far_from_the_rate_of_least_frames(acceptance_said, traffic):
    most = wire.link_limit_rps(acceptance_said["link_bps"], wire.ETHERNET.empty_medium_bytes(0))
    assert most == pytest.approx(1_488_095, abs=1)  # RFC 5180, appendix A.1: 64 bytes on Gigabit Ethernet
    assert traffic["small", "in", "packets", "peak"] / most == pytest.approx(0.1, abs=0.001)


def test_claims_and_points_of_the_plan_belong_together():
    claims, points = (read_published("lvs_acceptance", name) for name in ("claims", "acceptance_plan"))
    assert set(points["claim"]) - {""} <= set(claims["name"])
