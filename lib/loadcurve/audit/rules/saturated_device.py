"""Rules ``saturated-disk`` and ``saturated-link``: no device worked at its limit.

A device that is used all the time sets the throughput, whatever the server could do.  A disk that serves requests side
by side may take more even then; the page of the bottleneck report says how to decide.
"""

import pandas as pd

from loadcurve.audit.of_runs import Tables
from loadcurve.audit.rule import Limit
from loadcurve.audit.rules._monitored import DISKS, LINKS
from loadcurve.audit.samples import samples_within
from loadcurve.audit.threshold import threshold_rule


def _busiest(table: str, name: str, tables: Tables) -> pd.DataFrame:
    samples = samples_within(tables[table], tables["runs"]).assign(host=lambda frame: frame["host"].fillna(""))
    means = (
        samples.groupby(["key", "host", name], observed=True)["utilisation_ratio"].mean().reset_index(name="observed")
    )
    return means.dropna().sort_values("observed").drop_duplicates("key", keep="last").set_index("key")


def measure_disks(tables: Tables) -> pd.DataFrame:
    """Return the busiest disk of each run."""
    return _busiest("disks", "device", tables)


def measure_links(tables: Tables) -> pd.DataFrame:
    """Return the busiest link of each run."""
    return _busiest("network", "interface", tables)


DISK = threshold_rule(
    "saturated-disk",
    "Did every disk have time to spare?",
    measure_disks,
    evidence="Disk {device} was in use for {observed:ratio} of the load.",
    advice="Find out who uses it (`pidstat -d 1`); move logs and data to another device, or to memory, and repeat.",
    limits={"warning": Limit(0.9, "above it a single-queue disk has a mean wait of ten service times (M/M/1)")},
    needs=(DISKS,),
)
LINK = threshold_rule(
    "saturated-link",
    "Did every link have bandwidth to spare?",
    measure_links,
    evidence="Link {interface} was used to {observed:ratio} of its speed.",
    advice="The link limits the throughput: compare with the wire model, use smaller responses, or a faster link.",
    limits={"warning": Limit(0.95, "frame gaps and preambles, which sar does not count, take up to 24 of 84 bytes")},
    needs=(LINKS,),
)
