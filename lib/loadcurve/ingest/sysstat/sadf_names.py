"""Names of ``sadf -j`` and ``sadf -x``: which section of sar an element holds, and which column each of its values.

From the headers of ``json_stats.c`` and ``xml_stats.c`` (sysstat 10 to 12.7): a rate loses its ``/s``, a percentage
its ``%`` for ``-percent``, a size its ``kb``.
"""

from functools import cache

from loadcurve.ingest.sysstat.sysstat_columns import SECTIONS, Section

_OPTION = {
    "cpu-load": "-u", "cpu-load-all": "-u", "process-and-context-switch": "-w", "processes": "-w",
    "context-switch": "-w", "swap-pages": "-W", "paging": "-B", "io": "-b", "memory": "-r", "hugepages": "-H",
    "kernel": "-v", "queue": "-q", "serial": "-y", "disk": "-d", "filesystems": "-F", "mountpoints": "-F MOUNT",
    "net-dev": "-n DEV", "net-edev": "-n EDEV", "net-nfs": "-n NFS", "net-nfsd": "-n NFSD", "net-sock": "-n SOCK",
    "net-ip": "-n IP", "net-eip": "-n EIP", "net-icmp": "-n ICMP", "net-eicmp": "-n EICMP", "net-tcp": "-n TCP",
    "net-etcp": "-n ETCP", "net-udp": "-n UDP", "net-sock6": "-n SOCK6", "net-ip6": "-n IP6", "net-eip6": "-n EIP6",
    "net-icmp6": "-n ICMP6", "net-eicmp6": "-n EICMP6", "net-udp6": "-n UDP6", "softnet": "-n SOFT",
    "fchosts": "-n FC", "cpu-frequency": "-m CPU", "cpu-weighted-frequency": "-m FREQ", "fan-speed": "-m FAN",
    "temperature": "-m TEMP", "voltage-input": "-m IN", "battery": "-m BAT", "usb-devices": "-m USB",
    "psi-cpu": "-q CPU", "psi-io": "-q IO", "psi-mem": "-q MEM",
}  # fmt: skip
_BESIDE = {"memory": "-R"}  # up to version 11 one element holds the columns of both
ITEM_KEYS = (
    "cpu", "number", "iface", "disk-device", "dev", "line", "filesystem", "fsname", "mountpoint", "mountp", "name",
    "fchost", "fch_name", "bus_number",
)  # fmt: skip
"""Attributes that name what an element is about."""
WORDS = frozenset({"device", "status", "idvendor", "idprod", "manufact", "product", "per", "unit"})
"""Attributes that hold words."""
# The same quantity in two units, and the newer name of both.
TWICE = {"rd_sec": "rkB", "wr_sec": "wkB", "dc_sec": "dkB", "avgrq-sz": "areq-sz", "avgqu-sz": "aqu-sz"}

_SPECIAL = {
    "inactive": "kbinact", "shared": "kbshmem", "frequency": "MHz", "weighted-frequency": "wghMHz",
    "percent-temp": "%temp", "percent-in": "%in", "percent-capacity": "%cap", "variation": "cap/min",
    "rd_sec": "rd_sec/s", "wr_sec": "wr_sec/s",
}  # fmt: skip
_PRESSURE = {"psi-cpu": "cpu", "psi-io": "io", "psi-mem": "mem"}
_BY_OPTION = {section.option: section for section in SECTIONS}


def section_named(element: str, column: str = "") -> Section | None:
    """Section of sar that an element of sadf holds, or the one of several that has a column; None for a group.

    Examples
    --------
    >>> section_named("net-edev").option, section_named("memory", "frmpg/s").option, section_named("network")
    ('-n EDEV', '-R', None)
    """
    section = _BY_OPTION.get(_OPTION.get(element, "no option"))
    beside = _BY_OPTION.get(_BESIDE.get(element, "no option"))
    return beside if beside and column in beside.columns else section


@cache
def printed_name(element: str, attribute: str) -> str:
    """Column of sar for an attribute of an element; the attribute itself where there is none.

    Examples
    --------
    >>> printed_name("net-dev", "ifutil-percent"), printed_name("psi-io", "full_avg60")
    ('%ifutil', '%fio-60')
    """
    if element in _PRESSURE and "_avg" in attribute:
        kind, span = attribute.split("_avg", 1)
        return f"%{kind[:1]}{_PRESSURE[element]}" + (f"-{span}" if span else "")
    bare = attribute.removesuffix("-percent")
    tries = [f"%{bare}"] if bare != attribute else [
        attribute, f"{attribute}/s", f"kb{attribute}", f"%{attribute}", _SPECIAL.get(attribute, attribute)
    ]  # fmt: skip
    for name in tries:
        if (section := section_named(element, name)) and name in section.columns:
            return name
    return tries[-1]
