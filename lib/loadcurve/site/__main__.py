"""Build the handbook, serve it, write it as one page, or publish it: ``loadcurve.site [serve | book | publish …]``."""

import logging
import re
import sys

from mkdocs.exceptions import MkDocsException

from loadcurve.errors import LoadcurveError
from loadcurve.files import paths
from loadcurve.runtime.output import echo, echo_messages


def main(arguments: list[str]) -> int:
    """Build or serve the handbook of the checkout; return the exit code."""
    echo_messages("root")
    # Where a macro fails, it prints the page and the reason itself; the plugin would print the whole traceback.
    logging.getLogger("mkdocs.plugins.mkdocs_macros").setLevel(logging.CRITICAL)
    publishes = arguments[:1] == ["publish"] and len(arguments) in (2, 3)
    if not publishes and not re.fullmatch(r"(serve( [0-9]{1,5})?|book)?", " ".join(arguments)):
        echo("usage: python -m loadcurve.site [serve [PORT] | book | publish OUT [URL]]", err=True)
        return 2
    try:
        if publishes:
            from loadcurve.site.versions import publish

            echo(f"The handbook is in {publish(*arguments[1:])}")
            return 0
        if arguments == ["book"]:
            from loadcurve.site.book import write_book

            echo(write_book(paths.root()))
            return 0
        if arguments:
            from loadcurve.site.serve import serve

            serve(paths.root(), *map(int, arguments[1:]))
            return 0
        from loadcurve.site.incremental import build

        rendered = build(paths.root())
    except (MkDocsException, LoadcurveError, OSError) as error:
        echo(error, err=True)
        return 1
    echo(f"Rendered {len(rendered)} pages{': ' + ' '.join(rendered) if 0 < len(rendered) <= 5 else ''}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
