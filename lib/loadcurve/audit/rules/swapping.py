"""Rule ``swapping``: memory was enough, so nothing was written to swap.

A page that comes back from swap takes a disk access, a hundred thousand times as long as memory.
"""

import pandas as pd

from loadcurve.audit.of_runs import Tables
from loadcurve.audit.rule import Limit
from loadcurve.audit.rules._monitored import SWAP
from loadcurve.audit.samples import samples_within
from loadcurve.audit.threshold import threshold_rule


def measure_swap(tables: Tables) -> pd.DataFrame:
    """Return by how much the swap in use grew during each run, in bytes."""
    samples = samples_within(tables["memory"], tables["runs"]).assign(host=lambda frame: frame["host"].fillna(""))
    groups = samples.sort_values("time").groupby(["key", "host"])["swap_used_bytes"]
    grown = (groups.last() - groups.first()).reset_index(name="observed")
    return grown.sort_values("observed").drop_duplicates("key", keep="last").set_index("key")


RULE = threshold_rule(
    "swapping",
    "Was memory enough?",
    measure_swap,
    evidence="The swap in use grew by {observed:bytes} during the load.",
    advice="Give the host more memory, or start fewer processes; a curve measured while swapping is a disk's.",
    limits={"warning": Limit(1048576.0, "1 MiB: sar counts in KiB, and the kernel moves idle pages now and then")},
    needs=(SWAP,),
    unit="bytes",
)
