"""Gatling: read a ``simulation.log`` of text into the tables `requests`, `runs`, `latency` and `labels`.

Seen: Gatling 3.0.3, 3.3.1, 3.7.6, 3.9.5 and 3.12.0 (the samples of the tests); 2.0 to 3.9 in public repositories.
From 3.13 on the log is binary, which is refused; `gatling` reads the summary that Gatling prints.

Format and numbers (``LogFileDataWriter``): columns are separated by tabs, times are in ms since 1970.

- ``REQUEST [SCENARIO] [USER] GROUPS NAME START END OK|KO MESSAGE``: the scenario until 2.3, the user until 3.3; groups
  are joined by commas.  2.0 has the type in the third column and four times, of which the first and the last count.
- ``USER SCENARIO [USER] START|END TIME``; ``GROUP``, ``RUN``, ``ERROR`` and ``ASSERTION`` hold no requests.
"""

import re
from itertools import accumulate
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import csv as arrow

from loadcurve.errors import ParseError
from loadcurve.ingest.column_source import column_source
from loadcurve.ingest.load.gatling import errors_of
from loadcurve.ingest.load.requests_csv import end_of_rows
from loadcurve.ingest.load.samples import categories, indexed, summary_of
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.report_text import is_noise

_BINARY = re.compile(r"\x00{4}[\x00-\x0c]([0-9]{1,2}\.[0-9][\w.-]{0,10})|\x00{5}")
_INSTANT = re.compile(r"[0-9]{13}")
_END = re.compile(r"[0-9]{13}|-[0-9]{19}")  # of a request that never ended: the smallest number
_STATES = ("OK", "KO")
_OTHERS = ("USER", "GROUP", "RUN", "ERROR", "ASSERTION")
_RUN = re.compile(r"^(?:RUN\t[^\n]*|[^\t\n]*\t[^\t\n]*\tRUN\t[^\n]*)\t([0-9]+\.[0-9][\w.-]*)[ \t]*$", re.MULTILINE)
_USER = re.compile(r"(?:USER\t|[^\t]*\t[^\t]*\tUSER\t).*?\t(START|END)\t(?:[0-9]+\t)?([0-9]{1,18})[ \t]*")
# By the place of OK or KO: the places of the groups, the name, the start and the end.
_PLACES = {5: (1, 2, 3, 4), 6: (2, 3, 4, 5), 7: (3, 4, 5, 6), 9: (3, 4, 5, 8)}


def parse_gatling_log(text: str) -> Parsed:
    """Tables `requests`, `runs`, `latency` and `labels` of a ``simulation.log``."""
    if binary := _BINARY.match(text):
        got = f"the binary simulation.log of Gatling {binary[1] or '3.13 or later'}"
        raise ParseError(0, "text: read the summary that Gatling prints at the end instead (gatling … > run.txt)", got)
    end, warnings = end_of_rows(text)
    text = text[:end]
    try:
        columns = _quickly(text)
    except (pa.ArrowInvalid, ValueError):  # find the row, or that other lines are between the rows
        columns = _slowly(text)
    requests, failed = _requests(columns, warnings)
    counted = requests["error"].value_counts()
    known: dict[str, Any] = errors_of((str(text), int(count)) for text, count in counted.items() if count)
    if users := _users(text):
        known["connections"] = users
    version = _RUN.search(text)
    tables = {"requests": requests, **summary_of(requests, failed, known)}
    return Parsed("gatling", tables, tuple(warnings), version[1] if version else "")


def _quickly(text: str) -> dict[str, pa.ChunkedArray]:
    """Columns of the rows REQUEST, where all of them have the same number of columns and every other row is known."""
    lines = text.split("\n")
    rows = [line for line in lines if line.startswith("REQUEST\t")]
    others = sum(line.startswith(_OTHERS) for line in lines)
    users = [line for line in lines if line.startswith("USER\t")]
    if not rows or len(rows) + others + 1 != len(lines) or not all(map(_USER.fullmatch, users)):
        raise ValueError("other lines")
    fields = rows[0].split("\t")
    state = next((i for i, field in enumerate(fields) if field.strip() in _STATES), 0)
    groups, name, start, stop = _PLACES.get(state, (0, 0, 0, 0))
    if not state:
        raise ValueError("no state")
    words = pa.dictionary(pa.int32(), pa.string())
    names = [f"{i}" for i in range(len(fields))]
    wanted = {"groups": groups, "name": name, "start": start, "end": stop, "state": state}
    wanted |= {"message": state + 1} if len(fields) > state + 1 else {}
    kinds = {names[i]: pa.int64() if key in ("start", "end") else words for key, i in wanted.items()}
    table = arrow.read_csv(
        column_source("\n".join(rows)),
        arrow.ReadOptions(block_size=1 << 22, column_names=names),
        arrow.ParseOptions(delimiter="\t", quote_char=False),
        arrow.ConvertOptions(include_columns=[names[i] for i in wanted.values()], column_types=kinds, null_values=[]),
    )
    return dict(zip(wanted, table.columns, strict=True))


