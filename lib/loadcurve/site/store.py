"""Rendered pages of the last build, kept by the digests of what they were made from."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from loadcurve.files.atomic import write_text


@dataclass
class Rendered:
    """A rendered page, and what it was made from."""

    source: str
    """Digest of the page's text."""
    reads: dict[str, str]
    """Path → digest of each file and folder that was read meanwhile."""
    links: dict[str, str]
    """Path that a link of the page leads to → URL on the site; empty where there is none."""
    title: str | None = None
    meta: dict[str, Any] = field(default_factory=dict)
    content: str = ""
    toc: list[Any] = field(default_factory=list)
    anchors: list[str] = field(default_factory=list)
    """Anchors of the page."""
    to_anchors: dict[str, dict[str, str]] = field(default_factory=dict)
    """Path of a page → anchor there → link as it is written."""
    output: str = ""
    """Digest of what the page in its theme was made from."""
    written: list[int] = field(default_factory=list)
    """State of the file on the site."""
    found: list[Any] = field(default_factory=list)
    """Entries of the search index."""


class Store:
    """Folder with the pages of the last build that succeeded."""

    def __init__(self, folder: Path, key: str) -> None:
        self._folder, self.key = folder, key
        self.pages: dict[str, Rendered] = {}
        self.site: dict[str, Any] = {}
        """What is kept of the site besides its pages."""
        if self._read("site.json").get("key") == key:
            self.site = self._read("site.json")
            for name in self.site["pages"]:
                if page := self._read(self._name(name)):
                    self.pages[name] = Rendered(**page)
        self._before = {name: json.dumps(asdict(page)) for name, page in self.pages.items()}

    def save(self, pages: dict[str, Rendered], site: dict[str, Any]) -> None:
        """Keep the pages of a build; `site.json` comes last, and the pages that are no longer there are removed."""
        for name, page in pages.items():
            if (text := json.dumps(asdict(page))) != self._before.get(name):
                (self._folder / self._name(name)).parent.mkdir(parents=True, exist_ok=True)
                write_text(self._folder / self._name(name), text)
        for name in self._before.keys() - pages.keys():
            (self._folder / self._name(name)).unlink(missing_ok=True)
        write_text(self._folder / "site.json", json.dumps({**site, "key": self.key, "pages": list(pages)}))

    def _name(self, page: str) -> str:
        return f"pages/{page}.json"

    def _read(self, name: str) -> dict[str, Any]:
        try:
            return dict(json.loads((self._folder / name).read_text("utf-8")))
        except (OSError, ValueError):
            return {}


def state(path: str | Path) -> list[int]:
    """Return the state of a file by which a change is noticed without reading it; empty if there is none."""
    try:
        facts = Path(path).stat()
    except OSError:
        return []
    return [facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns, facts.st_ino]
