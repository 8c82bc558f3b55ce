"""A site that is built again is the one that a whole build writes, and no page is older than what it is made from."""

import filecmp
import itertools
import json
import re
import shutil
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import wait as wait_for

import mkdocs.config
import nbformat
import pytest
import urllib3
from conftest import ROOT
from kernel import HANG_S
from mkdocs.commands.build import build as build_whole
from mkdocs.exceptions import Abort

from loadcurve.site import generated, incremental

NOTEBOOK = "40_toy"
FIGURES = f"build/figures/{NOTEBOOK}"
PAGES = {
    "index.md": f'# Start\n\n{{{{ value("{NOTEBOOK}", "peak") }}}} at [the other](other.md#words).\n',
    "other.md": "# Other\n\n## Words\n\nA knee, $N^* = R/D$, and [metres][toy.metre].\n",
    "drawn.md": f'# Drawn\n\n{{{{ figure("{NOTEBOOK}", "curve") }}}}\n',
    "raw.md": '# Raw\n\n{{ cat("data/published/toy/rates.csv") }}\n',
    "answer.md": '# Answer\n\n{{ analyse("wrk_toy", "", "Levels") }}\n',
    "reference/data/index.md": "# Listed\n\n{{ raw_files_table() }}\n",
    "api.md": "::: toy\n",
}
MODULE = '"""A toy."""\n\n__all__ = ["metre"]\n\n\ndef metre() -> float:\n    """Return one metre."""\n'
DRAWING = '<svg width="9pt" height="9pt" viewBox="0 0 9 9"><path d="M 0 0 L 9 {:.6f}"/></svg>'
pytestmark = [pytest.mark.site, pytest.mark.slow]


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def executed(text):
    cells = [nbformat.v4.new_markdown_cell("# A toy"), nbformat.v4.new_code_cell("1", execution_count=1)]
    cells[1].outputs = [nbformat.v4.new_output("stream", text=text, name="stdout")]
    return nbformat.writes(nbformat.v4.new_notebook(cells=cells))


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    root = tmp_path_factory.mktemp("checkout").resolve()
    for name, text in PAGES.items():
        write(root / "handbook" / name, text)
    shutil.copytree(ROOT / "handbook" / "assets", root / "handbook" / "assets")
    shutil.copytree(ROOT / "lib/tests/data/folders/wrk_monitors", root / "lib/tests/data/folders/wrk_toy")
    write(root / "data/published/toy/rates.csv", "connections,rate\n1,10\n")
    write(root / "lib/toy.py", MODULE)  # for docstrings of this package, each build would read all its modules
    (root / "data/studies").mkdir()
    write(root / f"notebooks/{NOTEBOOK}.ipynb", executed(""))
    write(root / f"build/notebooks/{NOTEBOOK}.ipynb", executed("first"))
    write(root / FIGURES / "values.json", json.dumps({"peak": {"text": "first peak"}}))
    write(root / FIGURES / "curve.svg", DRAWING.format(1))
    write(root / FIGURES / "curve.csv", "x\n1\n")
    facts = {"alt": "A line.", "caption": "It rises.", "studies": ["published/toy"], "commit": "abc"}
    write(root / FIGURES / "curve.json", json.dumps(facts))
    text = (ROOT / "mkdocs.yml").read_text("utf-8")
    paths = (*PAGES, f"notebooks/{NOTEBOOK}.md")
    listed = "".join(f"  - {path}: {path}\n" for path in paths)
    text = text.replace("not_in_nav: index.md", "not_in_nav: new.md")
    text = re.sub(r"\nnav:\n.*?\n\n", f"\nnav:\n{listed}\n", text, flags=re.DOTALL)
    write(root / "mkdocs.yml", text.replace("lib/loadcurve/site/hooks.py", str(ROOT / "lib/loadcurve/site/hooks.py")))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOADCURVE_ROOT", str(root))
        patch.chdir(root)
        assert set(incremental.build(root)) >= PAGES.keys()
        yield root


def differences(root):
    """Files by which the site differs from that of `mkdocs build`, which keeps nothing."""
    generated.remember(None, {})
    build_whole(mkdocs.config.load_config(str(root / "mkdocs.yml"), site_dir=str(root / "whole")))
    found = []

    def look(both):
        found.extend([*both.left_only, *both.right_only, *both.funny_files])
        _, *others = filecmp.cmpfiles(both.left, both.right, both.common_files, shallow=False)
        found.extend(name for names in others for name in names)
        for inner in both.subdirs.values():
            look(inner)

    look(filecmp.dircmp(root / "build/site", root / "whole"))
    return found


def replaced(name, old, new):
    def change(root):
        text = (root / name).read_text("utf-8")
        assert old in text
        write(root / name, text.replace(old, new))

    return change


