"""One form of a tool's output: which tool prints it, how it is recognised, which function reads it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from inspect import signature

from loadcurve.ingest.ending import JSON, NEWLINE, Ending, warning_of
from loadcurve.ingest.impossible import contradictions, without_times_of_no_response
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.separators import without_separators


@dataclass(frozen=True, eq=False)  # compared by identity, because forms are dictionary keys for every file
class Form:
    r"""One form of a tool's output, one line of `loadcurve.ingest.registry`."""

    # `tool` and `variant`: as `run.json` names them, and on the command line `TOOL` or `TOOL:VARIANT`.
    tool: str
    variant: str
    # Module below `loadcurve.ingest`, and the function in it that takes the text and returns `Parsed`; the first line
    # of its docstring is the form's line in the handbook.
    parsed_by: str
    # Patterns without groups that capture.  The output begins at a line that matches one of them, after indentation.
    # The patterns of a whole document (JSON, XML) begin with `\A`.
    signature: tuple[str, ...]
    commas: bool = False  # Whether a comma between digits is part of what is printed: a list, CSV, a log of words
    # How a whole text ends; by default its last line ends with a newline, which is all that is known.
    ending: Ending = NEWLINE
    # Whether its parser converts whole columns at once, so that a text may be larger than others
    # (`loadcurve.ingest.size`).
    large: bool = False
    # Tables with totals over the rows of the text, which the parser computes or the tool prints again and again: a text
    # that is cut between two rows has smaller totals.
    totals: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """``TOOL`` or ``TOOL:VARIANT``."""
        return f"{self.tool}:{self.variant}" if self.variant else self.tool

    @cached_property
    def parser(self) -> Callable[..., Parsed]:
        """The function that reads this form; its module is imported when it is first asked for."""
        module, function = self.parsed_by.split(":")
        return getattr(import_module(f"loadcurve.ingest.{module}"), function)

    @cached_property
    def takes(self) -> frozenset[str]:
        """Further arguments of the parser: ``timezone`` where the text holds local times, ``log_format``."""
        return frozenset(signature(self.parser).parameters) - {"text"}

    def parse(self, text: str, **known: str) -> Parsed:
        """Parse a text of this form after `clean`; of the known facts, the parser gets those that it takes.

        Adds a warning where the text may have been cut and the parser did not warn, and where response times
        contradict each other; removes those of a run without a response.
        """
        text, separated = (text, []) if self.commas or self.ending is JSON else without_separators(text)
        parsed = self.parser(text, **{name: value for name, value in known.items() if name in self.takes})
        cut = warning_of(text, self.ending, parsed.warnings)
        parsed, untimed = without_times_of_no_response(parsed)
        more = [*separated, *untimed, *contradictions(parsed), *([cut] if cut else [])]
        return replace(parsed, warnings=(*parsed.warnings, *more)) if more else parsed
