"""Rule ``mixed-environments``: runs that are compared ran in the same environment.

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

from loadcurve.audit.of_runs import Tables, all_of, key_of
from loadcurve.audit.rule import Finding, Rule, Severity

_OF_RUNS = {"tool_version": "versions of the generator", "server_software": "server versions", "tls": "TLS settings"}


def judge_environments(tables: Tables, limits: Mapping[str, float]) -> Iterator[Finding]:
    """Yield one finding about the runs of each variant together."""
    runs = tables["runs"]
    if len(runs) < 2:
        return
    found: list[str] = []
    for _, rows in runs.groupby(runs["variant"].fillna(""), sort=False):
        for _, same in rows.groupby(rows["tool"].fillna(""), sort=False):
            for column, words in _OF_RUNS.items():
                if len(values := same[column].dropna().unique()) > 1:
                    found.append(f"{words} ({', '.join(map(str, values))})")
        of_rows = key_of(rows)
        for name, column in (("hosts", "kernel"), ("connections", "congestion_control")):
            if name in tables and len(tables[name]):
                known = tables[name][column].notna() & key_of(tables[name]).isin(of_rows)
                frame = tables[name].loc[known, ["host", column]]
                hosts = frame.groupby(frame["host"].fillna(""))[column].unique()
                words = f"{column.replace('_', ' ')}s"
                found += [f"{words} ({', '.join(values)})" for values in hosts[hosts.str.len() > 1]]
    severity: Severity = "warning" if found else "ok"
    several = " and ".join(dict.fromkeys(found))
    evidence = f"The runs were measured with several {several}." if found else "The runs agree."
    advice = "Measure the runs again with one, or make it a factor of the comparison." if found else ""
    yield Finding(all_of(runs), severity, evidence, advice)


RULE = Rule(
    "mixed-environments",
    "Were all runs measured under the same software?",
    judge_environments,
    {"ok": "one version of each", "warning": "several within a variant"},
)
