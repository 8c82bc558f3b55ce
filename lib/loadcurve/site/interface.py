"""Generate the handbook's reference of the Python interface: a page for each public module."""

import re
from inspect import getdoc
from types import ModuleType

import griffe

import loadcurve

FOLDER = "reference/python"

# `.. math:: FORMULA`, or an indented block after `.. math::`; both end at the first line that is not indented further.
_FORMULA = re.compile(r"^( *)\.\. math::(?: (.+)\n|\n\n)((?:\1 +\S.*(?:\n|\Z))*)", re.MULTILINE)
_RULE = r"^=+(?: +=+)+\n"


def _formula(found: re.Match[str]) -> str:
    words = " ".join([found[2] or "", *found[3].split()]).strip()
    return f"{found[1]}$$ {words} $$\n"


_AS_MARKDOWN = (
    (_FORMULA, _formula),
    (re.compile(r":math:`([^`]+)`"), r"$\1$"),
    (re.compile(rf"{_RULE}(?:.+\n)+?{_RULE}(?:.+\n)+?{_RULE}", re.MULTILINE), r"```text\n\g<0>```\n"),
    (re.compile(r"::(\n\n +)"), r":\1"),
)
"""Form of reStructuredText → how Markdown writes it."""


def public_modules(module: ModuleType = loadcurve) -> dict[str, ModuleType]:
    """Return a module and the public modules in it, by their dotted names."""
    found = {module.__name__: module}
    for name in module.__all__:
        if isinstance(value := getattr(module, name), ModuleType):
            found |= public_modules(value)
    return found


def modules_markdown() -> str:
    """Return a Markdown table of the public modules: name with a link to the page, and summary."""
    rows = [f"| [{name}]({name}.md) | {_summary(module)} |" for name, module in public_modules().items()]
    return "\n".join(["| module | contents |", "|---|---|", *rows])


def page_markdown(name: str) -> str:
    """Return the page of a public module: a mkdocstrings directive that lists the names in the module's ``__all__``."""
    return f"::: {name}\n"


def pages() -> dict[str, str]:
    """Return the heading of each module in the navigation, and the path of its page."""
    return {name: f"{FOLDER}/{name}.md" for name in public_modules()}


def _summary(module: ModuleType) -> str:
    return (getdoc(module) or "").split("\n\n")[0].replace("\n", " ").replace("``", "`").rstrip(".")


def docstring_as_markdown(text: str) -> str:
    r"""Return a docstring with its formulas, tables and literal blocks as Markdown.

    Examples
    --------
    >>> docstring_as_markdown("With :math:`x > 0`:\n\n.. math:: y = x^2\n")
    'With $x > 0$:\n\n$$ y = x^2 $$\n'
    """
    for form, written in _AS_MARKDOWN:
        text = form.sub(written, text)
    return text


class AsMarkdown(griffe.Extension):
    """Extension of mkdocstrings: docstrings become Markdown before a page shows them."""

    def on_object(self, *, obj: griffe.Object, **_: object) -> None:
        """Rewrite the docstring of one object."""
        if obj.docstring:
            obj.docstring.value = docstring_as_markdown(obj.docstring.value)
