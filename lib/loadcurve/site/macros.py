"""Register the macros of the handbook's pages; a function is imported when a page first uses its macro."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from mkdocs.utils import get_relative_url

from loadcurve.errors import LoadcurveError
from loadcurve.runtime.output import echo

MACROS = {
    "figure": "published_html:figure_html",
    "figures": "published_html:figures_html",
    "table": "published_html:table_html",
    "value": "published_html:value_html",
    "holds": "published_html:holds",
    "weak_points": "published:weak_points_html",
    "claims": "published_html:claims_html",
    "verdicts": "published_html:verdicts_html",
    "reruns": "published_html:reruns_html",
    "experiments": "published_html:experiments_html",
    "experiments_index": "published_html:experiments_index_html",
    "columns": "published_html:columns_markdown",
    "analyse": "own_files:analyse_markdown",
    "audit": "own_files:audit_markdown",
    "cat": "own_files:cat_markdown",
    "forms_table": "formats:formats_markdown",
    "gallery": "rules:gallery_html",
    "modules_table": "interface:modules_markdown",
    "rooms": "interface:rooms_html",
    "raw_files_table": "raw_files:index_markdown",
    "looks": "rules:looks_html",
    "recipes": "laboratory:recipes_markdown",
    "designs": "laboratory:designs_markdown",
    "ingestion_limits": "formats:ingestion_limits",
    "keys_of": "laboratory:keys_markdown",
    "sysctls": "laboratory:sysctls_markdown",
}
"""Macro → the function of this package that writes its text."""

LINKING = {"figure", "figures", "table", "claims", "experiments", "experiments_index", "looks", "designs"}
"""Macros whose function takes, as its last argument, a function that turns a path of the site into a link."""


def define_env(env: Any) -> None:
    """Register the macros with mkdocs-macros."""

    def link(target: str) -> str:
        return str(get_relative_url(target, env.page.url))

    for name, where in MACROS.items():
        env.macro(_macro(env, where, [link] if name in LINKING else []), name)


def _macro(env: Any, where: str, extra: list[Callable[[str], str]]) -> Callable[..., Any]:
    """Return the macro that calls a function; an error is reported as one line that names the page."""
    module, _, function = where.partition(":")

    def show(*names: str, **options: Any) -> Any:
        try:
            return getattr(import_module(f"loadcurve.site.{module}"), function)(*names, *extra, **options)
        except Exception as error:  # mkdocs-macros would end the build without a word
            text = error if isinstance(error, LoadcurveError) else repr(error)
            echo(f"handbook/{env.page.file.src_uri}: {text}", err=True)
            raise

    return show
