"""JMeter's samples as columns into the tables `requests`, `runs`, `latency` and `labels`.

`jmeter_jtl` reads the columns; this module decides which rows are requests.  A transaction controller
writes a sample of its own that repeats its samples (``TransactionController`` of JMeter), and since 5.0 the CSV also
lists the sub-samples of a request, such as the steps of a redirect, named LABEL-0, LABEL-1 after it.
"""

import re
from collections.abc import Mapping

import numpy as np
import pandas as pd

from loadcurve.ingest.load.samples import categories, summary_of
from loadcurve.ingest.parsed import Parsed

_TRANSACTION = re.compile(r"Number of samples in transaction : ([0-9]{1,9}), number of failing samples : [0-9]{1,9}")
_SUB = re.compile(r"(.*)-[0-9]{1,5}", re.DOTALL)
_NEIGHBOURS = 20_000  # rows: samples of one transaction are written within so many of each other
_TRIED = 20  # transactions of each label
_MS = 1000.0
_BEYOND_MS = 2  # JMeter rounds start and elapsed time separately
# Columns of `requests` and the numbers of a JTL, times in ms.
_TIMES = {"latency_s": "elapsed", "connect_s": "Connect", "first_byte_s": "Latency"}
_BYTES = {"received_bytes": "bytes", "sent_bytes": "sentBytes"}
Texts = Mapping[str, tuple[np.ndarray, list[str]]]


def parsed_samples(texts: Texts, numbers: Mapping[str, np.ndarray], passed: np.ndarray, warnings: list[str]) -> Parsed:
    """Tables of the samples of one JTL."""
    kept = _requests(texts, numbers, len(passed), warnings)
    if not kept.all():
        texts = {name: (codes[kept], values) for name, (codes, values) in texts.items()}
        numbers, passed = {name: values[kept] for name, values in numbers.items()}, passed[kept]
    failed = ~passed
    data: dict[str, object] = {
        "generator": np.zeros(len(failed), "int32"),
        "tool": categories(np.zeros(len(failed), "int8"), ["jmeter"]),
        "label": categories(*texts["label"]) if "label" in texts else categories(np.zeros(len(failed), "int8"), [""]),
    }
    if "timeStamp" in numbers:
        micros = pd.array(numbers["timeStamp"] * 1000, dtype="Float64").astype("Int64")
        data["time"] = pd.to_datetime(pd.Series(micros), unit="us", utc=True)
    for column, name in _TIMES.items():
        if name in numbers:
            data[column] = _not_negative(numbers[name], name, warnings) / _MS
    if "responseCode" in texts:
        data["status"] = _statuses(*texts["responseCode"])
    for column, name in _BYTES.items():
        if name in numbers:
            data[column] = _not_negative(numbers[name], name, warnings)
    data["error"] = _errors(texts, failed)
    if "URL" in texts:
        codes, values = texts["URL"]
        absent = [code for code, value in enumerate(values) if value in ("", "null")]
        data["url"] = categories(np.where(np.isin(codes, absent), -1, codes), values)
    requests = pd.DataFrame(data, copy=False)
    users = numbers.get("allThreads")
    known = {"connections": int(np.nanmax(users))} if users is not None and np.isfinite(users).any() else {}
    if "time" not in requests:
        warnings.append("the file has no time stamps, so duration and throughput are missing")
    if np.nanmax(numbers.get("SampleCount", np.ones(1)), initial=1) > 1:
        warnings.append("some rows hold several samples (SampleCount above 1); each row is counted once")
    return Parsed("jmeter", {"requests": requests, **summary_of(requests, failed, known)}, tuple(warnings))


def is_transaction(message: str) -> bool:
    """Whether a response message is that of a transaction controller."""
    return _TRANSACTION.fullmatch(message) is not None


def _requests(texts: Texts, numbers: Mapping[str, np.ndarray], count: int, warnings: list[str]) -> np.ndarray:
    """Whether each row is a request of its own: no transaction controller, no sub-sample."""
    kept = np.ones(count, bool)
    if not {"label", "threadName"} <= texts.keys() or not {"timeStamp", "elapsed"} <= numbers.keys():
        return kept
    if "responseMessage" in texts:
        codes, values = texts["responseMessage"]
        sizes = np.array([int(m[1]) if (m := _TRANSACTION.fullmatch(v)) else 0 for v in values] + [0])
        transactions = sizes[codes] > 0
        if transactions.any():
            left, alone = _transactions(texts, numbers, transactions, sizes[codes])
            kept &= ~left
            which = "are of transaction controllers"
            warnings += _omitted(left, f"{which} and left out, because their samples are rows too")
            warnings += _omitted(alone, f"{which} whose samples are not in the file; each counts as one")
    subs = _sub_samples(texts, numbers)
    warnings += _omitted(subs, "are sub-samples (LABEL-0, LABEL-1: redirects, embedded resources) and left out")
    return np.asarray(kept & ~subs)


