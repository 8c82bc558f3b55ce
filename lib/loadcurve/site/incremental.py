"""Build the handbook as `mkdocs build` does, rendering only the pages whose inputs changed since the last build.

Rendered pages are kept by the digests of what they were made from.
"""

import functools
import hashlib
import json
import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from mkdocs import utils
from mkdocs.commands import build as whole
from mkdocs.config import load_config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import Abort
from mkdocs.structure.files import File, Files, InclusionLevel, get_files, set_exclusions
from mkdocs.structure.nav import Navigation, get_navigation
from mkdocs.structure.pages import Page
from mkdocs.structure.toc import AnchorLink, TableOfContents

from loadcurve.files.atomic import alone, write_text
from loadcurve.site import generated
from loadcurve.site.inputs import digest, digest_of, digest_of_all_pages, recorded


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


CACHE = Path("build/cache/site")
"""Folder of the rendered pages, in the checkout."""

_REFERENCES = ("_primary_url_map", "_secondary_url_map", "_title_map")


class _Watched(Files):
    """The files of the site, and which of them the links of a page led to."""

    def __init__(self, files: Files) -> None:
        self._src_uris = dict(files.src_uris)
        self.links: dict[str, str] = {}

    def get_file_from_path(self, path: str) -> File | None:
        found = super().get_file_from_path(path)
        self.links[path] = found.url if found else ""
        return found


def build(root: Path) -> list[str]:
    """Build the handbook of a checkout, and return the pages that were rendered.

    Every file of the site is what `mkdocs build` would write.  Pages are kept in `CACHE` with digests of what they were
    made from.  Raises `Abort` when mkdocs printed a warning; then nothing is kept of this build.
    """
    with alone("the handbook", print):
        store = Store(root / CACHE, digest_of_all_pages(root))
        known = generated.Generated(*store.site["generated"]) if store.site else None
        generated.remember(known, store.site.get("texts", {}))
        config = load_config(str(root / "mkdocs.yml"))
        config.plugins.on_startup(command="build", dirty=False)
        warnings = utils.CountHandler()
        warnings.setLevel(logging.WARNING)
        logging.getLogger("mkdocs").addHandler(warnings)
        try:
            return _Build(root, config, store, warnings).run()
        except Exception as error:
            config.plugins.on_build_error(error=error)
            raise
        finally:
            logging.getLogger("mkdocs").removeHandler(warnings)
            config.plugins.on_shutdown()


