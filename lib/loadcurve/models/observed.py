"""What the collectors saw while the load ran, one row for each run, beside what was asked for."""

import pandas as pd

# sar prints the second in which it sampled, so the true instant is up to this much later; each sample covers the
# second before its instant (sysstat, sar(1)).
_SAMPLE_S = 1.0


def summarise_busy(cpu: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """Mean busy share of each processor over the samples that lie wholly within a run's load.

    Busy is all that is not idle: 1 − idle − waiting for disks.  A run needs three seconds to be sure of such a sample;
    a run without one has no row.

    Parameters
    ----------
    cpu, runs : pandas.DataFrame
        The tables of that name.

    Returns
    -------
    pandas.DataFrame
        ``study run_id variant connections cpu role busy_ratio``, where `role` is ``server`` or ``generator`` for the
        processor that was theirs alone, else empty.  Rows `all` of the table are left out.
    """
    each = cpu[cpu["cpu"] != "all"].merge(_points(runs), on=["study", "run_id"])
    within = each[(each["elapsed_s"] >= _SAMPLE_S) & (each["elapsed_s"] <= each["duration_s"] - _SAMPLE_S)]
    busy = within.assign(
        busy_ratio=1 - within["cpu_idle_ratio"] - within["cpu_iowait_ratio"],
        role=[_role(*pins) for pins in within[["cpu", "server_cpu", "generator_cpu"]].astype(str).to_numpy()],
    )
    keys = ["study", "run_id", "variant", "connections", "cpu", "role"]
    return busy.groupby(keys, as_index=False, observed=True, dropna=False)["busy_ratio"].mean()


def _role(cpu: str, server_cpu: str, generator_cpu: str) -> str:
    if server_cpu == generator_cpu:
        return ""
    return "server" if cpu == server_cpu else "generator" if cpu == generator_cpu else ""


def summarise_established(connections: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """Most connections that a snapshot saw established on the server's side, for each run.

    The server's side is told by its listening socket: its port is the local port of a row in state LISTEN.

    Parameters
    ----------
    connections, runs : pandas.DataFrame
        The tables of that name.

    Returns
    -------
    pandas.DataFrame
        ``study run_id variant connections established``, one row for each run that has a snapshot.
    """
    keys = ["study", "run_id"]
    listening = connections.loc[connections["state"] == "LISTEN", [*keys, "local_port"]].drop_duplicates()
    at_server = connections[connections["state"] == "ESTAB"].merge(listening, on=[*keys, "local_port"])
    snapshots = at_server.groupby([*keys, "time"], dropna=False).size().groupby(keys).max().rename("established")
    seen = listening[keys].drop_duplicates().merge(snapshots.reset_index(), on=keys, how="left")
    seen["established"] = seen["established"].fillna(0).astype(int)
    return _points(runs)[[*keys, "variant", "connections"]].merge(seen, on=keys)


def _points(runs: pd.DataFrame) -> pd.DataFrame:
    finished = runs[runs["status"] == "finished"].drop_duplicates(["study", "run_id"])
    return finished[["study", "run_id", "variant", "connections", "duration_s", "server_cpu", "generator_cpu"]]