def _slowly(text: str) -> dict[str, pa.ChunkedArray]:
    """Return the columns of rows of any version; raise for the first row that is none."""
    found: dict[str, list[Any]] = {name: [] for name in ("groups", "name", "start", "end", "state", "message")}
    for number, line in enumerate(text.split("\n"), 1):
        fields = line.split("\t")
        kind = fields[2] if len(fields) > 2 and fields[2] in ("REQUEST", *_OTHERS) else fields[0].strip()
        if not line.strip() or kind in _OTHERS or is_noise(line.strip()):
            if kind == "USER" and not _USER.fullmatch(line):
                raise ParseError(number, "a row USER with START or END and its time in ms", line)
            continue
        if kind != "REQUEST":
            raise ParseError(number, "a row REQUEST, USER, GROUP, RUN, ERROR or ASSERTION of Gatling", line)
        state = next((i for i, field in enumerate(fields) if i in _PLACES and field.strip() in _STATES), 0)
        if not state:
            raise ParseError(number, "a row REQUEST with its times, and OK or KO", line)
        groups, name, start, end = (fields[i] for i in _PLACES[state])
        if not _INSTANT.fullmatch(start) or not _END.fullmatch(end):
            raise ParseError(number, "the start and the end of the request in ms since 1970", f"{start} {end}")
        message = "\t".join(fields[state + 1 :])
        for column, value in zip(found, (groups, name, int(start), int(end), fields[state], message), strict=True):
            found[column].append(value)
    return {
        column: pa.chunked_array(
            [pa.array(values) if column in ("start", "end") else pa.array(values, pa.string()).dictionary_encode()]
        )
        for column, values in found.items()
    }


def _requests(columns: dict[str, pa.ChunkedArray], warnings: list[str]) -> tuple[pd.DataFrame, np.ndarray]:
    """Table `requests`, and which of them failed."""
    if not len(columns["start"]):
        raise ParseError(1, "a row REQUEST of Gatling", "none")
    texts = {name: indexed(columns[name]) for name in columns if name not in ("start", "end")}
    states, names = texts["state"]
    if not {name.strip() for name in names} <= set(_STATES):
        raise ParseError(0, "OK or KO for each request", ", ".join(names)[:60])
    failed = np.array([name.strip() == "KO" for name in names])[states]
    start, end = (columns[name].to_numpy() for name in ("start", "end"))
    for times, wrong in ((start, (start < 10**12) | (start >= 10**13)), (end, end >= 10**13)):
        if wrong.any():
            raise ParseError(0, "times in ms since 1970", str(times[wrong][0]))
    latency = (end - start) / 1000.0
    if (never := (end < start)).any():
        warnings.append(f"{never.sum()} requests end before they start, or never, and have no response time")
        latency = np.where(never, np.nan, latency)
    (groups, group_names), (codes, names) = texts["groups"], texts["name"]
    keys, which = np.unique(groups.astype("int64") * len(names) + codes, return_inverse=True)
    labels = [_label(group_names[key // len(names)], names[key % len(names)]) for key in keys]
    messages, said = texts.get("message", (np.zeros(len(failed), "int32"), [""]))
    errors = [text.strip() or "KO" for text in said]
    unique = list(dict.fromkeys(errors))
    index = np.array([unique.index(text) for text in errors], "int32")
    requests = pd.DataFrame(
        {
            "generator": np.zeros(len(failed), "int32"),
            "tool": categories(np.zeros(len(failed), "int8"), ["gatling"]),
            "label": pd.Series(categories(which.astype("int32"), labels) if len(set(labels)) == len(labels)
                               else pd.Categorical([labels[i] for i in which])),
            "time": pd.to_datetime(start, unit="ms", utc=True),
            "latency_s": latency,
            "error": categories(np.where(failed, index[messages], -1), unique),
        }
    )  # fmt: skip
    return requests, failed


def _label(groups: str, name: str) -> str:
    return " / ".join([*filter(None, groups.strip().split(",")), name.strip()])


def _users(text: str) -> int:
    """Largest number of virtual users at one time, of the rows USER; 0 without any."""
    rows = (line for line in text.split("\n") if "USER\t" in line)
    events = [(int(match[2]), 1 if match[1] == "START" else -1) for row in rows if (match := _USER.fullmatch(row))]
    return max(accumulate((step for _, step in sorted(events)), initial=0))