class _Build:
    """One build: `run` goes through the steps of `mkdocs.commands.build.build`, with the same events for plugins."""

    def __init__(self, root: Path, config: MkDocsConfig, store: Store, warnings: utils.CountHandler) -> None:
        self._root, self._config, self._store, self._warnings = root, config, store, warnings
        self._digest = functools.cache(digest)  # a file is read once for all pages that it is part of
        self._pages: dict[str, Rendered] = {}
        self._rendered: list[str] = []

    def run(self) -> list[str]:
        config = self._config = self._config.plugins.on_config(self._config)
        config.plugins.on_pre_build(config=config)
        if not self._store.site:
            utils.clean_directory(config.site_dir)
        files = get_files(config)
        env = config.theme.get_env()
        files.add_files_from_theme(env, config)
        files = config.plugins.on_files(files, config=config)
        set_exclusions(files, config)
        nav = config.plugins.on_nav(get_navigation(files, config), config=config, files=files)
        pages = files.documentation_pages(inclusion=InclusionLevel.is_included)
        for file in pages:
            self._render(file, files)
        references = self._references()
        env = config.plugins.on_env(env, config=config, files=files)
        static = self._copy(files)
        for template in config.theme.static_templates:
            whole._build_theme_template(template, env, files, config, nav)
        place = digest_of([[_place(item) for item in nav], [_place(file.page) for file in pages]])
        for file in pages:
            self._write(file, pages, nav, env, place)
        for file in pages:
            _page(file).validate_anchor_links(files=files, log_level=config.validation.links.anchors)
        config.plugins.on_post_build(config=config)
        if config.strict and (counts := self._warnings.get_counts()):
            raise Abort(f"Aborted with {', '.join(f'{n} {kind.lower()}s' for kind, n in counts)} in strict mode!")
        self._finish(files, static, references)
        return self._rendered

    def _render(self, file: File, files: Files) -> None:
        """Render a page, or take what an earlier build rendered from the same inputs."""
        page = file.page or Page(None, file, self._config)
        source = hashlib.sha256(file.content_bytes).hexdigest()
        known = self._store.pages.get(file.src_uri)
        if known and known.source == source and self._is_same(known, files):
            _restore(page, known, files)
            self._pages[file.src_uri] = known
            return
        watched = _Watched(files)
        with recorded(self._root) as reads:
            whole._populate_page(page, self._config, watched)
        self._pages[file.src_uri] = Rendered(source, reads.digests(), watched.links)
        self._rendered.append(file.src_uri)

    def _is_same(self, known: Rendered, files: Files) -> bool:
        return all(self._digest(str(self._root / name)) == was for name, was in known.reads.items()) and all(
            getattr(files.get_file_from_path(path), "url", "") == url for path, url in known.links.items()
        )

    def _references(self) -> dict[str, Any]:
        """Return what pages of the Python interface registered for cross-references, in this build or the last."""
        plugin = self._config.plugins["autorefs"]
        known = self._store.site.get("references", {})
        for name in _REFERENCES:
            setattr(plugin, name, {**known.get(name, {}), **getattr(plugin, name)})
        return {name: dict(getattr(plugin, name)) for name in _REFERENCES}

    def _copy(self, files: Files) -> dict[str, list[Any]]:
        """Copy the files that are no pages, if source or copy changed; return the state of both."""
        known, copied = self._store.site.get("static", {}), {}
        for file in files:
            if file.is_documentation_page() or not file.inclusion.is_included():
                continue
            source = state(file.abs_src_path) if file.abs_src_path else [hashlib.sha256(file.content_bytes).hexdigest()]
            if known.get(file.dest_uri) != [file.abs_src_path, source, state(file.abs_dest_path)]:
                file.copy_file()
            copied[file.dest_uri] = [file.abs_src_path, source, state(file.abs_dest_path)]
        return copied

    def _write(self, file: File, pages: Sequence[File], nav: Navigation, env: Any, place: str) -> None:
        """Write a page in its theme, unless the one on the site is made of the same."""
        page, made = _page(file), self._pages[file.src_uri]
        search = next(plugin for plugin in self._config.plugins.values() if hasattr(plugin, "search_index"))
        entries = search.search_index.entries
        if made.output == place and made.written and made.written == state(file.abs_dest_path):
            entries.extend(made.found)
            return
        _keep(page, made)  # before the search plugin removes its marks from the content
        before = len(entries)
        whole._build_page(page, self._config, pages, nav, env)
        made.found, made.output, made.written = entries[before:], place, state(file.abs_dest_path)

    def _finish(self, files: Files, static: dict[str, list[Any]], references: dict[str, Any]) -> None:
        """Remove what does not belong to the site any more, and keep what the next build can use."""
        site = Path(self._config.site_dir)
        wanted = {file.dest_uri for file in files if file.inclusion.is_included()}
        there = {path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file()}
        others = self._store.site.get("others", sorted(there - wanted))  # written by the theme and by plugins
        for name in there - wanted - set(others):
            (site / name).unlink()
        for folder in sorted((path for path in site.rglob("*") if path.is_dir()), reverse=True):
            if not any(folder.iterdir()):
                folder.rmdir()
        # A date in the front matter of a page is not the same after it was stored.
        plain = (
            name for name, page in self._pages.items() if json.loads(json.dumps(page.meta, default=str)) == page.meta
        )
        kept = {name: self._pages[name] for name in plain}
        texts, known = generated.texts(), generated.from_code()
        parts = {"static": static, "references": references, "others": others, "generated": known, "texts": texts}
        if digest_of_all_pages(self._root) == self._store.key:  # else the code or the settings changed meanwhile
            self._store.save(kept, parts)


def _page(file: File) -> Page:
    if file.page is None:
        raise AssertionError(f"{file.src_uri} must have a page")
    return file.page


def _place(item: Any) -> Any:
    """Return what the theme shows of a page or section in the navigation of all pages."""
    children = [_place(child) for child in item.children or ()]
    return [type(item).__name__, item.title, getattr(item, "url", ""), getattr(item, "meta", {}), children]


def _keep(page: Page, made: Rendered) -> None:
    """Store a rendered page, with its cross-references resolved."""
    made.title, made.meta, made.content = page._title_from_render, dict(page.meta), page.content or ""
    made.toc = [_entry(item) for item in page.toc]
    made.anchors = sorted(page.present_anchor_ids or ())
    made.to_anchors = {file.src_uri: links for file, links in (page.links_to_anchors or {}).items()}


def _restore(page: Page, made: Rendered, files: Files) -> None:
    """Give a page what an earlier build rendered."""
    page.markdown, page.meta, page.content, page._title_from_render = "", dict(made.meta), made.content, made.title
    page.toc = TableOfContents([_anchor(entry) for entry in made.toc])
    for first in list(page.toc)[:1]:
        first.active = True  # type: ignore[attr-defined]
    page.present_anchor_ids = set(made.anchors)
    targets = {files.get_file_from_path(name): links for name, links in made.to_anchors.items()}
    page.links_to_anchors = {file: links for file, links in targets.items() if file}


def _entry(item: AnchorLink) -> list[Any]:
    return [item.title, item.id, item.level, [_entry(child) for child in item.children]]


def _anchor(entry: list[Any]) -> AnchorLink:
    title, name, level, children = entry
    anchor = AnchorLink(title, name, level)
    anchor.children = [_anchor(child) for child in children]
    return anchor
