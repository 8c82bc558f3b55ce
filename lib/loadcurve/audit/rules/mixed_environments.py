"""Runs of one variant had different versions or settings, so a difference between them may be due to these.

What it means
-------------
The runs of one variant were measured with several versions of the generator, of the server or of the kernel, or with
other settings of the hosts.  That is a factor that nobody set: a step of the curve may be its effect.

Why it happens
--------------
A package was upgraded between two days, a host was rebooted into another kernel, `cpupower` or a boot option changed,
or results of two machines are in one folder.  Mitigations of processor faults alone cost system calls 10 % and more
(`/sys/devices/system/cpu/vulnerabilities`), and `bbr` in place of `reno` can change the throughput of large responses
several times.

How to fix it
-------------
Measure the runs again in one environment, and record it: `uname -r`, `wrk -v`, `nginx -v`, `sysctl
net.ipv4.tcp_congestion_control`, `cat /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor`.  If the difference is
what you study, make it a factor, so that each environment is a variant of its own.

When to ignore it
-----------------
The versions differ only in their packaging, or each level was measured under all of them in random order.
"""

from collections.abc import Iterator, Mapping

import pandas as pd

from loadcurve.audit.rule import Finding, Rule, not_checked
from loadcurve.audit.run_tables import Tables, all_runs, key_of

_OF_RUNS = {"tool_version": "versions of the generator", "server_software": "server versions", "tls": "TLS settings"}
_SETTINGS = {
    "net.ipv4.tcp_congestion_control": "congestion controls",
    "model name": "models of processors",
    "scaling_governor": "governors of the clock",
    "vulnerabilities": "mitigations of processor faults",
}
_LISTED = 60  # characters of a value: the list of mitigations has hundreds
_LOADS = ("connections", "rate_rps", "target_rate_rps")


def judge_environments(tables: Tables, limits: Mapping[str, float]) -> Iterator[Finding]:
    """Yield one finding about the runs of each variant together."""
    runs = tables["runs"]
    if len(runs) < 2:
        return
    facts = _facts(tables).drop_duplicates()
    facts = facts.assign(group=facts["key"].map(_groups(tables)).fillna(""))
    places = facts.groupby(["group", "what", "place"], sort=False)
    compared = facts[places["key"].transform("nunique") > 1]
    if compared.empty:
        needs = "needs the versions, kernels or settings of two runs of a variant"
        record = (
            "Record `uname -r`, `sysctl net.ipv4.tcp_congestion_control` and the versions with every run (`sar -A`)."
        )
        yield not_checked(all_runs(runs), needs, record)
        return
    values = compared.groupby(["group", "what", "place"], sort=False)["value"].unique()
    found = [f"{index[1]} ({', '.join(map(_shown, several))})" for index, several in values.items() if len(several) > 1]
    if found:
        evidence = f"The runs were measured with several {' and '.join(dict.fromkeys(found))}."
    else:
        evidence = f"The runs agree in their {', '.join(compared['what'].unique())}."
    advice = "Measure the runs again with one, or make it a factor of the comparison."
    yield Finding(all_runs(runs), "warning" if found else "ok", evidence, advice)


def _facts(tables: Tables) -> pd.DataFrame:
    """Return ``key what place value``: what is known of the environment of each run, the place being a tool or host."""
    runs = tables["runs"]
    parts = [_part(runs, runs["tool"], words, runs[column]) for column, words in _OF_RUNS.items()]
    for name, column, words in (
        ("hosts", "kernel", "kernels"),
        ("connections", "congestion_control", "congestion controls"),
    ):
        if name in tables and len(tables[name]):
            parts.append(_part(tables[name], tables[name]["host"], words, tables[name][column]))
    if "settings" in tables:
        settings = tables["settings"]
        parts.append(_part(settings, settings["host"], settings["setting"].map(_SETTINGS), settings["value"]))
    return pd.concat(parts, ignore_index=True)


def _part(rows: pd.DataFrame, place: pd.Series, what: "str | pd.Series", value: pd.Series) -> pd.DataFrame:
    frame = pd.DataFrame({"key": key_of(rows), "what": what, "place": place.fillna("").astype(object), "value": value})
    return frame.dropna(subset=["what", "value"]).astype(object)


def _groups(tables: Tables) -> pd.Series:
    """Return the variant of each run with the levels of its factors but the load: these differ on purpose."""
    runs = tables["runs"]
    groups = pd.Series(runs["variant"].fillna("").to_numpy(object), key_of(runs).to_numpy())
    groups = groups[~groups.index.duplicated()]
    factors = tables.get("factors")
    if factors is None or factors.empty:
        return groups
    chosen = factors[~factors["factor"].str.rpartition(".")[2].isin(_LOADS)]
    levels = (chosen["factor"] + "=" + chosen["level"]).groupby(key_of(chosen)).agg(" ".join)
    return groups + levels.reindex(groups.index).fillna("").astype(object)


def _shown(value: object) -> str:
    text = str(value)
    return text if len(text) <= _LISTED else f"{text[:_LISTED]}…"


RULE = Rule(
    "mixed-environments",
    "Were all runs measured in the same environment?",
    judge_environments,
    {"ok": "one version and one setting of each", "warning": "several within a variant"},
    family="Statistics",
)
