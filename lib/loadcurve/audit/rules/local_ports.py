"""The client's local ports are used up, or soon will be, by open connections and by those that it closed first.

What it means
-------------
A host has as many connections to one server address and port as it has local ports: 28,232 by default
(`net.ipv4.ip_local_port_range`, 32768 to 60999).  A closed connection keeps its port in TIME_WAIT for 60 s (Linux,
TCP_TIMEWAIT_LEN), if this host closed it first.  So no more than 28,232 / 60 s = 470 connections/s can be opened for
long.  Beyond that, connections fail, and throughput falls in steps of a minute.  The rule counts the ports towards the
busiest server in `ss -tan`, or else the sockets in TIME_WAIT on the generator's host.  It uses the host's own range
where the record or the output of `sysctl` has it.  Without either, it computes from the connections opened per second
when the ports will be used up.

Why it happens
--------------
The side that closes first keeps TIME_WAIT.  The generator opens a connection for each request and closes it, at times
before the server does (`wrk -H 'Connection: close'`).  A proxy that closes first has the same limit towards each of its
servers; its error log then says `(99: Cannot assign requested address) while connecting to upstream`.

How to fix it
-------------
Keep connections alive (`ab -k`; in nginx `keepalive 64;` in the upstream, `proxy_http_version 1.1;` and
`proxy_set_header Connection '';`).  Otherwise widen the range (`sysctl -w net.ipv4.ip_local_port_range='1024 65535'`:
64,512 ports), use several client or server addresses, or let the kernel reuse ports in TIME_WAIT after 1 s (`sysctl -w
net.ipv4.tcp_tw_reuse=1`, with TCP timestamps on both sides).  Wait 60 s before the next run.

When to ignore it
-----------------
If the server closes first, as with `ab` without `-k` and nginx as proxy, TIME_WAIT is there and takes no local port;
a run that opened more connections than there are ports within 60 s shows this.  If tcp_tw_reuse is 1, and
on the loopback interface also by default (2, since Linux 4.19), ports in TIME_WAIT are reused; the rule is silent about
them where it knows the setting.
"""

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from loadcurve.audit.hosts import of_generator, on_loopback, port_count, ports_of_urls, setting_of
from loadcurve.audit.rule import Evidence, Finding, Limit, Need, Rule, Severity, judge_evidence, refusals, severity_of
from loadcurve.audit.run_tables import Tables, key_of
from loadcurve.models.wire.ports import LINUX_PORTS, LINUX_TIME_WAIT_S

_KEEP = (
    "Keep connections alive (`ab -k`), use several client addresses, widen net.ipv4.ip_local_port_range, or set "
    "net.ipv4.tcp_tw_reuse to 1."
)
_NEEDS = "the sockets of the generator's host, or the connections that it opened"
_RECORD = "Record `ss -tan` on the generator's host while the load runs."
# What ab, wrk and nginx print for EADDRNOTAVAIL.
_NO_PORT = r"[Cc]annot assign requested address|Can't assign requested address"


def judge_ports(tables: Tables, limits: Mapping[str, float]) -> Iterator[Finding]:
    """Yield one finding for each row of ``runs``: local ports in use, and connections opened, against the range."""
    runs = tables["runs"]
    settings = of_generator(tables.get("settings"), runs)
    hosts = _Hosts(port_count(settings), _reusing(runs, settings))
    said = refusals(tables, _NO_PORT, "No local port was left", _KEEP)
    # Of each run, the surest measurement counts.
    measured = (
        _of_rates(tables, hosts, limits) | _of_counts(tables, hosts, limits) | _of_snapshots(tables, hosts, limits)
    )
    yield from judge_evidence(tables, (said, measured), f"needs {_NEEDS}", _RECORD)


class _Hosts:
    """Local ports of the generators' hosts, and whether these reuse ports in TIME_WAIT."""

    def __init__(self, ports: Mapping[str, float], reusing: frozenset[str]) -> None:
        self._ports, self.reusing = ports, reusing

    def ports(self, key: str) -> tuple[float, str]:
        """Return the number of ports, and how to call it."""
        known = self._ports.get(key)
        return (known, f"{known:.0f} local ports") if known else (LINUX_PORTS, f"{LINUX_PORTS} local ports by default")

    def evidence(self, key: str, used: float, words: str, limits: Mapping[str, float], soon: float = 0) -> Evidence:
        """Return the evidence of a number of used ports, and of the number that will be used after TIME_WAIT."""
        number, of_host = self.ports(key)
        share = used / number
        text = f"{words}; the host has {of_host}."
        severity = severity_of(share, limits)
        if soon > number and severity != "error":
            severity = "warning"
            text += f" At this rate {soon:.0f} will be in use after {LINUX_TIME_WAIT_S:.0f} s."
        return Evidence(severity, text, _KEEP, share, limits["warning"])


def _reusing(runs: pd.DataFrame, settings: pd.DataFrame) -> frozenset[str]:
    """Keys of the runs on whose generator's host ports in TIME_WAIT are certainly reused."""
    values = setting_of(settings, "net.ipv4.tcp_tw_reuse").to_dict()
    loopback = set(key_of(runs)[on_loopback(runs)])
    return frozenset(
        key for key in key_of(runs).unique() if values.get(key, "2") in (("1", "2") if key in loopback else ("1",))
    )


