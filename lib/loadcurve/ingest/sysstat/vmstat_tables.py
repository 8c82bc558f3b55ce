"""vmstat: the numbers of its reports into the tables `cpu`, `load`, `memory`, `counters` and `averages`."""

from datetime import datetime

from loadcurve.ingest.column_lists import Columns, extend

_LOAD = {"r": "run_queue", "b": "blocked"}
_MEMORY = {
    "swpd": "swap_used_bytes", "free": "free_bytes", "buff": "buffers_bytes", "cache": "cached_bytes",
    "inact": "inactive_bytes", "active": "active_bytes",
}  # fmt: skip
CPU = {
    "us": "cpu_user_ratio", "sy": "cpu_system_ratio", "id": "cpu_idle_ratio", "wa": "cpu_iowait_ratio",
    "st": "cpu_steal_ratio", "gu": "cpu_guest_ratio",
}  # fmt: skip
# Unit of the columns that go to `counters`; the printed unit of si and so is that of memory.
_COUNTERS = {
    "w": "", "si": "bytes_per_s", "so": "bytes_per_s", "bi": "bytes_per_s", "bo": "bytes_per_s",
    "in": "per_s", "cs": "per_s",
}  # fmt: skip
KNOWN = {**_LOAD, **_MEMORY, **CPU, **_COUNTERS}
KIB = 1024.0


class ReportTables:
    """Columns of the tables; reports in a row with the same columns are converted together."""

    def __init__(self, warnings: list[str]) -> None:
        self.columns: dict[str, Columns] = {name: {} for name in ("cpu", "load", "memory", "counters", "averages")}
        self._warnings = warnings
        self._kind: tuple[list[str], bool, float] = ([], False, 0.0)
        self._values: list[int] = []
        self._times: list[datetime | None] = []

    def add(
        self, number: int, names: list[str], since_boot: bool, scale: float, values: list[int], times: list
    ) -> None:
        """Add reports from line `number` on: all their values, row by row, and the instant of each."""
        if self._kind != (kind := (names, since_boot, scale)):
            self.flush()
            self._kind = kind
        self._values += values
        self._times += times
        ratios = [values[i :: len(names)] for i, name in enumerate(names) if name in CPU]
        for line, total in enumerate(map(sum, zip(*ratios, strict=True)), number):
            if not 97 <= total <= 103:
                self._warnings.append(f"line {line}: the percentages do not add up to 100")

    def flush(self) -> None:
        """Convert the reports that were added since the last time."""
        names, since_boot, scale = self._kind
        count = len(self._times)
        values = {name: self._values[i :: len(names)] for i, name in enumerate(names)}
        sample: Columns = {"time": self._times} if any(self._times) else {}
        sample["tool"] = ["vmstat"] * count
        self._values, self._times = [], []
        if not count:
            return
        extend(self.columns["load"], sample | {column: values[name] for name, column in _LOAD.items()})
        memory = {column: [v * scale for v in values[name]] for name, column in _MEMORY.items() if name in values}
        extend(self.columns["memory"], sample | memory)
        ratios = {name: [v / 100 for v in values[name]] for name in CPU if name in values}
        if not since_boot:
            cpu: Columns = {CPU[name]: column for name, column in ratios.items()}
            extend(self.columns["cpu"], sample | {"cpu": ["all"] * count} | cpu)
        counters: dict[str, list[float]] = {}
        for name in _COUNTERS.keys() & values:
            factor = scale if name in ("si", "so") else KIB if name in ("bi", "bo") else 1.0
            counters[name] = [v * factor for v in values[name]]
        units = {name: unit for name, unit in _COUNTERS.items() if name in counters}
        rates = {name: unit for name, unit in units.items() if since_boot and unit}
        self._long("counters", sample, {name: unit for name, unit in units.items() if name not in rates}, counters)
        if since_boot:
            statistic: Columns = {"statistic": ["average"] * count, "tool": sample["tool"]}
            self._long("averages", statistic, rates | dict.fromkeys(ratios, "ratio"), counters | ratios)

    def _long(self, table: str, sample: Columns, units: dict[str, str], values: dict[str, list[float]]) -> None:
        """Add a row for each value of each report."""
        count = len(sample["tool"])
        if units:
            repeated = {name: [v for v in column for _ in units] for name, column in sample.items()}
            named = {"group": ["vmstat"] * count * len(units), "counter": [*units] * count}
            flat = [v for row in zip(*(values[name] for name in units), strict=True) for v in row]
            extend(self.columns[table], repeated | named | {"value": flat, "unit": [*units.values()] * count})
