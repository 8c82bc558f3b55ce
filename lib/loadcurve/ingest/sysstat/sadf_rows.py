"""Join sadf's sections into rows of the tables, for every output form of sadf, and read the elements of JSON and XML.

``sadf -j`` and ``sadf -x`` have the same elements, as objects and as markup.  From the headers of ``json_stats.c`` and
``xml_stats.c`` (sysstat 10 to 12.7): a rate has no ``/s``, a percentage ends in ``-percent`` instead of ``%``, a
size has no ``kb``.
"""

import re
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from typing import Any

from loadcurve.errors import ParseError
from loadcurve.ingest.parsed import Tables
from loadcurve.ingest.sysstat.clock import Instants
from loadcurve.ingest.sysstat.columns import Section
from loadcurve.ingest.sysstat.sections import SECTIONS, section_of

_NUMBER = re.compile(r"[+-]?[0-9]{1,18}(?:[.,][0-9]{1,6})?")
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
_COUNT = re.compile(r"[0-9]{1,7}")
Group = Mapping[str, object]
"""One element: values by attribute."""


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


def number_of(text: str) -> float | None:
    """Return the number that sadf printed, NaN for its nan; None if the text is not a number.

    Examples
    --------
    >>> number_of("12.50"), number_of("12,50"), number_of("eth0")
    (12.5, 12.5, None)
    """
    if _NUMBER.fullmatch(text):
        return float(text.replace(",", "."))
    return float("nan") if text in ("nan", "-nan") else None


class Rows:
    """Rows of every table, one for each host, instant and item, filled section by section."""

    def __init__(self, warnings: list[str]) -> None:
        self.warnings = warnings
        self._rows: dict[str, dict[tuple[Any, ...], dict[str, Any]]] = {}
        self._seen: dict[tuple[Any, ...], int] = {}
        self._lists: dict[str, list[dict[str, Any]]] = {}
        self._unknown: set[str] = set()

    def put(
        self,
        section: Section,
        host: str,
        time: datetime,
        item: str,
        values: Mapping[str, float],
        number: int,
        where: str = "",
    ) -> None:
        """Add the values of a section for an item at an instant, by printed column; `where` names an unknown section.

        A clock that was set back shows an instant twice, so a repeated section begins a new row.
        """
        if section.table == "cpu" and item != "all" and values and not any(values.values()):
            self.warnings.append(f"line {number}: processor {item} was off at {time}: its zeros are left out")
            return
        key = (section.option, host, time, item)
        again = self._seen[key] = self._seen.get(key, 0) + 1
        sample = {"host": host, "time": time, "tool": "sadf"}
        if unknown := [name for name in values if name not in section.columns and name not in self._unknown]:
            self._unknown.update(unknown)
            what = f"columns of sar {section.option}" if section.option else where or "a section"
            warning = f"{what} not known, its numbers in no known unit: {' '.join(unknown)}"
            self.warnings.append(f"line {number}: {warning}")
        for printed, value in values.items():
            column = section.column(printed)
            if column.table == "counters":
                named = {"item": item} if item else {}
                counter = {"group": section.group("sar"), **named, "counter": printed, "value": column.si(value)}
                self.add("counters", {**sample, **counter, "unit": column.unit})
                continue
            row = self._rows.setdefault(column.table, {}).setdefault((host, time, item, again), dict(sample))
            if item:
                row[section.item] = item
            if value < 0 or (column.table == "cpu" and value > 100):
                self.warnings.append(f"line {number}: {printed} of {value:g} cannot be, so it is missing")
            elif value == value:
                row[column.name] = int(value) if column.whole else column.si(value)

    def interrupt(self, host: str, time: datetime, interrupt: str, cpu: str, rate: float) -> None:
        """Add the rate of one interrupt on one processor."""
        row = {"host": host, "time": time, "tool": "sadf", "kind": "hard", "interrupt": interrupt, "cpu": cpu}
        self.add("interrupts", {**row, "interrupts_per_s": rate})

    def add(self, table: str, row: dict[str, Any]) -> None:
        """Add a row that needs no other section."""
        self._lists.setdefault(table, []).append(row)

    def tables(self) -> Tables:
        """Every table that has rows."""
        return Tables({**{name: list(rows.values()) for name, rows in self._rows.items()}, **self._lists})

    def __bool__(self) -> bool:
        return bool(self._rows or self._lists)


