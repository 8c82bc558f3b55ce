"""What the study of the listening ports says, from its tracked numbers and the library; expected values by hand."""

import pandas as pd
import pytest

from loadcurve import models, read_published
from loadcurve.models import capacity, queueing, scaling, wire
from loadcurve.units import rounded_ends


@pytest.fixture(scope="module")
def said():
    return read_published("bottleneck_listeners", "prose").set_index("name")["value"]


def test_what_is_printed(said):
    """20,000/s near 200 connections on 8 cores; nearly 40,000/s on 4; 100,000/s on 24."""
    stated = said[
        ["plateau_rps", "full_connections", "cores", "older_rps", "older_cores", "best_rps", "compared_cores"]
    ]
    assert stated.tolist() == [20_000, 200, 8, 40_000, 4, 100_000, 24]


@pytest.mark.parametrize(
    ("value", "digits", "ends"), [(20_000, 1, (15_000, 25_000)), (200, 1, (150, 250)), (100_000, 2, (95_000, 105_000))]
)
def test_numbers_that_round_to_one(value, digits, ends):
    assert rounded_ends(value, digits) == ends
    assert all(abs(end - value) <= 0.5 * 10 ** (len(str(value)) - digits) for end in ends)


def test_what_the_plateau_implies(said):
    rate, number = said["plateau_rps"], said["full_connections"]
    demand = models.service_demand_s(rate, 1)
    cycle = models.little_latency_s(number, rate)
    assert demand == pytest.approx(50e-6)  # 1 / 20,000 s
    assert cycle == pytest.approx(0.010)  # 200 / 20,000 s
    assert models.little_latency_s(2 * number, rate) == pytest.approx(0.020)
    assert models.saturation_connections(demand, cycle) == pytest.approx(200)
    assert models.service_demand_s(rate, 1, said["cores"]) == pytest.approx(400e-6)  # 8 / 20,000 s


def test_the_serial_part_is_more_than_one_core_of_all(said):
    for rate, cores, least in (("older_rps", 4, 0.25), ("plateau_rps", 8, 0.125), ("best_rps", 24, 1 / 24)):
        serial = models.service_demand_s(said[rate], 1)
        assert serial / models.service_demand_s(said[rate], 1, cores) == pytest.approx(least)


def test_no_serial_part_makes_more_workers_slower(said):
    for part in (0.0, 0.125, 0.5, 1.0):
        four, eight = models.usl([said["older_cores"], said["cores"]], 1, part, 0)
        assert eight >= four
    assert said["older_rps"] > said["plateau_rps"]


def test_one_law_for_both_servers():
    """β = (2 − r) / (56 r − 24) where 8 workers make r times what 4 make, by hand: 3/8 for 1/2, 9/112 for 5/7."""
    for rates, beta in (((40_000, 20_000), 3 / 8), ((35_000, 25_000), 9 / 112)):
        law = scaling.usl_through_two([4, 8], rates)
        assert law[2] == pytest.approx(beta)
        assert models.usl_peak_connections(*law[1:]) == pytest.approx(beta**-0.5)


def test_a_port_each_is_a_balanced_network(said):
    """K equal queues make N / (N + K − 1) of their ceiling (J. Zahorjan and others 1982, balanced job bounds)."""
    cores = int(said["compared_cores"])
    work = models.service_demand_s(said["best_rps"], 1, cores)
    solved = queueing.solve_network(300, [work / cores] * cores)
    for number in (24, 200, 300):
        share = solved.throughput_rps[number - 1] / said["best_rps"]
        assert share == pytest.approx(number / (number + cores - 1))
    assert number / (number + cores - 1) < 0.95  # 300 connections do not show the ceiling either


@pytest.mark.parametrize(("serial", "ceiling"), [(50e-6, 20_000), (25e-6, 40_000), (5e-6, 24 / 235e-6)])
def test_a_shared_port_stops_at_its_serial_part(serial, ceiling):
    shared = queueing.solve_network(1024, [serial, 240e-6 - serial], 0, [1, 24])
    assert shared.throughput_rps[-1] == pytest.approx(ceiling, rel=1e-3)


def test_the_ports_of_the_clients(said):
    """28,232 ports / 60 s for each of 40 clients."""
    assert wire.port_limit_rps(1, destinations=said["client_machines"]) == pytest.approx(40 * 28_232 / 60)
    low, high = rounded_ends(said["plateau_rps"], 1)
    assert low < 40 * 28_232 / 60 < high < said["older_rps"]


@pytest.mark.parametrize(("busy", "verdict"), [(0.5, "no watched resource"), (0.89, "no watched"), (0.9, "saturated")])
def test_the_verdict_on_cores_that_are_not_busy(said, busy, verdict):
    usage = pd.DataFrame({"connections": [100, 200, 400], "resource": "cpu", "servers": said["cores"]})
    usage["throughput_rps"] = models.asymptotic_throughput_rps(usage["connections"], 50e-6, 0.010)
    usage["utilisation_ratio"] = busy * usage["throughput_rps"] / 20_000
    assert capacity.bottleneck_verdict(usage).startswith(verdict)


def test_tengine_is_the_only_one_whose_place_changed():
    rankings = read_published("bottleneck_listeners", "rankings").set_index(["round", "server"])["said"]
    assert rankings[2, "Tengine"] == "about equal to nginx"
    assert not rankings.loc[1].filter(like="Tengine").str.startswith("about equal").any()