def _of_snapshots(tables: Tables, hosts: _Hosts, limits: Mapping[str, float]) -> dict[str, Evidence]:
    """Evidence of `ss -tan`: sockets whose peer is the port of the URL are the generator's."""
    connections = tables.get("connections")
    named = ports_of_urls(tables["runs"])
    if connections is None or connections.empty or named.empty:
        return {}
    keys, columns = key_of(connections), ["time", "state", "local_address", "peer_address", "peer_port"]
    near = connections["peer_port"].isin(named["port"])
    towards = connections[columns][near].assign(key=keys[near])
    port = towards["key"].map(dict(zip(key_of(named), named["port"], strict=True)))
    towards = towards[towards["peer_port"].astype(object) == port]
    towards = towards[~(towards["key"].isin(hosts.reusing) & (towards["state"] == "TIME-WAIT"))]
    if towards.empty:
        return {}
    place = ["key", "time", "local_address", "peer_address"]
    used = towards.groupby(place, dropna=False).size().groupby("key").max()
    # A list of established connections alone (no `-a`) leaves out TIME_WAIT, so few of them prove nothing.
    whole = set(keys[connections["state"].isin(["LISTEN", "TIME-WAIT"])].unique())
    found = {
        str(key): hosts.evidence(str(key), number, f"{number} local ports were in use towards the server", limits)
        for key, number in used.items()
    }
    return {key: one for key, one in found.items() if one.severity != "ok" or key in whole}


def _of_counts(tables: Tables, hosts: _Hosts, limits: Mapping[str, float]) -> dict[str, Evidence]:
    """Evidence of the sockets in TIME_WAIT on the generator's host, also after the load."""
    sockets = of_generator(tables.get("sockets"), tables["runs"], ["time_wait", "elapsed_s"])
    if sockets.empty:
        return {}
    sockets = sockets.dropna(subset=["time_wait"])
    waiting = sockets["time_wait"].astype(float)
    groups = sockets.assign(waiting=waiting).groupby("key")
    rows = pd.DataFrame({"most": groups["waiting"].max(), "least": groups["waiting"].min()})
    span = groups["elapsed_s"].max() - groups["elapsed_s"].min()
    growth = (rows["most"] - rows["least"]) / span.where(span >= _SPAN_S)
    soon = (growth * LINUX_TIME_WAIT_S).fillna(0.0).to_dict()
    found = {}
    for key, most in rows["most"].to_dict().items():
        words = f"{most:.0f} sockets were in TIME_WAIT"
        if key in hosts.reusing:
            found[str(key)] = Evidence("ok", f"{words}, and the host reuses their ports.", "", 0.0, limits["warning"])
        else:
            found[str(key)] = hosts.evidence(str(key), most, words, limits, soon[key])
    return found


_SPAN_S = 3.0  # fewer seconds between the first and the last sample give no rate


def _of_rates(tables: Tables, hosts: _Hosts, limits: Mapping[str, float]) -> dict[str, Evidence]:
    """Evidence of the connections opened per second, where TIME_WAIT was not recorded."""
    runs = tables["runs"]
    rates: dict[str, float] = {}
    # ab and weighttp without -k open a connection for each request; ab then prints no count of kept connections.
    kept = runs["requests_keepalive"].astype(float).where(runs["tool"] != "ab", runs["requests_keepalive"].fillna(0))
    opened = (runs["requests"].astype(float) - kept.astype(float)) / runs["duration_s"].astype(float)
    each = runs["tool"].isin(["ab", "weighttp"]) & opened.notna() & np.isfinite(opened)
    rates |= opened[each].groupby(key_of(runs)[each]).sum().to_dict()
    tcp = of_generator(tables.get("tcp"), runs, ["active_opens_per_s"])
    if len(tcp):
        rates |= tcp.dropna(subset=["active_opens_per_s"]).groupby("key")["active_opens_per_s"].mean().to_dict()
    durations = runs.assign(key=key_of(runs)).groupby("key")["duration_s"].max().astype(float).to_dict()
    found = {}
    for key, rate in rates.items():
        number, of_host = hosts.ports(key)
        lasted = min(float(durations.get(key, np.nan)), LINUX_TIME_WAIT_S)
        used = rate * lasted / number
        enough = used <= limits["warning"] or key in hosts.reusing
        severity: Severity = "ok" if enough or used > 1 else "warning"
        text = f"{rate:.0f} connections/s "
        if enough:
            text += f"were opened for {durations[key]:.3g} s; the host has {of_host}."
        elif used > 1:  # to one server: ab and weighttp request one URL
            text += f"for {lasted:.3g} s are more than {of_host}, so TIME_WAIT kept none."
        elif rate * LINUX_TIME_WAIT_S > number:
            text += f"were opened, which use up {of_host} in {number / rate:.1f} s if this host closes them first."
        else:  # TIME_WAIT ends before the ports do
            ports = f"{rate * lasted:.0f} of {of_host}"
            text += f"were opened, which keep {ports} in TIME_WAIT if this host closes them first."
        found[key] = Evidence(severity, text, f"{_KEEP} {_RECORD}", used, limits["warning"])
    return found


RULE = Rule(
    "local-ports",
    "Did the generator's host have local ports to spare?",
    judge_ports,
    {
        "ok": "at most half of the ports were in use, or they are reused",
        "warning": "more than half, or as many will be after 60 s in which TIME_WAIT grows",
        "error": "more than 95 %, or a tool reports that no port was left",
    },
    limits={
        "warning": Limit(0.5, "half the ports in half a minute: a run of a minute uses them all"),
        "error": Limit(0.95, "the search for a free port fails or takes long before the last port is used"),
    },
    needs=(
        Need(
            "connections",
            ("peer_port",),
            _NEEDS,
            _RECORD,
            alternatives=(
                Need("sockets", ("time_wait",)),
                Need("tcp", ("active_opens_per_s",)),
                Need("runs", ("requests", "duration_s")),
                Need("runs", ("reason",)),
                Need("events", ("text",)),
            ),
        ),
    ),
    unfinished=True,
    family="Load delivered",
)
