"""/proc/net/ip_vs_stats and /proc/net/ip_vs_stats_percpu into the table `counters`.

Seen: Linux 6.18 (samples of the tests).

Output of the kernel (Linux, ``net/netfilter/ipvs/ip_vs_ctl.c``, ``ip_vs_stats_show``, ``ip_vs_stats_percpu_show``):
every number in hexadecimal, the processor's number too; ``~`` is the sum over the processors.  Totals are since the
counters were zeroed; rates are estimates over the last seconds.
"""

import re

from loadcurve.errors import ParseError
from loadcurve.ingest.balancers.lists import is_chatter, settle_times, time_of
from loadcurve.ingest.form import Form
from loadcurve.ingest.parsed import Parsed

_TITLE = re.compile(r"Total\s+Incoming\s+Outgoing\s+Incoming\s+Outgoing")
_TOTALS = re.compile(r"(?:CPU\s+)?Conns\s+Packets\s+Packets\s+Bytes\s+Bytes")
_RATES = re.compile(r"(?:CPU\s+)?Conns/s\s+Pkts/s\s+Pkts/s\s+Bytes/s\s+Bytes/s")
_ROW = re.compile(r"(?:(?P<cpu>~|[0-9A-F]{1,4})\s+)?(?P<values>[0-9A-F]{1,15}(?:\s+[0-9A-F]{1,15}){4})")
_NAMES = ("Conns", "Incoming Packets", "Outgoing Packets", "Incoming Bytes", "Outgoing Bytes")
_RATE_NAMES = ("Conns/s", "Incoming Pkts/s", "Outgoing Pkts/s", "Incoming Bytes/s", "Outgoing Bytes/s")
_UNITS = ("", "", "", "bytes", "bytes")
_RATE_UNITS = ("per_s", "pps", "pps", "bytes_per_s", "bytes_per_s")


def parse_ip_vs_stats(text: str, timezone: str = "UTC") -> Parsed:
    r"""Table `counters` of one or several /proc/net/ip_vs_stats or /proc/net/ip_vs_stats_percpu.

    Parameters
    ----------
    text : str
        The files, each perhaps after a line with its time.
    timezone : str
        IANA name of the zone of times that name none.

    Returns
    -------
    Parsed
        `counters`: a row for each number; `item` is the processor, ``all`` for the kernel's ``~``.

    Raises
    ------
    ParseError
        Where a line is not what the kernel prints, or there is no whole line of numbers.

    Examples
    --------
    >>> text = '''   Total Incoming Outgoing         Incoming         Outgoing
    ...    Conns  Packets  Packets            Bytes            Bytes
    ...     6E91    AFCCD    368ED          3C01DB5          A83B879
    ... '''
    >>> parse_ip_vs_stats(text).tables["counters"]["value"].tolist()[:2]
    [28305, 720077]
    """
    lines = text.removeprefix("\ufeff").split("\n")
    rows: list[dict] = []
    warnings: list[str] = []
    time, group = None, "ip_vs_stats"
    names: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    for number, raw in enumerate(lines, 1):
        line = raw.strip()
        instant = time_of(line, number, timezone, warnings)
        if instant is not None:
            time = instant
        elif _TITLE.fullmatch(line):
            names = ()
        elif _TOTALS.fullmatch(line):
            group = "ip_vs_stats_percpu" if line.startswith("CPU") else "ip_vs_stats"
            names, units = _NAMES, _UNITS
        elif _RATES.fullmatch(line):
            names, units = _RATE_NAMES, _RATE_UNITS
        elif number == len(lines) and line:
            warnings.append(f"line {number}: the text ends inside this line, which is left out")
        elif names and (match := _ROW.fullmatch(line)):
            cpu = match["cpu"]
            item = {} if group == "ip_vs_stats" else {"item": "all" if cpu in (None, "~") else str(int(cpu, 16))}
            for name, unit, value in zip(names, units, match["values"].split(), strict=True):
                rows.append(
                    {"tool": "proc", "group": group, **item, "counter": name, "value": int(value, 16), "unit": unit}
                    | ({} if time is None else {"time": time})
                )
        elif names and not is_chatter(line):
            raise ParseError(number, "five numbers in hexadecimal", line)
    if not rows:
        raise ParseError(len(lines), "a line of numbers of ip_vs_stats", lines[-1].strip())
    settle_times(rows)
    return Parsed("proc", {"counters": rows}, tuple(warnings))


PROC_IP_VS_STATS = Form(
    "proc", "ip_vs_stats", parse_ip_vs_stats, (r"Total\s+Incoming\s+Outgoing\s+Incoming\s+Outgoing",)
)
