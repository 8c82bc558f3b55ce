"""Put the built handbook beside earlier versions in a folder that any web server can serve, from any path.

The folder has a list of the versions in it, the newest first.  Nothing else in the folder is read, listed or replaced,
except the three pages that are written beside the versions.
"""

import re
import shutil
from html import escape
from pathlib import Path
from urllib.parse import quote

from loadcurve.errors import LoadcurveError, printable
from loadcurve.files import paths
from loadcurve.files.atomic import alone, write_text
from loadcurve.report.write import picture_of
from loadcurve.runtime.git import git
from loadcurve.runtime.output import echo

LIST = ".loadcurve-versions"
"""Name of the list of versions: one name a line."""

# No character of a name means anything in HTML or in a path.
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,99}(?<!\.html)(?<!\.txt)")
_URL = re.compile(r"https?://[A-Za-z0-9.-]+(:[0-9]+)?(/[A-Za-z0-9._~!$&'()*+,;=:@%/-]*)?")
_DRAWING = "build/figures/01_your_own_files/throughput.svg"
_CARD = """<!doctype html><meta charset="utf-8"><style>svg{width:auto;height:440px}</style>
<body style="margin:40px;font:48px sans-serif;color:#1f5f96"><b>loadcurve</b>
<p style="font-size:32px;margin:8px 0;color:#333">Load tests that can be believed</p>
"""
_META = '<meta property="og:image" content="{}"><meta name="twitter:card" content="summary_large_image">'
_PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>loadcurve</title>
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'">{head}</head>
<body><h1>loadcurve</h1><p>{text}</p><ul>{links}</ul></body></html>
"""


def publish(out: str, url: str = "") -> Path:
    """Put the handbook in `build/site` into a folder of versions; return its first page.

    Only with the URL of the folder there are a site map and a card for social networks, which need it.
    """
    top, url = paths.root(), url.rstrip("/")
    site = top / "build" / "site"
    folder = _checked_folder(out, top)
    if url and not _URL.fullmatch(url):
        raise LoadcurveError(f"URL must be http://HOST/PATH or https://HOST/PATH, got {printable(url)!r}")
    if not (site / "index.html").is_file():
        raise LoadcurveError(f"{site}: expected the built handbook, got none: run make first")
    version = git(top, "describe", "--tags", "--always", "--dirty=-changed").replace("/", "-")
    if not _VERSION.fullmatch(version):
        rule = "letters, digits and . _ + -, start with a letter or digit, and not end like a page"
        raise LoadcurveError(f"the tag must have only {rule}, got {printable(version)!r}: rename the tag")
    with alone(f"publishing into {folder}", print):
        earlier = _published(folder, out)
        target, draft = folder / version, folder / f"{LIST}.draft"
        if version not in earlier and (target.exists() or target.is_symlink()):
            raise LoadcurveError(f"{target}: make publish did not write it: move it away, or publish elsewhere")
        folder.mkdir(parents=True, exist_ok=True)
        listed = [version, *(name for name in earlier if name != version and (folder / name).is_dir())]
        write_text(folder / LIST, "".join(f"{name}\n" for name in listed))
        try:
            shutil.rmtree(draft, ignore_errors=True)  # of a process that was killed
            draft.mkdir()
            new = shutil.copytree(site, draft / "new")
            _complete(new, version, f"{url}/{version}" if url else "", git(top, "rev-parse", "HEAD"))
            if target.exists():
                target.rename(draft / "old")
            new.rename(target)
            prefix = f"{url}/" if url else ""
            links = "".join(f'<li><a href="{escape(prefix)}{one}/index.html">{one}</a></li>\n' for one in listed)
            first = f'<meta http-equiv="refresh" content="0; url={version}/index.html">'
            pages = {
                "index.html": _PAGE.format(head=first, text="The handbook, by version, the newest first.", links=links),
                "404.html": _PAGE.format(head="", text="There is no such page. The handbook, by version:", links=links),
                "robots.txt": f"Sitemap: {url}/{version}/sitemap.xml\n" if url else "",
            }
            for name, text in pages.items():
                (draft / name).write_text(text, "utf-8")
                (draft / name).replace(folder / name)  # also in place of a link, which is not followed
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    return Path(out) / version / "index.html"


def _checked_folder(out: str, top: Path) -> Path:
    """Return the folder to publish into, with no links in its path: not one that the checkout needs."""
    if not out:
        raise LoadcurveError("OUT must be a folder, as in make publish OUT=folder, got none")
    paths.check_local(Path(out))
    folder = Path(out).resolve()
    used = [*git(top, "ls-tree", "--name-only", "HEAD").splitlines(), ".git", ".venv", "build/site"]
    places = [(top / name).resolve() for name in used]
    if any(folder.is_relative_to(place) or place.is_relative_to(folder) for place in places):
        rule = "outside of the sources of this checkout and of build/site"
        raise LoadcurveError(f"OUT must be a folder {rule}, got {printable(out)!r}: name another, such as ../handbook")
    return folder


def _published(folder: Path, out: str) -> list[str]:
    """Return the versions in a folder, the newest first; refuse a folder with files of others."""
    file, shown = folder / LIST, printable(out)
    if file.is_file() and not file.is_symlink():
        names = file.read_text("utf-8", "replace").splitlines()
        for line, name in enumerate(names, 1):
            if not _VERSION.fullmatch(name):
                got = printable(name)
                raise LoadcurveError(f"{shown}/{LIST}:{line}: expected the name of a published version, got {got!r}")
        return names
    # A new work tree of git counts as empty.
    if folder.exists() and not (folder.is_dir() and {path.name for path in folder.iterdir()} <= {".git"}):
        raise LoadcurveError(
            f"{shown}: expected an empty folder, or one that make publish wrote, got other files: name another; if an "
            f"earlier make publish wrote it, list its versions in {shown}/{LIST}, one a line, the newest first"
        )
    return []


def _complete(site: Path, version: str, base: str, commit: str) -> None:
    """Add to each page its version, and with the URL of this version the site map and the card."""
    card, pages = "", sorted(site.rglob("*.html"))
    if base:
        try:
            drawing = re.sub(r"\A<\?xml.*?\?>", "", (paths.root() / _DRAWING).read_text("utf-8"))
            (site / "card.png").write_bytes(picture_of(_CARD + drawing, 1200, 630))
            card = _META.format(escape(f"{base}/card.png"))
        except (LoadcurveError, OSError) as error:
            echo(f"No card for social networks: {error}", err=True)
        names = (quote(page.relative_to(site).as_posix()) for page in pages if page.name != "404.html")
        urls = "\n".join(f"<url><loc>{escape(f'{base}/{name}')}</loc></url>" for name in names)
        head = '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
        (site / "sitemap.xml").write_text(f"{head}\n{urls}\n</urlset>\n", "utf-8")
    note = f'<p class="lc-version">Version {version}, commit {commit}</p>'
    for page in pages:
        text = page.read_bytes().replace(b"</head>", f"{card}</head>".encode())
        page.write_bytes(text.replace(b"</footer>", f"{note}</footer>".encode()))