@cache
def printed_name(element: str, attribute: str) -> str:
    """Column of sar for an attribute of an element; the attribute itself if there is none.

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


def time_of(stamp: Group, instants: Instants, number: int) -> datetime:
    """Instant of a ``timestamp``, ``boot`` or ``comment``.

    `utc` is 1 if the time is UTC (10 to 12.6), `tz` names the zone (12.7); with ``-U`` there is no date.  Raises
    ParseError if it is not a time.
    """
    day, clock = str(stamp.get("date") or ""), str(stamp.get("time") or "")
    zone = str(stamp.get("tz") or ("UTC" if str(stamp.get("utc", "")) == "1" else ""))
    return instants.read(" ".join(filter(None, (day, clock, zone if day else ""))), number)


def put_group(rows: Rows, element: str, group: Group, host: str, time: datetime, number: int) -> None:
    """Add one element's values; if the element is unknown, all go to `counters` under their own names."""
    key = next((key for key in ITEM_KEYS if key in group), "")
    values: dict[str, float] = {}
    for attribute, raw in group.items():
        if attribute == key or attribute in WORDS or TWICE.get(attribute) in group:
            continue
        value = float(raw) if isinstance(raw, int | float) and not isinstance(raw, bool) else number_of(str(raw))
        if value is None or abs(value) >= 1e18:
            raise ParseError(number, f"a number for {attribute} of {element}", str(raw))
        values[printed_name(element, attribute)] = value
    item = str(group[key]) if key else ""
    whole = section_named(element)
    if whole is None:
        rows.put(section_of([f"{element}: unknown"]), host, time, item, values, number, f"element {element!r}")
        return
    parts: dict[Section, dict[str, float]] = {}
    for printed, value in values.items():
        parts.setdefault(section_named(element, printed) or whole, {})[printed] = value
    for section, part in parts.items():
        rows.put(section, host, time, item, part, number)


def put_interrupt(rows: Rows, group: Group, host: str, time: datetime, number: int) -> None:
    """Add one interrupt: a value for all processors, for one of them (12.7), or one for each (12.5.6 on)."""
    rates = {"all" if name in ("all", "value") else name.removeprefix("CPU"): value
             for name, value in group.items() if name not in ("intr", "cpu")}  # fmt: skip
    if "cpu" in group and "all" in rates:
        rates = {str(group["cpu"]): rates["all"]}
    for cpu, raw in rates.items():
        value = number_of(str(raw))
        if value is None or "intr" not in group or not (cpu == "all" or cpu.isdigit()):
            raise ParseError(number, "an interrupt with its rates", str(dict(group)))
        rows.interrupt(host, time, str(group["intr"]), cpu, value)


def put_event(rows: Rows, event: str, group: Group, host: str, instants: Instants, number: int) -> None:
    """Add a restart (``boot``) or a comment."""
    fields: dict[str, Any] = {"event": "restart"}
    if event == "comment":
        fields = {"event": "comment", "text": str(group.get("com", ""))}
    elif cpus := str(group.get("cpu_count", "")):
        if not _COUNT.fullmatch(cpus):
            raise ParseError(number, "a number of processors", cpus)
        fields["cpus"] = int(cpus)
    rows.add("events", {"host": host, "time": time_of(group, instants, number), "tool": "sadf", **fields})


def put_host(rows: Rows, facts: Mapping[str, str], instants: Instants, number: int) -> str:
    """Add the machine that the recording is of, and return its name."""
    host = facts.get("nodename", "")
    row: dict[str, object] = {
        "host": host, "tool": "sadf", "kernel": facts.get("release"), "system": facts.get("sysname"),
        "architecture": facts.get("machine"),
    }  # fmt: skip
    cpus = facts.get("number-of-cpus", "")
    if cpus and not _COUNT.fullmatch(cpus):
        raise ParseError(number, "a number of processors", cpus)
    row.update({"cpus": int(cpus)} if cpus else {})
    if facts.get("file-date"):
        row["date"] = instants.read(f"{facts['file-date']} 00:00:00", number)
    rows.add("hosts", row)
    return host
