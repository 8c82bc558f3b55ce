"""Lost packets: the kernel's own table of the equation, the paper's constant, and a sum of timeouts."""

import numpy as np
import pytest

from loadcurve.models import wire


def test_the_equation_gives_the_table_of_the_kernel():
    """net/dccp/ccids/lib/tfrc_equation.c: the first row is of 0.2 % and 0.01 %, for a timeout of four round trips."""
    seconds = 1 / wire.tfrc_bytes_per_s(1, [0.002, 0.0001], 4, segment_bytes=1)
    assert (1e6 * seconds).astype(int).tolist() == [37172, 8172]


def test_without_timeouts_both_models_are_one():
    """Mathis and others, table 1: 1.22 for periodic losses with an acknowledgement of every packet."""
    rare = 1e-9
    assert wire.mathis_bytes_per_s(1, rare, 1) * np.sqrt(rare) == pytest.approx(1.22, abs=0.005)
    assert wire.tfrc_bytes_per_s(1, rare, 4, 1) == pytest.approx(wire.mathis_bytes_per_s(1, rare, 1), rel=1e-6)


def test_a_lost_packet_costs_a_timeout_and_the_next_twice_as_much():
    by_hand = sum(0.1**n * 0.2 * 2 ** (n - 1) for n in range(1, 60))
    assert wire.lossy_exchange_s(0.01, 0.1, 0.2) == pytest.approx(0.01 + 2 * by_hand)
    assert wire.lossy_exchange_s(0.01, 0, 0.2) == 0.01
