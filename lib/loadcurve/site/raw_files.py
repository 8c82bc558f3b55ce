"""Generate a page for each data folder that a figure is computed from, with a link to each raw file."""

import json
import os
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path, PurePosixPath
from urllib.parse import quote

from loadcurve.errors import printable
from loadcurve.files import paths
from loadcurve.files.yaml_document import read_yaml
from loadcurve.ingest.files import list_files
from loadcurve.site.inputs import digest
from loadcurve.site.safety import literal
from loadcurve.units import format_quantity

FOLDER = "reference/data"

_RECORDS = (("study.yml", "question"), ("source.yml", "about"))
"""Record of a folder, and the key of the sentence about it."""

_PASSIVE = {".csv", ".json", ".png", ".tar", ".tsv", ".txt"}
"""Suffixes whose type every web server knows, and no browser executes.

For any other, Apache takes the type of an earlier suffix (``x.html.lua`` is HTML) or sends none, and a browser that is
sent none looks for HTML in the content.
"""
_PACKED = {".bz2", ".gz", ".xz", ".zst"}
_ABOUT_ARCHIVES = (
    f"`{paths.ARCHIVE}` holds the files of the runs that are not listed, byte for byte. Unpack it with "
    f"`tar xf {paths.ARCHIVE}`, or in a checkout with `loadcurve unpack STUDY`."
)
_MOST_BYTES = 255  # of a name, in the file systems of Linux


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


def name_on_site(name: str, taken: Collection[str] = ()) -> str:
    """Return the name of a file on the site: with ``.txt`` at its end, unless browsers display or save such a file.

    ``.txt`` comes before the suffix of a packed file, because servers take the type of what is inside from there.

    Examples
    --------
    >>> [name_on_site(name) for name in ("c1.wrk.txt", "evil.HTML", "nginx.conf", "x.html.xz")]
    ['c1.wrk.txt', 'evil.HTML.txt', 'nginx.conf.txt', 'x.html.txt.xz']
    """
    suffix = PurePosixPath(name).suffix
    packed = suffix if suffix.lower() in _PACKED else ""
    inner = name.removesuffix(packed)
    while PurePosixPath(inner).suffix.lower() not in _PASSIVE or inner + packed in taken:
        inner += ".txt"
    return inner + packed


def files_on_site(name: str, folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the path on the site and the path on disk of each raw file that the site holds."""
    for file, published in _files(folder).items():
        if published:
            yield f"{FOLDER}/{name}/{published}", file


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
    return [name, [[str(file), published] for file, published in _files(folder).items()], records]


def page_markdown(name: str, folder: Path) -> str:
    """Return the page of a folder: what it holds, its own files, and the files of each folder in it."""
    parts: dict[Path, list[Path]] = {}
    links = {}
    for file, published in _files(folder).items():
        link = quote(f"{Path(name).name}/{published}")
        links[file] = f'<a href="{link}">{literal(file.name)}</a>' if published else literal(file.name)
        parts.setdefault(file.parent, []).append(file)
    own = "\n".join(f"* {links[file]}" for file in parts.pop(folder, []))
    rows = [
        f"| {literal(part.relative_to(folder).as_posix())} | {' · '.join(links[file] for file in files)} |"
        for part, files in parts.items()
    ]
    archive = _ABOUT_ARCHIVES if any(file.name == paths.ARCHIVE for file in links) else ""
    table = "\n".join(["| folder | files |", "|---|---|", *rows]) if rows else ""
    front = "---\nsearch:\n  exclude: true\n---\n"  # names of files would hide the pages that explain them
    parts_of_page = [f"{front}\n# Raw files: {literal(name)}", literal(_about(folder)), archive, own, table]
    return "\n\n".join(filter(None, parts_of_page)) + "\n"


def _files(folder: Path) -> dict[Path, str]:
    """Return the files of a folder, and the path below it under which the site has each of them.

    The path is empty, and the site has no copy, for a name that becomes too long; links out of the folder are left out.
    """
    listed = list_files(folder, packed=True)
    files = sorted(file for file in (*listed.files, *listed.assets) if file.is_file())
    below = {file: printable(file.relative_to(folder).as_posix()) for file in files}
    taken = {str(place) for path in below.values() for place in PurePosixPath(path).parents}
    for file, path in sorted(below.items(), key=lambda item: name_on_site(item[1]) != item[1]):  # own names first
        below[file] = name_on_site(path, taken)
        taken.add(below[file])
        if len(os.fsencode(PurePosixPath(below[file]).name)) > _MOST_BYTES:
            below[file] = ""
    return below


def _about(folder: Path) -> str:
    """Return what a study's or a source's own record says about it; empty for a folder without one."""
    for record, key in _RECORDS:
        if (folder / record).is_file():
            values = read_yaml(folder / record).values
            return str(values.get(key, "")) if isinstance(values, dict) else ""
    return ""
