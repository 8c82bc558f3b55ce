"""Planted faults: clocks and monitors that cannot show the load, and measurements that leave out what matters."""

from collections.abc import Callable

import pandas as pd

from loadcurve.audit.atlas import Shows
from validation.faults.mutation import Change, Tables, chain, planted_fault, times, with_rows, with_values

MONITORED = ("cpu", "network", "tcp", "sockets", "connections")


def shifted(seconds: float) -> Change:
    """Return a change: every monitor's samples come so many seconds later, as with a clock that is ahead."""

    def change(given: Tables) -> dict[str, pd.DataFrame]:
        later = {
            name: given[name].assign(
                elapsed_s=given[name]["elapsed_s"] + seconds, time=given[name]["time"] + pd.Timedelta(seconds=seconds)
            )
            for name in MONITORED
        }
        return {**given, **later}

    return change


def sampled_once(given: Tables) -> dict[str, pd.DataFrame]:
    """Return the tables with the first sample of the processors alone, as of a monitor with an interval of a minute."""
    cpu = given["cpu"]
    return {**given, "cpu": cpu[cpu["elapsed_s"] == cpu["elapsed_s"].min()]}


def loaded(first: int, last: int) -> Callable[[int], float]:
    """Return the packets/s of an interface that is idle but for these seconds."""
    return lambda second: 11_700.0 if first <= second <= last else 3.0


MUTATIONS = (
    planted_fault(
        "clock_of_a_host",
        "A clock that is ahead",
        "The clock of one of two hosts was set 3 s ahead.",
        ("clock-skew",),
        with_rows(
            "network",
            {"host": "client", "interface": "veth0", "received_pps": loaded(2, 7), "transmitted_pps": loaded(2, 7)},
            {"host": "server", "interface": "veth0", "received_pps": loaded(5, 10), "transmitted_pps": loaded(5, 10)},
            seconds=14,
        ),
        cause="Synchronise",
        shows=Shows("network", ("received_pps",), {"interface": "veth0"}, by="host"),
    ),
    planted_fault(
        "clock_in_another_zone",
        "Samples after the load",
        "All samples of the monitors were labelled 60 s later.",
        ("clock-skew",),
        shifted(60.0),
        cause="time zones",
        shows=Shows("network", ("received_pps",), {"interface": "lo"}),
    ),
    planted_fault(
        "one_sample",
        "A monitor that sampled once",
        "One sample of the processors was kept.",
        ("coarse-monitor",),
        sampled_once,
        cause="every second",
        shows=Shows("cpu", ("cpu_idle_ratio",), {"cpu": "all"}),
    ),
    planted_fault(
        "stall_without_correction",
        "A stall that the percentiles leave out",
        "One response took 5.5 s of 6 s, and the response times were not corrected.",
        ("coordinated-omission",),
        with_values("runs", latency_max_s=5.5, latency_corrected=False),
        cause="constant rate",
        shows=Shows("latency", ("latency_s",)),
    ),
    planted_fault(
        "bbr_over_veth",
        "BBR over a virtual link",
        "The host used bbr over a veth link, with responses of 7,800 bytes.",
        ("bbr-on-veth",),
        chain(
            with_values("runs", received_bytes=times(10), received_bytes_per_s=times(10)),
            with_rows("settings", {"setting": "link eth0", "value": "veth 1500 noqueue", "tool": "loadcurve"}),
        ),
        cause="reno",
    ),
)
