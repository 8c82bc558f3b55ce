"""Add the pages of rules, formats and other listed objects to the navigation of ``mkdocs.yml``."""

from collections.abc import Mapping
from typing import Any


def add_pages(nav: list[dict[str, Any]], index: str, pages: Mapping[str, str]) -> None:
    """Append pages (heading -> path) to the section of `nav` that holds the page `index`.

    Examples
    --------
    >>> nav = [{"Start": "index.md"}, {"Rules": [{"All": "rules/index.md"}]}]
    >>> add_pages(nav, "rules/index.md", {"Toy": "rules/toy.md"})
    >>> nav[1]
    {'Rules': [{'All': 'rules/index.md'}, {'Toy': 'rules/toy.md'}]}
    """
    if any(index in entry.values() for entry in nav):
        nav += [{heading: path} for heading, path in pages.items()]
        return
    for section in nav:
        for content in section.values():
            if isinstance(content, list):
                add_pages(content, index, pages)
