"""JMeter: read a JTL of XML into the tables of `jmeter_jtl`, which documents what the numbers mean.

Seen: JMeter 5.6.3 (``-Jjmeter.save.saveservice.output_format=xml``, the samples of the tests), version 1.2 of the file,
which 2.2 to 5.x write, in public repositories.  A sample inside another is a step of it, such as one of a redirect, and
is left out; a transaction controller that holds its samples is replaced by them.
"""

import math
import re
from xml.parsers import expat

import numpy as np

from loadcurve.errors import ParseError
from loadcurve.ingest.load.jmeter_samples import is_garbled_status, is_transaction, parsed_samples
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.report_text import nothing_in

_BEGINNING = re.compile(r"<\?xml[^>]{0,200}\?>|<!DOCTYPE|<testResults")
_SAMPLES = ("httpSample", "sample")
# Attribute → JMeter's name of the column in CSV.
_NUMBERS = {"t": "elapsed", "lt": "Latency", "ct": "Connect", "ts": "timeStamp", "by": "bytes", "sby": "sentBytes",
            "na": "allThreads", "it": "IdleTime", "sc": "SampleCount"}  # fmt: skip
_TEXTS = {"lb": "label", "rc": "responseCode", "rm": "responseMessage", "tn": "threadName"}
_INSIDE = {"failureMessage": "failureMessage", "java.net.URL": "URL"}
_WHOLE = re.compile(r"-?[0-9]{1,18}")
_AT_END = ("no element found", "unclosed token", "unclosed CDATA section", "partial character")


def parse_jtl_xml(text: str) -> Parsed:
    """Tables `requests`, `runs`, `latency` and `labels` of a JTL of XML; one that ends too early up to its last sample.

    Examples
    --------
    >>> text = '''<?xml version="1.0" encoding="UTF-8"?>
    ... <testResults version="1.2">
    ... <httpSample t="42" lt="40" ts="1795383745021" s="true" lb="Moved" rc="200" rm="OK" tn="Users 1-2" by="509">
    ...   <httpSample t="30" lt="30" ts="1795383745021" s="true" lb="Moved-0" rc="302" rm="" tn="Users 1-2" by="343"/>
    ... </httpSample>
    ... </testResults>'''
    >>> parse_jtl_xml(text).tables["requests"][["label", "latency_s", "status"]].values.tolist()
    [['Moved', 0.042, 200]]
    """
    begin = _BEGINNING.search(text)
    if begin is None:
        raise nothing_in(text, "XML of JMeter, which begins with <testResults")
    reader = _Reader(text.count("\n", 0, begin.start()))
    body = re.sub(r"\A<\?xml[^>]*\?>", "", text[begin.start() :])  # the text is decoded already
    try:
        reader.parser.Parse(body.encode("utf-8", "surrogatepass"), True)
    except expat.ExpatError as error:
        said = expat.ErrorString(error.code)
        if said not in _AT_END or not reader.rows:
            raise ParseError(reader.before + error.lineno, f"XML of JMeter: {said}", "") from None
        reader.warnings.append(
            f"line {reader.before + error.lineno}: the text ends inside a sample or before the last one"
        )
    if not reader.rows:
        raise nothing_in(text, "a sample in the XML of JMeter")
    return _tables(reader.rows, reader.warnings)


class _Reader:
    """Collects the samples that are requests while expat goes through the document."""

    def __init__(self, before: int) -> None:
        self.before = before
        self.rows: list[dict] = []
        self.warnings: list[str] = []
        self._open: list[tuple[dict, list[dict]]] = []  # samples, and the requests inside each
        self._text: list[str] = []
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text.append
        self.parser.StartDoctypeDeclHandler = self._doctype

    def _doctype(self, *_: object) -> None:
        raise ParseError(self._line, "XML of JMeter, which declares no document type", "<!DOCTYPE")

    @property
    def _line(self) -> int:
        return self.before + self.parser.CurrentLineNumber

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._text.clear()
        if name in _SAMPLES:
            self._open.append((_row(attributes, self._line), []))

    def _end(self, name: str) -> None:
        if name in _SAMPLES:
            row, inside = self._open.pop()
            found = inside if inside and is_transaction(row.get("responseMessage", "")) else [row]
            (self._open[-1][1] if self._open else self.rows).extend(found)
        elif name in _INSIDE and self._open:
            self._open[-1][0].setdefault(_INSIDE[name], "".join(self._text).strip())
        self._text.clear()


def _row(attributes: dict[str, str], line: int) -> dict:
    row: dict = {name: attributes[key] for key, name in _TEXTS.items() if key in attributes}
    for key, name in _NUMBERS.items():
        if key in attributes:
            if not _WHOLE.fullmatch(attributes[key]):
                raise ParseError(line, f"a whole number for {key!r}", attributes[key])
            row[name] = int(attributes[key])
    if "elapsed" not in row or not 0 <= row.get("timeStamp", 0) < 253402300799000:
        raise ParseError(
            line, "a sample with its elapsed time t, and its time ts in ms since 1970", str(attributes)[:80]
        )
    if attributes.get("s") not in ("true", "false"):
        raise ParseError(line, "true or false for 's'", attributes.get("s", ""))
    if is_garbled_status(row.get("responseCode", "")):
        raise ParseError(line, "a response code for 'rc'", row["responseCode"])
    return row | {"passed": attributes["s"] == "true"}


def _tables(rows: list[dict], warnings: list[str]) -> Parsed:
    numbers = {
        name: np.array([row.get(name, math.nan) for row in rows], float)
        for name in _NUMBERS.values()
        if any(name in row for row in rows)
    }
    texts = {}
    for name in (*_TEXTS.values(), *_INSIDE.values()):
        values: dict[str, int] = {}
        codes = np.array([values.setdefault(row[name], len(values)) if name in row else -1 for row in rows], "int32")
        if values:
            texts[name] = (codes, list(values))
    return parsed_samples(texts, numbers, np.array([row["passed"] for row in rows]), warnings)
