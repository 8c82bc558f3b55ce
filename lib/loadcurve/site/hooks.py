"""Build hooks of the handbook: add executed notebooks and data to the site, and convert formulas to MathML."""

import re
from pathlib import Path

from bs4 import BeautifulSoup
from mkdocs.exceptions import PluginError
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File

from loadcurve.audit import all_rules
from loadcurve.files.atomic import write_text
from loadcurve.paths import NOTEBOOK_NAME
from loadcurve.site import formats, interface, notebooks, raw_files, rules
from loadcurve.site.literal import formula
from loadcurve.site.navigation import add_pages
from loadcurve.site.safety import check_links, clean_notebook, with_policy
from loadcurve.site.study_file import SCHEMA, schema_text

BUILD = Path("build")

# Search finds the page that explains a subject before notebooks, docstrings and records, which only use its words.
_FOUND = {"method/": 2.0, "rules/": 0.5, "notebooks/": 0.3, f"{interface.FOLDER}/": 0.3, "decisions/": 0.3}

# Of the theme's worker: the key of a node is its label and the number of the node that the label leads to.
_SEARCH_WORKER, _NODE_KEY = "assets/javascripts/workers/search.*.min.js", "e=e+s+o.id"

_DISPLAY = re.compile(r"\$\$(.+?)\$\$", re.DOTALL)
_INLINE = re.compile(r"(?<![\\$\w])\$(?!\s)([^$\n]+?)(?<!\s)\$(?![\w$])")


def on_config(config):
    """Add the pages of formats, audit rules, public modules, data folders and notebooks to the navigation."""
    add_pages(config.nav, f"{formats.FOLDER}/index.md", formats.pages())
    add_pages(config.nav, f"{rules.FOLDER}/index.md", rules.pages())
    add_pages(config.nav, f"{interface.FOLDER}/index.md", interface.pages())
    add_pages(config.nav, f"{raw_files.FOLDER}/index.md", raw_files.pages(_build(config)))
    add_pages(config.nav, notebooks.TEMPLATE, notebooks.pages(Path(config.config_file_path).parent / "notebooks"))
    return config


@event_priority(100)  # before mkdocs-jupyter looks for notebooks
def on_files(files, config):
    """Add executed notebooks, figures' data, raw files, the schema of study files and generated pages to the site."""
    root = Path(config.config_file_path).parent
    for notebook in sorted((root / "notebooks").glob("[0-9]*.ipynb")):
        if not NOTEBOOK_NAME.fullmatch(notebook.stem):  # make skips such a notebook, so it has no executed copy
            raise PluginError(f"notebook must be named with lower case letters, digits and _, got {notebook.name!r}")
        figures = sorted((root / BUILD / "figures" / notebook.stem).glob("*.csv"))
        for made in [root / BUILD / "notebooks" / notebook.name, *figures]:
            name = made.relative_to(root / BUILD).as_posix()
            files.append(File(name, str(root / BUILD), config.site_dir, config.use_directory_urls))
    files.append(File.generated(config, SCHEMA, content=schema_text()))
    for tool in formats.tools() if files.get_file_from_path(f"{formats.FOLDER}/index.md") else ():
        if not files.get_file_from_path(page := f"{formats.FOLDER}/{tool}.md"):
            files.append(File.generated(config, page, content=formats.page_markdown(tool)))
    for name, rule in all_rules().items() if files.get_file_from_path(f"{rules.FOLDER}/index.md") else ():
        if not files.get_file_from_path(page := f"{rules.FOLDER}/{name}.md"):
            files.append(File.generated(config, page, content=rules.page_markdown(rule)))
    for name, page in interface.pages().items() if files.get_file_from_path(f"{interface.FOLDER}/index.md") else ():
        files.append(File.generated(config, page, content=interface.page_markdown(name)))
    for name, folder in raw_files.folders(_build(config)).items():
        files.append(File.generated(config, raw_files.page_of(name), content=raw_files.page_markdown(name, folder)))
        for path, file in raw_files.files_on_site(name, folder):
            files.append(File.generated(config, path, abs_src_path=str(file)))
    return files


def on_page_markdown(markdown, page, config, files):
    """Set how early search finds a page, unless its front matter does."""
    for folder, boost in _FOUND.items():
        if page.file.src_uri.startswith(folder):
            page.meta.setdefault("search", {"boost": boost})


def on_page_content(html, page, config, files):
    """Convert formulas to MathML, and remove scripts and external resources from notebooks."""
    if not page.file.src_uri.endswith(".ipynb"):
        check_links(page.file.src_uri, html)
        return re.sub(
            r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>',
            lambda m: _mathml(m[2], display=m[1] == "div"),
            html,
            flags=re.DOTALL,
        )
    soup = BeautifulSoup(html, "html.parser")
    clean_notebook(soup)
    # Convert formulas only in Markdown cells: in outputs, a dollar sign is data.
    for cell in soup.select(".jp-MarkdownCell .jp-RenderedMarkdown"):
        inner = cell.decode_contents()
        if "$" in inner and not cell.find("pre"):
            shown = _DISPLAY.sub(lambda m: _mathml(m[1], display=True), inner)
            shown = _INLINE.sub(lambda m: _mathml(m[1], display=False), shown)
            cell.clear()
            cell.append(BeautifulSoup(shown, "html.parser"))
    return str(soup)


def on_post_build(config):
    """Give each node of the search index a key of its own.

    lunr 2.3.9 (`TokenSet.prototype.toString`) writes the labels of a node and the numbers of their nodes without a
    separator, so two nodes with digits as labels may have one key.  They are then taken for one node, and a search that
    meets it finds nothing: `knee` did, because of words elsewhere in the handbook.
    """
    (worker,) = Path(config.site_dir).glob(_SEARCH_WORKER)
    script = worker.read_text("utf-8")
    if script.count(_NODE_KEY) != 1:
        raise PluginError(f"{worker.name}: expected {_NODE_KEY!r} once, got {script.count(_NODE_KEY)} times")
    write_text(worker, script.replace(_NODE_KEY, f"{_NODE_KEY}+','"))


def on_post_page(output, page, config):
    """Add the content security policy to each page."""
    return with_policy(output, page.content)


def on_post_template(output, template_name, config):
    """Add it to the pages that the theme writes on its own, such as 404.html."""
    return with_policy(output, "") if template_name.endswith(".html") else output


def _build(config) -> Path:
    return Path(config.config_file_path).parent / BUILD


def _mathml(latex: str, *, display: bool) -> str:
    return formula(BeautifulSoup(latex, "html.parser").get_text(), display=display)
