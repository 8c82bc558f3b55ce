"""hey: ``hey -o csv`` into the table `requests`.

Seen: hey 0.1.4 (the sample of the tests: ``hey -n 2000 -c 32 -o csv URL``); hey 0.0.1, without status and offset, in
public repositories.  hey ``requester/print.go``: seconds with four decimals, responses only (failed requests are
nowhere), the first 1,000,000 of them.
"""

from loadcurve.ingest.load.oha import csv_requests
from loadcurve.ingest.parsed import Parsed

_HEADER = (
    "response-time", "DNS+dialup", "DNS", "Request-write", "Response-delay", "Response-read", "status-code", "offset",
)  # fmt: skip
_COLUMNS = ("latency_s", "connect_s", "dns_s", "write_s", "waiting_s", "read_s", "status", "offset_s")


def parse_hey_csv(text: str) -> Parsed:
    r"""Table `requests` of ``hey -o csv``: one row for each response.

    Raises
    ------
    ParseError
        Where a row is not of that form; a last line without newline is left out with a warning.

    Examples
    --------
    >>> text = "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset\n"
    >>> text += "0.0024,0.0013,0.0000,0.0004,0.0006,0.0000,200,0.0004\n"
    >>> parse_hey_csv(text).tables["requests"][["latency_s", "connect_s", "offset_s"]].values.tolist()
    [[0.0024, 0.0013, 0.0004]]
    """
    return csv_requests(text, "hey", _HEADER, dict(zip(_HEADER, _COLUMNS, strict=True)))
