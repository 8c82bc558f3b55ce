"""Build hooks of the handbook: add generated pages, notebooks and data to the site, and convert formulas to MathML."""

import json
import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from bs4 import BeautifulSoup
from jinja2 import Environment
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from loadcurve.files.atomic import write_text
from loadcurve.files.paths import NOTEBOOK_NAME
from loadcurve.site import generated, notebooks, raw_files
from loadcurve.site.inputs import digest, digest_of
from loadcurve.site.published import drawing_html, with_weak_points
from loadcurve.site.safety import check_links, formula, remove_active, with_policy


def add_pages(nav: list[dict[str, Any]], index: str, pages: Mapping[str, Any]) -> None:
    """Append pages (heading -> path, or a list of such entries) to the section of `nav` that holds the page `index`.

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


BUILD = Path("build")

# Search finds the page that explains a subject before docstrings, which only use its words; what a notebook says is
# on the page that shows its figures.
_FOUND = {"method/": {"boost": 2.0}, "rules/": {"boost": 0.5}, "reference/formats/": {"boost": 0.7}}
_FOUND |= {"reference/python/": {"boost": 0.3}, "notebooks/": {"exclude": True}, "decisions/": {"exclude": True}}

# Of the theme's worker: the key of a node is its label and the number of the node that the label leads to.
_SEARCH_WORKER, _NODE_KEY = "assets/javascripts/workers/search.*.min.js", "e=e+s+o.id"

# What `shortened` keeps: so many letters of a text as it is, for readers, and words of four letters or more.
_START, _TAG, _WORD = 250, re.compile(r"<[^>]*>"), re.compile(r"[^\W\d][\w./-]{2,}\w|[\u4e00-\u9fff]+")

_OPEN = "<h2[^>]*>(?:Claims|What to do differently)"

_STALE = '!!! warning "译文可能过时"\n\n    这些英文页在翻译之后有修改：{}。'

_FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Add the pages of formats, audit rules, public modules, data folders and notebooks to the navigation."""
    nav = config.nav or []
    for index, pages in generated.from_code().places:
        add_pages(nav, index, pages)
    add_pages(nav, f"{raw_files.FOLDER}/index.md", raw_files.pages(_build(config)))
    add_pages(nav, notebooks.TEMPLATE, notebooks.pages(Path(config.config_file_path).parent / "notebooks"))
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add executed notebooks, figures' data, raw files, the schema of study files and generated pages to the site."""
    build = _build(config)
    for unused in [each for each in files if each.src_uri.startswith("assets/javascripts/lunr/")]:
        files.remove(unused)  # searches other languages than English, and has other licences
    for notebook in sorted((build.parent / "notebooks").glob("[0-9]*.ipynb")):
        if not NOTEBOOK_NAME.fullmatch(notebook.stem):  # make skips such a notebook, so it has no executed copy
            raise PluginError(f"notebook must be named with lower case letters, digits and _, got {notebook.name!r}")
        executed, figures = build / "notebooks" / notebook.name, build / "figures" / notebook.stem
        published = [path for path in sorted(figures.glob("*")) if path.suffix in (".csv", ".xml")]
        files.append(File.generated(config, f"notebooks/{executed.name}", abs_src_path=str(executed)))
        for made in published:
            name = raw_files.name_on_site(made.relative_to(build).as_posix())
            files.append(File.generated(config, name, abs_src_path=str(made)))
        facts = [executed.name, digest(str(executed)), sorted(path.name for path in figures.glob("*.svg"))]
        page = generated.text_of(facts, partial(notebooks.page_markdown, executed, figures))
        files.append(File.generated(config, notebooks.page_of(notebook.stem), content=page))
    for path, text in generated.from_code().pages.items():
        index = (PurePosixPath(path).parent / "index.md").as_posix()
        if not files.get_file_from_path(path) and (not path.endswith(".md") or files.get_file_from_path(index)):
            files.append(File.generated(config, path, content=text))
    for name, folder in raw_files.folders(build).items():
        page = generated.text_of(raw_files.facts(name, folder), partial(raw_files.page_markdown, name, folder))
        files.append(File.generated(config, raw_files.page_of(name), content=page))
        for path, file in raw_files.files_on_site(name, folder):
            files.append(File.generated(config, path, abs_src_path=str(file)))
    return files


