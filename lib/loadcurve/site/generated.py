"""Pages of the handbook that are generated from the library, and what of generated pages an earlier build knew."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from loadcurve.site.inputs import digest_of

Places = list[tuple[str, Mapping[str, Any]]]


class Generated(NamedTuple):
    """What the library's code adds to the site."""

    places: Places
    """Path of an index page -> the pages below it: heading -> path, or a list of such entries."""
    pages: dict[str, str]
    """Path → text; a page of the handbook with the same path replaces it."""


_known: Generated | None = None
_texts: dict[str, str] = {}
_used: dict[str, str] = {}


def from_code() -> Generated:
    """Return the pages of formats, audit rules and public modules, and the schema of study files."""
    if _known:
        return _known
    from loadcurve.audit import all_rules
    from loadcurve.site import formats, interface, rules
    from loadcurve.site.laboratory import SCHEMA, schema_text

    places: Places = [
        (f"{formats.FOLDER}/index.md", formats.pages()),
        (f"{rules.FOLDER}/index.md", rules.pages()),
        (f"{interface.FOLDER}/index.md", interface.pages()),
    ]
    pages = {SCHEMA: schema_text()}
    pages |= {path: formats.page_markdown(tool) for tool, path in formats.pages().items()}
    pages |= {f"{rules.FOLDER}/{name}.md": rules.page_markdown(rule) for name, rule in all_rules().items()}
    pages |= {path: interface.page_markdown(name) for name, path in interface.pages().items()}
    return Generated(places, pages)


def text_of(facts: object, write: Callable[[], str]) -> str:
    """Return the text of a page that is made of `facts` alone, written by `write` unless an earlier build wrote it."""
    key = digest_of(facts)
    _used[key] = _texts[key] if key in _texts else write()
    return _used[key]


def texts() -> dict[str, str]:
    """Return the texts that this build asked for, by the digest of their facts."""
    return dict(_used)


def remember(known: Generated | None, texts: dict[str, str]) -> None:
    """Let `from_code` and `text_of` return what an earlier build generated with the same code; forget all others."""
    global _known
    _known = known
    _texts.clear()
    _texts.update(texts)
    _used.clear()