def _omitted(rows: np.ndarray, what: str) -> list[str]:
    return [f"{rows.sum()} rows {what}"] if rows.any() else []


def _transactions(
    texts: Texts, numbers: Mapping[str, np.ndarray], transactions: np.ndarray, sizes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Rows of transactions by whether their samples are rows of the file: for a label, what most of a few show."""
    labels, threads, start = texts["label"][0], texts["threadName"][0], numbers["timeStamp"]
    # Timers between the samples are no part of its elapsed time, but of its idle time.
    end = start + numbers["elapsed"] + np.nan_to_num(numbers.get("IdleTime", np.zeros(len(start))))
    repeated = np.zeros(len(labels), bool)
    for label in np.unique(labels[transactions]):
        rows = np.flatnonzero(transactions & (labels == label))
        found = 0
        for row in (tried := rows[:: len(rows) // _TRIED + 1]):
            near = slice(max(0, row - _NEIGHBOURS), row + _NEIGHBOURS)
            inside = (start[near] >= start[row] - _BEYOND_MS) & (start[near] <= end[row] + _BEYOND_MS)
            found += (inside & (threads[near] == threads[row]) & ~transactions[near]).sum() >= sizes[row]
        repeated[rows] = 2 * found > len(tried)
    return transactions & repeated, transactions & ~repeated


def _sub_samples(texts: Texts, numbers: Mapping[str, np.ndarray]) -> np.ndarray:
    """Rows LABEL-N within the time of the row LABEL before them on the same thread."""
    labels, names = texts["label"]
    threads, rows = texts["threadName"][0].astype("int64"), len(labels)
    start, end = numbers["timeStamp"], numbers["timeStamp"] + numbers["elapsed"]
    places = {name: code for code, name in enumerate(names)}
    found = np.zeros(rows, bool)
    for code, name in enumerate(names):
        match = _SUB.fullmatch(name)
        if not match or match[1] not in places:
            continue
        parents, subs = np.flatnonzero(labels == places[match[1]]), np.flatnonzero(labels == code)
        if not len(parents) or not len(subs):
            continue
        keys = np.sort(threads[parents] * rows + parents)
        last = keys[np.maximum(np.searchsorted(keys, threads[subs] * rows + subs) - 1, 0)]
        parent = last % rows
        inside = (start[subs] >= start[parent] - _BEYOND_MS) & (end[subs] <= end[parent] + _BEYOND_MS)
        found[subs] = inside & (last // rows == threads[subs]) & (parent < subs)
    return found


def _not_negative(values: np.ndarray, name: str, warnings: list[str]) -> np.ndarray:
    below = values < 0
    if below.any():
        warnings.append(f"{below.sum()} values of {name} are below 0 and left out")
    return np.where(below, np.nan, values)


def is_garbled_status(code: str) -> bool:
    """Whether a response code is of three characters like an HTTP status, with something else than digits in it."""
    return len(code) == len("200") and re.search("[0-9]", code) is not None and not code.isdecimal()


def _statuses(codes: np.ndarray, values: list[str]) -> pd.Series:
    """Status codes; what is none, such as ``Non HTTP response code: …``, is missing."""
    numbers = np.array([int(v) if re.fullmatch(r"[1-9][0-9]{2}", v) else 0 for v in values] + [0])[codes]
    return pd.Series(pd.array(numbers, "Int64")).mask(numbers == 0)


def _errors(texts: Texts, failed: np.ndarray) -> pd.Categorical:
    """Why each failed request failed: the assertion's message, else the response's code and message."""
    names = [name for name in ("responseCode", "responseMessage", "failureMessage") if name in texts]
    result = np.full(len(failed), -1, "int32")
    at = np.flatnonzero(failed)
    if not len(at):
        return categories(result, [])
    keys, widths = np.zeros(len(at), "int64"), [len(texts[name][1]) + 1 for name in names]
    for name, width in zip(names, widths, strict=True):
        keys = keys * width + texts[name][0][at] + 1
    kinds, which = np.unique(keys, return_inverse=True)
    said = []
    for key in kinds.tolist():
        found = {}
        for name, width in zip(reversed(names), reversed(widths), strict=True):
            key, code = divmod(key, width)
            found[name] = texts[name][1][code - 1].strip() if code else ""
        response = f"{found.get('responseCode', '')} {found.get('responseMessage', '')}".strip()
        said.append(found.get("failureMessage") or response or "failed")
    messages = list(dict.fromkeys(said))
    result[at] = np.array([messages.index(text) for text in said])[which]
    return categories(result, messages)
