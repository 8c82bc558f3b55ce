"""The handbook as one document for print: contents, then the articles of its pages in the order of the navigation."""

import posixpath
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup, Tag

from loadcurve.files.atomic import write_text
from loadcurve.files.yaml_document import read_yaml

# What is looked up, not read: a reader of the printed book has the site for it.
_LEFT_OUT = ("All figures", "Reference", "Notebooks", "中文")


def write_book(root: Path) -> Path:
    """Write `build/book.html` from the built site of a checkout; return its path."""
    nav = read_yaml(root / "mkdocs.yml").values["nav"]
    listed = [(title, page and f"{page.removesuffix('.md')}.html") for title, page in _entries(nav)]
    names = {page: page.removesuffix(".html").replace("/", "-") for _, page in listed if page}
    contents = [
        f'<li><a href="#{names[page]}">{escape(title)}</a></li>' if page else f"<li><b>{escape(title)}</b></li>"
        for title, page in listed
    ]
    articles = [_article(root / "build" / "site", page, names) for page in names]
    styles = sorted((root / "build" / "site" / "assets").rglob("*.css"))
    links = "".join(f'<link rel="stylesheet" href="{style.relative_to(root / "build")}">' for style in styles)
    target = root / "build" / "book.html"
    write_text(
        target,
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>loadcurve</title>{links}</head>'
        f'<body class="lc-book" data-md-color-scheme="default"><main class="md-typeset"><h1>loadcurve</h1>'
        f"<ul>{''.join(contents)}</ul>{''.join(articles)}</main></body></html>",
    )
    return target


def _entries(nav: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    for entry in nav:
        ((title, content),) = entry.items()
        if title in _LEFT_OUT:
            continue
        yield title, content if isinstance(content, str) else ""
        yield from _entries(content) if isinstance(content, list) else ()


def _article(site: Path, page: str, names: dict[str, str]) -> str:
    """Return the article of a page; its ids and links are those of the book."""
    article = BeautifulSoup((site / page).read_text("utf-8"), "html.parser").select_one("article")
    assert isinstance(article, Tag)
    for left_out in article.select(".headerlink, script, form, noscript, .md-source-file"):
        left_out.decompose()
    for folded in article.select("details.lc-fold, details.lc-fold > summary"):
        folded.unwrap()
    for folded in article.select("details"):
        folded["open"] = ""
    for named in article.select("[id]:not(svg [id])"):
        named["id"] = f"{names[page]}--{named['id']}"
    for link in article.select("a[href]"):
        path, _, part = str(link["href"]).partition("#")
        target = posixpath.normpath(posixpath.join(posixpath.dirname(page), path)) if path else page
        if target in names:
            link["href"] = f"#{names[target]}{f'--{part}' if part else ''}"
        elif ":" not in path:
            link.unwrap()  # a page that is not in the book
    for image in article.select("img[src]"):
        image["src"] = posixpath.normpath(posixpath.join("site", posixpath.dirname(page), str(image["src"])))
    article["id"] = names[page]
    return str(article)
