"""Build hooks of the handbook: executed notebooks and data become files of the site, formulas become MathML."""

import re
from pathlib import Path

from bs4 import BeautifulSoup
from latex2mathml.converter import convert
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File

from loadcurve.site.study_file import SCHEMA, schema_text

BUILD = Path("build")

_DISPLAY = re.compile(r"\$\$(.+?)\$\$", re.DOTALL)
_INLINE = re.compile(r"(?<![\\$\w])\$(?!\s)([^$\n]+?)(?<!\s)\$(?![\w$])")


@event_priority(100)  # before mkdocs-jupyter looks for notebooks
def on_files(files, config):
    """Add the executed notebooks and the figures' data from `build/` to the site, and the schema of study files."""
    root = Path(config.config_file_path).parent
    for notebook in sorted((root / "notebooks").glob("[0-9]*.ipynb")):
        figures = sorted((root / BUILD / "figures" / notebook.stem).glob("*.csv"))
        for made in [root / BUILD / "notebooks" / notebook.name, *figures]:
            name = made.relative_to(root / BUILD).as_posix()
            files.append(File(name, str(root / BUILD), config.site_dir, config.use_directory_urls))
    files.append(File.generated(config, SCHEMA, content=schema_text()))
    return files


def on_page_content(html, page, config, files):
    """Turn formulas into MathML, and take from notebook pages the scripts that would be fetched from elsewhere."""
    is_notebook = page.file.src_uri.endswith(".ipynb")
    if not is_notebook and "arithmatex" not in html:
        return html
    if not is_notebook:
        return re.sub(
            r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>',
            lambda m: _mathml(m[2], display=m[1] == "div"),
            html,
            flags=re.DOTALL,
        )
    soup = BeautifulSoup(html, "html.parser")
    for script in soup.find_all("script"):
        script.decompose()
    for cell in soup.select(".jp-RenderedMarkdown, .jp-RenderedHTMLCommon"):
        inner = cell.decode_contents()
        if "$" in inner and not cell.find("pre"):
            shown = _DISPLAY.sub(lambda m: _mathml(m[1], display=True), inner)
            shown = _INLINE.sub(lambda m: _mathml(m[1], display=False), shown)
            cell.clear()
            cell.append(BeautifulSoup(shown, "html.parser"))
    return str(soup)


def _mathml(latex: str, *, display: bool) -> str:
    text = BeautifulSoup(latex, "html.parser").get_text()
    return convert(text.strip(), display="block" if display else "inline")
