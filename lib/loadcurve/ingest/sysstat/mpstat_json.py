"""Read ``mpstat -o JSON`` into the same tables as the text output of mpstat.

Seen: sysstat 12.6.1 on Debian 12 (``mpstat -A -o JSON 1 2``) in the tests' samples; 11 to 12.7 in public repositories.
The JSON has no averages, and each time of day has no date; ``date`` holds the date of the whole document.
"""

from collections.abc import Iterator

from loadcurve.errors import ParseError
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.sysstat.json_report import intervals_of, objects_in, rate_in, ratio_in, warn_unknown_keys
from loadcurve.ingest.sysstat.mpstat import SOFT
from loadcurve.ingest.sysstat.text_report import Reader
from loadcurve.ingest.sysstat.values import CPU_COLUMNS, check_ratios

_SECTIONS = ("cpu-load", "node-load", "sum-interrupts", "individual-interrupts", "soft-interrupts")


def parse_mpstat_json(text: str, timezone: str = "UTC") -> Parsed:
    """Tables of what ``mpstat -o JSON`` printed.

    `text` is output of one or several runs; one that ends too early is read up to its last whole interval.  Raises
    ParseError if the text is not JSON of mpstat; the error names the line at which the document begins.

    Examples
    --------
    >>> text = '''{"sysstat": {"hosts": [{"nodename": "vm", "release": "6.1", "machine": "x86_64", "number-of-cpus": 2,
    ... "date": "11/20/26", "statistics": [{"timestamp": "22:33:26",
    ... "cpu-load": [{"cpu": "all", "usr": 20.42, "sys": 72.25, "idle": 7.33}]}]}]}}'''
    >>> parse_mpstat_json(text).tables["cpu"][["cpu", "cpu_user_ratio"]].values.tolist()
    [['all', 0.2042]]
    """
    warnings: list[str] = []
    tables: dict[str, list[dict]] = {name: [] for name in ("cpu", "interrupts", "counters")}
    reader = Reader(text, "mpstat", timezone, warnings)
    for number, stamp, interval in intervals_of(text, reader, "mpstat", "intervals", warnings):
        unknown = [name for name in interval if name not in (*_SECTIONS, "timestamp")]
        warn_unknown_keys("mpstat", unknown, number, warnings)
        for section in _SECTIONS:
            for entry in objects_in(interval.get(section), f"{section!r}", number):
                _put(tables, section, entry, {**stamp, "tool": "mpstat"}, number, warnings)
    return reader.parsed(tables, "intervals in the JSON of mpstat")


def _put(
    tables: dict[str, list[dict]], section: str, entry: dict, sample: dict, number: int, warnings: list[str]
) -> None:
    """Append the rows of one entry of a section to the tables."""
    item = str(entry.get("cpu", entry.get("node", "")))
    if not (item == "all" or item.isdigit()):
        raise ParseError(number, f"'all' or a number in {section}", item)
    if section in ("cpu-load", "node-load"):
        unknown = [name for name in entry if name not in ("cpu", "node") and f"%{name}" not in CPU_COLUMNS]
        warn_unknown_keys("mpstat", unknown, number, warnings)
        ratios = {
            f"%{name}": ratio_in(value, name, number) for name, value in entry.items() if f"%{name}" in CPU_COLUMNS
        }
        if section == "cpu-load" and item != "all" and not any(ratios.values()):
            warnings.append(f"line {number}: processor {item} was off: its zeros are left out")
            return
        check_ratios(ratios, number, warnings)
        if section == "cpu-load":
            named = {CPU_COLUMNS[name]: value for name, value in ratios.items()}
            tables["cpu"].append({**sample, "cpu": item, **named})
        else:
            tables["counters"] += [
                {**sample, "group": "mpstat -N", "item": item, "counter": name, "value": value, "unit": "ratio"}
                for name, value in ratios.items()
            ]
        return
    for name, value in _rates(section, entry, number):
        kind = "soft" if section == "soft-interrupts" or name in SOFT else "hard"
        tables["interrupts"].append({**sample, "kind": kind, "interrupt": name, "cpu": item, "interrupts_per_s": value})


def _rates(section: str, entry: dict, number: int) -> Iterator[tuple[str, float]]:
    if section == "sum-interrupts":
        yield "sum", rate_in(entry.get("intr"), "intr", number)
        return
    for interrupt in objects_in(entry.get("intr"), f"'intr' of {section}", number):
        if "name" not in interrupt:
            raise ParseError(number, f"an interrupt with its name in {section}", str(interrupt))
        yield str(interrupt["name"]), rate_in(interrupt.get("value"), str(interrupt["name"]), number)
