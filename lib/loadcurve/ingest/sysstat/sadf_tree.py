"""The tree of ``sadf -j`` and ``sadf -x``: both have the same elements, as objects and as markup."""

import re
from collections.abc import Mapping
from datetime import datetime

from loadcurve.errors import ParseError
from loadcurve.ingest.sysstat.sadf_names import ITEM_KEYS, TWICE, WORDS, printed_name, section_named
from loadcurve.ingest.sysstat.sadf_rows import Rows, number_of
from loadcurve.ingest.sysstat.sysstat_columns import Section, section_of
from loadcurve.ingest.sysstat.zoned import Instants

_COUNT = re.compile(r"[0-9]{1,7}")
Group = Mapping[str, object]
"""One element: values by attribute."""


def time_of(stamp: Group, instants: Instants, number: int) -> datetime:
    """Instant of a ``timestamp``, ``boot`` or ``comment``.

    `utc` is 1 where the time is UTC (10 to 12.6), `tz` names the zone (12.7); with ``-U`` there is no date.

    Raises
    ------
    ParseError
        Where it is no time.
    """
    day, clock = str(stamp.get("date") or ""), str(stamp.get("time") or "")
    zone = str(stamp.get("tz") or ("UTC" if str(stamp.get("utc", "")) == "1" else ""))
    return instants.read(" ".join(filter(None, (day, clock, zone if day else ""))), number)


def put_group(rows: Rows, element: str, group: Group, host: str, time: datetime, number: int) -> None:
    """Add one element's values; where it is unknown, all go to `counters` under their own names.

    Raises
    ------
    ParseError
        Where a value is no number.
    """
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
    if section_named(element) is None:
        rows.put(section_of([f"{element}: unknown"]), host, time, item, values, number, f"element {element!r}")
        return
    parts: dict[Section, dict[str, float]] = {}
    for printed, value in values.items():
        parts.setdefault(section_named(element, printed), {})[printed] = value
    for section, part in parts.items():
        rows.put(section, host, time, item, part, number)


def put_interrupt(rows: Rows, group: Group, host: str, time: datetime, number: int) -> None:
    """Add one interrupt: a value for all processors, for one of them (12.7), or one for each (12.5.6 on).

    Raises
    ------
    ParseError
        Where it is no interrupt.
    """
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
    fields: dict = {"event": "restart"}
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
    row = {
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
