"""One form of a tool's output: whose it is, what tells it apart, which function reads it."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from loadcurve.ingest.parsed import Parsed


@dataclass(frozen=True, eq=False)  # a form is itself: tables of them are looked up for every file
class Form:
    r"""One form of a tool's output.

    Attributes
    ----------
    tool, variant : str
        As `run.json` names them, and on the command line ``TOOL`` or ``TOOL:VARIANT``.
    parser : str
        ``module:function`` in `loadcurve.ingest`; imported when it is first needed.
    signature : tuple of str
        Patterns, with one of which a line of this form begins and no line of another form, after indentation.  For
        whole documents (JSON, XML, CSV with a header) each begins with ``\A``.  They capture nothing.
    local_time : bool
        Whether the text holds local times, so that the function takes the name of their zone as `timezone`.
    """

    tool: str
    variant: str
    parser: str
    signature: tuple[str, ...]
    local_time: bool = False

    @property
    def name(self) -> str:
        """``TOOL`` or ``TOOL:VARIANT``."""
        return f"{self.tool}:{self.variant}" if self.variant else self.tool

    @property
    def function(self) -> Callable[..., Parsed]:
        """The function that reads it."""
        module, function = self.parser.split(":")
        return getattr(import_module(f"loadcurve.ingest.{module}"), function)

    def parse(self, text: str, timezone: str = "UTC") -> Parsed:
        """Parse a text of this form; `clean` has made it plain lines."""
        return self.function(text, timezone=timezone) if self.local_time else self.function(text)
