"""Generate a page for each data folder that a figure is computed from, with a link to each raw file."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import quote

from loadcurve import paths
from loadcurve.files.yaml_document import read_yaml
from loadcurve.ingest.files import files_of
from loadcurve.site.inputs import digest
from loadcurve.site.literal import literal
from loadcurve.units import format_quantity

FOLDER = "reference/data"

_RECORDS = (("study.yml", "question"), ("source.yml", "about"))
"""Record of a folder, and the key of the sentence about it."""

_ACTIVE = {".html", ".htm", ".xhtml", ".svg", ".xml", ".js", ".md", ".ipynb"}
"""Suffixes that a browser would execute or the site builder would render; such files are listed without a link."""


def folders(build: Path) -> dict[str, Path]:
    """Return the folders that published figures name as their data, by name; a folder that is gone is left out."""
    names = {
        name
        for facts in build.glob("figures/*/*.json")
        if facts.name != "values.json"
        for name in json.loads(facts.read_text("utf-8"))["studies"]
    }
    found = {name: paths.named_data(name) for name in sorted(names)}
    return {name: folder for name, folder in found.items() if folder}


def page_of(name: str) -> str:
    """Return the path of the page that lists the files of a folder."""
    return f"{FOLDER}/{name}.md"


def pages(build: Path) -> dict[str, str]:
    """Return the heading of each folder in the navigation, and the path of its page."""
    names = list(folders(build))
    last = Counter(Path(name).name for name in names)  # a study may bear the name of the report that it repeats
    shown = {name: Path(name).name if last[Path(name).name] == 1 else name for name in names}
    return {heading.replace("_", " "): page_of(name) for name, heading in shown.items()}


def files_on_site(name: str, folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the path on the site and the path on disk of each raw file that the site holds."""
    for file in _files(folder):
        if file.suffix not in _ACTIVE:
            yield f"{FOLDER}/{name}/{file.relative_to(folder).as_posix()}", file


def index_markdown() -> str:
    """Return a Markdown table of the folders: name with a link to the page; contents, number of files and size."""
    rows = ["| folder | contents |", "|---|---|"]
    for name, folder in folders(paths.build()).items():
        files = _files(folder)
        size = format_quantity(sum(file.stat().st_size for file in files), "bytes")
        shown = literal(name).replace("/", "/<wbr>")  # a phone has no room for the whole path in one line
        about = f'{literal(_about(folder))} <span class="lc-source">{len(files)} files, {size}</span>'
        rows.append(f"| [{shown}]({quote(name)}.md) | {about} |")
    return "\n".join(rows)


def facts(name: str, folder: Path) -> list[object]:
    """Return what the page of a folder is made of: its name, the names of its files, and its record."""
    records = [digest(str(folder / record)) for record, _ in _RECORDS]
    return [name, sorted(str(file) for file in files_of(folder)), records]


def page_markdown(name: str, folder: Path) -> str:
    """Return the page of a folder: what it holds, its own files, and the files of each folder in it."""
    parts: dict[Path, list[Path]] = {}
    for file in _files(folder):
        parts.setdefault(file.parent, []).append(file)
    own = "\n".join(f"* {_link(folder, file, name)}" for file in parts.pop(folder, []))
    rows = [
        f"| {literal(part.relative_to(folder).as_posix())} | {_links(folder, files, name)} |"
        for part, files in parts.items()
    ]
    table = "\n".join(["| folder | files |", "|---|---|", *rows]) if rows else ""
    front = "---\nsearch:\n  exclude: true\n---\n"  # names of files would hide the pages that explain them
    return (
        "\n\n".join(filter(None, [f"{front}\n# Raw files: {literal(name)}", literal(_about(folder)), own, table]))
        + "\n"
    )


def _files(folder: Path) -> list[Path]:
    return sorted(file for file in files_of(folder) if file.is_file())


def _links(folder: Path, files: Iterable[Path], name: str) -> str:
    return " · ".join(_link(folder, file, name) for file in files)


def _link(folder: Path, file: Path, name: str) -> str:
    if file.suffix in _ACTIVE:
        return literal(file.name)
    below = f"{Path(name).name}/{file.relative_to(folder).as_posix()}"
    return f'<a href="{quote(below)}">{literal(file.name)}</a>'


def _about(folder: Path) -> str:
    """Return what a study's or a source's own record says about it; empty for a folder without one."""
    for record, key in _RECORDS:
        if (folder / record).is_file():
            values = read_yaml(folder / record).values
            return str(values.get(key, "")) if isinstance(values, dict) else ""
    return ""
