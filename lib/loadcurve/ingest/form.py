"""One form of a tool's output: whose it is, what tells it apart, which function reads it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module

from loadcurve.ingest.ending import JSON, NEWLINE, Ending, warning_of
from loadcurve.ingest.impossible import contradictions
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.separators import without_separators


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
    takes : tuple of str
        What the function takes beside the text: ``timezone`` where the text holds local times, ``log_format``.
    commas : bool
        Whether a comma between digits is part of what is printed: a list, CSV, a log of words.
    ending : Ending
        How a whole text ends; by default its last line ends with a newline, which is all that is known.
    large : bool
        Whether its parser makes columns of numbers of it at once, so that a text may be larger than others
        (`loadcurve.ingest.size`).
    """

    tool: str
    variant: str
    parser: str
    signature: tuple[str, ...]
    takes: tuple[str, ...] = ()
    commas: bool = False
    ending: Ending = NEWLINE
    large: bool = False

    @property
    def name(self) -> str:
        """``TOOL`` or ``TOOL:VARIANT``."""
        return f"{self.tool}:{self.variant}" if self.variant else self.tool

    @property
    def function(self) -> Callable[..., Parsed]:
        """The function that reads it."""
        module, function = self.parser.split(":")
        return getattr(import_module(f"loadcurve.ingest.{module}"), function)

    def parse(self, text: str, **known: str) -> Parsed:
        """Parse a text of this form, which `clean` has made plain lines, with what the form takes of what is known.

        Where the text may have been cut and the parser has not warned of it, a warning says so; and where response
        times contradict each other.
        """
        text, separated = (text, []) if self.commas or self.ending is JSON else without_separators(text)
        parsed = self.function(text, **{name: value for name, value in known.items() if name in self.takes})
        cut = warning_of(text, self.ending, parsed.warnings)
        more = [*separated, *contradictions(parsed), *([cut] if cut else [])]
        return replace(parsed, warnings=(*parsed.warnings, *more)) if more else parsed
