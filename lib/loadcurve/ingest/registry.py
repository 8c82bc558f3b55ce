"""Which parser reads which output: by tool and variant, as `run.json` names them."""

from collections.abc import Callable

from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.sar import parse_sar
from loadcurve.ingest.ss_connections import parse_ss_connections
from loadcurve.ingest.ss_summary import parse_ss_summary
from loadcurve.ingest.wrk import parse_wrk

PARSERS: dict[tuple[str, str], Callable[[str], Parsed]] = {
    ("wrk", ""): parse_wrk,
    ("sar", ""): parse_sar,
    ("ss", "summary"): parse_ss_summary,
    ("ss", "connections"): parse_ss_connections,
}
