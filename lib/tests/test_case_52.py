"""What the study of the listening ports says, from its tracked numbers and the library; expected values by hand."""

import pandas as pd
import pytest

from loadcurve import models, read_published
from loadcurve.models import capacity, wire
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
