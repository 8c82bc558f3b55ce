"""Rule ``stolen-processors``: the hypervisor gave the run's processors to the run.

On a virtual machine, steal is the time for which a guest was ready to run and the hypervisor ran another guest.  The
stolen time is missing from capacity, and adds to response times in bursts, so repeats of another hour differ.
"""

import pandas as pd

from loadcurve.audit.of_runs import Tables
from loadcurve.audit.rule import Limit
from loadcurve.audit.rules._monitored import STEAL
from loadcurve.audit.samples import samples_within
from loadcurve.audit.threshold import threshold_rule


def measure_steal(tables: Tables) -> pd.DataFrame:
    """Return the mean steal of each run over the samples of all processors."""
    samples = samples_within(tables["cpu"], tables["runs"])
    return samples.groupby("key")[["cpu_steal_ratio"]].mean().rename(columns={"cpu_steal_ratio": "observed"})


RULE = threshold_rule(
    "stolen-processors",
    "Did the run have its processors to itself?",
    measure_steal,
    evidence="The hypervisor took {observed:ratio} of the processors' time.",
    advice="Repeat the run at another time, or measure on a host of its own; compare only runs without steal.",
    limits={
        "warning": Limit(0.01, "the scatter of repeats on a quiet machine is about 1 %"),
        "error": Limit(0.1, "a tenth of the capacity is more than most differences that a study looks for"),
    },
    needs=(STEAL,),
)