@event_priority(100)  # before mkdocstrings writes the styles of the handlers that it used
def on_env(env: Environment, config: MkDocsConfig, files: Files) -> Environment:
    """Load the Python handler of mkdocstrings, so that its styles are written also if no page needed it."""
    handlers: Any = config.plugins["mkdocstrings"]
    handlers.get_handler("python")
    return env


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Set how early search finds a page, unless its front matter does; name what changed since a translation."""
    for folder, search in _FOUND.items():
        if page.file.src_uri.startswith(folder):
            page.meta.setdefault("search", dict(search))
    changed = changed_since(page.meta, Path(config.docs_dir))
    return markdown.replace("\n\n", f"\n\n{_STALE.format('、'.join(changed))}\n\n", 1) if changed else markdown


def changed_since(meta: Mapping[str, Any], docs: Path) -> list[str]:
    """Return the pages that changed after a page was translated from them, each with the digest that it has now.

    Front matter names them, each with its digest: `translates`, or `translates_start_of` for the part before the first
    section.
    """
    parts = [(name, then, "\0") for name, then in meta.get("translates", {}).items()]
    parts += [(name, then, "\n## ") for name, then in meta.get("translates_start_of", {}).items()]
    now = [digest_of((docs / name).read_text("utf-8").split(end)[0])[:8] for name, _, end in parts]
    return [f"{name} ({new})" for (name, then, _), new in zip(parts, now, strict=True) if new != then]


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Convert formulas to MathML; in notebooks, remove scripts and external resources, and insert the drawings."""
    path = PurePosixPath(page.file.src_uri)
    if path.parts[0] != notebooks.FOLDER:
        check_links(page.file.src_uri, html)
        html = _with_formulas(with_weak_points(page.file.src_uri, html))
        return _folded(html) if page.meta.get("fold") else html
    soup = BeautifulSoup(html, "html.parser")
    remove_active(soup)
    return notebooks.with_drawings(_with_formulas(str(soup)), lambda slug: drawing_html(path.stem, slug))


@event_priority(-50)  # after the search plugin wrote its index, and before the offline plugin copies it
def on_post_build(config: MkDocsConfig) -> None:
    """Shorten the search index, which every page loads, and give each of its nodes a key of its own.

    lunr 2.3.9 (`TokenSet.prototype.toString`) writes the labels of a node and the numbers of their nodes without a
    separator, so two nodes with digits as labels may have one key.  They are then taken for one node, and a search that
    meets it finds nothing: `knee` did, because of words elsewhere in the handbook.
    """
    (worker,) = Path(config.site_dir).glob(_SEARCH_WORKER)
    script = worker.read_text("utf-8")
    if script.count(_NODE_KEY) != 1:
        raise PluginError(f"{worker.name}: expected {_NODE_KEY!r} once, got {script.count(_NODE_KEY)} times")
    write_text(worker, script.replace(_NODE_KEY, f"{_NODE_KEY}+','"))
    index = Path(config.site_dir) / "search" / "search_index.json"
    values = json.loads(index.read_text("utf-8"))
    write_text(index, json.dumps(values | {"docs": shortened(values["docs"])}, ensure_ascii=False))


def shortened(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return entries of the search index: the start of each text, and the other words of the rest, each once.

    Of the Python interface only the start is kept; a page of a rule or of a format is one entry.
    """
    found: dict[str, dict[str, Any]] = {}
    for entry in entries:
        page = entry["location"].partition("#")[0]
        if page in found and page.startswith(("rules/", "reference/formats/")):
            found[page]["text"] += f" {entry['title']} {entry['text']}"
        else:
            found[entry["location"]] = dict(entry)
    for location, entry in found.items():
        text = " ".join(_TAG.sub(" ", entry["text"]).split())
        start = text if len(text) <= _START else text[:_START].rpartition(" ")[0]
        seen, others = set(_WORD.findall(start.lower())), dict[str, str]()
        if not location.startswith("reference/python/"):
            others = {word.lower(): word for word in _WORD.findall(text[len(start) :]) if word.lower() not in seen}
        entry["text"] = " ".join([start, *others.values()])
    return list(found.values())


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Add the content security policy to each page, and the language of a translated one; leave out idle styles."""
    if not page.file.src_uri.startswith("reference/python/"):
        output = re.sub(r'<link rel="stylesheet" href="[^"]*_mkdocstrings\.css">', "", output)
    output = output.replace('<html lang="en"', f'<html lang="{page.meta.get("lang", "en")}"', 1)
    return with_policy(output, page.content or "")


def on_post_template(output: str, template_name: str, config: MkDocsConfig) -> str:
    """Add it to the pages that the theme writes on its own, such as 404.html."""
    return with_policy(output, "") if template_name.endswith(".html") else output


def _folded(html: str) -> str:
    """Fold each section of a long page, except the table of claims and what follows from it."""
    first, *sections = re.split("(?=<h2 )", html)
    # A link inside what opens a section could not be reached by the keyboard.
    parts = [re.sub('<a class="headerlink".*?</a>', "", section, count=1).partition("</h2>") for section in sections]
    return first + "".join(
        f"{heading}{end}{rest}"
        if re.search(_OPEN, heading)
        else f'<details class="lc-fold"><summary>{heading}{end}</summary>{rest}</details>'
        for heading, end, rest in parts
    )


def _build(config: MkDocsConfig) -> Path:
    return Path(config.config_file_path).parent / BUILD


def _with_formulas(html: str) -> str:
    """Convert formulas, which arrive as HTML, to MathML."""
    return _FORMULA.sub(lambda m: formula(BeautifulSoup(m[2], "html.parser").get_text(), display=m[1] == "div"), html)