NB_PAGE = f"notebooks/{NOTEBOOK}.md"
ALL = {*PAGES, NB_PAGE, "reference/data/published/toy.md"}
CHANGES = {
    "nothing": (lambda root: None, set()),
    "text of a page": (replaced("handbook/other.md", "A knee", "The knee"), {"other.md"}),
    "title of a page": (replaced("handbook/other.md", "# Other", "# Others"), {"other.md"}),
    "value": (replaced(f"{FIGURES}/values.json", "first", "second"), {"index.md"}),
    "drawing": (lambda root: write(root / FIGURES / "curve.svg", DRAWING.format(2)), {"drawn.md"}),
    "caption": (replaced(f"{FIGURES}/curve.json", "It rises", "It falls"), {"drawn.md", "reference/data/index.md"}),
    "numbers of a figure": (lambda root: write(root / FIGURES / "curve.csv", "x\n2\n"), set()),
    "notebook": (lambda root: write(root / f"build/notebooks/{NOTEBOOK}.ipynb", executed("second")), {NB_PAGE}),
    "data that a page prints": (
        replaced("data/published/toy/rates.csv", "1,10", "1,110"),
        {"raw.md", "reference/data/index.md"},
    ),
    "raw files that a page analyses": (
        lambda root: (root / "lib/tests/data/folders/wrk_toy/c64.wrk.txt").unlink(),
        {"answer.md"},
    ),
    "new raw file": (
        lambda root: write(root / "data/published/toy/more.csv", "x\n"),
        {"reference/data/index.md", "reference/data/published/toy.md"},
    ),
    "style sheet": (lambda root: write(root / "handbook/assets/handbook.css", "a {}"), set()),
    "page on the site": (lambda root: write(root / "build/site/other.html", "edited"), set()),
    "file on the site": (lambda root: (root / "build/site/assets/handbook.css").unlink(), set()),
    "strange file on the site": (lambda root: write(root / "build/site/old/x.html", "x"), set()),
    "settings": (replaced("mkdocs.yml", "site_name: loadcurve", "site_name: toy"), ALL),
    "code": (lambda root: write(root / "lib/loadcurve/x.py", "1"), ALL),
    "new page": (lambda root: write(root / "handbook/new.md", "---\ntitle: New\n---\n\nnew\n"), ALL | {"new.md"}),
}
# A fault of one change stays on the site until a later one renders the same page, so the whole site is compared before.
COMPARED = ("title of a page", "caption", "new raw file", "strange file on the site", "new page")


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_renders_the_pages_that_are_made_from_it(root, change):
    """Cases follow each other in one checkout, as edits do."""
    apply, pages = CHANGES[change]
    apply(root)
    rendered = incremental.build(root)
    assert set(rendered) == pages
    if change in COMPARED:
        assert differences(root) == []


def test_a_link_that_leads_nowhere_any_more_stops_the_build_each_time(root):
    write(root / "handbook/other.md", "# Other\n\n## Renamed\n")
    for _ in range(2):
        with pytest.raises(Abort, match="warnings"):
            incremental.build(root)
    (root / "handbook/other.md").unlink()
    for _ in range(2):
        with pytest.raises(Abort):
            incremental.build(root)
    write(root / "handbook/other.md", PAGES["other.md"])
    incremental.build(root)
    assert differences(root) == []


@pytest.fixture
def served(root):
    """URL of a server of the checkout, in a process group of its own, as from a terminal."""
    (root / "lib/loadcurve").mkdir(exist_ok=True)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "loadcurve.site", "serve", str(port)],
        cwd=root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, process_group=0,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    line = process.stdout.readline()
    assert line == f"Serving the handbook on http://127.0.0.1:{port}/ (Ctrl-C ends it)\n", line + process.stdout.read()
    yield process, port
    process.kill()
    process.communicate()


REFUSED = {
    "GET /%00": b" 400 Bad Request",
    "POST /index.html": b" 405 Method Not Allowed",
    "DELETE /": b" 405 Method Not Allowed",
    "GET /\x1b]0;x\x07": b" 404 Not Found",
    f"GET /livereload/{'9' * 5000}/1": b" 400 Bad Request",
    "HEAD /index.html": b"HTTP/1.0 200 OK",
    "GET / HTTP/9.9.9\r\n": b"HTTP/1.0 400 Bad request version ('HTTP/9.9.9')",
}


def test_an_edited_page_is_served_and_the_browser_is_told(root, served):
    process, port = served

    def read(path):
        wait = urllib3.Retry(1000, backoff_factor=0.05, backoff_max=0.2)  # until the server has its port
        return urllib3.request("GET", f"http://127.0.0.1:{port}/{path}", retries=wait, timeout=HANG_S).data.decode()

    page = read("other.html")
    epoch = re.search(r"livereload\(([0-9]+), [0-9]+\);", page)[1]
    assert "A knee" in page
    for request, status in REFUSED.items():
        with socket.create_connection(("127.0.0.1", port)) as client:
            client.sendall(f"{request} HTTP/1.0\r\nHost: localhost\r\n\r\n".encode("latin-1"))
            assert client.recv(100).split(b"\r\n")[0].endswith(status), request
    with ThreadPoolExecutor(1) as browser:
        told = browser.submit(read, f"livereload/{epoch}/1")  # answered when a newer page is there
        for number in itertools.count():
            # Again where the server had not listed the files yet.
            write(root / "handbook/other.md", PAGES["other.md"].replace("A knee", f"Edit {number}"))
            if wait_for([told], 3).done:
                break
            assert number < HANG_S / 3 and process.poll() is None
    assert int(told.result()) > int(epoch)
    assert "Edit " in read("other.html") and "A knee" not in read("other.html")
    process.send_signal(signal.SIGINT)
    output = process.communicate(timeout=HANG_S)[0]
    assert process.returncode == 0
    lines = re.findall(r'^(?:Rendered [12] pages|(?:WARNING: )?\[[0-9:]+\] "[ -~]*" code 40[045])$', output, re.M)
    assert lines == output.splitlines(), "no traceback, no raw bytes"


def test_a_port_that_is_used_is_one_line(root):
    with socket.create_server(("127.0.0.1", 0)) as used:
        port = str(used.getsockname()[1])
        argv = [sys.executable, "-m", "loadcurve.site", "serve", port]
        done = subprocess.run(argv, cwd=root, capture_output=True, text=True, timeout=HANG_S)
    assert done.returncode == 1
    assert done.stderr == f"port {port}: Address already in use; name another one: make serve PORT=8001\n"
