"""Every form of output that can be read: whose it is, what tells it apart, which function reads it.

To add a tool: one module with a ``parse_*`` function, its line here, one folder of fixtures, one page of the handbook.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module

from loadcurve.ingest.parsed import Parsed


@dataclass(frozen=True)
class Form:
    r"""One form of a tool's output.

    Attributes
    ----------
    tool, variant : str
        As `run.json` names them, and on the command line ``TOOL`` or ``TOOL:VARIANT``.
    parser : str
        ``module:function`` in `loadcurve.ingest`; imported when it is first needed.
    signature : str
        Pattern that a line of this form begins with and no line of another form, after indentation.  For a whole
        document (JSON, XML, CSV with a header) it begins with ``\A``.
    local_time : bool
        Whether the text holds local times, so that the function takes the name of their zone as `timezone`.
    """

    tool: str
    variant: str
    parser: str
    signature: str
    local_time: bool = False

    @property
    def name(self) -> str:
        """``TOOL`` or ``TOOL:VARIANT``."""
        return f"{self.tool}:{self.variant}" if self.variant else self.tool

    def parse(self, text: str, timezone: str = "UTC") -> Parsed:
        """Parse a text of this form; `clean` has made it plain lines."""
        module, function = self.parser.split(":")
        parser: Callable[..., Parsed] = getattr(import_module(f"loadcurve.ingest.{module}"), function)
        return parser(text, timezone=timezone) if self.local_time else parser(text)


# The first form whose signature is found first in the text reads it; at the same place, the one further up.
FORMS = (
    # --- load generators
    Form("wrk", "", "wrk:parse_wrk", r"Running \S+ test @ |Making \S+ requests to |Usage: wrk "),
    # --- machines
    Form("sar", "", "sar:parse_sar", r"Linux \S+ \(.*\)\s", local_time=True),
    # --- sockets
    Form("ss", "summary", "ss_summary:parse_ss_summary", r"Total:\s+[0-9]+(?:\s+\(kernel [0-9]+\))?\s*$"),
    Form(
        "ss", "connections", "ss_connections:parse_ss_connections",
        r"(?:Netid\s+)?(?:State\s+)?Recv-Q\s+Send-Q\s+Local Address:Port\s"
        r"|(?:ESTAB|LISTEN|TIME-WAIT|UNCONN)\s+[0-9]+\s",
    ),
    # --- balancers and servers
    # --- snapshots of the kernel
)  # fmt: skip


def form_of(tool: str, variant: str) -> Form | None:
    """Return the form that `run.json` names; None where its output is not read."""
    return next((form for form in FORMS if (form.tool, form.variant) == (tool, variant)), None)


@cache
def forms_of(tool: str) -> tuple[Form, ...]:
    """Return the forms of a tool, or the one form that ``TOOL:VARIANT`` names; none where there is no such tool."""
    return tuple(form for form in FORMS if tool in (form.tool, form.name))


@cache
def signatures(forms: tuple[Form, ...] = FORMS) -> re.Pattern[str]:
    """One pattern for the signatures of these forms: the group that matched, ``fN``, is form N of them."""
    named = [(f.signature.startswith(r"\A"), f"(?P<f{i}>{f.signature})") for i, f in enumerate(forms)]
    documents = [pattern for whole, pattern in named if whole]
    lines = [pattern for whole, pattern in named if not whole]
    return re.compile("|".join([*documents, rf"^[ \t]*(?:{'|'.join(lines)})"] if lines else documents), re.MULTILINE)
