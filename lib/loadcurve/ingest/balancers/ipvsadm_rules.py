"""Settings that ipvsadm prints: rules that restore them, time limits, daemons, local addresses of DPVS.

Sources of the format (ipvsadm 1.31, ``print_service_entry`` with FMT_RULE, ``list_timeout``, ``list_daemon``):
``-A -t 198.18.0.9:80 -s rr -p 60``, ``-a -t 198.18.0.9:80 -r 198.18.0.3:80 -m -w 1``;
``Timeout (tcp tcpfin udp): 900 120 300``, in seconds; ``master sync daemon (mcast=eth0, syncid=1, maxlen=1472, …)``.
"""

import re

from loadcurve.errors import ParseError
from loadcurve.ingest.balancers.ipvsadm_fields import split_endpoint

_TIMEOUT = re.compile(r"Timeout \(tcp tcpfin udp\): ([0-9]{1,9}) ([0-9]{1,9}) ([0-9]{1,9})")
_DAEMON = re.compile(
    r"((?:master|backup) sync daemon) \(mcast=([^\s,()]*), syncid=([0-9]{1,9})((?:, [^\s,=]+=[^\s,=()]+)*)\)"
)
_SNAT = re.compile(r"(\S++)\s++([0-9]{1,9})\s++([0-9]{1,18})")
_VIRTUAL = re.compile(r"((?=\S+:\S)\S{1,255}+)\s++([0-9]{1,9})")
_PROTOCOL = {
    "-t": "TCP", "-u": "UDP", "-q": "ICMP", "-f": "FWM",
    "--tcp-service": "TCP", "--udp-service": "UDP", "--sctp-service": "SCTP", "--fwmark-service": "FWM",
}  # fmt: skip
_FORWARD = {"-g": "Route", "-i": "Tunnel", "-m": "Masq", "(null)": None}  # FullNat has no letter here
_ALONE = {"-6": "IPv6", "-o": "ops", "ops": "ops"}
_FLAG = {"-M": "mask", "--pe": "pe", "pe": "pe", "-b": "sched-flags"}


def rule_row(line: str, number: int, services: dict[tuple[str, str], dict]) -> dict:
    """Return a row of `balancer` from a line of ``ipvsadm -S``.

    Examples
    --------
    >>> rule_row("-A -f 3 -s wrr -p 60", 1, services := {})["flags"]
    'persistent 60'
    >>> row = rule_row("-a -f 3 -r 198.18.0.3:80 -m -w 5", 2, services)
    >>> row["service"], row["scheduler"], row["server_address"], row["forward"], row["weight"]
    ('3', 'wrr', '198.18.0.3', 'Masq', 5)
    """
    kind, option, name, *words = line.split()
    if option not in _PROTOCOL:
        raise ParseError(number, "a service after -A or -a, such as -t 198.18.0.9:80", line)
    protocol = _PROTOCOL[option]
    shared: dict = {"protocol": protocol}
    if protocol == "FWM":
        shared["service"] = name
    else:
        shared["virtual_address"], shared["virtual_port"] = split_endpoint(name, number, [], cut=False)
    row: dict = {"tool": "ipvsadm", "kind": "service" if kind == "-A" else "server", **shared}
    flags: list[str] = []
    rest = iter(words)
    for word in rest:
        if word in _ALONE:
            flags.append(_ALONE[word])
        elif word in _FORWARD and kind == "-a":
            row["forward"] = _FORWARD[word]
        elif word.startswith("--tun-") and word not in ("--tun-type", "--tun-port"):
            flags.append(word.removeprefix("--"))
        elif (value := next(rest, "")) == "":
            raise ParseError(number, f"a value after {word}", line)
        elif word == "-s":
            row["scheduler"] = value
        elif word == "-r":
            row["server_address"], row["server_port"] = split_endpoint(value, number, [], cut=False)
        elif word in ("-w", "-x", "-y", "-p"):
            if not re.fullmatch(r"[0-9]{1,10}", value):
                raise ParseError(number, f"a whole number after {word}", value)
            if word == "-p":
                flags.append(f"persistent {value}")
            else:
                row[{"-w": "weight", "-x": "upper_threshold", "-y": "lower_threshold"}[word]] = int(value)
        elif word in _FLAG or word.startswith("--tun-"):
            flags.append(f"{_FLAG.get(word, word.removeprefix('--'))} {value}")
        else:
            raise ParseError(number, "an option of ipvsadm -S", word)
    if ("scheduler" if kind == "-A" else "server_address") not in row:
        raise ParseError(number, "-s and a scheduler" if kind == "-A" else "-r and a server", line)
    row["flags"] = " ".join(flags) or None
    if kind == "-A":
        services[protocol, name] = row
    elif "scheduler" in (service := services.get((protocol, name), {})):
        row["scheduler"] = service["scheduler"]
    return row


def timeout_rows(line: str, number: int) -> list[dict]:
    """Return rows of `counters` from the line of ``ipvsadm -l --timeout``.

    Examples
    --------
    >>> rows = timeout_rows("Timeout (tcp tcpfin udp): 900 120 300", 1)
    >>> [(row["counter"], row["value"], row["unit"]) for row in rows]
    [('tcp', 900, 's'), ('tcpfin', 120, 's'), ('udp', 300, 's')]
    """
    match = _TIMEOUT.fullmatch(line)
    if match is None:
        raise ParseError(number, "three time limits in seconds", line)
    return [
        {"tool": "ipvsadm", "group": "Timeout", "counter": name, "value": int(value), "unit": "s"}
        for name, value in zip(("tcp", "tcpfin", "udp"), match.groups(), strict=True)
    ]


def daemon_rows(line: str, number: int) -> list[dict]:
    """Return rows of `counters` from a line of ``ipvsadm -l --daemon``; the item is the interface and the group.

    Examples
    --------
    >>> rows = daemon_rows("backup sync daemon (mcast=eth0, syncid=2)", 1)
    >>> [(row["item"], row["counter"], row["value"]) for row in rows]
    [('eth0', 'syncid', 2)]
    """
    match = _DAEMON.fullmatch(line)
    if match is None:
        raise ParseError(number, "a sync daemon with mcast and syncid", line)
    values = {"syncid": match[3]} | dict(pair.split("=") for pair in match[4].split(", ")[1:])
    item = match[2] + (f" {values.pop('group')}" if "group" in values else "")
    rows = []
    for name, value in values.items():
        if not re.fullmatch(r"[0-9]{1,9}", value):
            raise ParseError(number, f"a number for {name}", value)
        unit = "bytes" if name == "maxlen" else ""
        rows.append(
            {"tool": "ipvsadm", "group": match[1], "item": item, "counter": name, "value": int(value), "unit": unit}
        )
    return rows


def local_address_rows(line: str, number: int, virtual: str) -> tuple[list[dict], str]:
    """Return rows of `counters` from a line of DPVS's ``ipvsadm -G``, and the service it belongs to.

    Examples
    --------
    >>> local_address_rows("192.168.88.241       0          8", 3, "[2001::2]:80")[0][1]["value"]
    8
    """
    if match := _VIRTUAL.fullmatch(line):
        item, counts = match[1], {"TOTAL": match[2]}
        virtual = item
    elif match := _SNAT.fullmatch(line):
        item, counts = f"{virtual} {match[1]}", {"CONFLICTS": match[2], "CONNS": match[3]}
    else:
        raise ParseError(number, "a service or a local address of DPVS", line)
    rows = [
        {"tool": "ipvsadm", "group": "SNAT_IP", "item": item, "counter": name, "value": int(value), "unit": ""}
        for name, value in counts.items()
    ]
    return rows, virtual
